//! Exact intervals of the event rate in ranges of the score, beside any calibrator.
//!
//! A statement about the labels in a range of the score does not depend on the value that a calibrator gives there. So the rows that a
//! calibrator is fitted to give the intervals, too. The ranges depend on the scores, never on the labels. Imports `stats`, `error`,
//! `points`, `data`, `guarantee`, `binary` and `reduction`.

mod cut;
mod fit;

pub(crate) use cut::nearest_edges;
pub(crate) use fit::LARGEST_LEVEL;
pub use fit::{Intervals, RangeBin, TableIntervals, fit, fit_predicted, fit_problems, number_of_bins};
