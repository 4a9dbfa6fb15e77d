//! Why a job has no result.

use calib_core::artifact::WriteError;

use crate::adjust::AdjustError;
use crate::artifact::{MonitorError, RuleError};
use crate::data::DataError;
use crate::error::FitError;
use crate::operating::OperatingError;
use crate::options_error::OptionsError;
use crate::sets::SetError;

/// Why a job has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// Options are out of range, or make no sense together.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// An artifact is not for this.
    #[error("{0}")]
    Mismatch(&'static str),
    /// The rows that methods are to be judged by are those that they are fitted to.
    #[error(
        "the test data are the rows that every method is fitted to, and every figure would be optimistically biased"
    )]
    SameRows,
    /// The test rows are not by the classifier of the others.
    #[error("the test data are of another classifier, with {test} classes in place of {classes}")]
    OtherClasses {
        /// How many classes there are.
        classes: usize,
        /// How many the test rows have.
        test: usize,
    },
    /// No row has a calibrated probability.
    #[error("no row has a probability: all are uncalibrated")]
    AllUncalibrated,
    /// The rows do not go with what is asked.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Rows cannot be read back, or nothing is fitted to them.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// There are no thresholds that keep what is asked.
    #[error(transparent)]
    Operating(#[from] OperatingError),
    /// There are no prediction sets that keep what is asked.
    #[error(transparent)]
    Sets(#[from] SetError),
    /// A rule does not go into an artifact.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A calibrator is not adjusted to another prevalence.
    #[error(transparent)]
    Adjust(#[from] AdjustError),
    /// There are no monitors.
    #[error(transparent)]
    Monitors(#[from] MonitorError),
    /// An artifact is not written.
    #[error(transparent)]
    Write(#[from] WriteError),
}
