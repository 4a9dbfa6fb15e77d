//! Points one by one, and the integer codes that their scores stand for.

use calib_core::{QuantizedScore, ScoreEncoding};

use crate::data::{BinaryData, code_of_score};
use crate::error::FitError;

/// Each point's score, and whether its label is 1.
///
/// # Errors
///
/// [`FitError::Spill`] if points on a disk cannot be read back.
pub(super) fn rows(points: &BinaryData) -> Result<Vec<(f64, bool)>, FitError> {
    let each = |(score, n, positives): (f64, u64, u64)| (0..n).map(move |at| (score, at < positives));
    if let Some(rows) = points.rows() {
        return Ok(rows.flat_map(each).collect());
    }
    let groups = points.score_groups()?;
    Ok(groups.into_iter().flat_map(|group| each((group.score, group.n, group.positives))).collect())
}

/// The code of each point's score, and whether its label is 1.
///
/// # Errors
///
/// As [`rows`].
///
/// # Panics
///
/// If the encoding has no codes.
pub(super) fn codes(
    points: &BinaryData,
    encoding: ScoreEncoding,
) -> Result<Vec<(QuantizedScore, bool)>, FitError> {
    let code =
        |score: f64| code_of_score(encoding, points.kind(), score as f32, 0).expect("the score of a code");
    Ok(rows(points)?.into_iter().map(|(score, label)| (code(score), label)).collect())
}
