//! Spiegelhalter's test of calibration.

use serde::Serialize;
use statrs::function::erf::erfc;

use super::undefined::{Figure, Undefined};
use crate::points::Group;
use crate::stats::ExactSum;

/// Spiegelhalter's statistic (1986): the Brier score less its mean under calibration, in standard deviations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spiegelhalter {
    /// The statistic, about standard normal for calibrated probabilities; large absolute values speak against calibration.
    pub z: f64,
    /// How often a calibrated model would have a larger one in size, by the normal distribution.
    pub p_value: f64,
}

/// By how much the rows are off, and the variance of that under calibration.
#[derive(Clone, Copy, Default)]
pub(super) struct Deviation {
    sum: ExactSum,
    variance: ExactSum,
}

impl Deviation {
    /// Goes on past all rows of one probability.
    #[inline]
    pub(super) fn pass(&mut self, Group { score, n, positives }: Group) {
        let slope = 1.0 - 2.0 * score;
        self.sum.add_times(slope, positives);
        self.sum -= ExactSum::of(score * slope, n);
        self.variance.add_times(slope * slope * score * (1.0 - score), n);
    }

    /// Goes on past other rows.
    pub(super) fn then(&mut self, others: &Self) {
        self.sum += others.sum;
        self.variance += others.variance;
    }
}

impl Spiegelhalter {
    /// The statistic of `n` rows is that of as many rows as all of them amount to.
    pub(super) fn new(deviation: &Deviation, n: u64, effective: u64) -> Figure<Self> {
        let (sum, variance) = (deviation.sum.value(), deviation.variance.value());
        if variance == 0.0 {
            return Err(Undefined::NoVariance).into();
        }
        let z = sum / variance.sqrt() * (effective as f64 / n as f64).sqrt();
        Ok(Self { z, p_value: erfc(z.abs() / std::f64::consts::SQRT_2) }).into()
    }
}
