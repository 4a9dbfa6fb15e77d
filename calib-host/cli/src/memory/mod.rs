//! Commands for data in memory: their options, with numbers in place of files.

mod fit;

pub use fit::{Fault, FitRequest, Fitted, Refused, Rows, Scores, device_scores};
