//! Applying an artefact to scores, with the code and the arithmetic of the device.

use calib_core::{Artifact, BinFlags, Calibrator, Logits, Outcome, Probs, Score, TopLabel, Uncalibrated};

use crate::data::{VectorKind, Vectors};

/// A calibrated row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Applied {
    /// The class that the probability is of, and its score.
    pub top: TopLabel,
    /// The probability, or why there is none.
    pub outcome: Outcome,
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
pub fn apply_scores(artifact: &Artifact<'_>, scores: &[Score]) -> Option<Vec<Applied>> {
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { return None };
    let apply = |&score: &Score| Applied {
        top: TopLabel { class: 1, score },
        outcome: Outcome::Calibrated(calibrator.calibrate(score)),
    };
    Some(scores.iter().map(apply).collect())
}

/// Calibrates the predictions in vectors with a top-label artefact; `None` if the artefact is not of that kind or
/// has another number of classes.
pub fn apply_vectors(artifact: &Artifact<'_>, vectors: &Vectors) -> Option<Vec<Applied>> {
    let Calibrator::TopLabel(calibrator) = artifact.calibrator() else { return None };
    let apply = |row: &[f32]| {
        let (top, outcome) = match vectors.kind() {
            VectorKind::Logits => calibrator.calibrate_logits(Logits::new(row).ok()?).ok()?,
            VectorKind::Probs => calibrator.calibrate_probs(Probs::new(row).ok()?).ok()?,
        };
        Some(Applied { top, outcome })
    };
    vectors.rows().map(apply).collect()
}
