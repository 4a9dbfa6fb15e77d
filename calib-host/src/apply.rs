//! Applying an artefact to scores, with the code and the arithmetic of the device.

use calib_core::{
    Artifact, BinFlags, Calibrator, Outcome, Score, StepTable, TableForm, TopLabel, Uncalibrated,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::data::{DataError, Vectors, check_device_scores};

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

/// The probabilities of scores of class 1, and nothing else, on all processors; those that [`apply_scores`] finds. `None` if
/// the artefact is not binary.
///
/// # Errors
///
/// The first score that is not in `[0, 1]`.
pub fn apply_probs(
    artifact: &Artifact<'_>,
    scores: &[f32],
    seed: u64,
) -> Result<Option<Vec<f32>>, DataError> {
    check_device_scores(scores)?;
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { return Ok(None) };
    let checked = |score| Score::new(score).unwrap_or(Score::ZERO);
    if artifact.is_randomized() {
        let prob = |(&score, word): (&f32, _)| calibrator.calibrate_with(checked(score), word).prob;
        return Ok(Some(scores.iter().zip(words(artifact, seed)).map(prob).collect()));
    }
    let steps = match artifact.tables().get(0).map(|table| table.form) {
        Some(TableForm::Steps(steps)) if steps.edges().len() <= FEW_EDGES => Some(steps),
        _ => None,
    };
    let mut probs = vec![0.0; scores.len()];
    let parts = scores.par_chunks(1 << 14).zip(probs.par_chunks_mut(1 << 14));
    parts.for_each(|(scores, probs)| match steps {
        Some(steps) => look_up(steps, scores, probs),
        None => {
            for (&score, prob) in scores.iter().zip(probs) {
                *prob = calibrator.calibrate(checked(score)).prob;
            }
        }
    });
    Ok(Some(probs))
}

/// Up to so many edges are counted one by one, for several scores at once, before a search among them is quicker.
const FEW_EDGES: usize = 32;

/// What [`StepTable::lookup`] finds for many scores: a bin's number is that of the edges at or below the score.
fn look_up(steps: StepTable<'_>, scores: &[f32], probs: &mut [f32]) {
    let values: Vec<f32> = steps.values().collect();
    for (scores, probs) in scores.chunks(256).zip(probs.chunks_mut(256)) {
        let mut bins = [0u32; 256];
        for &edge in steps.edges() {
            for (bin, &score) in bins.iter_mut().zip(scores) {
                *bin += u32::from(edge <= score);
            }
        }
        for (prob, bin) in probs.iter_mut().zip(bins) {
            *prob = values[bin as usize];
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ArtifactOptions, BinaryData, BinaryMethod, FixedWidth, ScalingMethod, StoredArtifact, Umd,
        artifact_bytes, fit_binary,
    };

    #[test]
    fn probabilities_alone_are_those_of_all_there_is() {
        let scores: Vec<f32> = (0..40_000).map(|i| (i * 7919 % 4001) as f32 / 4000.0).collect();
        let labels: Vec<bool> = (0..40_000).map(|i| i * 31 % 10 < i * 7919 % 4001 / 400).collect();
        let data = BinaryData::from_device_scores(&scores, &labels).unwrap();
        let checked: Vec<Score> = scores.iter().map(|&score| Score::new(score).unwrap()).collect();
        for method in [
            BinaryMethod::Umd(Umd::new(9)),
            BinaryMethod::UmdRandomized(Umd::new(9), 1),
            BinaryMethod::FixedWidth(FixedWidth { bins: 1 }),
            BinaryMethod::FixedWidth(FixedWidth { bins: 33 }),
            BinaryMethod::FixedWidth(FixedWidth { bins: 34 }),
            BinaryMethod::Scaling(ScalingMethod::Beta),
            BinaryMethod::VennAbers,
        ] {
            let fit = fit_binary(&data, &method, 0.1).unwrap();
            let bytes = artifact_bytes(&fit, &ArtifactOptions::default()).unwrap();
            let stored = StoredArtifact::from_bytes(&bytes).unwrap();
            let all = apply_scores(&stored.artifact(), &checked, 5).unwrap();
            let prob = |row: &Applied| match row.outcome {
                Outcome::Calibrated(calibrated) => calibrated.prob,
                Outcome::Uncalibrated(_) => panic!("a binary artefact calibrates every score"),
            };
            let probs = apply_probs(&stored.artifact(), &scores, 5).unwrap().unwrap();
            assert!(all.iter().map(prob).eq(probs));
            let bad = apply_probs(&stored.artifact(), &[0.5, -0.0, 1.5, f32::NAN], 0);
            let cause = calib_core::ScoreError::OutOfRange(1.5);
            assert_eq!(bad, Err(DataError::Score { row: 2, cause }));
        }
    }
}
