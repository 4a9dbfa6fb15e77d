//! Applying an artefact to scores, with the code and the arithmetic of the device.

use calib_core::{Artifact, BinFlags, Calibrator, Outcome, Score, TableForm, TopLabel, Uncalibrated};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::data::Vectors;

/// A calibrated row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Applied {
    /// The class that the probability is of, and its score.
    pub top: TopLabel,
    /// The probability, or why there is none.
    pub outcome: Outcome,
    /// The random word that stood in for the device's, if the artefact is randomised.
    pub word: Option<u32>,
}

impl Applied {
    /// What to know about the row: `uncalibrated`, `empty-bin` or nothing.
    pub fn flags(&self) -> &'static str {
        match self.outcome {
            Outcome::Uncalibrated(Uncalibrated::Class) => "uncalibrated-class",
            Outcome::Uncalibrated(_) => "uncalibrated",
            Outcome::Calibrated(c) if c.flags.contains(BinFlags::EMPTY) => "empty-bin",
            Outcome::Calibrated(_) => "",
        }
    }
}

/// Calibrates the scores of class 1 with a binary artefact; `None` if the artefact is not binary.
///
/// A randomised artefact gets a random word per row, drawn from `seed` in row order.
pub fn apply_scores(artifact: &Artifact<'_>, scores: &[Score], seed: u64) -> Option<Vec<Applied>> {
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { return None };
    let apply = |(&score, word): (&Score, Option<u32>)| {
        let calibrated = match word {
            Some(word) => calibrator.calibrate_with(score, word),
            None => calibrator.calibrate(score),
        };
        Applied { top: TopLabel { class: 1, score }, outcome: Outcome::Calibrated(calibrated), word }
    };
    Some(scores.iter().zip(words(artifact, seed)).map(apply).collect())
}

/// The probabilities that [`apply_scores`] finds, and nothing else: for many scores, on all processors.
pub fn apply_probs(artifact: &Artifact<'_>, scores: &[Score], seed: u64) -> Option<Vec<f32>> {
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { return None };
    if artifact.is_randomized() {
        let prob = |(&score, word): (&Score, Option<u32>)| calibrator.calibrate_with(score, word).prob;
        return Some(scores.iter().zip(words(artifact, seed)).map(prob).collect());
    }
    let scores = scores.par_iter().with_min_len(1 << 14);
    Some(match artifact.tables().get(0).map(|table| table.form) {
        // The same lookup, without looking up the evidence of every bin.
        Some(TableForm::Steps(steps)) => scores.map(|&score| steps.lookup(score).1).collect(),
        _ => scores.map(|&score| calibrator.calibrate(score).prob).collect(),
    })
}

/// Calibrates the predictions in vectors with a top-label artefact; `None` if the artefact is not of that kind or
/// has another number of classes.
///
/// A randomised artefact gets a random word per row, drawn from `seed` in row order.
pub fn apply_vectors(artifact: &Artifact<'_>, vectors: &Vectors, seed: u64) -> Option<Vec<Applied>> {
    let Calibrator::TopLabel(calibrator) = artifact.calibrator() else { return None };
    if calibrator.classes() != vectors.classes() {
        return None;
    }
    let apply = |(top, word): (TopLabel, Option<u32>)| {
        let outcome = match word {
            Some(word) => calibrator.calibrate_with(top, word),
            None => calibrator.calibrate(top),
        };
        Applied { top, outcome, word }
    };
    Some(vectors.top_labels().zip(words(artifact, seed)).map(apply).collect())
}

/// A word for every row if the artefact is randomised, otherwise none.
fn words(artifact: &Artifact<'_>, seed: u64) -> impl Iterator<Item = Option<u32>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let randomized = artifact.is_randomized();
    std::iter::repeat_with(move || randomized.then(|| rng.random()))
}
