//! Artefacts that do not fit the scores.

use std::path::Path;

use calib_core::artifact::Reduction;
use calib_core::{Artifact, Calibrator, ScoreEncoding};
use calib_fit::apply::{AppliedVector, apply_code_vectors};
use calib_fit::artifact::score_kind;
use calib_fit::data::CodeVectors;
use calib_fit::{ScoreKind, VectorKind, Vectors, apply_vectors};

use crate::error::Error;

/// Calibrates vectors, row by row, if the artefact is for such.
pub(crate) fn applied_vectors<'v>(
    path: &Path,
    artifact: &Artifact<'v>,
    vectors: &'v Vectors,
    seed: u64,
) -> Result<impl Iterator<Item = AppliedVector> + use<'v>, Error> {
    let got = || match vectors.kind() {
        VectorKind::Probs if needs_logits(artifact) => "probabilities".to_owned(),
        _ => format!("vectors of {} classes", vectors.classes()),
    };
    apply_vectors(artifact, vectors, seed).ok_or_else(|| mismatch(path, artifact, &got()))
}

/// Calibrates vectors of codes, row by row, if the artefact is for such.
pub(crate) fn applied_codes<'v>(
    path: &Path,
    artifact: &Artifact<'v>,
    codes: &'v CodeVectors,
) -> Result<impl Iterator<Item = AppliedVector> + use<'v>, Error> {
    let got = || format!("codes of {} classes", codes.classes());
    apply_code_vectors(artifact, codes).ok_or_else(|| mismatch(path, artifact, &got()))
}

/// The encoding of the codes of several classes that an artefact takes; `None` if it takes something else.
pub(crate) fn codes_of_classes(artifact: &Artifact<'_>) -> Option<(ScoreEncoding, VectorKind)> {
    match artifact.calibrator() {
        Calibrator::TopLabelCode(calibrator) => Some((calibrator.encoding(), VectorKind::Probs)),
        Calibrator::TopLabelCodeMargin(calibrator) => Some((calibrator.encoding(), VectorKind::Logits)),
        _ => None,
    }
}

/// Says what an artefact takes, and what it got.
pub(crate) fn mismatch(path: &Path, artifact: &Artifact<'_>, got: &str) -> Error {
    let (classes, encoding) = (artifact.header().classes, artifact.header().encoding);
    let takes = match artifact.header().reduction {
        Reduction::Binary if matches!(artifact.calibrator(), Calibrator::None) => {
            "nothing to be calibrated: it holds thresholds alone".to_owned()
        }
        Reduction::Binary if matches!(artifact.calibrator(), Calibrator::Grouped(_)) => {
            "binary scores with the group of each, which this command does not read".to_owned()
        }
        Reduction::Binary if encoding.is_quantized() => {
            format!("codes of binary scores, {encoding}: use {}", binary_option(artifact))
        }
        _ if matches!(artifact.calibrator(), Calibrator::TopLabelCodeMargin(_)) => {
            format!("codes of the logits of {classes} classes, {encoding}: use --logits")
        }
        _ if encoding.is_quantized() => format!("codes of {classes} classes, {encoding}: use --probs"),
        Reduction::Binary if encoding.is_margin() => "binary scores of any size: use --margins".to_owned(),
        Reduction::Binary => "binary scores: use --scores".to_owned(),
        _ if needs_logits(artifact) => format!("vectors of {classes} logits: use --logits"),
        _ => format!("vectors of {classes} classes: use --logits or --probs"),
    };
    Error::Mismatch(format!(
        "the artefact does not fit the scores\n  artefact  {}: takes {takes}\n  scores    {got}",
        path.display()
    ))
}

/// The option for the scores of a binary artefact.
fn binary_option(artifact: &Artifact<'_>) -> &'static str {
    match score_kind(artifact) {
        ScoreKind::Probability => "--scores",
        ScoreKind::Margin => "--margins",
    }
}

/// Whether the artefact was fitted to logits as they are.
pub(crate) fn needs_logits(artifact: &Artifact<'_>) -> bool {
    match artifact.calibrator() {
        Calibrator::Vector(calibrator) => calibrator.needs_logits(),
        Calibrator::TopLabelMargin(_) => true,
        _ => false,
    }
}
