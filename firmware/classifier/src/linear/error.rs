//! Why a file holds no classifier.

use std::path::PathBuf;
use std::{fmt, io};

use calib_core::wire::MAX_VALUES;

/// Why a file was not read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelError {
    /// Reading or writing this file failed.
    Io(PathBuf, io::Error),
    /// This file does not hold a linear classifier.
    Content(PathBuf, serde_json::Error),
}

/// Why parameters are not a [`LinearModel`](super::LinearModel).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelFault {
    /// The name is empty or longer than 32 bytes.
    Name,
    /// A list, named here, has the second length where the first is needed.
    Length(String, usize, usize),
    /// There is no feature, or more than 128; the number there is.
    FeatureCount(usize),
    /// There is no output, or more than 128; the number there is.
    OutputCount(usize),
    /// A number, named here, is not finite as an f32.
    NotFinite(String),
    /// This feature's scale is not above 0, or one over it is not finite.
    Scale(usize),
    /// The alarm's threshold is outside `[0, 1]`.
    Alarm(f32),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Content(path, error) => {
                write!(f, "{} is not a linear classifier: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for ModelError {}

impl fmt::Display for ModelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("the name has 1 to 32 bytes"),
            Self::Length(list, needed, got) => {
                write!(f, "{list} has {got} numbers where {needed} are needed")
            }
            Self::FeatureCount(got) => write!(f, "{got} features: a request holds 1 to {MAX_VALUES}"),
            Self::OutputCount(got) => write!(f, "{got} outputs: a classifier has 1 to {MAX_VALUES}"),
            Self::NotFinite(number) => write!(f, "{number} is not a finite f32"),
            Self::Scale(feature) => write!(f, "scale[{feature}] is not a positive number"),
            Self::Alarm(threshold) => write!(f, "the alarm's threshold {threshold} is outside [0, 1]"),
        }
    }
}

impl std::error::Error for ModelFault {}
