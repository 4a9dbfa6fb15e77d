//! How many positives there are for each that is expected.

use serde::Serialize;

use super::undefined::{Figure, Undefined};
use crate::assess::EstimateWithInterval;
use crate::stats::{Interval, effective_clopper_pearson};

/// Observed over expected.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ObservedExpected {
    /// The positives.
    pub observed: u64,
    /// The sum of the probabilities.
    pub expected: f64,
    /// Their ratio; 1 is best. The interval is that of the rate of positives (Clopper and Pearson) divided by the mean probability,
    /// which is held fixed.
    pub ratio: Figure,
}

impl ObservedExpected {
    /// Of `n` rows, which amount to fewer independent ones.
    pub(super) fn new((n, effective): (u64, u64), observed: u64, expected: f64, alpha: f64) -> Self {
        let ratio = || {
            let rate = effective_clopper_pearson(observed, n, effective, alpha);
            let mean = expected / n as f64;
            let interval = Some(Interval { lo: rate.lo / mean, hi: rate.hi / mean });
            EstimateWithInterval { value: observed as f64 / expected, interval }
        };
        let ratio = if expected > 0.0 { Ok(ratio()) } else { Err(Undefined::NothingExpected) };
        Self { observed, expected, ratio: ratio.into() }
    }
}
