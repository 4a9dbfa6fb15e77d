//! The probability at which one action becomes better than another.

use std::cmp::Ordering;

/// A probability `n / (n + p)` with whole numbers, exact: where an action that costs `n` more per negative and `p` less per
/// positive breaks even with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// At most 2^50.
    negative: u64,
    /// At most 2^50; not both are 0.
    positive: u64,
}

impl Threshold {
    /// `None` if both are 0, or one is above 2^50.
    pub fn new(negative: u64, positive: u64) -> Option<Self> {
        let fit = negative <= 1 << 50 && positive <= 1 << 50 && negative + positive > 0;
        // In lowest terms, so that equal values are equal.
        let divisor = greatest_common_divisor(negative, positive);
        fit.then(|| Self { negative: negative / divisor, positive: positive / divisor })
    }

    /// The nearest `f64`, in `[0, 1]`.
    pub fn get(self) -> f64 {
        self.negative as f64 / (self.negative + self.positive) as f64
    }

    /// Whether a probability in `[0, 1]` is above the threshold, exactly.
    pub fn is_below(self, prob: f64) -> bool {
        // prob = mantissa / 2^shift, so the question is whether mantissa * (n + p) > n * 2^shift.
        let bits = prob.to_bits();
        let exponent = (bits >> 52) as i32 & 0x7FF;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, shift) =
            if exponent == 0 { (fraction, 1074) } else { (fraction | 1 << 52, 1075 - exponent) };
        let (n, sum) = (u128::from(self.negative), u128::from(self.negative + self.positive));
        let left = u128::from(mantissa) * sum;
        // The left side is below 2^104: beyond that there is nothing to compare.
        if n > 0 && shift as u32 >= n.leading_zeros() {
            false
        } else {
            left > n.checked_shl(shift as u32).unwrap_or(0)
        }
    }

    /// The largest `f32` at or below the threshold: an `f32` is above the one if it is above the other.
    pub fn floor_f32(self) -> f32 {
        let mut floor = self.get() as f32;
        while floor > 0.0 && self.is_below(f64::from(floor)) {
            floor = floor.next_down();
        }
        while floor < 1.0 && !self.is_below(f64::from(floor.next_up())) {
            floor = floor.next_up();
        }
        floor
    }
}

impl PartialOrd for Threshold {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Threshold {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = u128::from(self.negative) * u128::from(other.positive);
        left.cmp(&(u128::from(other.negative) * u128::from(self.positive)))
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn threshold(negative: u64, positive: u64) -> Threshold {
        Threshold::new(negative, positive).unwrap()
    }

    #[test]
    fn ties_are_not_above() {
        let quarter = threshold(1_000_000, 3_000_000);
        assert_eq!((quarter.get(), quarter.floor_f32()), (0.25, 0.25));
        assert!(!quarter.is_below(0.25) && quarter.is_below(0.25f64.next_up()));
        // A tenth is not a binary fraction: the nearest f64 is above it, the nearest below is not.
        let tenth = threshold(1, 9);
        assert!(tenth.is_below(0.1) && !tenth.is_below(0.1f64.next_down()));
        assert_eq!(tenth.floor_f32(), 0.1f32.next_down());
        assert_eq!((threshold(0, 5).floor_f32(), threshold(5, 0).floor_f32()), (0.0, 1.0));
        assert!(threshold(0, 1).is_below(5e-324) && !threshold(1, 1 << 50).is_below(5e-324));
        assert!(!threshold(0, 1).is_below(0.0));
        assert_eq!((Threshold::new(0, 0), Threshold::new(1 << 51, 1)), (None, None));
    }

    proptest! {
        /// Against `mantissa * (n + p) > n * 2^24`, whose terms are small enough to be written down.
        #[test]
        fn comparisons_are_exact(n in 0u64..1 << 50, p in 1u64..1 << 50, k in 0u32..=1 << 24) {
            let t = threshold(n, p);
            let prob = f64::from(k) / f64::from(1 << 24);
            let expected = u128::from(k) * u128::from(n + p) > u128::from(n) << 24;
            prop_assert_eq!(t.is_below(prob), expected);
            prop_assert!((t.get() - n as f64 / (n + p) as f64).abs() < 1e-15);
        }

        /// No f32 is on different sides of a threshold and of what the device compares with.
        #[test]
        fn the_floor_decides_as_the_threshold(n in 0u64..1 << 50, p in 1u64..1 << 50, scale in 0u32..50, bits in 0u32..=0x3F80_0000) {
            let t = threshold(n >> scale, p);
            let floor = t.floor_f32();
            let probes = [f32::from_bits(bits), floor.next_down().max(0.0), floor, floor.next_up().min(1.0), 0.0, 1.0];
            for prob in probes {
                prop_assert_eq!(prob > floor, t.is_below(prob.into()), "{} {}", prob, floor);
            }
        }
    }
}
