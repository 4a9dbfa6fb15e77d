//! Why a fit has no form that a device can run.

use calib_core::ScoreEncoding;
use calib_core::artifact::WriteError;

use super::monitors::MonitorError;
use super::rules::RuleError;

/// Why a fit has no table over codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodesError {
    /// The encoding has no codes, or an impossible scale or zero point.
    #[error("the scale is not a number above 0, or the zero point is not a code")]
    Encoding,
    /// A code stands for a number beyond the largest `f32`.
    #[error("some codes stand for numbers beyond the largest f32: the scale is too large")]
    Infinite,
    /// A lookup of a code has no random word and no interval.
    #[error("{0} has no table over integer codes")]
    Method(&'static str),
    /// A smooth function takes so many steps that a table of them is larger than [`MAX_CODE_STEPS`].
    #[error("as a table over codes the function needs {0} steps, more than {MAX_CODE_STEPS}")]
    TooManySteps(usize),
}

/// The most steps that a function may take over codes: a table of 32 KiB.
pub const MAX_CODE_STEPS: usize = 4096;

/// Why a fit has no form that a device can run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// An edge is not an `f32`: the fit was made on scores that no device produces.
    #[error("edge {0} is not an f32: fit on scores as the device sees them")]
    Edge(f64),
    /// A parameter is not an `f32`, or out of the device's range: the fit is degenerate.
    #[error("a fitted parameter is too large for the device: the fit is degenerate")]
    Parameter,
    /// A table is no step function, and only those have a form in 16-bit numbers.
    #[error("only step functions have tables of 16-bit numbers")]
    NotSteps,
    /// Two edges are too near to each other, or one to 0, for a table of 16-bit numbers.
    #[error("edge {0} equals a neighboring edge in 16 bits: use a table of f32")]
    TooFine(f64),
    /// The fit has no table over integer codes.
    #[error(transparent)]
    Codes(#[from] CodesError),
    /// A direct table was asked for, and scores are not 8-bit codes.
    #[error("scores in {0} have no direct table: only 8-bit codes have one")]
    NoDirectTable(ScoreEncoding),
    /// There is nothing that monitors could compare with.
    #[error(transparent)]
    Monitors(#[from] MonitorError),
    /// A group has no name that an artifact can hold.
    #[error(transparent)]
    Groups(RuleError),
    /// The tables or the header do not fit the format.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl CompileError {
    /// Returns whether what was asked for is wrong, whatever the data.
    pub fn is_about_options(&self) -> bool {
        match self {
            // Ties are of the data.
            Self::Monitors(cause) => *cause != MonitorError::Ties,
            Self::Codes(_) | Self::NoDirectTable(_) => true,
            _ => false,
        }
    }
}
