//! Artifacts that do not fit the scores.

use std::fmt;

use calib_core::artifact::Reduction;
use calib_core::{Artifact, Calibrator, ScoreEncoding};

use crate::artifact::score_kind;
use crate::data::{ScoreKind, VectorKind, Vectors};
use crate::options_error::OptionsError;

/// That an artifact is for scores of another kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// What it takes, and what that is called.
    pub takes: OptionsError,
    /// What it got.
    pub got: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { takes, got } = self;
        write!(f, "the artifact does not fit the scores\n  artifact  accepts {takes}\n  scores    {got}")
    }
}

impl std::error::Error for Mismatch {}

/// Says what an artifact takes, and what it got.
pub fn mismatch(artifact: &Artifact<'_>, got: &str) -> Mismatch {
    Mismatch { takes: OptionsError::new(takes(artifact)), got: got.into() }
}

fn takes(artifact: &Artifact<'_>) -> String {
    let (classes, encoding) = (artifact.header().classes, artifact.header().encoding);
    match artifact.header().reduction {
        Reduction::Binary if artifact.header().method.has_no_calibrator() => {
            "no scores to calibrate: it has only thresholds".into()
        }
        Reduction::Binary if matches!(artifact.calibrator(), Calibrator::Grouped) => {
            "binary scores with the group of each, which this command does not read".into()
        }
        Reduction::Binary if encoding.is_quantized() => {
            let name = match score_kind(artifact) {
                ScoreKind::Probability => "scores",
                ScoreKind::Margin => "margins",
            };
            format!("codes of binary scores, {encoding}: use `{name}`")
        }
        _ if codes_of_classes(artifact).is_some_and(|(_, kind)| kind == VectorKind::Logits) => {
            format!("codes of the logits of {classes} classes, {encoding}: use `logits`")
        }
        _ if encoding.is_quantized() => format!("codes of {classes} classes, {encoding}: use `probs`"),
        Reduction::Binary if encoding.is_margin() => "binary scores of any size: use `margins`".into(),
        Reduction::Binary => "binary scores: use `scores`".into(),
        _ if needs_logits(artifact) => format!("vectors of {classes} logits: use `logits`"),
        _ => format!("vectors of {classes} classes: use `logits` or `probs`"),
    }
}

/// What vectors are that an artifact does not take.
pub fn got_vectors(artifact: &Artifact<'_>, vectors: &Vectors) -> String {
    match vectors.kind() {
        VectorKind::Probs if needs_logits(artifact) => "probabilities".into(),
        _ => format!("vectors of {} classes", vectors.classes()),
    }
}

/// The encoding of the codes of several classes that an artifact takes; `None` if it takes something else.
pub fn codes_of_classes(artifact: &Artifact<'_>) -> Option<(ScoreEncoding, VectorKind)> {
    match artifact.calibrator() {
        Calibrator::TopLabelCode(calibrator) => Some((calibrator.encoding(), VectorKind::Probs)),
        Calibrator::TopLabelCodeMargin(calibrator) => Some((calibrator.encoding(), VectorKind::Logits)),
        _ => None,
    }
}

/// The encoding of the codes of vectors that an artifact is assessed by, which are of this kind if it is known; `None` if it takes
/// floats.
///
/// # Errors
///
/// If it takes codes of the other kind.
pub fn vectors_encoding(
    artifact: &Artifact<'_>,
    kind: Option<VectorKind>,
) -> Result<Option<(ScoreEncoding, VectorKind)>, Mismatch> {
    let sets = artifact.prediction_sets().filter(|_| artifact.header().method.has_no_calibrator());
    if let Some(encoding) = sets.map(|sets| sets.encoding()).filter(ScoreEncoding::is_quantized) {
        return Ok(Some((encoding, kind.unwrap_or(VectorKind::Logits))));
    }
    match (codes_of_classes(artifact), kind) {
        (Some((_, VectorKind::Probs)), Some(VectorKind::Logits)) => Err(mismatch(artifact, "logits")),
        (Some((_, VectorKind::Logits)), Some(VectorKind::Probs)) => Err(mismatch(artifact, "probabilities")),
        (codes, _) => Ok(codes),
    }
}

/// Whether an artifact was fitted to logits as they are.
pub fn needs_logits(artifact: &Artifact<'_>) -> bool {
    match artifact.calibrator() {
        Calibrator::Vector(calibrator) => calibrator.needs_logits(),
        Calibrator::TopLabelMargin(_) => true,
        _ => false,
    }
}
