//! Scores as a device sees them: in `f32`, or in 16 bits.

use calib_core::{Margin, Score};
use rayon::prelude::*;

use super::error::DataError;
use crate::cancel;
use crate::stats::ScoreKind;

/// The number of rows that a thread rounds at a time.
const PART_ROWS: usize = 1 << 16;

/// Rounds scores of a kind to the device's `f32`, on all cores.
///
/// ```
/// use calib_fit::ScoreKind;
/// use calib_fit::data::device_scores;
///
/// assert_eq!(device_scores(ScoreKind::Probability, &[0.1])?, [0.1f32]);
/// // Not a probability, although the nearest f32 is 1.
/// assert!(device_scores(ScoreKind::Probability, &[1.0 + 1e-12]).is_err());
/// # Ok::<(), calib_fit::data::DataError>(())
/// ```
///
/// # Errors
///
/// The first number that is no score of the kind.
pub fn device_scores(kind: ScoreKind, scores: &[f64]) -> Result<Vec<f32>, DataError> {
    let score = |score: f64| match kind {
        ScoreKind::Probability => Score::try_from(score).map(Score::get),
        ScoreKind::Margin => Margin::new(score as f32).map(Margin::get),
    };
    let mut rounded = vec![0.0; scores.len()];
    let parts = rounded.par_chunks_mut(PART_ROWS).zip(scores.par_chunks(PART_ROWS)).enumerate();
    let first_refused = parts.filter_map(|(part, (rounded, scores))| {
        cancel::check_canceled();
        let mut rows = rounded.iter_mut().zip(scores).enumerate();
        let refused = rows.find_map(|(row, (place, &given))| match score(given) {
            Ok(score) => {
                *place = score;
                None
            }
            Err(cause) => Some(DataError::Score { row: part * PART_ROWS + row, cause }),
        });
        refused.map(|refused| (part, refused))
    });
    match first_refused.min_by_key(|(part, _)| *part) {
        Some((_, refused)) => Err(refused),
        None => Ok(rounded),
    }
}

/// The number of steps between the scores 0 and 1.
pub(crate) const STEPS: f64 = u16::MAX as f64;

/// A score as a device with a compact table sees it: rounded to the nearest `k / 65535`, as calib-core does it.
pub(crate) fn rounded(score: f64) -> f64 {
    let single = Score::new(score as f32).expect("scores were checked");
    f64::from(single.rounded_key()) / STEPS
}

/// A score of this kind as a device with a compact table sees it.
pub(crate) fn rounded_of(kind: ScoreKind) -> fn(f64) -> f64 {
    match kind {
        ScoreKind::Probability => rounded,
        ScoreKind::Margin => rounded_margin,
    }
}

/// A margin as a device with a compact table sees it: the least with the same upper half of its key.
fn rounded_margin(margin: f64) -> f64 {
    let single = Margin::new(margin as f32).expect("margins were checked");
    let least = Margin::from_key(u32::from(single.rounded_key()) << 16);
    least.expect("a key's upper half is that of a finite number from the least up").get().into()
}
