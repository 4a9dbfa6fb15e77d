//! Why nothing was assessed.

use super::mismatch::Mismatch;
use crate::data::{DataError, Overlap};
use crate::error::FitError;
use crate::options_error::OptionsError;
use crate::sets::SetError;

/// Why nothing was assessed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AssessError {
    /// An option is out of range, or does not go with the data.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The data are of no use.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Points on a disk cannot be read.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The rows do not go with the artifact's prediction sets.
    #[error(transparent)]
    Sets(#[from] SetError),
    /// The artifact is for scores of another kind.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The artifact tells groups apart, and of which the rows are is not known.
    #[error("the artifact distinguishes the groups {known}: give the group of each row")]
    NoGroups {
        /// The groups that it knows.
        known: String,
    },
    /// The artifact does not know the group of a row.
    #[error("the artifact has no group {name:?}\n  artifact  has {known}")]
    UnknownGroup {
        /// The group.
        name: String,
        /// The groups that it knows.
        known: String,
    },
    /// No row is calibrated.
    #[error("no row has a probability: all are uncalibrated")]
    AllUncalibrated,
    /// The rows are those that the artifact was fitted to.
    #[error("{0} that the artifact was fitted to, and every figure would be optimistically biased")]
    SameRows(Overlap),
}
