//! Scores that integer codes stand for.

use calib_core::{QuantizedScore, Score};

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
