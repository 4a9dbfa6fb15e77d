//! Another prevalence: probabilities and what is guaranteed of them, where the disease is rarer or more frequent than among the
//! calibration points.
//!
//! Imports `stats`, `fit` and `artifact`.

mod artifact;
mod error;
mod estimate;
mod ranges;
mod shift;
mod table;

pub use artifact::{Adjustment, adjusted, adjusted_prevalence};
pub use error::AdjustError;
pub use estimate::EstimatedPrevalence;
pub use shift::{CalibrationPrevalence, Shift};
