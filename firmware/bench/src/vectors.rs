//! A matrix of whole vectors, with the intervals of the predicted classes.

use core::cell::Cell;
use core::ffi::c_void;

use calib_core::predict::{Output, Predictor};
use calib_core::{Logits, Outcome, Probs};

use crate::artifacts::{self, Arena};
use crate::measure::Bench;
use crate::ours::{REFUSED, at};
use crate::scores;

/// A calibrator of so many classes, rows of probabilities for it, and what it said last.
struct Fixture<'a> {
    predictor: Predictor<'a>,
    classes: usize,
    probs: [[f32; 10]; 8],
    outcome: Cell<Option<Outcome>>,
}

impl Fixture<'_> {
    fn predict(&self, output: Output<'_>) -> u64 {
        let mut space = [0.0; 20];
        match self.predictor.predict_classes(&output.into(), &mut space) {
            Ok((prediction, _)) => self.outcome.set(Some(prediction.first.outcome)),
            Err(_) => return REFUSED,
        }
        0
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn matrix_probs(row: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let fixture: &Fixture<'_> = unsafe { at(context) };
    let row = fixture.probs.get(row as usize % 8).and_then(|row| row.get(..fixture.classes));
    match row.map(Probs::new) {
        Some(Ok(probs)) => fixture.predict(Output::Probs(probs)),
        _ => REFUSED,
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn matrix_logits(row: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let fixture: &Fixture<'_> = unsafe { at(context) };
    let row = scores::LOGITS.get(row as usize % 8).and_then(|row| row.get(..fixture.classes));
    match row.map(Logits::new) {
        Some(Ok(logits)) => fixture.predict(Output::Logits(logits)),
        _ => REFUSED,
    }
}

/// Rows of probabilities of so many classes, one of which has more than the others.
fn rows(classes: usize) -> [[f32; 10]; 8] {
    core::array::from_fn(|row| {
        let largest = (7 * row + 3) % classes;
        core::array::from_fn(|class| if class == largest { 1.0 - 0.05 * (classes - 1) as f32 } else { 0.05 })
    })
}

/// Measures two, five and ten classes: what is between them has a square in it.
#[inline(never)]
pub(crate) fn run(bench: &mut Bench) {
    let mut room: Arena = [0; 512];
    for (classes, probs, logits) in [
        (2, "matrix_probs_2", "matrix_logits_2"),
        (5, "matrix_probs_5", "matrix_logits_5"),
        (10, "matrix_probs_10", "matrix_logits_10"),
    ] {
        let predictor = Predictor::new(artifacts::matrix(&mut room, classes));
        let classes = usize::from(classes);
        let fixture = Fixture { predictor, classes, probs: rows(classes), outcome: Cell::new(None) };
        bench.integer(probs, 0, matrix_probs, &fixture);
        bench.integer(logits, 0, matrix_logits, &fixture);
    }
}
