//! Scores as a device with a table of 16-bit numbers sees them.

use calib_core::{Margin, Score};

use crate::stats::ScoreKind;

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
