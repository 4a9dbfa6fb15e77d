//! Options that Python gives by name.

use std::collections::HashMap;

use calib_core::{ClassifierId, ScoreEncoding};
use calib_fit::OptionsError;
use calib_fit::artifact::CodeType;
use calib_fit::assess::{BinningScheme, ExtremeProbs, IntervalKind, ProperScore};
use calib_fit::binary::Loss;
use calib_fit::compare::Claim;
use calib_fit::guarantee::GuaranteeBound;
use calib_fit::job::{
    AlarmAction, ClassScore, FitOptions, MethodName, MonitorOptions, NamedMethod, ReductionName, ScalingName,
    ScoresOf, Smoothing, TableWidth,
};
use calib_fit::names::Named;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::{Codes, encoding_of};
use crate::errors::{UsageError, of_options};

/// Options by their names; those that are missing or None are left to calib.
pub(crate) struct Options<'py>(pub(crate) Bound<'py, PyDict>);

impl<'py> Options<'py> {
    fn given(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    /// The value of an option.
    fn get<T: FromPyObjectOwned<'py>>(&self, name: &str, what: &str) -> PyResult<Option<T>> {
        let Some(value) = self.given(name)? else { return Ok(None) };
        let refused = || UsageError::new_err(format!("{name}={}: {what} is expected", repr(&value)));
        value.extract::<T>().map(Some).map_err(|_| refused())
    }

    fn flag(&self, name: &str) -> PyResult<bool> {
        Ok(self.get(name, "True or False")?.unwrap_or_default())
    }

    fn number(&self, name: &str) -> PyResult<Option<f64>> {
        self.get(name, "a number")
    }

    fn count<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Option<T>> {
        self.get(name, "a whole number")
    }

    /// The value that a text names.
    fn named<T: Named>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(text) = self.get::<String>(name, "a name")? else { return Ok(None) };
        T::named(&text).map(Some).map_err(|cause| UsageError::new_err(format!("{name}={text:?}: {cause}")))
    }

    /// The method with its parameters.
    pub(crate) fn method(&self) -> PyResult<NamedMethod> {
        let smoothing = match self.given("smoothing")? {
            Some(value) if value.extract::<String>().is_ok_and(|text| text == "paper") => {
                Some(Smoothing::Paper)
            }
            _ => self.number("smoothing")?.map(Smoothing::Points),
        };
        let odir = match self.given("odir")? {
            Some(value) if value.extract::<f64>().is_err() => {
                let two = self.get::<(f64, f64)>("odir", "a penalty, or two of them")?;
                two.map(|(lambda, mu)| (lambda, Some(mu)))
            }
            _ => self.number("odir")?.map(|lambda| (lambda, None)),
        };
        Ok(NamedMethod {
            method: self.named("method")?,
            bins: self.count("bins")?,
            rows_per_bin: self.count("rows_per_bin")?,
            epsilon: self.number("epsilon")?,
            max_bins: self.count("max_bins")?,
            smoothing,
            scaling: self.named("scaling")?,
            loss: self.named("loss")?,
            range: self.get("range", "two numbers, the lower first,")?,
            log_probs: self.flag("log_probs")?,
            odir,
            folds: self.count("folds")?,
            resolution: self.count("resolution")?,
            reduction: self.named("reduction")?,
            k: self.count("k")?,
            class_score: self.named("class_score")?.unwrap_or_default(),
            seed: self.count("seed")?.unwrap_or_default(),
        })
    }

    /// The encoding of codes.
    pub(crate) fn encoding(&self) -> PyResult<Option<ScoreEncoding>> {
        let what = "a type, a scale and a zero point, such as (\"i8\", 1 / 256, -128),";
        let Some((name, scale, zero_point)) = self.get::<Codes>("score_encoding", what)? else {
            return Ok(None);
        };
        encoding_of(&name, scale, zero_point).map(Some)
    }

    /// What is fitted to such scores, and how it is written.
    pub(crate) fn fit(&self, of: ScoresOf, monitor_scores: Option<Vec<f32>>) -> PyResult<FitOptions> {
        let named = self.method()?;
        let refused = |cause: OptionsError| of_options(&cause);
        let defaults = FitOptions::default();
        Ok(FitOptions::default()
            .method(named.choice(of).map_err(refused)?)
            .reduction(named.reduction(of).map_err(refused)?)
            .class_score(named.class_score)
            .seed(named.seed)
            .alpha(self.number("alpha")?.unwrap_or(defaults.alpha))
            .bound(self.named("bound")?.unwrap_or(defaults.bound))
            .candidates(self.count::<u32>("candidates")?.unwrap_or(defaults.candidates))
            .alpha_spent(self.number("alpha_spent")?.unwrap_or(defaults.alpha_spent))
            .intervals(self.get::<bool>("intervals", "True or False")?.unwrap_or(defaults.intervals))
            .band(self.get::<bool>("band", "True or False")?)
            .table(self.named("table")?.unwrap_or(defaults.table))
            .classifier(self.classifier()?)
            .counter(self.count::<u32>("counter")?.unwrap_or(defaults.counter))
            .monitors(self.monitors(monitor_scores)?))
    }

    fn classifier(&self) -> PyResult<Option<ClassifierId>> {
        let Some(text) = self.get::<String>("classifier_id", "a text of 16 hex digits")? else {
            return Ok(None);
        };
        let digits: Option<Vec<u8>> = (0..8)
            .map(|byte| text.get(2 * byte..2 * byte + 2).and_then(|two| u8::from_str_radix(two, 16).ok()))
            .collect();
        match digits.filter(|_| text.len() == 16).and_then(|digits| digits.try_into().ok()) {
            Some(id) => Ok(Some(ClassifierId(id))),
            None => {
                Err(UsageError::new_err(format!("classifier_id={text:?}: a classifier id has 16 hex digits")))
            }
        }
    }

    fn monitors(&self, scores: Option<Vec<f32>>) -> PyResult<Option<MonitorOptions>> {
        let defaults = MonitorOptions::default();
        let refuse = |text: &str| Err(UsageError::new_err(text.to_owned()));
        let (bins, rarity) =
            (self.count("monitor_bins")?, self.get("monitor_rarity", "three whole numbers")?);
        let action = self.named::<AlarmAction>("monitor_action")?.unwrap_or_default().get();
        if !self.flag("monitor")? {
            if scores.is_some() {
                return refuse("scores that monitors compare with go with monitor: add it");
            }
            if bins.is_some() || rarity.is_some() || self.given("monitor_action")?.is_some() {
                return refuse("monitor_bins, monitor_rarity and monitor_action go with monitor=True");
            }
            return Ok(None);
        }
        let (shift, change, guarantee) =
            rarity.unwrap_or((defaults.shift, defaults.change, defaults.guarantee));
        Ok(Some(MonitorOptions { bins, scores, shift, change, guarantee, action }))
    }
}

/// All names of options that have names for values.
#[pyfunction]
pub(crate) fn names() -> HashMap<&'static str, Vec<&'static str>> {
    fn of<T: Named>() -> Vec<&'static str> {
        T::NAMES.iter().map(|(_, name, _)| *name).collect()
    }
    HashMap::from([
        ("method", of::<MethodName>()),
        ("reduction", of::<ReductionName>()),
        ("class_score", of::<ClassScore>()),
        ("scaling", of::<ScalingName>()),
        ("loss", of::<Loss>()),
        ("table", of::<TableWidth>()),
        ("bound", of::<GuaranteeBound>()),
        ("monitor_action", of::<AlarmAction>()),
        ("codes", of::<CodeType>()),
        ("metric", of::<ProperScore>()),
        ("claim", of::<Claim>()),
        ("binning", of::<BinningScheme>()),
        ("intervals", of::<IntervalKind>()),
        ("extreme_probs", of::<ExtremeProbs>()),
    ])
}

fn repr(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string())
}
