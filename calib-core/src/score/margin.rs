//! A classifier's score that is no probability, checked once.

use serde::{Deserialize, Serialize};

use super::float::{SIGN_BIT, ScoreError};

/// A classifier's score on a separate scale: any finite `f32`, such as a logit, a distance or the value of a decision function.
/// The higher the margin, the likelier is class 1.
///
/// A table needs the order of its scores and nothing else. A margin therefore needs no sigmoid and no softmax before the lookup.
/// `-0.0` equals `0.0`.
///
/// ```
/// use calib_core::{Margin, ScoreError};
///
/// assert_eq!(Margin::new(-2.5)?.get(), -2.5);
/// assert_eq!(Margin::new(f32::NAN), Err(ScoreError::NaN));
/// assert_eq!(Margin::new(f32::INFINITY), Err(ScoreError::Infinite));
/// # Ok::<(), ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(try_from = "f32", into = "f32")]
pub struct Margin(f32);

/// The exponent of infinities and NaN, without the sign and moved to the top.
const NOT_FINITE: u32 = f32::INFINITY.to_bits() << 1;

impl Margin {
    /// The margin 0.
    pub const ZERO: Self = Self(0.0);
    /// The largest margin.
    pub const MAX: Self = Self(f32::MAX);
    /// The smallest margin.
    pub const MIN: Self = Self(f32::MIN);

    /// Checks that `value` is finite.
    ///
    /// # Errors
    ///
    /// NaN and infinities.
    #[inline]
    pub const fn new(value: f32) -> Result<Self, ScoreError> {
        if value.to_bits() << 1 < NOT_FINITE { Ok(Self(value)) } else { Self::reject(value) }
    }

    #[cold]
    const fn reject(value: f32) -> Result<Self, ScoreError> {
        Err(if value.to_bits() << 1 == NOT_FINITE { ScoreError::Infinite } else { ScoreError::NaN })
    }

    /// Returns the value, which is finite.
    #[inline]
    pub const fn get(self) -> f32 {
        self.0
    }

    /// Returns an integer that is ordered like the margins. Both zeros have the same.
    ///
    /// ```
    /// use calib_core::Margin;
    ///
    /// let key = |value| Margin::new(value).unwrap().key();
    /// assert!(key(-3.0) < key(-1e-40) && key(-1e-40) < key(0.0) && key(0.0) < key(f32::MAX));
    /// assert_eq!(key(-0.0), key(0.0));
    /// ```
    #[inline]
    pub const fn key(self) -> u32 {
        let bits = self.0.to_bits();
        key_of_bits(if bits == SIGN_BIT { 0 } else { bits })
    }

    /// Returns the margin with this [`Margin::key`]; `None` if there is none.
    pub const fn from_key(key: u32) -> Option<Self> {
        let bits = if key & SIGN_BIT != 0 { key & !SIGN_BIT } else { !key };
        match Self::new(f32::from_bits(bits)) {
            Ok(margin) if bits != SIGN_BIT => Some(margin),
            _ => None,
        }
    }

    /// Returns the key of a float that was checked before.
    #[inline]
    pub(crate) const fn key_of_finite(value: f32) -> u32 {
        Self(value).key()
    }

    /// Returns an integer that is ordered like the margins, in which `-0.0` comes right before `0.0`.
    #[inline]
    pub(crate) const fn signed_zero_key(self) -> u32 {
        key_of_bits(self.0.to_bits())
    }

    /// Returns the upper half of [`Margin::key`], which tables of 16-bit numbers look up: the sign, the exponent and the upper 7
    /// bits of the fraction. The key never falls as the margin rises.
    ///
    /// ```
    /// use calib_core::Margin;
    ///
    /// assert_eq!(Margin::new(1.0)?.rounded_key(), Margin::new(1.007)?.rounded_key());
    /// assert!(Margin::new(1.0)?.rounded_key() < Margin::new(1.008)?.rounded_key());
    /// # Ok::<(), calib_core::ScoreError>(())
    /// ```
    #[inline]
    pub const fn rounded_key(self) -> u16 {
        (self.key() >> 16) as u16
    }
}

/// Returns an integer that is ordered like the floats with these bits: the bits of a positive float with the sign set, all bits of
/// a negative float reversed.
#[inline(always)]
pub(crate) const fn key_of_bits(bits: u32) -> u32 {
    bits ^ ((bits.cast_signed() >> 31).cast_unsigned() | SIGN_BIT)
}

impl TryFrom<f32> for Margin {
    type Error = ScoreError;

    fn try_from(value: f32) -> Result<Self, ScoreError> {
        Self::new(value)
    }
}

impl From<Margin> for f32 {
    fn from(margin: Margin) -> Self {
        margin.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(value: f32) -> u32 {
        Margin::new(value).unwrap().key()
    }

    #[test]
    fn accepts_exactly_the_finite_floats() {
        for value in [0.0, f32::MAX, f32::MIN, f32::from_bits(1), -f32::from_bits(1), 1.5, -1.5] {
            assert_eq!(Margin::new(value).map(Margin::get), Ok(value));
        }
        for bits in [f32::NAN.to_bits(), 0x7F80_0001, 0xFF80_0001, u32::MAX, 0x7FFF_FFFF] {
            assert_eq!(Margin::new(f32::from_bits(bits)), Err(ScoreError::NaN), "{bits:x}");
        }
        for value in [f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(Margin::new(value), Err(ScoreError::Infinite));
        }
    }

    #[test]
    fn keys_are_those_of_the_ends_and_of_both_zeros() {
        assert_eq!((key(f32::MIN), key(f32::MAX)), (0x0080_0000, 0xFF7F_FFFF));
        assert_eq!((key(0.0), key(-0.0), key(-f32::from_bits(1))), (SIGN_BIT, SIGN_BIT, SIGN_BIT - 2));
        assert_eq!(Margin::ZERO.signed_zero_key(), SIGN_BIT);
        assert_eq!(Margin::new(-0.0).unwrap().signed_zero_key(), SIGN_BIT - 1);
        for no_key in [0, 0x007F_FFFF, SIGN_BIT - 1, 0xFF80_0000, u32::MAX] {
            assert_eq!(Margin::from_key(no_key), None, "{no_key:x}");
        }
    }

    proptest! {
        #[test]
        fn keys_are_ordered_like_margins(a in any::<f32>(), b in any::<f32>()) {
            prop_assume!(a.is_finite() && b.is_finite());
            prop_assert_eq!(key(a).cmp(&key(b)), a.partial_cmp(&b).unwrap());
            prop_assert_eq!(Margin::from_key(key(a)).unwrap().get(), a);
            let [a, b] = [a.min(b), a.max(b)].map(|value| Margin::new(value).unwrap());
            prop_assert!(a.rounded_key() <= b.rounded_key());
        }
    }
}
