//! Intervals of numbers.

use std::fmt;

use calib_core::ProbInterval;
use serde::Serialize;

use super::f32_rounding::{f32_ceil, f32_floor};
use super::shown::{places_between, write};

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
}

/// The ends in brackets, with the digits and signs that are asked for, and with more digits if both would be shown as 0; of `{:#}`
/// no line breaks between them.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, f.precision().map(|least| places_between(least, self.lo, self.hi)))
    }
}

impl Interval {
    /// Writes the ends with so many decimals.
    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, places: Option<usize>) -> fmt::Result {
        f.write_str("[")?;
        write(f, self.lo, places)?;
        f.write_str(if f.alternate() { ",\u{a0}" } else { ", " })?;
        write(f, self.hi, places)?;
        f.write_str("]")
    }

    /// The percentile interval of a plugin or debiased estimate of calibration error, moved to where the estimate is.
    ///
    /// In the world of the resamples the truth is the plugin estimate, around which their debiased estimates lie, and their
    /// plugin estimates have the same bias once more: both are too high by the difference of the two estimates.
    pub(crate) fn less_bias(self, plugin: f64, debiased: f64) -> Self {
        Self { lo: self.lo + debiased - plugin, hi: self.hi + debiased - plugin }
    }

    /// The same for a number that cannot be below 0.
    pub(crate) fn not_below_zero(self) -> Self {
        Self { lo: self.lo.max(0.0), hi: self.hi.max(0.0) }
    }

    /// The interval of a true mean absolute deviation, from the interval of the plugin estimate. The plugin estimate is too high on
    /// average, by at most `noise`. Debiasing takes away a part of that, but not always all: no estimate does.
    pub(crate) fn of_absolute_error(self, noise: f64) -> Self {
        Self { lo: self.lo - noise, ..self }.not_below_zero()
    }

    /// An interval of probabilities with ends in `f32` that are not inside of this one.
    pub(crate) fn outwards(self) -> ProbInterval {
        let lo = f32_floor(self.lo).clamp(0.0, 1.0);
        ProbInterval { lo, hi: f32_ceil(self.hi).clamp(lo, 1.0) }
    }

    /// The same, which holds the value.
    pub(crate) fn outwards_around(self, value: f32) -> ProbInterval {
        let ProbInterval { lo, hi } = self.outwards();
        ProbInterval { lo: lo.min(value), hi: hi.max(value) }
    }
}
