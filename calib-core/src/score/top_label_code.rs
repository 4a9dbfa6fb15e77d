//! What a quantized classifier of several classes predicts.

use core::fmt;

use super::classes::MAX_CLASSES;
use super::encoding::{CodeError, QuantizedScore, ScoreEncoding};

/// The class that a quantized classifier predicts, with the code of its score.
///
/// A [`TopLabelCodeCalibrator`](crate::calibrator::TopLabelCodeCalibrator) takes both. Finding them needs no floating point.
///
/// ```
/// use calib_core::{ScoreEncoding, TopLabelCode};
/// use calib_core::score::CodeVectorError;
///
/// // The output tensor of an int8 softmax of three classes, as TensorFlow Lite leaves it.
/// let softmax = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
/// let output: [i8; 3] = [-120, 100, -108];
/// let top = TopLabelCode::new(softmax, output)?;
/// assert_eq!((top.class(), top.score().code()), (1, 100));
/// # Ok::<(), CodeVectorError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelCode {
    classes: u16,
    class: u16,
    score: QuantizedScore,
}

/// Why numbers are not the codes of several classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CodeVectorError {
    /// There are this many codes: fewer than 2, or more than 65 535, at which counting stops.
    ClassCount(usize),
    /// The number of this class is no code of the encoding, or the encoding has no codes.
    Code(usize, CodeError),
}

impl TopLabelCode {
    /// Finds the class with the highest code; ties go to the lowest class. `codes` has a code per class, in their order.
    ///
    /// # Errors
    ///
    /// The first number that is no code of the encoding, or a number of classes below 2 or above 65 535.
    pub fn new<C: Into<i32>>(
        encoding: ScoreEncoding,
        codes: impl IntoIterator<Item = C>,
    ) -> Result<Self, CodeVectorError> {
        Self::first(encoding, codes.into_iter().map(Into::into))
    }

    /// Finds the class with the highest code in codes given as [keys](QuantizedScore::key).
    ///
    /// # Errors
    ///
    /// As [`TopLabelCode::new`].
    pub fn from_keys(encoding: ScoreEncoding, keys: &[u16]) -> Result<Self, CodeVectorError> {
        let (lowest, _) = encoding.code_range().unwrap_or_default();
        Self::first(encoding, keys.iter().map(|&key| lowest + i32::from(key)))
    }

    fn first(encoding: ScoreEncoding, codes: impl Iterator<Item = i32>) -> Result<Self, CodeVectorError> {
        let of_class = |class| move |cause| CodeVectorError::Code(class, cause);
        QuantizedScore::from_key(encoding, 0).map_err(of_class(0))?;
        let (lowest, highest) = encoding.code_range().unwrap_or_default();
        // If every code is the lowest one, the first class is predicted.
        let (mut class, mut top, mut classes) = (0, lowest, 0);
        for code in codes {
            if classes == MAX_CLASSES {
                return Err(CodeVectorError::ClassCount(classes + 1));
            }
            if code < lowest || code > highest {
                return Err(of_class(classes)(CodeError::OutOfRange(code)));
            }
            if code > top {
                (class, top) = (classes, code);
            }
            classes += 1;
        }
        if classes < 2 {
            return Err(CodeVectorError::ClassCount(classes));
        }
        let score = QuantizedScore::new(encoding, top).map_err(of_class(class))?;
        Ok(Self { classes: classes as u16, class: class as u16, score })
    }

    /// Returns the number of classes, at least 2.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the predicted class, 0-based.
    pub const fn class(&self) -> u16 {
        self.class
    }

    /// Returns the code of the predicted class's score.
    pub const fn score(&self) -> QuantizedScore {
        self.score
    }
}

impl fmt::Display for CodeVectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClassCount(n) => write!(f, "{n} codes: a classifier has 2 to {MAX_CLASSES} classes"),
            Self::Code(class, cause) => write!(f, "class {class}: {cause}"),
        }
    }
}

impl core::error::Error for CodeVectorError {}

#[cfg(test)]
mod tests {
    use super::*;

    const U8: ScoreEncoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
    const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
    const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65536.0, zero_point: 0 };

    fn top(top: Result<TopLabelCode, CodeVectorError>) -> (usize, u16, i32) {
        let top = top.unwrap();
        (top.classes(), top.class(), top.score().code())
    }

    #[test]
    fn the_first_of_the_largest_codes_is_predicted() {
        assert_eq!(top(TopLabelCode::new(I8, [-128i8, -128, -128])), (3, 0, -128));
        assert_eq!(top(TopLabelCode::new(I8, [-128i8, 3, 3, -3])), (4, 1, 3));
        assert_eq!(top(TopLabelCode::new(I8, [127i8, -128])), (2, 0, 127));
        assert_eq!(top(TopLabelCode::new(U8, [0u8, 254, 255])), (3, 2, 255));
        assert_eq!(top(TopLabelCode::new(U16, [1u16, 65_535, 65_535])), (3, 1, 65_535));
        assert_eq!(top(TopLabelCode::from_keys(I8, &[0, 131, 131, 125])), (4, 1, 3));
        assert_eq!(top(TopLabelCode::from_keys(U16, &[9, 7])), (2, 0, 9));
    }

    #[test]
    fn what_is_no_vector_of_codes_is_refused() {
        let refused = |encoding, codes: &[i32]| TopLabelCode::new(encoding, codes.iter().copied());
        assert_eq!(refused(I8, &[]), Err(CodeVectorError::ClassCount(0)));
        assert_eq!(refused(I8, &[5]), Err(CodeVectorError::ClassCount(1)));
        let out_of_range = |class, code| Err(CodeVectorError::Code(class, CodeError::OutOfRange(code)));
        assert_eq!(refused(I8, &[5, 128]), out_of_range(1, 128));
        assert_eq!(refused(U8, &[-1, 300]), out_of_range(0, -1));
        assert_eq!(TopLabelCode::from_keys(I8, &[0, 256]), out_of_range(1, 128));
        let none = Err(CodeVectorError::Code(0, CodeError::Encoding));
        for encoding in
            [ScoreEncoding::F32, ScoreEncoding::RoundedF32, ScoreEncoding::U8 { scale: 0.0, zero_point: 0 }]
        {
            assert_eq!(refused(encoding, &[0, 0]), none);
            assert_eq!(TopLabelCode::from_keys(encoding, &[0, 0]), none);
        }
        let endless = TopLabelCode::new(U8, core::iter::repeat(0u8));
        assert_eq!(endless, Err(CodeVectorError::ClassCount(65_536)));
    }
}
