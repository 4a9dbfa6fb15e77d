//! What kind of number a score is on the device.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::float::Score;

/// States what kind of number a score is on the device.
///
/// An integer code stands for the score `scale * (code - zero_point)`. The scale is finite and above 0, so codes are ordered
/// like scores. The zero point is itself a code.
///
/// ```
/// use calib_core::ScoreEncoding;
///
/// // TensorFlow Lite's int8 softmax.
/// let softmax = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
/// assert!(softmax.is_quantized());
/// assert_eq!(softmax.code_range(), Some((-128, 127)));
/// assert_eq!(ScoreEncoding::F32.code_range(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ScoreEncoding {
    /// An `f32` in `[0, 1]`: a probability, or the softmax of `f32` logits.
    F32,
    /// A code from 0 to 255.
    U8 {
        /// The difference between neighboring codes' scores.
        scale: f32,
        /// The code of the score 0.
        zero_point: i32,
    },
    /// A code from -128 to 127.
    I8 {
        /// The difference between neighboring codes' scores.
        scale: f32,
        /// The code of the score 0.
        zero_point: i32,
    },
    /// A code from 0 to 65 535.
    U16 {
        /// The difference between neighboring codes' scores.
        scale: f32,
        /// The code of the score 0.
        zero_point: i32,
    },
    /// An `f32` in `[0, 1]` for tables of 16-bit numbers: the calibrator rounds the score to the nearest `k / 65 535` before
    /// the lookup.
    RoundedF32,
    /// A code from -32 768 to 32 767.
    I16 {
        /// The difference between neighboring codes' scores.
        scale: f32,
        /// The code of the score 0.
        zero_point: i32,
    },
    /// Any finite `f32`: a [`Margin`](super::Margin).
    Margin,
    /// Any finite `f32` for tables of 16-bit numbers: the calibrator takes the
    /// [upper half](super::Margin::rounded_key) of the margin's key.
    RoundedMargin,
}

/// A checked code of an integer encoding.
///
/// ```
/// use calib_core::{QuantizedScore, ScoreEncoding};
/// use calib_core::score::CodeError;
///
/// // What an int8 softmax gives.
/// let softmax = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
/// let score = QuantizedScore::new(softmax, 64)?;
/// assert_eq!((score.code(), score.key(), score.dequantized()), (64, 192, 0.75));
/// assert_eq!(QuantizedScore::new(softmax, 128), Err(CodeError::OutOfRange(128)));
/// # Ok::<(), CodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct QuantizedScore {
    encoding: ScoreEncoding,
    key: u16,
}

/// Why a number is not a [`QuantizedScore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CodeError {
    /// The encoding has no codes, its scale is not above 0 and finite, or its zero point is no code.
    Encoding,
    /// This number lies outside the encoding's range of codes.
    OutOfRange(i32),
}

/// Why a score does not go with a calibrator: the calibrator was fitted to scores in another encoding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct EncodingError {
    /// The calibrator's encoding.
    pub expected: ScoreEncoding,
    /// The score's encoding.
    pub got: ScoreEncoding,
}

impl ScoreEncoding {
    /// Tells whether scores are integer codes.
    pub const fn is_quantized(&self) -> bool {
        !matches!(self, Self::F32 | Self::RoundedF32 | Self::Margin | Self::RoundedMargin)
    }

    /// Tells whether scores are [margins](super::Margin): any finite floats.
    pub const fn is_margin(&self) -> bool {
        matches!(self, Self::Margin | Self::RoundedMargin)
    }

    /// Returns the number in the artifact format.
    pub const fn number(&self) -> u8 {
        match self {
            Self::F32 => 0,
            Self::U8 { .. } => 1,
            Self::I8 { .. } => 2,
            Self::U16 { .. } => 3,
            Self::RoundedF32 => 4,
            Self::I16 { .. } => 5,
            Self::Margin => 6,
            Self::RoundedMargin => 7,
        }
    }

    /// Returns the encoding with this number, if there is one and it has what it needs of a scale and a zero point.
    pub(crate) fn from_number(number: u32, affine: impl FnOnce() -> Option<(f32, i32)>) -> Option<Self> {
        let of_codes = |encoding: fn((f32, i32)) -> Self| affine().map(encoding);
        match number {
            0 => Some(Self::F32),
            1 => of_codes(|(scale, zero_point)| Self::U8 { scale, zero_point }),
            2 => of_codes(|(scale, zero_point)| Self::I8 { scale, zero_point }),
            3 => of_codes(|(scale, zero_point)| Self::U16 { scale, zero_point }),
            4 => Some(Self::RoundedF32),
            5 => of_codes(|(scale, zero_point)| Self::I16 { scale, zero_point }),
            6 => Some(Self::Margin),
            7 => Some(Self::RoundedMargin),
            _ => None,
        }
    }

    /// Returns the encoding of differences of codes, which are from 0 up and of which the zero points cancel; of floats the same.
    ///
    /// ```
    /// use calib_core::ScoreEncoding;
    ///
    /// let logits = ScoreEncoding::I8 { scale: 0.25, zero_point: 10 };
    /// assert_eq!(logits.of_top2_margins(), ScoreEncoding::U8 { scale: 0.25, zero_point: 0 });
    /// ```
    pub const fn of_top2_margins(&self) -> Self {
        match *self {
            Self::U8 { scale, .. } | Self::I8 { scale, .. } => Self::U8 { scale, zero_point: 0 },
            Self::U16 { scale, .. } | Self::I16 { scale, .. } => Self::U16 { scale, zero_point: 0 },
            floats => floats,
        }
    }

    /// Returns the difference between neighboring codes' scores; `None` for floats.
    pub const fn scale(&self) -> Option<f32> {
        match self.affine() {
            Some((scale, _)) => Some(scale),
            None => None,
        }
    }

    /// Tells whether scores are integer codes of eight bits.
    pub const fn is_byte(&self) -> bool {
        matches!(self.code_range(), Some((lowest, highest)) if highest - lowest == u8::MAX as i32)
    }

    /// Returns the lowest and the highest code; `None` for floats.
    #[inline]
    pub const fn code_range(&self) -> Option<(i32, i32)> {
        match self {
            Self::F32 | Self::RoundedF32 | Self::Margin | Self::RoundedMargin => None,
            Self::U8 { .. } => Some((0, u8::MAX as i32)),
            Self::I8 { .. } => Some((i8::MIN as i32, i8::MAX as i32)),
            Self::U16 { .. } => Some((0, u16::MAX as i32)),
            Self::I16 { .. } => Some((i16::MIN as i32, i16::MAX as i32)),
        }
    }

    /// Returns the highest key: the number of codes less one. `None` for floats without rounding.
    pub(crate) const fn max_key(&self) -> Option<u16> {
        match self {
            Self::F32 | Self::Margin => None,
            Self::U8 { .. } | Self::I8 { .. } => Some(u8::MAX as u16),
            Self::U16 { .. } | Self::I16 { .. } | Self::RoundedF32 | Self::RoundedMargin => Some(u16::MAX),
        }
    }

    /// Tells whether the scale is above 0 and finite, and the zero point a code.
    // Inlined, because callers often know the encoding while compiling: nothing is then left of the check.
    #[inline(always)]
    pub(crate) const fn is_consistent(&self) -> bool {
        match (self.affine(), self.code_range()) {
            (Some((scale, zero_point)), Some((lowest, highest))) => {
                is_positive(scale) && lowest <= zero_point && zero_point <= highest
            }
            _ => true,
        }
    }

    /// Returns the scale and the zero point of codes; `None` for floats.
    #[inline]
    pub const fn affine(&self) -> Option<(f32, i32)> {
        match *self {
            Self::F32 | Self::RoundedF32 | Self::Margin | Self::RoundedMargin => None,
            Self::U8 { scale, zero_point }
            | Self::I8 { scale, zero_point }
            | Self::U16 { scale, zero_point }
            | Self::I16 { scale, zero_point } => Some((scale, zero_point)),
        }
    }
}

/// Tells whether a float is above 0 and finite.
// By its bits, because a comparison of floats is a call on cores without an FPU.
#[inline]
const fn is_positive(value: f32) -> bool {
    const LARGEST: u32 = f32::MAX.to_bits();
    matches!(value.to_bits(), 1..=LARGEST)
}

impl QuantizedScore {
    /// Checks that `code` is a code of the encoding.
    ///
    /// # Errors
    ///
    /// If `code` lies outside the encoding's range, or the encoding has no codes.
    #[inline]
    pub const fn new(encoding: ScoreEncoding, code: i32) -> Result<Self, CodeError> {
        let Some((lowest, highest)) = encoding.code_range() else { return Err(CodeError::Encoding) };
        if !encoding.is_consistent() {
            Err(CodeError::Encoding)
        } else if code < lowest || code > highest {
            Err(CodeError::OutOfRange(code))
        } else {
            Ok(Self { encoding, key: (code - lowest) as u16 })
        }
    }

    /// Makes the score with this [`QuantizedScore::key`].
    ///
    /// # Errors
    ///
    /// If the key is above the encoding's highest, or the encoding has no codes.
    pub const fn from_key(encoding: ScoreEncoding, key: u16) -> Result<Self, CodeError> {
        match encoding.code_range() {
            Some((lowest, _)) => Self::new(encoding, lowest + key as i32),
            None => Err(CodeError::Encoding),
        }
    }

    /// Returns the encoding.
    pub const fn encoding(&self) -> ScoreEncoding {
        self.encoding
    }

    /// Returns the code, as the classifier put it out.
    pub const fn code(&self) -> i32 {
        match self.encoding.code_range() {
            Some((lowest, _)) => lowest + self.key as i32,
            None => self.key as i32,
        }
    }

    /// Returns the code less the encoding's lowest code: an integer from 0 up, ordered like the scores. An unsigned code is its
    /// own key; the key of an `i8` code is the code plus 128, of an `i16` code the code plus 32 768.
    #[inline]
    pub const fn key(&self) -> u16 {
        self.key
    }

    /// Returns the score for which the code stands, in f32. A calibrator over codes never uses this number.
    pub const fn dequantized(&self) -> f32 {
        match self.encoding.affine() {
            Some((scale, zero_point)) => scale * (self.code() - zero_point) as f32,
            None => 0.0,
        }
    }

    /// Returns the score that the code stands for; `None` if its `f32` is outside `[0, 1]`.
    ///
    /// ```
    /// use calib_core::{QuantizedScore, Score, ScoreEncoding};
    ///
    /// let encoding = ScoreEncoding::U8 { scale: 0.25, zero_point: 1 };
    /// assert_eq!(QuantizedScore::new(encoding, 3)?.score(), Score::new(0.5).ok());
    /// assert_eq!(QuantizedScore::new(encoding, 0)?.score(), None);
    /// # Ok::<(), calib_core::score::CodeError>(())
    /// ```
    pub fn score(&self) -> Option<Score> {
        Score::new(self.dequantized()).ok()
    }
}

impl EncodingError {
    /// Checks that the score is in the expected encoding.
    pub(crate) fn check(expected: ScoreEncoding, score: QuantizedScore) -> Result<(), Self> {
        Self::check_encodings(expected, score.encoding())
    }

    /// Checks that both encodings are the same.
    pub(crate) fn check_encodings(expected: ScoreEncoding, got: ScoreEncoding) -> Result<(), Self> {
        if got == expected { Ok(()) } else { Err(Self { expected, got }) }
    }
}

impl fmt::Display for ScoreEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::RoundedF32 => "f32 rounded to 16 bits",
            Self::U8 { .. } => "u8",
            Self::I8 { .. } => "i8",
            Self::U16 { .. } => "u16",
            Self::I16 { .. } => "i16",
            Self::Margin => "f32 margins",
            Self::RoundedMargin => "f32 margins cut off to 16 bits",
        })?;
        match self.affine() {
            Some((scale, zero_point)) => write!(f, " (scale {scale}, zero point {zero_point})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encoding => f.write_str("the encoding has no integer codes, or an impossible scale"),
            Self::OutOfRange(code) => write!(f, "{code} is not a code of the encoding"),
        }
    }
}

impl fmt::Display for EncodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a score in {} for a calibrator of {}", self.got, self.expected)
    }
}

impl core::error::Error for CodeError {}
impl core::error::Error for EncodingError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_size::step;

    const U8: ScoreEncoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
    const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
    const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65536.0, zero_point: 0 };
    const I16: ScoreEncoding = ScoreEncoding::I16 { scale: 0.5, zero_point: -7 };

    #[test]
    fn takes_exactly_the_codes() {
        for (encoding, lowest, highest) in
            [(U8, 0, 255), (I8, -128, 127), (U16, 0, 65_535), (I16, -32_768, 32_767)]
        {
            assert_eq!(encoding.code_range(), Some((lowest, highest)));
            for code in [lowest - 1, highest + 1, i32::MIN, i32::MAX] {
                assert_eq!(QuantizedScore::new(encoding, code), Err(CodeError::OutOfRange(code)));
            }
            // 51 divides 255 and 65 535.
            for code in (lowest..=highest).step_by(step(51)) {
                let score = QuantizedScore::new(encoding, code).unwrap();
                assert_eq!((score.code(), i32::from(score.key())), (code, code - lowest));
                assert_eq!(QuantizedScore::from_key(encoding, score.key()), Ok(score));
            }
        }
        assert_eq!(QuantizedScore::from_key(I8, 256), Err(CodeError::OutOfRange(128)));
        assert_eq!(QuantizedScore::new(ScoreEncoding::F32, 0), Err(CodeError::Encoding));
        assert_eq!(QuantizedScore::from_key(ScoreEncoding::F32, 0), Err(CodeError::Encoding));
    }

    #[test]
    fn impossible_encodings_have_no_scores() {
        for (scale, zero_point) in
            [(0.0, 0), (-0.1, 0), (f32::NAN, 0), (f32::INFINITY, 0), (0.1, -129), (0.1, 128)]
        {
            let encoding = ScoreEncoding::I8 { scale, zero_point };
            assert_eq!(QuantizedScore::new(encoding, 0), Err(CodeError::Encoding));
        }
    }

    #[test]
    fn dequantizes() {
        let at = |encoding, code| QuantizedScore::new(encoding, code).unwrap().dequantized();
        assert_eq!((at(U8, 0), at(U8, 255)), (0.0, 1.0));
        assert_eq!((at(I8, -128), at(I8, 0), at(I8, 127)), (0.0, 0.5, 255.0 / 256.0));
        assert_eq!(at(ScoreEncoding::U16 { scale: 0.5, zero_point: 4 }, 1), -1.5);
    }
}
