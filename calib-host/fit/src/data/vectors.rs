//! Vectors of scores, one entry per class, checked once.

use std::cmp::Ordering;
use std::sync::OnceLock;

use calib_core::score::MAX_CLASSES;
use calib_core::{Logits, Probs, Score, ScoreVector, TopLabel};
use rayon::prelude::*;

use super::error::DataError;
use super::rows_digest::RowsDigest;
use super::softmax::exp_differences;
use crate::parallel;

/// So many rows are worth a thread's while.
const PART_ROWS: usize = 1 << 13;

/// What a vector's entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorKind {
    /// Logits: any finite numbers.
    Logits,
    /// Probabilities: in `[0, 1]`, summing to one.
    Probs,
}

/// `n >= 1` checked vectors of `L >= 2` entries in the device's `f32`.
#[derive(Clone, Debug)]
pub struct Vectors {
    values: Vec<f32>,
    classes: usize,
    kind: VectorKind,
    /// Predictions are looked at several times.
    top_labels: OnceLock<Vec<TopLabel>>,
}

impl PartialEq for Vectors {
    fn eq(&self, other: &Self) -> bool {
        (self.classes, self.kind) == (other.classes, other.kind) && self.values == other.values
    }
}

impl Vectors {
    /// Checks row-major values, `classes` to a row.
    ///
    /// # Errors
    ///
    /// No rows, a number of classes out of range, or the first row that is no vector of its kind.
    ///
    /// # Panics
    ///
    /// If the number of values is not a multiple of `classes`.
    pub fn new(values: Vec<f32>, classes: usize, kind: VectorKind) -> Result<Self, DataError> {
        if !(2..=MAX_CLASSES).contains(&classes) {
            return Err(DataError::ClassCount(classes));
        }
        assert!(values.len().is_multiple_of(classes), "{} values in rows of {classes}", values.len());
        if values.is_empty() {
            return Err(DataError::Empty);
        }
        let fault = |(row, vector): (usize, &[f32])| match kind {
            VectorKind::Logits => Logits::new(vector).err().map(|cause| DataError::Logits { row, cause }),
            VectorKind::Probs => Probs::new(vector).err().map(|cause| DataError::Probs { row, cause }),
        };
        match values.par_chunks_exact(classes).enumerate().with_min_len(PART_ROWS).find_map_first(fault) {
            Some(fault) => Err(fault),
            None => Ok(Self { values, classes, kind, top_labels: OnceLock::new() }),
        }
    }

    /// The number of classes, at least 2.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// What the entries are.
    pub fn kind(&self) -> VectorKind {
        self.kind
    }

    /// The number of rows, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.values.len() / self.classes
    }

    /// Some of the rows, in the order in which they are given.
    ///
    /// # Panics
    ///
    /// If there are none of them, or no such row.
    #[must_use]
    pub fn part(&self, rows: &[usize]) -> Self {
        assert!(!rows.is_empty(), "no rows");
        let row = |&row: &usize| &self.values[row * self.classes..][..self.classes];
        let values = rows.iter().flat_map(row).copied().collect();
        Self { values, classes: self.classes, kind: self.kind, top_labels: OnceLock::new() }
    }

    /// The order of two rows by their entries; no entry is NaN, and -0 counts as 0.
    pub fn compare(&self, a: usize, b: usize) -> Ordering {
        let row = |row: usize| &self.values[row * self.classes..][..self.classes];
        compare(row(a), row(b))
    }

    /// The rows.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[f32]> + ExactSizeIterator {
        self.values.chunks_exact(self.classes)
    }

    /// Returns the digest of the rows as they are, each with its label; rows beyond the last label do not count.
    pub fn rows_digest(&self, labels: &[i64]) -> RowsDigest {
        let parts = self.values.chunks(PART_ROWS * self.classes).zip(labels.chunks(PART_ROWS));
        let of_part = |(values, labels): (&[f32], &[i64])| {
            let rows = values.chunks_exact(self.classes);
            let words = rows.map(|row| row.iter().map(|&entry| (entry + 0.0).to_bits()));
            RowsDigest::of_vectors(words.zip(labels.iter().copied()))
        };
        let mut all = RowsDigest::default();
        parallel::map(parts, of_part).into_iter().for_each(|part| all += part);
        all
    }

    /// A row, as the device sees it.
    pub(crate) fn vector<'r>(&self, row: &'r [f32]) -> ScoreVector<'r> {
        match self.kind {
            VectorKind::Logits => Logits::new(row).expect("checked in new").into(),
            VectorKind::Probs => Probs::new(row).expect("checked in new").into(),
        }
    }

    /// A row by its number, as the device sees it.
    pub(crate) fn vector_of(&self, row: usize) -> ScoreVector<'_> {
        self.vector(&self.values[row * self.classes..][..self.classes])
    }

    /// The rows, as the device sees them.
    pub fn vectors(&self) -> impl ExactSizeIterator<Item = ScoreVector<'_>> {
        self.rows().map(|row| self.vector(row))
    }

    /// Every row's predicted class and score, with the bits of the device.
    pub fn top_labels(&self) -> &[TopLabel] {
        let of_row = |exps: &mut Vec<f32>, row: &[f32]| match self.kind {
            VectorKind::Probs => self.vector(row).top_label(),
            VectorKind::Logits => {
                let (class, max) = largest(row);
                let score = Score::new(1.0 / exp_differences(row, max, exps));
                TopLabel { class: class as u16, score: score.expect("the sum is at least 1") }
            }
        };
        let of_all = || {
            let rows = self.values.par_chunks_exact(self.classes).with_min_len(PART_ROWS);
            rows.map_init(Vec::new, of_row).collect()
        };
        self.top_labels.get_or_init(of_all)
    }

    /// Appends the scores of all classes of a row, with the bits of the device; `exps` is for what is computed on the way.
    pub(crate) fn scores_of(&self, row: &[f32], exps: &mut Vec<f32>, scores: &mut Vec<f64>) {
        match self.kind {
            VectorKind::Probs => scores.extend(self.vector(row).scores().map(|score| f64::from(score.get()))),
            VectorKind::Logits => {
                let sum = exp_differences(row, largest(row).1, exps);
                scores.extend(exps.iter().map(|exp| f64::from(exp / sum)));
            }
        }
    }

    /// The probabilities of all rows and classes, row-major, with the softmax computed in `f64`.
    pub fn probs_f64(&self) -> Vec<f64> {
        let mut probs = Vec::with_capacity(self.values.len());
        for row in self.rows() {
            let max = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
            let start = probs.len();
            match self.kind {
                // An f32 softmax may be off [0, 1] in its last bits.
                VectorKind::Probs => probs.extend(row.iter().map(|&prob| f64::from(prob).clamp(0.0, 1.0))),
                VectorKind::Logits => {
                    probs.extend(row.iter().map(|&logit| (f64::from(logit) - max).exp()));
                    let sum: f64 = probs[start..].iter().sum();
                    probs[start..].iter_mut().for_each(|prob| *prob /= sum);
                }
            }
        }
        probs
    }

    /// Every row's predicted class and score, with the softmax computed in `f64`: the reference for what
    /// `f32` costs. Ties go to the lowest class.
    pub fn top_labels_f64(&self) -> impl Iterator<Item = (u16, f64)> {
        self.rows().map(|row| {
            let class = (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best });
            let max = f64::from(row[class]);
            let score = match self.kind {
                VectorKind::Logits => 1.0 / row.iter().map(|&z| (f64::from(z) - max).exp()).sum::<f64>(),
                VectorKind::Probs => max,
            };
            (class as u16, score)
        })
    }

    /// A row's scores, with the softmax computed in `f64`.
    pub(crate) fn scores_f64<'r>(&self, row: &'r [f32]) -> impl Iterator<Item = f64> + use<'r> {
        let max = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let logits = self.kind == VectorKind::Logits;
        let exp = move |&value: &f32| match logits {
            true => (f64::from(value) - max).exp(),
            false => f64::from(value).clamp(0.0, 1.0),
        };
        let sum = if logits { row.iter().map(exp).sum::<f64>() } else { 1.0 };
        row.iter().map(move |value| exp(value) / sum)
    }

    /// Whether every row is a probability vector, whatever the entries were said to be.
    pub fn all_look_like_probs(&self) -> bool {
        self.rows().all(|row| Probs::new(row).is_ok())
    }

    /// Whether every entry is in `[0, 1]`, as in no logits of a classifier that is ever sure.
    pub fn all_in_unit_interval(&self) -> bool {
        self.values.iter().all(|value| (0.0..=1.0).contains(value))
    }

    /// Checks the same numbers as vectors of another kind.
    ///
    /// # Errors
    ///
    /// The first row that is no vector of that kind.
    pub fn of_kind(self, kind: VectorKind) -> Result<Self, DataError> {
        Self::new(self.values, self.classes, kind)
    }
}

/// The first class with the largest logit, and that logit.
fn largest(row: &[f32]) -> (usize, f32) {
    let mut first = (0, row[0]);
    for (class, &logit) in row.iter().enumerate() {
        if logit > first.1 {
            first = (class, logit);
        }
    }
    first
}

/// Compares rows entry by entry; no entry is NaN, and -0 counts as 0.
pub(super) fn compare(a: &[f32], b: &[f32]) -> Ordering {
    let different = a.iter().zip(b).map(|(a, b)| (a + 0.0).total_cmp(&(b + 0.0)));
    different.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Differences up to where an exponential is 0, and rows longer and shorter than what is computed together.
        #[test]
        fn scores_have_the_bits_of_the_device(
            classes in 2usize..20,
            logits in proptest::collection::vec(prop_oneof![-120f32..120.0, -3f32..3.0, Just(0.0), Just(f32::MIN)], 200),
        ) {
            let values = logits[..logits.len() / classes * classes].to_vec();
            let vectors = Vectors::new(values, classes, VectorKind::Logits).unwrap();
            let of_device: Vec<TopLabel> = vectors.vectors().map(|vector| vector.top_label()).collect();
            prop_assert_eq!(vectors.top_labels(), &of_device[..]);
            for row in vectors.rows() {
                let (mut exps, mut scores) = (Vec::new(), Vec::new());
                vectors.scores_of(row, &mut exps, &mut scores);
                let of_device: Vec<f64> = vectors.vector(row).scores().map(|score| score.get().into()).collect();
                prop_assert_eq!(scores, of_device);
            }
        }
    }

    #[test]
    fn f64_and_f32_softmax_agree_to_f32_precision() {
        let vectors = Vectors::new(vec![0.5, -1.0, 3.0, 1.0, 1.0, 0.0], 3, VectorKind::Logits).unwrap();
        for (device, reference) in vectors.top_labels().iter().zip(vectors.top_labels_f64()) {
            assert_eq!(device.class, reference.0);
            assert!((f64::from(device.score.get()) - reference.1).abs() < 1e-7);
        }
    }
}
