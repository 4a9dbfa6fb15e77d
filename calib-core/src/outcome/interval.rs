//! An interval of probabilities.

use serde::{Deserialize, Serialize};

use crate::score::ONE_BITS;

/// An interval of probabilities: `lo <= hi`, both in `[0, 1]`.
///
/// ```
/// use calib_core::ProbInterval;
///
/// let interval = ProbInterval::new(0.25, 0.5).unwrap();
/// assert!(interval.contains(0.5));
/// assert_eq!(ProbInterval::new(0.5, 0.25), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ProbInterval {
    /// The lower end.
    pub lo: f32,
    /// The upper end.
    pub hi: f32,
}

impl ProbInterval {
    /// Makes an interval; `None` if an end is NaN, `-0.0` or outside `[0, 1]`, or if `lo` is above `hi`.
    pub const fn new(lo: f32, hi: f32) -> Option<Self> {
        if lo.to_bits() <= hi.to_bits() && hi.to_bits() <= ONE_BITS { Some(Self { lo, hi }) } else { None }
    }

    /// Tells whether `prob` lies in the interval, whose ends belong to it.
    pub const fn contains(&self, prob: f32) -> bool {
        self.lo <= prob && prob <= self.hi
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_within_zero_and_one_and_not_upside_down() {
        for (lo, hi) in [(0.0, 0.0), (0.0, 1.0), (0.25, 0.5), (1.0, 1.0)] {
            let interval = ProbInterval::new(lo, hi).unwrap();
            assert!(interval.contains(lo) && interval.contains(hi));
            assert!(!interval.contains(lo.next_down()) && !interval.contains(hi.next_up()));
        }
        for (lo, hi) in
            [(0.5, 0.25), (-0.0, 0.5), (0.5, 1.0f32.next_up()), (f32::NAN, 0.5), (0.5, f32::NAN), (-0.5, 0.5)]
        {
            assert_eq!(ProbInterval::new(lo, hi), None);
        }
    }
}
