//! A quantized classifier's vector of codes.

use super::encoding::ScoreEncoding;
use super::top_label_code::{CodeVectorError, TopLabelCode};
use super::top_label_code_margin::TopLabelCodeMargin;

/// The codes of all classes of a quantized classifier, as [keys](super::QuantizedScore::key), with `2 <= L <= 65 535`.
///
/// ```
/// use calib_core::ScoreEncoding;
/// use calib_core::score::{CodeVector, CodeVectorError};
///
/// let logits = ScoreEncoding::I8 { scale: 0.25, zero_point: 10 };
/// let codes = CodeVector::new(logits, &[8, 228, 218])?;
/// assert_eq!((codes.top_label().class(), codes.top_label().score().code()), (1, 100));
/// assert_eq!(codes.top_label_margin().top2_margin(), 10);
/// # Ok::<(), CodeVectorError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CodeVector<'a> {
    keys: &'a [u16],
    top: TopLabelCode,
    margin: TopLabelCodeMargin,
}

impl<'a> CodeVector<'a> {
    /// Checks that there are at least two classes and that every key is one of the encoding.
    ///
    /// # Errors
    ///
    /// The first number that is no key of the encoding, or a number of classes below 2 or above 65 535.
    pub fn new(encoding: ScoreEncoding, keys: &'a [u16]) -> Result<Self, CodeVectorError> {
        let top = TopLabelCode::from_keys(encoding, keys)?;
        let margin = TopLabelCodeMargin::from_keys(encoding, keys)?;
        Ok(Self { keys, top, margin })
    }

    /// Returns the encoding of the codes.
    pub const fn encoding(&self) -> ScoreEncoding {
        self.margin.encoding()
    }

    /// Returns the number of classes, at least 2.
    pub const fn classes(&self) -> usize {
        self.keys.len()
    }

    /// Returns the keys in the order of the classes.
    pub const fn keys(&self) -> &'a [u16] {
        self.keys
    }

    /// Returns the class with the highest code, and that code; ties go to the lowest class.
    pub const fn top_label(&self) -> TopLabelCode {
        self.top
    }

    /// Returns the class with the highest code, and the top-two margin; ties go to the lowest class.
    pub const fn top_label_margin(&self) -> TopLabelCodeMargin {
        self.margin
    }
}
