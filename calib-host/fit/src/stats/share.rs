//! Counts with what they say of a share.

use super::clopper_pearson::clopper_pearson;
use super::interval::Interval;

/// A count of rows, and the exact interval of the true share.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Share {
    /// How many of the rows are meant.
    pub count: u64,
    /// The number of rows.
    pub n: u64,
    /// The Clopper-Pearson interval of the share.
    pub interval: Interval,
}

impl Share {
    /// Takes `count` of `n` rows, with an interval that fails with probability alpha.
    ///
    /// # Panics
    ///
    /// If `count > n`, or alpha is not in `(0, 1)`.
    pub fn new(count: u64, n: u64, alpha: f64) -> Self {
        Self { count, n, interval: clopper_pearson(count, n, alpha) }
    }
}
