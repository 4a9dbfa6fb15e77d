//! How methods are compared, and what is found of each.

use serde::Serialize;

use crate::artifact::DeviceCost;
use crate::assess::{Bootstrap, EstimateWithInterval, ProperScore};

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareOptions {
    /// How held-out points come about.
    pub split: Split,
    /// What methods are ranked by.
    pub score: ProperScore,
    /// The failure probability of guarantees.
    pub alpha: f64,
    /// The widest guarantee that will do; `None` if none is needed.
    pub epsilon: Option<f64>,
    /// How to resample for intervals. Its seed also deals out the parts.
    pub bootstrap: Bootstrap,
}

/// How held-out points come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Split {
    /// The points are dealt out into parts, each of which is calibrated by a fit to the others.
    CrossValidation {
        /// The number of parts, at least 2.
        folds: usize,
        /// How often the points are dealt out again, at least 1.
        repeats: usize,
    },
    /// There are points for this alone.
    Test {
        /// How many.
        n: usize,
    },
}

/// A method that was compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedMethod {
    /// The method's name, as it was given.
    pub name: String,
    /// Its parameters.
    pub parameters: String,
    /// How many of the probabilities that the log-loss judged gave 0 to what happened, over all repeats, so that their loss is
    /// that of a probability of 2.2e-16. It is `None` for the Brier score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_loss_clipped: Option<u64>,
    /// How many classes or ranks stay uncalibrated in a fit to all points: their points keep their scores.
    pub uncalibrated_tables: usize,
    /// The mean loss of held-out points.
    pub loss: EstimateWithInterval,
    /// The mean loss less the mean loss of the scores as they are, on the same points: below 0 is better.
    pub change: EstimateWithInterval,
    /// How far the mean loss is above the lowest one of the methods that will do, or of all methods where none does.
    pub behind_best: PairedDifference,
    /// The epsilon that a fit to all points guarantees; `None` for no guarantee.
    pub epsilon: Option<f64>,
    /// Whether that is narrow enough; `None` if nothing was asked for.
    pub meets_epsilon: Option<bool>,
    /// The length of the artifact of a fit to all points, in bytes, without intervals of score ranges and without a band.
    pub len_bytes: usize,
    /// What a call costs on a device, given what was compared; `None` for forms that were not measured.
    pub cost: Option<DeviceCost>,
}

impl ComparedMethod {
    /// Whether it guarantees what was asked for.
    pub(super) fn will_do(&self) -> bool {
        self.meets_epsilon != Some(false)
    }

    /// The instructions of a call on the first core, a Cortex-M0, if they are known.
    pub(super) fn instructions(&self) -> Option<u64> {
        Some(self.cost.as_ref()?.cores.first()?.instructions.ceil() as u64)
    }

    /// Whether it is better than the scores as they are, beyond the noise of the points.
    pub(super) fn is_better(&self) -> bool {
        self.change.interval.map_or(self.change.value < 0.0, |interval| interval.hi < 0.0)
    }
}

/// A mean of differences of losses, point by point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedDifference {
    /// The mean.
    pub value: f64,
    /// Its standard error, by the differences of single points, or of whole clusters; NaN for one point or cluster.
    pub standard_error: f64,
}

/// A method that could not be fitted to these points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedMethod {
    /// The method's name, as it was given.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// How many fits each method takes.
///
/// ```
/// use calib_fit::compare::{Split, fits};
///
/// // One to the points outside each part, and one to all.
/// assert_eq!(fits(Split::CrossValidation { folds: 5, repeats: 2 }), 11);
/// ```
pub fn fits(split: Split) -> usize {
    match split {
        Split::CrossValidation { folds, repeats } => 1 + folds * repeats,
        Split::Test { .. } => 1,
    }
}
