//! Why a calibrator is not adjusted.

use calib_core::artifact::{Reduction, WriteError};

use crate::artifact::MonitorError;

/// Why a calibrator is not adjusted to another prevalence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AdjustError {
    /// A prevalence or a failure probability is not between 0 and 1.
    #[error("the {name} is {value:?}: it must lie between 0 and 1")]
    Share {
        /// What it is.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// The artifact is not about one score.
    #[error("prevalence is about two classes, and the artifact is {0}")]
    Reduction(Reduction),
    /// The artifact has no table, or one for each group.
    #[error("{}", if *.0 == 0 { "the artifact has thresholds or sets alone, and no probabilities" } else { "each group has a prevalence of its own: the artifact has a table for each" })]
    Tables(usize),
    /// A straight line between knots does not stay one.
    #[error(
        "a line between knots is no line at another prevalence: fit steps instead (isotonic without interpolation)"
    )]
    Interpolated,
    /// The failure probabilities add up to 1 or more.
    #[error("the failure probabilities add up to {0}: nothing would be left to guarantee")]
    Alpha(f64),
    /// All probabilities are the same: nothing can be learned from them.
    #[error("the probabilities are all equal to the calibration prevalence: they do not tell the new one")]
    Flat,
    /// There are no rows.
    #[error("there are no calibrated rows")]
    Empty,
    /// Monitors have nothing to compare with.
    #[error(transparent)]
    Monitors(#[from] MonitorError),
    /// The artifact is not written.
    #[error(transparent)]
    Write(#[from] WriteError),
}
