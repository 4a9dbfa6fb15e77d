//! Scores that integer codes stand for.

use calib_core::{Margin, QuantizedScore, Score, ScoreEncoding};

use super::error::DataError;
use crate::stats::ScoreKind;

/// The score nearest to what a code stands for.
pub(crate) fn clamped_score(score: QuantizedScore) -> Score {
    score.score().unwrap_or(if score.dequantized() > 0.5 { Score::ONE } else { Score::ZERO })
}

/// What a code stands for: of probabilities the nearest, of margins the number itself.
pub(crate) fn score_of_code(kind: ScoreKind, code: QuantizedScore) -> f32 {
    match kind {
        ScoreKind::Probability => clamped_score(code).get(),
        ScoreKind::Margin => code.dequantized(),
    }
}

/// The scores of this kind that integer codes of class 1 stand for.
pub(crate) fn scores_of_codes(
    codes: &[i64],
    encoding: ScoreEncoding,
    kind: ScoreKind,
) -> Result<Vec<f32>, DataError> {
    let score = |(row, &code): (usize, &i64)| {
        // No code is near the ends of an i32.
        let narrow = code.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        let known = QuantizedScore::new(encoding, narrow);
        let known = known.map_err(|cause| DataError::Code { row, class: 1, code, cause })?;
        let score = match kind {
            ScoreKind::Probability => known.score().map(Score::get),
            ScoreKind::Margin => Margin::new(known.dequantized()).ok().map(Margin::get),
        };
        let (code, value) = (known.code(), known.dequantized());
        score.ok_or(DataError::CodeScore { row, class: 1, code, score: value })
    };
    codes.iter().enumerate().map(score).collect()
}

/// The code of an encoding that stands for a score of row `row`, as [`scores_of_codes`] has it.
pub(crate) fn code_of_score(
    encoding: ScoreEncoding,
    kind: ScoreKind,
    score: f32,
    row: usize,
) -> Result<QuantizedScore, DataError> {
    let (scale, zero_point) = encoding.affine().unwrap_or((1.0, 0));
    let code = (f64::from(score) / f64::from(scale)).round() as i32 + zero_point;
    let known = QuantizedScore::new(encoding, code);
    let known = known.map_err(|cause| DataError::Code { row, class: 1, code: code.into(), cause })?;
    debug_assert_eq!(score_of_code(kind, known), score, "the score of a code");
    Ok(known)
}
