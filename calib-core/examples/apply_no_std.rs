//! What a firmware does with an artifact: checks it once, then calibrates every score. Nothing here needs `std` but `main`.
//!
//! ```sh
//! cargo run -p calib-core --example apply_no_std
//! ```

use calib_core::{Artifact, Calibrator, ClassifierId, Score};

/// Bytes that begin at a multiple of 4, as a slot in flash does.
#[repr(align(4))]
struct Slot<const N: usize>([u8; N]);

static SLOT: Slot<304> = Slot(*include_bytes!("calibrator.cal"));

/// The classifier whose scores these are.
const CLASSIFIER: ClassifierId = ClassifierId(*b"example ");

/// The calibrated probability of class 1, and how far it may be from the truth. `None`: no artifact, a damaged one, one for another
/// classifier, or a score in a bin without calibration rows.
fn probability(slot: &[u8], score: f32) -> Option<(f32, Option<f32>)> {
    let artifact = Artifact::parse_slot(slot).ok().filter(|artifact| artifact.is_for(CLASSIFIER))?;
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { return None };
    let outcome = calibrator.calibrate(Score::new(score).ok()?);
    let calibrated = outcome.calibrated()?;
    Some((calibrated.prob, calibrated.epsilon))
}

fn main() {
    for score in [0.1, 0.5, 0.9] {
        match probability(&SLOT.0, score) {
            Some((prob, Some(epsilon))) => {
                println!("a score of {score} is a probability of {prob:.3} ± {epsilon:.3}")
            }
            Some((prob, None)) => println!("a score of {score} is a probability of {prob:.3}"),
            None => println!("a score of {score} is uncalibrated"),
        }
    }
}

#[test]
fn scores_are_calibrated_and_damage_is_found() {
    main();
    let [low, high] = [0.1, 0.9].map(|score| probability(&SLOT.0, score).unwrap().0);
    assert!(low < high && probability(&SLOT.0, f32::NAN).is_none());
    let mut damaged = Slot(SLOT.0);
    damaged.0[200] ^= 1;
    assert!(probability(&damaged.0, 0.5).is_none());
}
