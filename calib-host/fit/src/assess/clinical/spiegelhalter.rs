//! Spiegelhalter's test of calibration.

use serde::Serialize;
use statrs::function::erf::erfc;

use super::distinct::Distinct;
use super::undefined::{Figure, Undefined};

/// Spiegelhalter's statistic (1986): the Brier score less its mean under calibration, in standard deviations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spiegelhalter {
    /// The statistic, about standard normal for calibrated probabilities; large absolute values speak against calibration.
    pub z: f64,
    /// How often a calibrated model would have a larger one in size, by the normal distribution.
    pub p_value: f64,
}

impl Spiegelhalter {
    /// The statistic is that of as many rows as all of them amount to.
    pub(super) fn new(distinct: &Distinct, effective: u64) -> Figure<Self> {
        let (mut sum, mut variance) = (0.0, 0.0);
        distinct.for_each(|group| {
            let (n, prob) = (group.n as f64, group.score);
            let slope = 1.0 - 2.0 * prob;
            sum += (group.positives as f64 - n * prob) * slope;
            variance += n * slope * slope * prob * (1.0 - prob);
        });
        if variance == 0.0 {
            return Err(Undefined::NoVariance).into();
        }
        let z = sum / variance.sqrt() * (effective as f64 / distinct.n as f64).sqrt();
        Ok(Self { z, p_value: erfc(z.abs() / std::f64::consts::SQRT_2) }).into()
    }
}
