//! What calibrating gives: a probability with its evidence, or the reason why there is none.
//!
//! An [`Outcome`] is [`Calibrated`] or [`Uncalibrated`], and never a bare score that poses as a probability.
//!
//! This room imports [`score`](crate::score).

mod calibrated;
mod interval;

pub use calibrated::{BinFlags, Calibrated, Outcome, Uncalibrated};
pub use interval::ProbInterval;
