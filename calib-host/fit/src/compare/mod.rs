//! Comparing methods, and numbers of bins, on held-out points.
//!
//! Imports every other room.

mod advice;
mod bins;
mod compared;
mod cross_validator;
mod data;
mod methods;
mod prepared;

pub use advice::Unmet;
pub use bins::{BinsTried, TestPoints, choose_bins, halves};
pub use compared::{CompareOptions, ComparedMethod, FailedMethod, PairedDifference, Split, fits};
pub use data::{Claim, CompareData, Contender};
pub use methods::{MethodComparison, compare_methods};
