//! A fit to rows that stay where they are, which a database counts in two passes.
//!
//! The first pass counts rows by [bucket](Buckets): a table of a few thousand rows, however many are counted. It settles most of what a
//! fit depends on. What it leaves open lies within [some of the buckets](FirstPass::open_buckets), whose scores a second pass counts one
//! by one. [Both together](FirstPass::points) give the fit of all rows, to the last bit.
//!
//! ```
//! use calib_fit::passes::{Bucket, Buckets, FirstPass};
//! use calib_fit::{BinaryData, BinaryMethod, Umd, fit_binary};
//!
//! let scores: Vec<f64> = (0..400).map(|i| f64::from(i) / 8192.0).collect();
//! let labels: Vec<bool> = (0..400).map(|i| i % 3 == 0).collect();
//! let umd = BinaryMethod::Umd(Umd::new(4));
//!
//! // What `GROUP BY floor(score * 65536)` gives; here every bucket has one score.
//! let bucket = |(&score, &label): (&f64, &bool)| Bucket {
//!     number: Buckets::Probabilities.of(score),
//!     n: 1,
//!     positives: label.into(),
//!     lowest: score,
//!     highest: score,
//!     ties: None,
//! };
//! let rows = scores.iter().zip(&labels).map(bucket).collect();
//! let first = FirstPass::new(Buckets::Probabilities, rows)?;
//! assert!(first.open_buckets(&[umd])?.is_empty());
//! let counted = first.points(&[], Vec::new())?;
//! assert_eq!(fit_binary(&counted, &umd, 0.1)?, fit_binary(&BinaryData::new(scores, labels)?, &umd, 0.1)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where each group of rows is to have a separate table, both passes count [by group](GroupedPass).
//!
//! Imports `stats`, `error`, `points`, `data`, `binary` and `reduction`.

mod buckets;
mod error;
mod first;
mod grouped;
mod open;
mod second;

#[cfg(test)]
mod grouped_tests;
#[cfg(test)]
mod tests;

pub use buckets::Buckets;
pub use error::PassError;
pub use first::{Bucket, BucketTies, FirstPass};
pub use grouped::{GroupedPass, OpenGroup};
pub use open::check_method;
