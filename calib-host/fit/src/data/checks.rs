//! Checks that several kinds of data share.

use calib_core::{Margin, Score, ScoreError};
use rayon::prelude::*;

use super::error::DataError;
use crate::stats::ScoreKind;

/// Checks a score that the device will round to the nearest `f32`.
pub(crate) fn check_score(kind: ScoreKind, score: f64) -> Result<(), ScoreError> {
    match kind {
        ScoreKind::Probability => Score::try_from(score).map(drop),
        ScoreKind::Margin => Margin::new(score as f32).map(drop),
    }
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

/// Checks that there is a label, which is a class, for each of `n` rows.
pub(crate) fn check_labels(labels: &[i64], n: usize, classes: usize) -> Result<Vec<u16>, DataError> {
    check_lengths(n, labels.len())?;
    labels.iter().enumerate().map(|(row, &label)| check_class(row, label, classes)).collect()
}

pub(crate) fn check_class(row: usize, class: i64, classes: usize) -> Result<u16, DataError> {
    match u16::try_from(class) {
        Ok(small) if usize::from(small) < classes => Ok(small),
        _ => Err(DataError::Class { row, class, classes }),
    }
}

pub(crate) fn check_lengths(scores: usize, labels: usize) -> Result<(), DataError> {
    if scores == 0 {
        return Err(DataError::Empty);
    }
    if scores == labels { Ok(()) } else { Err(DataError::LabelCount { scores, labels }) }
}
