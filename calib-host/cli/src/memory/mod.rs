//! Commands for data in memory: their options, with numbers in place of files.

mod assess;
mod fit;

pub use assess::{Judged, JudgedRows};
pub use fit::{Fault, FitRequest, Fitted, Refused, Rows, Scores, device_scores};
