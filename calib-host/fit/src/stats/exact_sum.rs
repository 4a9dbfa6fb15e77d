//! Sums that do not depend on the order of what is summed.

/// Fractional bits of a term.
const SCALE: f64 = (1u64 << 62) as f64;

/// The sum of fewer than 2^63 numbers in `[-1, 1]`, each rounded once to a multiple of 2^-62 and then added as integers: the
/// same in every order, and closer to the truth than a sum of `f64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExactSum(i128);

impl ExactSum {
    /// Adds a number in `[-1, 1]`.
    pub(crate) fn add(&mut self, value: f64) {
        debug_assert!(value.abs() <= 1.0);
        self.0 += i128::from((value * SCALE) as i64);
    }

    /// Adds it so many times.
    pub(crate) fn add_times(&mut self, value: f64, times: u64) {
        debug_assert!(value.abs() <= 1.0);
        self.0 += i128::from((value * SCALE) as i64) * i128::from(times);
    }

    /// A number in `[-1, 1]`, so many times.
    pub(crate) fn of(value: f64, times: u64) -> Self {
        let mut sum = Self::default();
        sum.add_times(value, times);
        sum
    }

    /// The sum, rounded to the nearest `f64`.
    pub(crate) fn value(self) -> f64 {
        self.0 as f64 / SCALE
    }
}

impl std::ops::AddAssign for ExactSum {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl std::ops::SubAssign for ExactSum {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl std::ops::Add for ExactSum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl std::ops::Sub for ExactSum {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// A count, as the sum of so many ones.
impl From<u64> for ExactSum {
    fn from(count: u64) -> Self {
        Self(i128::from(count) << 62)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_does_not_matter() {
        let terms = [1.0, 1e-17, 0.1, -0.3, 0.7, 2f64.powi(-62), -1.0];
        let sum = |terms: &mut dyn Iterator<Item = f64>| {
            let mut sum = ExactSum::default();
            terms.for_each(|term| sum.add(term));
            sum
        };
        assert_eq!(sum(&mut terms.into_iter()), sum(&mut terms.into_iter().rev()));
        assert!((sum(&mut terms.into_iter()).value() - 0.5).abs() < 1e-16);
    }

    #[test]
    fn ten_million_tenths_are_a_million() {
        let mut sum = ExactSum::default();
        sum.add_times(0.1, 10_000_000);
        let mut one_by_one = ExactSum::default();
        (0..10_000_000).for_each(|_| one_by_one.add(0.1));
        assert_eq!(sum, one_by_one);
        assert_eq!(sum.value(), 1_000_000.0);
        assert_eq!(ExactSum::from(3).value(), 3.0);
    }
}
