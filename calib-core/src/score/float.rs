//! A classifier's score, checked once.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The bit pattern of `1.0f32`.
///
/// Bit patterns of non-negative floats are ordered like the floats. One comparison of integers therefore tells valid scores
/// from NaN, infinities, negative and too large values.
pub(crate) const ONE_BITS: u32 = 0x3F80_0000;
pub(super) const SIGN_BIT: u32 = 1 << 31;

/// A classifier's score: an `f32` in `[0, 1]`, never NaN, never `-0.0`.
///
/// ```
/// use calib_core::{Score, ScoreError};
///
/// assert_eq!(Score::new(0.25)?.get(), 0.25);
/// assert_eq!(Score::new(f32::NAN), Err(ScoreError::NaN));
/// assert_eq!(Score::new(1.5), Err(ScoreError::OutOfRange(1.5)));
/// # Ok::<(), ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(try_from = "f32", into = "f32")]
pub struct Score(f32);

/// Why a value is not a [`Score`], or no [`Margin`](crate::score::Margin).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ScoreError {
    /// The value is not a number.
    NaN,
    /// The value is positive or negative infinity.
    Infinite,
    /// The value, given here, lies outside `[0, 1]`.
    OutOfRange(f32),
}

impl Score {
    /// The lowest score.
    pub const ZERO: Self = Self(0.0);
    /// The highest score.
    pub const ONE: Self = Self(1.0);

    /// Checks that `value` is in `[0, 1]`; `-0.0` becomes `0.0`.
    ///
    /// # Errors
    ///
    /// NaN, infinities and values outside `[0, 1]`.
    #[inline]
    pub const fn new(value: f32) -> Result<Self, ScoreError> {
        if value.to_bits() <= ONE_BITS { Ok(Self(value)) } else { Self::reject(value) }
    }

    /// Checks like [`Score::new`], but moves a value that is at most `tolerance` outside `[0, 1]` to the nearer end.
    ///
    /// An entry of a softmax computed in f32 may exceed 1 by about 4e-7. [`Score::new`] refuses such an entry.
    ///
    /// ```
    /// use calib_core::Score;
    ///
    /// assert_eq!(Score::new_clamped(1.000_000_4, 1e-6), Ok(Score::ONE));
    /// assert!(Score::new_clamped(1.01, 1e-6).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// NaN, infinities and values outside `[-tolerance, 1 + tolerance]`.
    pub const fn new_clamped(value: f32, tolerance: f32) -> Result<Self, ScoreError> {
        if value.is_infinite() {
            Err(ScoreError::Infinite)
        } else if value < 0.0 && value >= -tolerance {
            Ok(Self::ZERO)
        } else if value > 1.0 && value - 1.0 <= tolerance {
            Ok(Self::ONE)
        } else {
            Self::new(value)
        }
    }

    #[cold]
    const fn reject(value: f32) -> Result<Self, ScoreError> {
        const INFINITE_BITS: u32 = f32::INFINITY.to_bits();
        // On a Cortex-M0 the call of the function that compares floats saves two instructions on the path of valid scores:
        // the core has few registers and no conditional instructions.
        let is_zero = if cfg!(all(target_arch = "arm", not(target_has_atomic = "32"))) {
            value == 0.0
        } else {
            value.to_bits() == SIGN_BIT
        };
        if is_zero {
            return Ok(Self::ZERO);
        }
        match value.to_bits() & !SIGN_BIT {
            INFINITE_BITS => Err(ScoreError::Infinite),
            magnitude if magnitude > INFINITE_BITS => Err(ScoreError::NaN),
            _ => Err(ScoreError::OutOfRange(value)),
        }
    }

    /// Returns the value, in `[0, 1]`.
    #[inline]
    pub const fn get(self) -> f32 {
        self.0
    }

    /// Returns the nearest of 65 536 evenly spaced keys, where `k` stands for the score `k / 65 535`.
    ///
    /// The rounding is done in f32 and gives the same key on every target. The key never falls as the score rises.
    ///
    /// ```
    /// use calib_core::Score;
    ///
    /// assert_eq!(Score::ONE.rounded_key(), 65_535);
    /// assert_eq!(Score::new(0.2)?.rounded_key(), 13_107);
    /// # Ok::<(), calib_core::ScoreError>(())
    /// ```
    #[inline]
    pub const fn rounded_key(self) -> u16 {
        (self.0 * u16::MAX as f32 + 0.5) as u16
    }

    /// Returns the bit pattern: an integer ordered like the scores.
    #[inline]
    pub const fn to_bits(self) -> u32 {
        self.0.to_bits()
    }
}

impl TryFrom<f32> for Score {
    type Error = ScoreError;

    fn try_from(value: f32) -> Result<Self, ScoreError> {
        Self::new(value)
    }
}

/// For what is fitted on a host: checks the number itself, then maps it to the nearest `f32`. A number just above 1 is refused
/// although its `f32` is 1.
impl TryFrom<f64> for Score {
    type Error = ScoreError;

    fn try_from(value: f64) -> Result<Self, ScoreError> {
        let nearest = value as f32;
        if value < 0.0 || value > 1.0 && value.is_finite() {
            return Err(ScoreError::OutOfRange(if nearest == 1.0 { 1.0f32.next_up() } else { nearest }));
        }
        Self::new(nearest)
    }
}

impl From<Score> for f32 {
    fn from(score: Score) -> Self {
        score.0
    }
}

impl fmt::Display for ScoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NaN => f.write_str("the score is NaN"),
            Self::Infinite => f.write_str("the score is infinite"),
            Self::OutOfRange(value) => write!(f, "the score {value} is outside [0, 1]"),
        }
    }
}

impl core::error::Error for ScoreError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_just_above_one_is_refused_although_it_rounds_to_one() {
        assert!(matches!(Score::try_from(1.0 + 1e-12), Err(ScoreError::OutOfRange(_))));
        assert!(matches!(Score::try_from(-1e-300), Err(ScoreError::OutOfRange(_))));
        assert_eq!(Score::try_from(1.0), Ok(Score::ONE));
        assert_eq!(Score::try_from(f64::NAN), Err(ScoreError::NaN));
        assert_eq!(Score::try_from(f64::INFINITY), Err(ScoreError::Infinite));
        assert_eq!(Score::try_from(1e-60), Ok(Score::ZERO));
    }

    #[test]
    fn accepts_exactly_the_closed_unit_interval() {
        for value in [0.0, f32::MIN_POSITIVE, f32::from_bits(1), 0.5, 1.0 - f32::EPSILON, 1.0] {
            assert_eq!(Score::new(value).map(Score::get), Ok(value));
        }
        assert_eq!(Score::new(-0.0).map(Score::to_bits), Ok(0));
        assert_eq!(Score::new(f32::NAN), Err(ScoreError::NaN));
        assert_eq!(Score::new(-f32::NAN), Err(ScoreError::NaN));
        assert_eq!(Score::new(f32::INFINITY), Err(ScoreError::Infinite));
        assert_eq!(Score::new(f32::NEG_INFINITY), Err(ScoreError::Infinite));
        for value in [1.0f32.next_up(), -f32::from_bits(1), f32::MAX, f32::MIN] {
            assert_eq!(Score::new(value), Err(ScoreError::OutOfRange(value)));
        }
    }

    #[test]
    fn clamps_only_within_the_tolerance() {
        assert_eq!(Score::new_clamped(1.000_000_4, 1e-6), Ok(Score::ONE));
        assert_eq!(Score::new_clamped(-1e-7, 1e-6), Ok(Score::ZERO));
        assert_eq!(Score::new_clamped(1.01, 1e-6), Err(ScoreError::OutOfRange(1.01)));
        assert_eq!(Score::new_clamped(-0.01, 1e-6), Err(ScoreError::OutOfRange(-0.01)));
        assert_eq!(Score::new_clamped(f32::NAN, 1e-6), Err(ScoreError::NaN));
        assert_eq!(Score::new_clamped(f32::INFINITY, 1e-6), Err(ScoreError::Infinite));
        assert_eq!(Score::new_clamped(f32::INFINITY, f32::INFINITY), Err(ScoreError::Infinite));
        assert_eq!(Score::new_clamped(0.3, 1e-6).map(Score::get), Ok(0.3));
    }
}
