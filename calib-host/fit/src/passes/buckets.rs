//! How scores are divided into buckets.

use super::error::PassError;
use crate::stats::ScoreKind;

/// How scores are divided into buckets, whose numbers ascend with the scores: the bucket of a score is `floor(score * per_unit)`, which
/// every engine computes exactly, since a power of two rounds nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Buckets {
    /// Those of probabilities: 65 536 from 0 to 1, and one of the score 1 alone.
    Probabilities,
    /// Those of margins: so many to the unit. [`Buckets::margins`] checks the number.
    Margins {
        /// A power of two.
        per_unit: f64,
    },
}

/// Bits of a double that are no part of its exponent or sign.
const FRACTION_BITS: u64 = (1 << 52) - 1;

impl Buckets {
    /// How many buckets of probabilities there are to the unit.
    pub const OF_PROBABILITIES: f64 = 65_536.0;

    /// Divides margins into so many buckets to the unit.
    ///
    /// # Errors
    ///
    /// [`PassError::PerUnit`] for a number that is no power of two from 2^-100 to 2^100.
    pub fn margins(per_unit: f64) -> Result<Self, PassError> {
        let is_power = per_unit.to_bits() & FRACTION_BITS == 0;
        let is_moderate = (2f64.powi(-100)..=2f64.powi(100)).contains(&per_unit);
        if is_power && is_moderate {
            Ok(Self::Margins { per_unit })
        } else {
            Err(PassError::PerUnit(per_unit))
        }
    }

    /// Returns how many buckets there are to the unit.
    pub fn per_unit(self) -> f64 {
        match self {
            Self::Probabilities => Self::OF_PROBABILITIES,
            Self::Margins { per_unit } => per_unit,
        }
    }

    /// Returns what the scores are.
    pub fn kind(self) -> ScoreKind {
        match self {
            Self::Probabilities => ScoreKind::Probability,
            Self::Margins { .. } => ScoreKind::Margin,
        }
    }

    /// Returns the number of the bucket of a score: a whole number, which may be too large for an integer.
    ///
    /// ```
    /// use calib_fit::passes::Buckets;
    ///
    /// assert_eq!(Buckets::Probabilities.of(0.5), 32_768.0);
    /// assert_eq!(Buckets::margins(1024.0)?.of(-1e-9), -1.0);
    /// # Ok::<(), calib_fit::passes::PassError>(())
    /// ```
    pub fn of(self, score: f64) -> f64 {
        (score * self.per_unit()).floor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_margins_are_powers_of_two() {
        for per_unit in [1.0, 0.25, 1024.0, 2f64.powi(100), 2f64.powi(-100)] {
            assert_eq!(Buckets::margins(per_unit).unwrap().per_unit(), per_unit);
        }
        for per_unit in [0.0, -2.0, 1000.0, f64::NAN, f64::INFINITY, 2f64.powi(101), 3.0] {
            assert!(Buckets::margins(per_unit).is_err(), "{per_unit}");
        }
    }

    /// A product with a power of two is exact, so that no score is in another bucket than its number says.
    #[test]
    fn a_bucket_begins_at_a_multiple_of_its_width() {
        for buckets in [Buckets::Probabilities, Buckets::margins(0.125).unwrap()] {
            for number in [0.0, 1.0, 77.0, 65_535.0] {
                let start = (number / buckets.per_unit()) as f32;
                assert_eq!(buckets.of(start.into()), number);
                assert_eq!(buckets.of(start.next_down().into()), number - 1.0);
            }
        }
        assert_eq!(
            Buckets::margins(2f64.powi(100)).unwrap().of(f32::MAX.into()),
            f64::from(f32::MAX) * 2f64.powi(100)
        );
    }
}
