//! What a quantized classifier of several classes predicts, by the differences of its codes.

use super::classes::MAX_CLASSES;
use super::encoding::{CodeError, ScoreEncoding};
use super::top_label_code::CodeVectorError;

/// The class that a quantized classifier predicts, with the top-two margin of the codes: the largest code minus the second largest.
///
/// The top-two margin is an exact integer from 0 up, which stands for `scale * top2_margin`: the zero point cancels. Finding it takes no floating
/// point, and the codes may be those of logits, in front of the softmax.
/// A [`TopLabelCodeMarginCalibrator`](crate::calibrator::TopLabelCodeMarginCalibrator) takes it.
///
/// ```
/// use calib_core::ScoreEncoding;
/// use calib_core::score::{CodeVectorError, TopLabelCodeMargin};
///
/// // The int8 logits of three classes.
/// let logits = ScoreEncoding::I8 { scale: 0.25, zero_point: 10 };
/// let output: [i8; 3] = [-120, 100, 90];
/// let top = TopLabelCodeMargin::new(logits, output)?;
/// assert_eq!((top.class(), top.top2_margin()), (1, 10));
/// # Ok::<(), CodeVectorError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelCodeMargin {
    encoding: ScoreEncoding,
    classes: u16,
    class: u16,
    top2_margin: u16,
}

impl TopLabelCodeMargin {
    /// Finds the class with the highest code and its top-two margin; ties go to the lowest class, with a top-two margin of 0. `codes` has a code per
    /// class, in their order.
    ///
    /// # Errors
    ///
    /// The first number that is no code of the encoding, or a number of classes below 2 or above 65 535.
    #[inline]
    pub fn new<C: Into<i32>>(
        encoding: ScoreEncoding,
        codes: impl IntoIterator<Item = C>,
    ) -> Result<Self, CodeVectorError> {
        let Some((lowest, highest)) = encoding.code_range().filter(|_| encoding.is_consistent()) else {
            return Err(CodeVectorError::Code(0, CodeError::Encoding));
        };
        // Below every code, so that the first class is first.
        let (mut class, mut top, mut second, mut classes) = (0, lowest - 1, lowest - 1, 0);
        for code in codes {
            let code = code.into();
            if classes == MAX_CLASSES {
                return Err(CodeVectorError::ClassCount(classes + 1));
            }
            if code < lowest || code > highest {
                return Err(CodeVectorError::Code(classes, CodeError::OutOfRange(code)));
            }
            if code > top {
                (second, top, class) = (top, code, classes);
            } else if code > second {
                second = code;
            }
            classes += 1;
        }
        if classes < 2 {
            return Err(CodeVectorError::ClassCount(classes));
        }
        Ok(Self {
            encoding,
            classes: classes as u16,
            class: class as u16,
            top2_margin: (top - second) as u16,
        })
    }

    /// Finds the class and its top-two margin in codes given as [keys](super::QuantizedScore::key).
    ///
    /// # Errors
    ///
    /// As [`TopLabelCodeMargin::new`].
    pub fn from_keys(encoding: ScoreEncoding, keys: &[u16]) -> Result<Self, CodeVectorError> {
        let (lowest, _) = encoding.code_range().unwrap_or_default();
        Self::new(encoding, keys.iter().map(|&key| lowest + i32::from(key)))
    }

    /// Returns the encoding of the codes.
    pub const fn encoding(&self) -> ScoreEncoding {
        self.encoding
    }

    /// Returns the number of classes, at least 2.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the predicted class, 0-based.
    pub const fn class(&self) -> u16 {
        self.class
    }

    /// Returns the top-two margin in codes: the key by which tables are searched.
    pub const fn top2_margin(&self) -> u16 {
        self.top2_margin
    }

    /// Returns the difference of logits for which the top-two margin stands, in f32. A calibrator never uses this number.
    pub const fn dequantized(&self) -> f32 {
        match self.encoding.scale() {
            Some(scale) => scale * self.top2_margin as f32,
            None => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const U8: ScoreEncoding = ScoreEncoding::U8 { scale: 0.5, zero_point: 7 };
    const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 0.25, zero_point: -3 };
    const I16: ScoreEncoding = ScoreEncoding::I16 { scale: 0.25, zero_point: 0 };

    fn top(encoding: ScoreEncoding, codes: &[i32]) -> (usize, u16, u16) {
        let top = TopLabelCodeMargin::new(encoding, codes.iter().copied()).unwrap();
        assert_eq!(
            f64::from(top.dequantized()),
            f64::from(encoding.scale().unwrap()) * f64::from(top.top2_margin())
        );
        (top.classes(), top.class(), top.top2_margin())
    }

    #[test]
    fn the_top2_margin_is_over_the_second_largest_wherever_it_is() {
        assert_eq!(top(I8, &[-128, -128]), (2, 0, 0));
        assert_eq!(top(I8, &[-128, 127]), (2, 1, 255));
        assert_eq!(top(I8, &[5, 9, 7, 9]), (4, 1, 0));
        assert_eq!(top(I8, &[9, 7, 5]), (3, 0, 2));
        assert_eq!(top(I8, &[5, 7, 9]), (3, 2, 2));
        assert_eq!(top(I8, &[7, 5, 9]), (3, 2, 2));
        assert_eq!(top(I8, &[9, 5, 7]), (3, 0, 2));
        assert_eq!(top(U8, &[0, 0, 255]), (3, 2, 255));
        assert_eq!(top(I16, &[-32_768, 32_767]), (2, 1, 65_535));
        let keys = TopLabelCodeMargin::from_keys(I8, &[0, 131, 131, 125]).unwrap();
        assert_eq!((keys.class(), keys.top2_margin()), (1, 0));
    }

    #[test]
    fn what_is_no_vector_of_codes_is_refused() {
        let refused = |encoding, codes: &[i32]| TopLabelCodeMargin::new(encoding, codes.iter().copied());
        assert_eq!(refused(I8, &[]), Err(CodeVectorError::ClassCount(0)));
        assert_eq!(refused(I8, &[5]), Err(CodeVectorError::ClassCount(1)));
        let out_of_range = |class, code| Err(CodeVectorError::Code(class, CodeError::OutOfRange(code)));
        assert_eq!(refused(I8, &[5, 128]), out_of_range(1, 128));
        assert_eq!(refused(U8, &[-1, 300]), out_of_range(0, -1));
        let none = Err(CodeVectorError::Code(0, CodeError::Encoding));
        for encoding in
            [ScoreEncoding::F32, ScoreEncoding::Margin, ScoreEncoding::U8 { scale: 0.0, zero_point: 0 }]
        {
            assert_eq!(refused(encoding, &[0, 0]), none);
        }
        let endless = TopLabelCodeMargin::new(U8, core::iter::repeat(0u8));
        assert_eq!(endless, Err(CodeVectorError::ClassCount(65_536)));
    }
}
