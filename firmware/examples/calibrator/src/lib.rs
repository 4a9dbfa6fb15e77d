//! All of calib that a firmware needs: one score in, one probability out.
#![no_std]
#![forbid(unsafe_code)]

use calib_core::{Artifact, Calibrator, ClassifierId, Score};

// `calib export cal.cal -o cal.rs` made it of the calibrator of the book's first steps.
include!("../cal.rs");

/// The name of the classifier whose scores these are: the first bytes of the SHA-256 of its weights, or any others.
const CLASSIFIER: ClassifierId = ClassifierId(*b"example ");

/// The calibrated probability of class 1 by the table that is built into the firmware; `None` for what is no score.
pub fn built_in(score: f32) -> Option<f32> {
    let table = CALIB[0].as_ref()?;
    Some(table.lookup(Score::new(score).ok()?).1)
}

/// The same by the artifact in a slot in flash, which begins at a multiple of 4: it can be replaced without the firmware. `None` is
/// "uncalibrated": there is none, it is damaged or for another classifier, or no calibration point was in the score's bin. The score is no
/// probability then.
pub fn from_flash(slot: &[u8], score: f32) -> Option<f32> {
    let artifact = Artifact::parse_slot(slot).ok().filter(|artifact| artifact.is_for(CLASSIFIER))?;
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { return None };
    Some(calibrator.calibrate(Score::new(score).ok()?).calibrated()?.prob)
}

/// What the examples answer to the four bytes of a score (`f32`, little-endian): both probabilities, or NaN for "uncalibrated".
pub fn answer(slot: &[u8], score: [u8; 4]) -> [u8; 8] {
    let score = f32::from_le_bytes(score);
    let probs = [built_in(score), from_flash(slot, score)].map(|prob| prob.unwrap_or(f32::NAN).to_le_bytes());
    core::array::from_fn(|i| probs[i / 4][i % 4])
}
