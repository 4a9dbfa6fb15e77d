//! Calibration data, checked once.

use std::collections::HashMap;
use std::sync::Arc;

use calib_core::{
    Logits, LogitsError, MAX_CLASSES, MAX_TOP_K, Probs, ProbsError, Reduction, Score, ScoreError,
    ScoreVector, TopLabel,
};
use rayon::prelude::*;

use crate::compact::rounded;
use crate::packed::{self, Packed};
use crate::passes::Passes;
use crate::spill::{Collected, Spill};

/// At least one point: scores of class 1, in `[0, 1]`, and labels. A row may stand for several points.
///
/// One point a row with its score in the device's `f32` takes 4 bytes; other rows take 24.
#[derive(Clone, Debug, PartialEq)]
pub struct BinaryData {
    form: Form,
}

/// What the points are kept as.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// One point a row, its score an `f32`.
    Packed(Vec<Packed>),
    /// The same, as many as do not fit into memory.
    Spilled(Arc<Spill>),
    /// (score, number of points, number of them with label 1).
    Rows(Vec<(f64, u64, u64)>),
}

/// What a vector's entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorKind {
    /// Logits: any finite numbers.
    Logits,
    /// Probabilities: in `[0, 1]`, summing to one.
    Probs,
}

/// `n >= 1` checked vectors of `L >= 2` entries in the device's `f32`.
#[derive(Clone, Debug, PartialEq)]
pub struct Vectors {
    values: Vec<f32>,
    classes: usize,
    kind: VectorKind,
}

/// `n >= 1` predicted classes with their scores, and labels.
#[derive(Clone, Debug, PartialEq)]
pub struct TopLabelData {
    predicted: Vec<u16>,
    scores: Vec<f64>,
    labels: Vec<u16>,
    classes: usize,
}

/// Why data were refused; `row` is the 0-based index of the data row.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// There are no rows.
    #[error("there are no rows")]
    Empty,
    /// Scores and labels differ in number.
    #[error("{scores} rows of scores but {labels} labels")]
    LabelCount {
        /// The number of scores.
        scores: usize,
        /// The number of labels.
        labels: usize,
    },
    /// A row has more positives than points.
    #[error("row {row}: {positives} positives of {n} points")]
    Positives {
        /// The row.
        row: usize,
        /// The number of positives.
        positives: u64,
        /// The number of points.
        n: u64,
    },
    /// A weight is not a number from 0 on.
    #[error("row {row}: the weight {weight} is not a number from 0 on")]
    Weight {
        /// The row.
        row: usize,
        /// The weight.
        weight: f64,
    },
    /// All weights are 0.
    #[error("all weights are 0")]
    NoWeight,
    /// There are more than 2^53 points.
    #[error("more than 2^53 points")]
    TooMany,
    /// A score is not in `[0, 1]`.
    #[error("row {row}: {cause}")]
    Score {
        /// The row.
        row: usize,
        /// What is wrong.
        cause: ScoreError,
    },
    /// A row is not a logit vector.
    #[error("row {row}: {cause}")]
    Logits {
        /// The row.
        row: usize,
        /// What is wrong.
        cause: LogitsError,
    },
    /// A row is not a probability vector.
    #[error("row {row}: {cause}")]
    Probs {
        /// The row.
        row: usize,
        /// What is wrong.
        cause: ProbsError,
    },
    /// A class, predicted or true, is not below the number of classes.
    #[error("row {row}: class {class} is out of range, there are {classes} classes, from 0 on")]
    Class {
        /// The row.
        row: usize,
        /// The class.
        class: i64,
        /// The number of classes.
        classes: usize,
    },
    /// The number of classes is below 2 or above 65 535.
    #[error("{0} classes: a classifier has 2 to {MAX_CLASSES}")]
    ClassCount(usize),
    /// The reduction is for another number of classes, or its number of ranks is out of range.
    #[error("{}", reduction_fault(*reduction, *classes))]
    Reduction {
        /// The reduction.
        reduction: Reduction,
        /// The number of classes.
        classes: usize,
    },
}

fn reduction_fault(reduction: Reduction, classes: usize) -> String {
    match reduction.top_k() {
        Some(k) => format!("{k} ranks: with {classes} classes there are 1 to {}", classes.min(MAX_TOP_K)),
        None => format!("the reduction {reduction} does not go with {classes} classes"),
    }
}

/// Counts up to here are exact in an `f64`.
const MAX_POINTS: u64 = 1 << 53;

/// Checks a score and maps it to the device's `f32`, to the nearest.
///
/// # Errors
///
/// NaN, infinities, and values outside `[0, 1]` before rounding.
pub(crate) fn device_score(value: f64) -> Result<Score, ScoreError> {
    let nearest = value as f32;
    if value < 0.0 || value > 1.0 && value.is_finite() {
        return Err(ScoreError::OutOfRange(if nearest == 1.0 { 1.0f32.next_up() } else { nearest }));
    }
    Score::new(nearest)
}

/// Checks scores as the device sees them.
pub(crate) fn check_device_scores(scores: &[f32]) -> Result<(), DataError> {
    // One comparison a score, several at a time; the negative zero, which is a score, is left to the other way.
    let is_plain = |part: &[f32]| {
        part.iter().fold(true, |plain, score| plain & (score.to_bits() <= Score::ONE.to_bits()))
    };
    if scores.par_chunks(1 << 16).all(is_plain) {
        return Ok(());
    }
    let check = |(row, &score)| Score::new(score).map(drop).map_err(|cause| DataError::Score { row, cause });
    scores.iter().enumerate().try_for_each(check)
}

impl BinaryData {
    /// Checks scores and labels. The scores are used as they are; see [`BinaryData::on_device`].
    ///
    /// # Errors
    ///
    /// No rows, different lengths, or a score that is not in `[0, 1]`.
    pub fn new(scores: Vec<f64>, labels: Vec<bool>) -> Result<Self, DataError> {
        check_lengths(scores.len(), labels.len())?;
        Self::from_counts(
            scores.into_iter().zip(labels).map(|(score, label)| (score, 1, label.into())).collect(),
        )
    }

    /// Checks rows of a score, the number `n` of points that the row stands for, and the number of those with label 1: a
    /// table aggregated by score. The same as so many rows of one point each.
    ///
    /// # Errors
    ///
    /// No points, a score that is not in `[0, 1]`, more positives than points, or more than 2^53 points.
    pub fn from_counts(rows: Vec<(f64, u64, u64)>) -> Result<Self, DataError> {
        let mut total = 0u64;
        for (row, &(score, n, positives)) in rows.iter().enumerate() {
            device_score(score).map_err(|cause| DataError::Score { row, cause })?;
            if positives > n {
                return Err(DataError::Positives { row, positives, n });
            }
            total = total.checked_add(n).filter(|&total| total <= MAX_POINTS).ok_or(DataError::TooMany)?;
        }
        if total == 0 { Err(DataError::Empty) } else { Ok(Self { form: Form::Rows(rows) }) }
    }

    /// Checks scores as the device sees them, and labels: the same as [`BinaryData::new`] for these scores, and quicker.
    ///
    /// # Errors
    ///
    /// As [`BinaryData::new`].
    pub fn from_device_scores(scores: &[f32], labels: &[bool]) -> Result<Self, DataError> {
        check_lengths(scores.len(), labels.len())?;
        check_device_scores(scores)?;
        let pack = |(&score, &label)| packed::pack(Score::new(score).unwrap_or(Score::ZERO), label);
        Ok(Self::from_packed(scores.par_iter().zip(labels).with_min_len(1 << 14).map(pack).collect()))
    }

    /// At least one packed point.
    pub(crate) fn from_packed(points: Vec<Packed>) -> Self {
        Self { form: Form::Packed(points) }
    }

    /// The same data as the device sees it: every score rounded to the nearest `f32`. What is fitted for a
    /// device must be fitted on this, so that no score changes its bin on the way.
    #[must_use]
    pub fn on_device(mut self) -> Self {
        let Form::Rows(rows) = &mut self.form else { return self };
        for row in rows.iter_mut() {
            row.0 = f64::from(row.0 as f32);
        }
        if rows.iter().all(|row| row.1 == 1) {
            let pack = |&(score, _, positives): &(f64, u64, u64)| {
                packed::pack(device_score(score).expect("checked before"), positives == 1)
            };
            self.form = Form::Packed(rows.iter().map(pack).collect());
        }
        self
    }

    /// The same data as a device with a table of 16-bit numbers sees it: every score rounded to the nearest `k / 65535`.
    ///
    /// # Panics
    ///
    /// If points that do not fit into memory cannot be read back from their temporary file.
    #[must_use]
    pub fn rounded(self) -> Self {
        let rows = match self.form {
            Form::Packed(points) => {
                let row = |point| (rounded(packed::score(point)), 1, packed::label(point).into());
                points.into_iter().map(row).collect()
            }
            Form::Spilled(points) => {
                let add = |counts: &mut HashMap<u64, (u64, u64)>, part: &[Packed]| {
                    for &point in part {
                        let count = counts.entry(rounded(packed::score(point)).to_bits()).or_default();
                        *count = (count.0 + 1, count.1 + u64::from(packed::label(point)));
                    }
                };
                let counts = points.fold(HashMap::new, add, |_, _| ()).expect("the temporary file is there");
                counts.into_iter().map(|(bits, (n, k))| (f64::from_bits(bits), n, k)).collect()
            }
            Form::Rows(rows) => rows.into_iter().map(|row| (rounded(row.0), row.1, row.2)).collect(),
        };
        Self { form: Form::Rows(rows) }
    }

    /// At least one packed point.
    pub(crate) fn from_collected(points: Collected) -> Self {
        Self {
            form: match points {
                Collected::Memory(points) => Form::Packed(points),
                Collected::Spill(spill) => Form::Spilled(spill.into()),
            },
        }
    }

    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// The number of points, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> u64 {
        match &self.form {
            Form::Packed(points) => points.len() as u64,
            Form::Spilled(points) => points.len(),
            Form::Rows(rows) => rows.iter().map(|row| row.1).sum(),
        }
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
        for (row, vector) in values.chunks_exact(classes).enumerate() {
            match kind {
                VectorKind::Logits => {
                    Logits::new(vector).map_err(|cause| DataError::Logits { row, cause })?;
                }
                VectorKind::Probs => {
                    Probs::new(vector).map_err(|cause| DataError::Probs { row, cause })?;
                }
            }
        }
        Ok(Self { values, classes, kind })
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

    /// The rows.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[f32]> + ExactSizeIterator {
        self.values.chunks_exact(self.classes)
    }

    /// A row, as the device sees it.
    pub(crate) fn vector<'r>(&self, row: &'r [f32]) -> ScoreVector<'r> {
        match self.kind {
            VectorKind::Logits => Logits::new(row).expect("checked in new").into(),
            VectorKind::Probs => Probs::new(row).expect("checked in new").into(),
        }
    }

    /// The rows, as the device sees them.
    pub fn vectors(&self) -> impl ExactSizeIterator<Item = ScoreVector<'_>> {
        self.rows().map(|row| self.vector(row))
    }

    /// Every row's predicted class and score, computed as the device does.
    pub fn top_labels(&self) -> impl Iterator<Item = TopLabel> {
        self.vectors().map(|vector| vector.top_label())
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
            device_score(score).map_err(|cause| DataError::Score { row, cause })?;
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
            vectors.top_labels().map(|top| (top.class, f64::from(top.score.get()))).unzip();
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

/// Checks that there is a label, which is a class, for each of `n` rows.
pub(crate) fn check_labels(labels: &[i64], n: usize, classes: usize) -> Result<Vec<u16>, DataError> {
    check_lengths(n, labels.len())?;
    labels.iter().enumerate().map(|(row, &label)| check_class(row, label, classes)).collect()
}

fn check_class(row: usize, class: i64, classes: usize) -> Result<u16, DataError> {
    match u16::try_from(class) {
        Ok(small) if usize::from(small) < classes => Ok(small),
        _ => Err(DataError::Class { row, class, classes }),
    }
}

pub(crate) fn check_lengths(scores: usize, labels: usize) -> Result<(), DataError> {
    if scores != labels {
        return Err(DataError::LabelCount { scores, labels });
    }
    if scores == 0 { Err(DataError::Empty) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_just_above_one_is_refused_although_it_rounds_to_one() {
        assert!(matches!(device_score(1.0 + 1e-12), Err(ScoreError::OutOfRange(_))));
        assert!(matches!(device_score(-1e-300), Err(ScoreError::OutOfRange(_))));
        assert_eq!(device_score(1.0), Ok(Score::ONE));
        assert_eq!(device_score(f64::NAN), Err(ScoreError::NaN));
        assert_eq!(device_score(f64::INFINITY), Err(ScoreError::Infinite));
        assert_eq!(device_score(1e-60), Ok(Score::ZERO));
    }

    #[test]
    fn counts_are_checked_and_stand_for_rows() {
        let counts = BinaryData::from_counts(vec![(0.5, 3, 1), (0.1, 0, 0), (0.9, 2, 2)]).unwrap();
        let rows = [(0.5, true), (0.5, false), (0.5, false), (0.9, true), (0.9, true)];
        let rows =
            BinaryData::new(rows.iter().map(|r| r.0).collect(), rows.iter().map(|r| r.1).collect()).unwrap();
        let groups = |data: &BinaryData| match data.form() {
            Form::Rows(rows) => crate::groups::group(rows.clone()),
            Form::Packed(_) | Form::Spilled(_) => panic!("only scores for the device are packed"),
        };
        assert_eq!((counts.len(), groups(&counts)), (rows.len(), groups(&rows)));
        let refused = |row| BinaryData::from_counts(vec![row]);
        assert_eq!(refused((0.5, 1, 2)), Err(DataError::Positives { row: 0, positives: 2, n: 1 }));
        assert_eq!(refused((0.5, 0, 0)), Err(DataError::Empty));
        assert_eq!(refused((0.5, MAX_POINTS + 1, 0)), Err(DataError::TooMany));
    }

    #[test]
    fn labels_must_be_classes() {
        let bad = TopLabelData::new(vec![0], vec![0.5], &[3], 3);
        assert_eq!(bad, Err(DataError::Class { row: 0, class: 3, classes: 3 }));
        let negative = TopLabelData::new(vec![0], vec![0.5], &[-1], 3);
        assert_eq!(negative, Err(DataError::Class { row: 0, class: -1, classes: 3 }));
    }

    #[test]
    fn f64_and_f32_softmax_agree_to_f32_precision() {
        let vectors = Vectors::new(vec![0.5, -1.0, 3.0, 1.0, 1.0, 0.0], 3, VectorKind::Logits).unwrap();
        for (device, reference) in vectors.top_labels().zip(vectors.top_labels_f64()) {
            assert_eq!(device.class, reference.0);
            assert!((f64::from(device.score.get()) - reference.1).abs() < 1e-7);
        }
    }
}
