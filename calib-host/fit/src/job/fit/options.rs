//! What is fitted, and how it is written.

use calib_core::artifact::{Method, MonitorAction, Reduction};
use calib_core::{ClassifierId, QuantizedScore, ScoreEncoding};
use sha2::{Digest, Sha256};

use super::error::NotFitted;
use super::method_name::{ClassScore, TableWidth};
use crate::accessors::options;
use crate::artifact::{ArtifactOptions, Monitoring};
use crate::binary::BinaryMethod;
use crate::data::{BinaryData, RowsDigest};
use crate::dataset::{Content, Dataset};
use crate::decide::{Actions, Rule};
use crate::fit::{Fit, divided};
use crate::guarantee::GuaranteeBound;
use crate::joint::JointMethod;
use crate::options_error::OptionsError;
use crate::reduction::ReductionOptions;
use crate::stats::Seed;

/// The points per bin of a table that is one of several, and the fewest points of methods without bins of fixed mass: what Gupta and
/// Ramdas 2022 suggest.
pub const ROWS_PER_BIN: usize = 50;

/// From how many rows on a band is stored if nobody says so: with fewer it says little.
const FEWEST_ROWS_OF_BAND: u64 = 500;

/// What is fitted.
#[derive(Clone, Debug, PartialEq)]
pub enum MethodChoice {
    /// A [blend](crate::binary::Blend): of one score, or for each table of a reduction with at least 50 rows. Bins of `umd` if the labels of
    /// one score are all equal, for monitors without separate bins, and for tables of 16-bit numbers. Of floats of several classes it is a
    /// [blend of whole vectors](JointMethod::Blend), if a scaling function has a finite optimum. A reduction, monitors or another form of
    /// table ask for tables.
    Auto,
    /// The most bins of `umd` that keep this epsilon, whatever the labels are.
    Within(f64),
    /// A binary method, for one score or for each table of a reduction.
    Binary(ReductionOptions),
    /// A calibrator of whole vectors.
    Joint(JointMethod),
}

impl From<BinaryMethod> for MethodChoice {
    fn from(method: BinaryMethod) -> Self {
        Self::Binary(ReductionOptions { method, rows_per_bin: None })
    }
}

options! {
    converting by_name
    /// What is fitted, what it states, and how it is written.
    ///
    /// ```
    /// use calib_fit::job::FitOptions;
    /// use calib_fit::{BinaryMethod, Umd};
    ///
    /// let options = FitOptions::default().method(BinaryMethod::Umd(Umd::new(10))).alpha(0.05);
    /// assert_eq!((options.alpha, options.candidates), (0.05, 1));
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct FitOptions {
        /// What the score of a predicted class is.
        pub class_score: ClassScore = ClassScore::Softmax,
        /// The probability, over the draw of the points, with which the guarantee may fail.
        pub alpha: f64 = 0.1,
        /// How the guarantee's epsilon follows from the labels.
        pub bound: GuaranteeBound = GuaranteeBound::Exact,
        /// Among how many choices of method and bins this one was chosen by these labels.
        pub candidates: u32 = 1,
        /// The sum of the alphas of earlier calibrations in the field.
        pub alpha_spent: f64 = 0.0,
        /// Whether exact intervals of ranges of the score are stored ([`intervals`](crate::intervals)) if bins have no guarantee themselves:
        /// they need rows that count the same, of one classifier, and a score that is calibrated separately.
        pub intervals: bool = true,
        /// Whether a band around the calibration curve is stored ([`bands`](crate::bands)), of one score whose rows count the same. By default it
        /// is beside intervals, if there are 500 rows.
        pub band: Option<bool> = None,
        /// The seed of whatever is drawn at random: the rows of clusters, and the parts of samples.
        pub seed: Seed = 0,
        /// The form of the tables.
        pub table: TableWidth = TableWidth::F32,
        /// The classifier that the scores come from.
        pub classifier_id: Option<ClassifierId> = None,
        /// How new the calibrator is.
        pub counter: u32 = 0,
        ;
        /// The method.
        pub method: MethodChoice = MethodChoice::Auto,
        /// The reduction of several classes; for a matrix without one the method is for whole vectors, or left open.
        pub reduction: Option<Reduction> = None,
        /// What monitors on the device compare with, if there are to be any.
        pub monitors: Option<MonitorOptions> = None,
        /// The actions of a decision rule, and the rule.
        pub decision: Option<(Actions, Rule)> = None,
        /// The hash of the files of the rows; without one that of the rows' hash is stored.
        pub data_sha256: Option<[u8; 32]> = None,
    }
}

options! {
    /// What monitors on a device compare with, and how rare their false alarms are.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MonitorOptions {
        /// The number of separate bins; `None` for those of the tables.
        pub bins: Option<u16> = None,
        /// Scores of the same kind that they compare with in place of those of the calibration.
        pub scores: Option<Vec<f32>> = None,
        /// How rare false alarms are: [`Monitoring`].
        pub shift: u32 = Monitoring::default().shift,
        /// As there.
        pub change: u32 = Monitoring::default().change,
        /// As there.
        pub guarantee: u32 = Monitoring::default().guarantee,
        /// What a device does on an alarm.
        pub action: Option<MonitorAction> = None,
    }
}

impl FitOptions {
    /// What goes into the artifact besides the fit.
    pub(super) fn artifact_options(&self, rows: RowsDigest, monitors: Option<Monitoring>) -> ArtifactOptions {
        ArtifactOptions {
            data_sha256: self.data_sha256.unwrap_or_else(|| Sha256::digest(rows.hash.to_bytes()).into()),
            rows: Some(rows),
            classifier: self.classifier_id,
            // Who asks for 16-bit numbers has no 8 bytes a bin to spare.
            intervals: !self.is_compact(),
            score_intervals: None,
            band: None,
            counter: self.counter,
            direct_table: self.table == TableWidth::Direct,
            monitors,
        }
    }

    /// The alpha of the fit, which is one of so many.
    pub(super) fn divided_alpha(&self) -> f64 {
        divided(self.alpha, self.candidates)
    }

    /// The fit with what it states.
    pub(super) fn stated(&self, fit: Fit) -> Fit {
        let fit = fit.bounded_by(self.bound).chosen_among(self.candidates, self.alpha);
        fit.after_spending(self.alpha_spent)
    }

    /// Whether the tables are of 16-bit numbers.
    pub(super) fn is_compact(&self) -> bool {
        self.table == TableWidth::U16
    }

    /// The fit in the form that its tables are asked to have.
    pub(super) fn in_form(&self, fit: Fit) -> Fit {
        if self.table == TableWidth::Steps { fit.in_steps() } else { fit }
    }

    /// Whether intervals of ranges of the score are stored beside this fit: if it has no guarantee itself, and its rows are draws of one
    /// classifier's scores that count the same. Venn-Abers has p0 and p1 in their place.
    pub(super) fn wants_ranges(&self, fit: &Fit, data: &Dataset) -> bool {
        let has_guarantee = fit.clone().bounded_by(self.bound).guarantee().is_some();
        let has_others = has_guarantee || fit.method() == Method::VennAbers;
        let can_have = !has_others && !fit.weighted() && fit.reduction() != Reduction::Normalized;
        self.intervals && can_have && data.classifiers() <= 1 && !data.is_of_passes()
    }

    /// Whether a band is stored beside a fit to N rows of one score, which has intervals of ranges or not.
    pub(super) fn wants_band(&self, has_ranges: bool, rows: u64) -> bool {
        self.band.unwrap_or(has_ranges && rows >= FEWEST_ROWS_OF_BAND)
    }

    fn is_joint(&self) -> bool {
        matches!(self.method, MethodChoice::Joint(_))
    }

    /// Refuses options that do not go together, or not with the data.
    pub(super) fn check(&self, data: &Dataset) -> Result<(), OptionsError> {
        if !(0.0..1.0).contains(&self.alpha_spent) {
            return Err(OptionsError::new(format!(
                "`alpha_spent` is {}: it is a probability below 1, such as 0.2",
                self.alpha_spent
            )));
        }
        let own_bins = self.monitors.as_ref().is_some_and(|monitors| monitors.bins.is_some());
        let reference = self.monitors.as_ref().is_some_and(|monitors| monitors.scores.is_some());
        let is_matrix = data.vector_kind().is_some();
        let are_weighted = matches!(data.content(), Content::Weighted(_));
        let of_tables = is_matrix || data.groups().is_some() || (are_weighted && !reference);
        if self.candidates > 1 && self.monitors.is_some() && !own_bins && !self.is_joint() {
            return Err(OptionsError::new(
                "`candidates` states that bins were chosen by these labels, and monitors count in bins that were not: add \
                 `monitor_bins` with a number that was set without looking at the labels",
            ));
        }
        if self.table == TableWidth::Direct && data.encoding().is_none() {
            return Err(OptionsError::new("`table=direct` is for integer codes: add `score_encoding`"));
        }
        // Over codes every function is one of steps.
        if self.is_compact() && data.encoding().is_none() {
            self.check_steps()?;
        }
        if self.table == TableWidth::Steps {
            self.check_smooth()?;
        }
        self.check_classifiers(data.classifiers())?;
        let is_one_score = matches!(data.content(), Content::Points(_)) && data.groups().is_none();
        if self.band == Some(true) && (!is_one_score || data.is_of_passes()) {
            return Err(OptionsError::new(
                "a band is for one score of class 1, with rows in memory that count the same and have no groups: leave out `band`",
            ));
        }
        if is_matrix && reference {
            return Err(OptionsError::new(
                "monitors of several classes compare with the calibration scores: leave out `monitor_scores`",
            ));
        }
        if reference && !own_bins {
            return Err(OptionsError::new(
                "monitors that compare with separate scores need separate bins: add `monitor_bins` with a number",
            ));
        }
        if self.is_joint() {
            return self.check_joint();
        }
        if own_bins && of_tables {
            return Err(OptionsError::new(
                "`monitor_bins` goes with one score of rows that count the same: leave it out, and use `method=umd`, whose \
                 bins the monitors then have",
            ));
        }
        Ok(())
    }

    /// Refuses tables of 16-bit numbers for what is no step function.
    fn check_steps(&self) -> Result<(), OptionsError> {
        let name = match &self.method {
            MethodChoice::Auto | MethodChoice::Within(_) => return Ok(()),
            MethodChoice::Joint(_) => "a calibrator of whole vectors".into(),
            MethodChoice::Binary(ReductionOptions { method, .. }) => match method {
                BinaryMethod::UmdRandomized(..)
                | BinaryMethod::IsotonicInterpolated(_)
                | BinaryMethod::IsotonicCentered(_)
                | BinaryMethod::Unchanged
                | BinaryMethod::Blend(_)
                | BinaryMethod::Scaling(_)
                | BinaryMethod::BayesianTargets(_)
                | BinaryMethod::LeastSquares(_)
                | BinaryMethod::VennAbers => method.method().to_string(),
                _ => return Ok(()),
            },
        };
        Err(OptionsError::new(format!(
            "`table=u16` is for step functions, which {name} is not: leave it out"
        )))
    }

    /// Refuses steps for what is no function of one score alone.
    fn check_smooth(&self) -> Result<(), OptionsError> {
        let name = match &self.method {
            MethodChoice::Joint(_) => "a calibrator of whole vectors".into(),
            MethodChoice::Binary(ReductionOptions { method, .. })
                if matches!(method, BinaryMethod::UmdRandomized(..) | BinaryMethod::VennAbers) =>
            {
                method.method().to_string()
            }
            _ => return Ok(()),
        };
        Err(OptionsError::new(format!(
            "`table=steps` is for functions of one score, which {name} is not: leave it out"
        )))
    }

    /// Refuses what is about a guarantee where the scores are by several classifiers.
    fn check_classifiers(&self, classifiers: u32) -> Result<(), OptionsError> {
        let reference = self.monitors.as_ref().is_some_and(|monitors| monitors.scores.is_some());
        let about = [
            (matches!(self.method, MethodChoice::Within(_)), "epsilon"),
            (self.band == Some(true), "band"),
            (self.candidates > 1, "candidates"),
            (self.alpha_spent > 0.0, "alpha_spent"),
            // The scores of the classifier that is kept are no draws from those of the others.
            (self.monitors.is_some() && !reference, "monitor"),
        ];
        match (classifiers, about.iter().find(|(is_asked, _)| *is_asked)) {
            (2.., Some((_, option))) => Err(OptionsError::new(format!(
                "scores by {classifiers} classifiers have no guarantee: leave out `{option}`, or give scores by the classifier that is \
                 kept"
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses what is about a guarantee of bins, which a calibrator of whole vectors does not have.
    fn check_joint(&self) -> Result<(), OptionsError> {
        let asked = [
            (
                self.monitors.is_some(),
                "a calibrator of whole vectors has no bins of a score, in which monitors count: leave out `monitor`",
            ),
            (
                self.candidates > 1 || self.alpha_spent > 0.0,
                "a calibrator of whole vectors has no guarantee that depends on the choice of a method: leave out `candidates` and `alpha_spent`",
            ),
        ];
        match asked.into_iter().find(|(is_asked, _)| *is_asked) {
            Some((_, why)) => Err(OptionsError::new(why)),
            None => Ok(()),
        }
    }

    /// What monitors compare with: the separate bins are of these points, or of other scores.
    pub(super) fn monitoring(&self, points: Option<&BinaryData>) -> Result<Option<Monitoring>, NotFitted> {
        use crate::artifact::{CompileError, MonitorBins, MonitorError};
        let Some(options) = &self.monitors else { return Ok(None) };
        let &MonitorOptions { bins, shift, change, guarantee, action, .. } = options;
        let bins = match (bins, &options.scores, points) {
            (None, ..) => None,
            (Some(bins), Some(scores), Some(points)) => {
                match MonitorBins::of_scores(points.kind(), scores, bins.into()) {
                    Err(MonitorError::Fit(cause)) => return Err(NotFitted::ReferenceScores(cause)),
                    bins => Some(bins.map_err(CompileError::from)?),
                }
            }
            (Some(bins), None, Some(points)) => {
                Some(MonitorBins::of(points, bins.into()).map_err(CompileError::from)?)
            }
            (Some(_), _, None) => unreachable!("checked before"),
        };
        Ok(Some(Monitoring { shift, change, guarantee, bins, action }))
    }
}

/// What the lowest and the highest code stand for.
pub(super) fn range_of_codes(encoding: ScoreEncoding) -> Option<(f32, f32)> {
    let (lowest, highest) = encoding.code_range()?;
    let score = |code| Some(QuantizedScore::new(encoding, code).ok()?.dequantized());
    score(lowest).zip(score(highest))
}
