//! Commands for data in memory: their options, with numbers in place of files.

mod assess;
mod scores;

pub use assess::{Judged, JudgedRows};
pub use scores::{Fault, Refused, Scores};
