//! Comparing methods, and numbers of bins, on held-out points.
//!
//! Imports every other room.

mod bins;
mod data;
mod methods;

pub use bins::{BinsTried, TestPoints, choose_bins, halves};
pub use data::{Claim, CompareData, Contender};
pub use methods::{
    CompareOptions, ComparedMethod, FailedMethod, MethodComparison, Split, compare_methods, fits,
};
