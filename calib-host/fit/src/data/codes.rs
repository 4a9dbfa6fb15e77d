//! Scores that integer codes stand for.

use calib_core::{QuantizedScore, Score};

/// The score nearest to what a code stands for.
pub(crate) fn clamped_score(score: QuantizedScore) -> Score {
    score.score().unwrap_or(if score.dequantized() > 0.5 { Score::ONE } else { Score::ZERO })
}
