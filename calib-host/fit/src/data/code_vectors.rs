//! Vectors of integer codes, one entry per class, checked once.

use std::cmp::Ordering;

use calib_core::score::{CodeVector, MAX_CLASSES};
use calib_core::{Logits, QuantizedScore, ScoreEncoding, TopLabel, TopLabelCode, TopLabelCodeMargin};

use super::codes::clamped_score;
use super::error::DataError;
use super::rows_digest::RowsDigest;
use super::vectors::VectorKind;

/// `n >= 1` checked vectors of `L >= 2` codes, which stand for probabilities, as a quantized softmax puts out, or for logits.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeVectors {
    keys: Vec<u16>,
    classes: usize,
    encoding: ScoreEncoding,
    kind: VectorKind,
}

/// By how much the sum of a row may be off one, however fine the codes are.
const SUM_TOLERANCE: f64 = 0.004;

impl CodeVectors {
    /// Checks row-major codes, `classes` to a row: that each is one of the encoding and stands for a score in `[0, 1]`, and
    /// that the scores of a row sum to one. The sum may differ from one by half a step for each class and one more,
    /// because a softmax rounds and has no code for 1. It may differ by 0.004 in any case.
    ///
    /// # Errors
    ///
    /// No rows, a number of classes out of range, or the first row that is no such vector.
    ///
    /// # Panics
    ///
    /// If the number of codes is not a multiple of `classes`.
    pub fn new(codes: &[i64], classes: usize, encoding: ScoreEncoding) -> Result<Self, DataError> {
        Self::checked(codes, classes, encoding, VectorKind::Probs)
    }

    /// Checks row-major codes of logits, `classes` to a row: that each is one of the encoding. What they stand for may be any finite
    /// numbers.
    ///
    /// ```
    /// use calib_core::ScoreEncoding;
    /// use calib_fit::data::CodeVectors;
    ///
    /// let logits = ScoreEncoding::I8 { scale: 0.25, zero_point: 10 };
    /// let codes = CodeVectors::of_logits(&[-120, 100, 90, 5, 5, 5], 3, logits)?;
    /// assert_eq!((codes.len(), codes.classes()), (2, 3));
    /// # Ok::<(), calib_fit::data::DataError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// No rows, a number of classes out of range, or the first number that is no code.
    ///
    /// # Panics
    ///
    /// If the number of codes is not a multiple of `classes`.
    pub fn of_logits(codes: &[i64], classes: usize, encoding: ScoreEncoding) -> Result<Self, DataError> {
        Self::checked(codes, classes, encoding, VectorKind::Logits)
    }

    fn checked(
        codes: &[i64],
        classes: usize,
        encoding: ScoreEncoding,
        kind: VectorKind,
    ) -> Result<Self, DataError> {
        if !(2..=MAX_CLASSES).contains(&classes) {
            return Err(DataError::ClassCount(classes));
        }
        assert!(codes.len().is_multiple_of(classes), "{} codes in rows of {classes}", codes.len());
        if codes.is_empty() {
            return Err(DataError::Empty);
        }
        let tolerance =
            (encoding.scale().map_or(0.0, f64::from) * (classes as f64 / 2.0 + 1.0)).max(SUM_TOLERANCE);
        let mut keys = Vec::with_capacity(codes.len());
        for (row, vector) in codes.chunks_exact(classes).enumerate() {
            let mut sum = 0.0;
            for (class, &code) in vector.iter().enumerate() {
                // No code is near the ends of an i32.
                let narrow = code.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
                let code = QuantizedScore::new(encoding, narrow).map_err(|cause| DataError::Code {
                    row,
                    class,
                    code,
                    cause,
                })?;
                keys.push(code.key());
                if kind == VectorKind::Logits {
                    continue;
                }
                let Some(score) = code.score() else {
                    let (code, score) = (code.code(), code.dequantized());
                    return Err(DataError::CodeScore { row, class, code, score });
                };
                sum += f64::from(score.get());
            }
            if kind == VectorKind::Probs && (sum - 1.0).abs() > tolerance {
                return Err(DataError::CodeSum { row, sum: sum as f32 });
            }
        }
        Ok(Self { keys, classes, encoding, kind })
    }

    /// What the codes stand for.
    pub fn kind(&self) -> VectorKind {
        self.kind
    }

    /// The number of classes, at least 2.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The encoding.
    pub fn encoding(&self) -> ScoreEncoding {
        self.encoding
    }

    /// The number of rows, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.keys.len() / self.classes
    }

    /// Some of the rows, in the order in which they are given.
    ///
    /// # Panics
    ///
    /// If there are none of them, or no such row.
    #[must_use]
    pub fn part(&self, rows: &[usize]) -> Self {
        assert!(!rows.is_empty(), "no rows");
        Self { keys: rows.iter().flat_map(|&row| self.row(row)).copied().collect(), ..*self }
    }

    /// The order of two rows by their codes.
    pub fn compare(&self, a: usize, b: usize) -> Ordering {
        self.row(a).cmp(self.row(b))
    }

    fn row(&self, row: usize) -> &[u16] {
        &self.keys[row * self.classes..][..self.classes]
    }

    /// A row, as the device sees it.
    pub(crate) fn vector(&self, row: usize) -> CodeVector<'_> {
        CodeVector::new(self.encoding, self.row(row)).expect("checked in new")
    }

    /// The rows, as [keys](QuantizedScore::key).
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u16]> {
        self.keys.chunks_exact(self.classes)
    }

    /// Returns the digest of the rows of codes, each with its label; rows beyond the last label do not count.
    pub fn rows_digest(&self, labels: &[i64]) -> RowsDigest {
        let words = self.rows().map(|row| row.iter().map(|&key| key.into()));
        RowsDigest::of_vectors(words.zip(labels.iter().copied()))
    }

    /// Every row's predicted class with its probability: the softmax of what codes of logits stand for, in f32, or what its code
    /// stands for. A device does not compute the softmax; here it is what a calibrated probability is compared with.
    pub fn softmax_top_labels(&self) -> impl Iterator<Item = TopLabel> {
        let value =
            |&key: &u16| QuantizedScore::from_key(self.encoding, key).expect("checked in new").dequantized();
        self.rows().map(move |row| match self.kind {
            VectorKind::Logits => {
                let logits: Vec<f32> = row.iter().map(value).collect();
                // A code may stand for a number beyond the largest f32, of which there is no softmax.
                Logits::new(&logits).map_or_else(|_| TopLabel::default(), |logits| logits.top_label())
            }
            VectorKind::Probs => {
                let top = self.top_label(row);
                TopLabel { class: top.class(), score: clamped_score(top.score()) }
            }
        })
    }

    /// What a row predicts, by the code of the device.
    pub(crate) fn top_label(&self, row: &[u16]) -> TopLabelCode {
        TopLabelCode::from_keys(self.encoding, row).expect("checked in new")
    }

    /// What a row predicts and by which top-two margin, by the code of the device.
    pub(crate) fn top_label_margin(&self, row: &[u16]) -> TopLabelCodeMargin {
        TopLabelCodeMargin::from_keys(self.encoding, row).expect("checked in new")
    }
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::Reduction;
    use calib_core::score::CodeError;

    use super::*;
    use crate::data::vectors::{VectorKind, Vectors};
    use crate::reduction::Problems;

    const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
    const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65536.0, zero_point: 0 };

    #[test]
    fn codes_are_divided_as_the_probabilities_they_stand_for() {
        let codes = [100, -100, -128, 0, 0, -128, -128, 126, -126, -43, -42, -42, -128, -128, 127];
        let probs = codes.map(|code: i64| (code as f32 + 128.0) / 256.0).to_vec();
        let labels = [0, 2, 1, 1, 2];
        let codes = CodeVectors::new(&codes, 3, I8).unwrap();
        let probs = Vectors::new(probs, 3, VectorKind::Probs).unwrap();
        assert_eq!((codes.len(), codes.classes(), codes.encoding()), (5, 3, I8));
        for reduction in [Reduction::TopLabel, Reduction::Confidence] {
            assert_eq!(
                Problems::of_codes(&codes, &labels, reduction),
                Problems::new(&probs, &labels, reduction)
            );
        }
        for reduction in [Reduction::ClassWise, Reduction::TopKLabel { k: 2 }] {
            let refused = Problems::of_codes(&codes, &labels, reduction);
            assert_eq!(refused, Err(DataError::CodeReduction(reduction)));
        }
        assert_eq!(
            Problems::of_codes(&codes, &[0, 1, 2, 3, 0], Reduction::Confidence),
            Err(DataError::Class { row: 3, class: 3, classes: 3 })
        );
    }

    #[test]
    fn rows_that_are_no_vectors_of_codes_are_refused() {
        let new = |codes: &[i64], encoding| CodeVectors::new(codes, 2, encoding).map(|codes| codes.len());
        assert_eq!(CodeVectors::new(&[1], 1, I8), Err(DataError::ClassCount(1)));
        assert_eq!(new(&[], I8), Err(DataError::Empty));
        let code = |row, class, code, cause| Err(DataError::Code { row, class, code, cause });
        assert_eq!(new(&[0, 0, 128, -128], I8), code(1, 0, 128, CodeError::OutOfRange(128)));
        assert_eq!(new(&[0, i64::MIN], I8), code(0, 1, i64::MIN, CodeError::OutOfRange(i32::MIN)));
        assert_eq!(new(&[0, 0], ScoreEncoding::F32), code(0, 0, 0, CodeError::Encoding));
        let signed = ScoreEncoding::I8 { scale: 1.0 / 128.0, zero_point: 0 };
        assert_eq!(
            new(&[127, -2], signed),
            Err(DataError::CodeScore { row: 0, class: 1, code: -2, score: -1.0 / 64.0 })
        );
        // Half a step a class, and one more.
        assert_eq!(new(&[127, -128, 127, -126, 0, 2], I8), Ok(3));
        assert_eq!(new(&[0, 3], I8), Err(DataError::CodeSum { row: 0, sum: 1.0 + 3.0 / 256.0 }));
        assert_eq!(new(&[0, 65_536 - 262], U16), Ok(1));
        assert_eq!(
            new(&[0, 65_536 - 263], U16),
            Err(DataError::CodeSum { row: 0, sum: 1.0 - 263.0 / 65_536.0 })
        );
    }
}
