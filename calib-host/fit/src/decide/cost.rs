//! A cost, exact to the last digit.

use serde::{Serialize, Serializer};

/// A cost in any unit: from 0 to 10^9 in steps of a millionth.
///
/// Kept as a whole number of millionths: what is written `0.1` is a tenth, not the nearest binary fraction, and where two
/// actions cost the same they do so exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    millionths: u64,
}

/// Why a number is not a cost.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// NaN or infinite.
    #[error("a cost of {0} is no number")]
    NotFinite(f64),
    /// Below 0.
    #[error("the cost {0} is negative")]
    Negative(f64),
    /// Above 10^9.
    #[error("the cost {0} is above 1e9")]
    TooLarge(f64),
    /// More than six decimals.
    #[error("the cost {0} has more than six decimals")]
    TooFine(f64),
}

const UNIT: f64 = 1e6;

const LARGEST: f64 = 1e9;

impl Cost {
    /// Takes a number for a cost.
    ///
    /// # Errors
    ///
    /// If it is not finite, negative, above 10^9, or has more than six decimals.
    pub fn new(value: f64) -> Result<Self, CostError> {
        if !value.is_finite() {
            return Err(CostError::NotFinite(value));
        }
        if value < 0.0 {
            return Err(CostError::Negative(value));
        }
        if value > LARGEST {
            return Err(CostError::TooLarge(value));
        }
        let millionths = (value * UNIT).round();
        // Of a decimal with that many digits this is the nearest f64, as the value is.
        if millionths / UNIT != value {
            return Err(CostError::TooFine(value));
        }
        Ok(Self { millionths: millionths as u64 })
    }

    /// The cost as the nearest `f64`.
    pub fn get(self) -> f64 {
        self.millionths as f64 / UNIT
    }

    /// In millionths, at most 10^15.
    pub(super) fn millionths(self) -> u64 {
        self.millionths
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (value, millionths) in
            [(0.0, 0), (-0.0, 0), (0.1, 100_000), (0.3, 300_000), (1e9, 1_000_000_000_000_000)]
        {
            assert_eq!(Cost::new(value).map(Cost::millionths), Ok(millionths));
        }
        for millionths in [1, 7, 123_456_789, 999_999_999_999_999] {
            let value = millionths as f64 / UNIT;
            assert_eq!(Cost::new(value), Ok(Cost { millionths }));
            assert_eq!(Cost { millionths }.get(), value);
        }
    }

    #[test]
    fn refuses_what_is_no_cost() {
        assert!(matches!(Cost::new(f64::NAN), Err(CostError::NotFinite(_))));
        assert_eq!(Cost::new(f64::INFINITY), Err(CostError::NotFinite(f64::INFINITY)));
        assert_eq!(Cost::new(-0.5), Err(CostError::Negative(-0.5)));
        assert_eq!(Cost::new(1e9 + 1.0), Err(CostError::TooLarge(1e9 + 1.0)));
        assert_eq!(Cost::new(0.000_000_5), Err(CostError::TooFine(0.000_000_5)));
    }
}
