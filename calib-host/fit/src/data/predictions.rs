//! The predictions of a classifier, checked once.

use calib_core::Score;
use calib_core::score::MAX_CLASSES;

use super::checks::{check_class, check_labels};
use super::error::DataError;
use super::vectors::Vectors;

/// `n >= 1` predicted classes with their scores, and labels.
#[derive(Clone, Debug, PartialEq)]
pub struct TopLabelData {
    predicted: Vec<u16>,
    scores: Vec<f64>,
    labels: Vec<u16>,
    classes: usize,
}

impl TopLabelData {
    /// Checks predicted classes, their scores and the labels, of a classifier with `classes` classes.
    ///
    /// # Errors
    ///
    /// No rows, different lengths, a number of classes out of range, a class or a score out of range.
    ///
    /// # Panics
    ///
    /// If predictions and scores differ in number.
    pub fn new(
        predicted: Vec<u16>,
        scores: Vec<f64>,
        labels: &[i64],
        classes: usize,
    ) -> Result<Self, DataError> {
        assert_eq!(predicted.len(), scores.len());
        if !(2..=MAX_CLASSES).contains(&classes) {
            return Err(DataError::ClassCount(classes));
        }
        let checked = check_labels(labels, scores.len(), classes)?;
        for (row, (&class, &score)) in predicted.iter().zip(&scores).enumerate() {
            check_class(row, class.into(), classes)?;
            Score::try_from(score).map_err(|cause| DataError::Score { row, cause })?;
        }
        Ok(Self { predicted, scores, labels: checked, classes })
    }

    /// The predictions of vectors, computed as the device does, with labels.
    ///
    /// # Errors
    ///
    /// As [`TopLabelData::new`].
    pub fn from_vectors(vectors: &Vectors, labels: &[i64]) -> Result<Self, DataError> {
        let (predicted, scores) =
            vectors.top_labels().iter().map(|top| (top.class, f64::from(top.score.get()))).unzip();
        Self::new(predicted, scores, labels, vectors.classes())
    }

    /// The number of classes, at least 2.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The number of rows, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// The rows as (predicted class, score, true class).
    pub fn rows(&self) -> impl Iterator<Item = (u16, f64, u16)> {
        self.predicted.iter().zip(&self.scores).zip(&self.labels).map(|((&p, &s), &y)| (p, s, y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_must_be_classes() {
        let bad = TopLabelData::new(vec![0], vec![0.5], &[3], 3);
        assert_eq!(bad, Err(DataError::Class { row: 0, class: 3, classes: 3 }));
        let negative = TopLabelData::new(vec![0], vec![0.5], &[-1], 3);
        assert_eq!(negative, Err(DataError::Class { row: 0, class: -1, classes: 3 }));
    }
}
