//! Rows that stand for several points, or for a share of one.

use calib_core::ScoreEncoding;
use calib_fit::FitError;
use calib_fit::data::{BinaryData, DataError, RowsDigest, ScoreKind, WeightedData};
use calib_fit::points::ScoreSummary;

use super::column::{Column, check_same_rows};
use crate::files::{Fault, FileError, Problem};

/// Binary calibration data, with or without real weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Sample {
    /// Points, each as good as the other: what theorems are about.
    Points(BinaryData),
    /// Points with real weights.
    Weighted(WeightedData),
}

impl Sample {
    /// As [`BinaryData::rounded`].
    #[must_use]
    pub fn rounded(self) -> Self {
        match self {
            Self::Points(data) => Self::Points(data.rounded()),
            Self::Weighted(data) => Self::Weighted(data.rounded()),
        }
    }

    /// Returns the digest of the rows, whatever their weights.
    ///
    /// # Errors
    ///
    /// As [`BinaryData::rows_digest`].
    pub fn rows_digest(&self) -> Result<RowsDigest, FitError> {
        match self {
            Self::Points(data) => data.rows_digest(),
            Self::Weighted(data) => Ok(data.rows_digest().clone()),
        }
    }

    /// Looks at where the scores lie, and how often they repeat.
    ///
    /// # Errors
    ///
    /// As [`BinaryData::score_summary`].
    pub fn score_summary(&self) -> Result<ScoreSummary, FitError> {
        match self {
            Self::Points(data) => data.score_summary(),
            Self::Weighted(data) => data.score_summary(),
        }
    }
}

/// Joins scores of this kind, weights and binary labels, mapping the scores to the device's `f32`. Weights are no counts of points, whole
/// numbers or not: those are what [`counted_data`] takes.
///
/// ```
/// use calib_fit::ScoreKind;
/// use calib_io::input::{Source, Table, weighted_data};
///
/// let csv = b"score,weight,label\n0.2,2,0\n0.9,3,1\n".to_vec();
/// let table = Table::read(&Source::from_bytes("weighted.csv", csv)?)?;
/// let (scores, weights) = (table.numbers("score")?, table.numbers("weight")?);
/// let data = weighted_data(&scores, &weights, &table.labels("label")?, ScoreKind::Probability)?;
/// // Rows, not points.
/// assert_eq!(data.len(), 2);
/// # Ok::<(), calib_io::files::FileError>(())
/// ```
///
/// # Errors
///
/// Different numbers of rows, a value that is no score of this kind, or a label other than 0 and 1. A weight that is no number from 0
/// on, weights that are all 0, or those of a label that all count as 0.
pub fn weighted_data(
    scores: &Column<f64>,
    weights: &Column<f64>,
    labels: &Column<i64>,
    kind: ScoreKind,
) -> Result<WeightedData, FileError> {
    check_same_rows(scores, weights)?;
    check_same_rows(scores, labels)?;
    labels.check_classes(2)?;
    check_weights(weights)?;
    let row = |((score, &label), &weight): ((f64, &i64), &f64)| (score, weight, label == 1);
    let rows: Vec<_> =
        device_scores(scores, kind)?.into_iter().zip(&labels.values).zip(&weights.values).map(row).collect();
    let data = match kind {
        ScoreKind::Probability => WeightedData::new(&rows),
        ScoreKind::Margin => WeightedData::of_margins(&rows),
    };
    // Each by itself was checked.
    data.map_err(|cause| {
        FileError::input(weights.place.clone(), Fault::new(cause, ScoreEncoding::F32).problem)
    })
}

/// Joins a table aggregated by score: scores of this kind, numbers of points, and how many of them have label 1.
///
/// ```
/// use calib_fit::ScoreKind;
/// use calib_io::input::{Source, Table, counted_data};
///
/// // Of 100 points with the score 0.2 seven have label 1.
/// let csv = b"score,n,positives\n0.2,100,7\n0.9,50,40\n".to_vec();
/// let table = Table::read(&Source::from_bytes("counts.csv", csv)?)?;
/// let (scores, counts) = (table.numbers("score")?, table.numbers("n")?);
/// let data = counted_data(&scores, &counts, &table.numbers("positives")?, ScoreKind::Probability)?;
/// assert_eq!(data.len(), 150);
/// # Ok::<(), calib_io::files::FileError>(())
/// ```
///
/// # Errors
///
/// Different numbers of rows, a value that is no score of this kind, or a number that is no whole number from 0 on. More positives
/// than points, no points at all, or more than 2^53.
pub fn counted_data(
    scores: &Column<f64>,
    counts: &Column<f64>,
    positives: &Column<f64>,
    kind: ScoreKind,
) -> Result<BinaryData, FileError> {
    check_counts(scores, counts, positives)?;
    points(kind, (device_scores(scores, kind)?, counts, positives))
}

/// As [`counted_data`] of probabilities, which are taken as they are, and not as a device has them.
///
/// # Errors
///
/// As [`counted_data`].
pub fn counted_probs(
    probs: &Column<f64>,
    counts: &Column<f64>,
    positives: &Column<f64>,
) -> Result<BinaryData, FileError> {
    check_counts(probs, counts, positives)?;
    probs.check_scores(ScoreKind::Probability)?;
    points(ScoreKind::Probability, (probs.values.clone(), counts, positives))
}

fn check_counts(
    scores: &Column<f64>,
    counts: &Column<f64>,
    positives: &Column<f64>,
) -> Result<(), FileError> {
    check_same_rows(scores, counts)?;
    check_same_rows(scores, positives)?;
    for column in [counts, positives] {
        check_weights_but_zeros(column)?;
        column.check(|&count| (count.fract() != 0.0).then_some(Problem::Count(count)))?;
    }
    let mut pairs = counts.values.iter().zip(&positives.values);
    if let Some(row) = pairs.position(|(n, positives)| positives > n) {
        let problem = Problem::Positives { positives: positives.values[row], n: counts.values[row] };
        return Err(FileError::input(positives.at(row), problem));
    }
    Ok(())
}

fn points(
    kind: ScoreKind,
    (scores, counts, positives): (Vec<f64>, &Column<f64>, &Column<f64>),
) -> Result<BinaryData, FileError> {
    let pairs = counts.values.iter().zip(&positives.values);
    let rows = scores.into_iter().zip(pairs).map(|(score, (&n, &k))| (score, n as u64, k as u64)).collect();
    let data = match kind {
        ScoreKind::Probability => BinaryData::from_counts(rows),
        ScoreKind::Margin => BinaryData::of_margin_counts(rows),
    };
    data.map_err(|cause| {
        let problem = match cause {
            // There are rows, but they stand for no points.
            DataError::Empty => Problem::NoWeight,
            cause => Fault::new(cause, ScoreEncoding::F32).problem,
        };
        FileError::input(counts.place().clone(), problem)
    })
}

fn device_scores(scores: &Column<f64>, kind: ScoreKind) -> Result<Vec<f64>, FileError> {
    Ok(scores.device_scores(kind)?.into_iter().map(f64::from).collect())
}

fn check_weights(weights: &Column<f64>) -> Result<(), FileError> {
    check_weights_but_zeros(weights)?;
    if weights.values.iter().all(|&weight| weight == 0.0) {
        return Err(FileError::input(weights.place().clone(), Problem::NoWeight));
    }
    Ok(())
}

fn check_weights_but_zeros(weights: &Column<f64>) -> Result<(), FileError> {
    weights.check(|&weight| match weight {
        w if w.is_nan() => Some(Problem::NaN),
        w if w.is_infinite() => Some(Problem::Infinite),
        w if w < 0.0 => Some(Problem::NegativeWeight(w)),
        _ => None,
    })
}
