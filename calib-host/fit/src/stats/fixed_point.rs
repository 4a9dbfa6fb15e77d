//! Sums of floats that do not depend on the order of the terms.

/// Terms are rounded to the nearest multiple of `1 / SCALE`: the error of a mean is below 1e-12.
const SCALE: f64 = (1u64 << 40) as f64;

/// Added to a number below 2^51 in magnitude, it leaves the bits of the nearest integer alone.
const TO_INTEGER: f64 = 3.0 * (1u64 << 51) as f64;

/// So many terms below 2^10 in magnitude cannot overflow an `i64` once scaled.
const BLOCK: usize = 1 << 12;

/// `K` sums in fixed point, which are exact: integers may be added in any order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sums<const K: usize>([i128; K]);

impl<const K: usize> Default for Sums<K> {
    fn default() -> Self {
        Self([0; K])
    }
}

impl<const K: usize> Sums<K> {
    /// Adds terms `times` over.
    pub(crate) fn add(&mut self, terms: [f64; K], times: u64) {
        for (sum, term) in self.0.iter_mut().zip(terms) {
            *sum += i128::from(fixed(term)) * i128::from(times);
        }
    }

    /// Adds the terms of every item once.
    pub(crate) fn add_all<I>(&mut self, items: &[I], terms: impl Fn(&I) -> [f64; K]) {
        for block in items.chunks(BLOCK) {
            let mut sums = [0i64; K];
            for item in block {
                for (sum, term) in sums.iter_mut().zip(terms(item)) {
                    *sum += fixed(term);
                }
            }
            for (sum, block) in self.0.iter_mut().zip(sums) {
                *sum += i128::from(block);
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (sum, other) in self.0.iter_mut().zip(other.0) {
            *sum += other;
        }
    }
}

/// The sums divided by `n` points.
pub(crate) fn mean<const K: usize>(sums: Sums<K>, n: u64) -> [f64; K] {
    sums.0.map(|sum| sum as f64 / SCALE / n as f64)
}

/// Terms are kept to what a block can add. Quicker than a cast, which has to take care of larger numbers.
fn fixed(term: f64) -> i64 {
    let sum = term.clamp(-1024.0, 1024.0) * SCALE + TO_INTEGER;
    sum.to_bits().wrapping_sub(TO_INTEGER.to_bits()).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The order of terms and how often they are repeated at once do not matter, and the mean is near the real one.
        #[test]
        fn are_exact(terms in proptest::collection::vec(-100.0f64..100.0, 1..6000)) {
            let mut forwards = Sums::default();
            forwards.add_all(&terms, |&term| [term, 1.0]);
            let mut backwards = Sums::default();
            let (front, back) = terms.split_at(terms.len() / 3);
            back.iter().for_each(|&term| backwards.add([term, 1.0], 2));
            front.iter().for_each(|&term| backwards.add([term, 1.0], 2));
            let n = terms.len() as u64;
            prop_assert_eq!(mean(forwards, n), mean(backwards, 2 * n));
            let [got, one] = mean(forwards, n);
            prop_assert_eq!(one, 1.0);
            prop_assert!((got - terms.iter().sum::<f64>() / n as f64).abs() < 1e-11);
        }
    }

    #[test]
    fn terms_are_rounded_to_the_nearest_multiple() {
        let unit = 1.0 / SCALE;
        for (term, rounded) in [(0.4, 0), (0.6, 1), (-0.6, -1), (-2.5, -2), (7.0, 7)] {
            assert_eq!(fixed(term * unit), rounded, "{term}");
        }
        assert_eq!((fixed(1024.0), fixed(-1e9)), (1 << 50, -(1 << 50)));
    }

    #[test]
    fn a_full_block_of_the_largest_terms_does_not_overflow() {
        let mut sums = Sums::default();
        sums.add_all(&[f64::INFINITY; BLOCK], |&term| [term]);
        assert_eq!(mean(sums, BLOCK as u64), [1024.0]);
    }
}
