//! How many classes a classifier may tell apart.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The largest number of classes: class indices are `u16`.
pub const MAX_CLASSES: usize = u16::MAX as usize;

/// The largest number of ranks of a top-k calibrator.
pub const MAX_TOP_K: usize = 16;

/// Why a vector does not go with a calibrator: it has another number of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassCountError {
    /// The calibrator's number of classes.
    pub expected: usize,
    /// The vector's number of classes.
    pub got: usize,
}

impl ClassCountError {
    /// Checks that both numbers are the same.
    pub(crate) const fn check(expected: usize, got: usize) -> Result<(), Self> {
        if expected == got { Ok(()) } else { Err(Self { expected, got }) }
    }
}

impl fmt::Display for ClassCountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a vector of {} classes for a calibrator of {}", self.got, self.expected)
    }
}

impl core::error::Error for ClassCountError {}
