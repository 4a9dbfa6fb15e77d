//! Options that Python gives by name.

use calib_core::ScoreEncoding;
use calib_fit::OptionsError;
use calib_fit::given::{Given, OptionValue};
use calib_fit::job::{AlarmAction, FitOptions, MonitorOptions, NamedMethod, ScoresOf};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::data::{Codes, encoding_of};
use crate::errors::{UsageError, of_options};

/// Options by their names; those that are missing or None are left to calib.
pub(crate) struct Options<'py>(pub(crate) Bound<'py, PyDict>);

/// What was given for an option.
pub(crate) struct Value<'py> {
    name: &'static str,
    value: Bound<'py, PyAny>,
}

impl<'py> Value<'py> {
    fn get<T: FromPyObjectOwned<'py>>(&self, expected: &str) -> PyResult<T> {
        self.value.extract().map_err(|_| self.other_than(expected))
    }

    fn shown(&self) -> String {
        self.value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string())
    }
}

impl Given for Value<'_> {
    type Error = PyErr;

    fn flag(&self) -> PyResult<bool> {
        self.get("True or False")
    }

    fn whole(&self, most: u64) -> PyResult<u64> {
        let number = self.value.extract().ok().filter(|number| *number <= most);
        let is_bool = self.value.is_instance_of::<PyBool>();
        number.filter(|_| !is_bool).ok_or_else(|| self.other_than("a whole number from 0 on"))
    }

    fn number(&self) -> PyResult<f64> {
        self.get("a number")
    }

    fn text(&self) -> PyResult<String> {
        self.get("a name")
    }

    fn parts(&self) -> Vec<Self> {
        let parts: Vec<Bound<'_, PyAny>> = self.value.extract().unwrap_or_default();
        parts.into_iter().map(|value| Self { name: self.name, value }).collect()
    }

    fn other_than(&self, expected: &str) -> PyErr {
        UsageError::new_err(format!("{}={}: {expected} is expected", self.name, self.shown()))
    }

    fn refused(&self, text: &str, why: &str) -> PyErr {
        UsageError::new_err(format!("{}={text:?}: {why}", self.name))
    }
}

impl<'py> Options<'py> {
    /// The keywords of a call.
    pub(crate) fn of(py: Python<'py>, keywords: Option<Bound<'py, PyDict>>) -> Self {
        Self(keywords.unwrap_or_else(|| PyDict::new(py)))
    }

    /// What was given for an option.
    pub(crate) fn given(&self, name: &'static str) -> Option<Value<'py>> {
        let value = self.0.get_item(name).ok().flatten()?;
        (!value.is_none()).then_some(Value { name, value })
    }

    pub(crate) fn get<T: OptionValue>(&self, name: &'static str) -> PyResult<Option<T>> {
        self.given(name).as_ref().map(T::of).transpose()
    }

    /// The encoding of codes.
    pub(crate) fn encoding(&self) -> PyResult<Option<ScoreEncoding>> {
        let Some(given) = self.given("score_encoding") else { return Ok(None) };
        let what = "a type, a scale and a zero point, such as (\"i8\", 1 / 256, -128),";
        let (name, scale, zero_point) = given.get::<Codes>(what)?;
        encoding_of(&name, scale, zero_point).map(Some)
    }

    /// What is fitted to such scores, and how it is written.
    pub(crate) fn fit(&self, of: ScoresOf, monitor_scores: Option<Vec<f32>>) -> PyResult<FitOptions> {
        let refused = |cause: OptionsError| of_options(&cause);
        let named = NamedMethod::default().by_name(|name| self.given(name))?;
        Ok(FitOptions::default()
            .by_name(|name| self.given(name))?
            .method(named.choice(of).map_err(refused)?)
            .reduction(named.reduction_of(of).map_err(refused)?)
            .monitors(self.monitors(monitor_scores)?))
    }

    fn monitors(&self, scores: Option<Vec<f32>>) -> PyResult<Option<MonitorOptions>> {
        let defaults = MonitorOptions::default();
        let refuse = |text: &str| Err(UsageError::new_err(text.to_owned()));
        let bins = self.get("monitor_bins")?;
        let rarity =
            self.given("monitor_rarity").map(|given| given.several("three whole numbers")).transpose()?;
        let action = self.get::<AlarmAction>("monitor_action")?.unwrap_or_default().get();
        if !self.get("monitor")?.unwrap_or(false) {
            if scores.is_some() {
                return refuse("scores that monitors compare with go with monitor: add it");
            }
            if bins.is_some() || rarity.is_some() || self.given("monitor_action").is_some() {
                return refuse("monitor_bins, monitor_rarity and monitor_action go with monitor=True");
            }
            return Ok(None);
        }
        let [shift, change, guarantee] =
            rarity.unwrap_or([defaults.shift, defaults.change, defaults.guarantee]);
        Ok(Some(MonitorOptions { bins, scores, shift, change, guarantee, action }))
    }
}
