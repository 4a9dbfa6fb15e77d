//! Why a vector is not calibrated.

use core::fmt;

use crate::score::ClassCountError;

/// Why a vector was not calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum VectorError {
    /// The vector has another number of classes, or the memory is too short.
    Length(ClassCountError),
    /// The vector has probabilities, and the calibrator takes logits.
    NotLogits,
}

impl From<ClassCountError> for VectorError {
    fn from(error: ClassCountError) -> Self {
        Self::Length(error)
    }
}

impl fmt::Display for VectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(error) => error.fmt(f),
            Self::NotLogits => f.write_str("probabilities for a calibrator of logits"),
        }
    }
}

impl core::error::Error for VectorError {}
