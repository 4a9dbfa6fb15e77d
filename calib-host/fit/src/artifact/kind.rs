//! What the scores of an artifact are.

use calib_core::Artifact;
use calib_core::artifact::HeaderFlags;

use crate::fit::parameter_of;
use crate::stats::ScoreKind;

/// The parameter, with its value, that tells codes of margins from codes of probabilities: on the device they are the same.
pub(super) const CODES_OF: (&str, &str) = ("codes-of", "margins");

/// Returns what an artifact was fitted to: of one over codes what the codes stand for.
///
/// ```
/// use calib_fit::artifact::score_kind;
/// use calib_fit::{
///     BinaryData, BinaryMethod, Isotonic, ScoreKind, StoredArtifact, artifact_bytes, fit_binary,
/// };
///
/// let data = BinaryData::of_margins(vec![-4.0, -1.5, 0.5, 9.0], vec![false, true, false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
/// assert_eq!(score_kind(&stored.artifact()), ScoreKind::Margin);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn score_kind(artifact: &Artifact<'_>) -> ScoreKind {
    let header = artifact.header();
    let (name, value) = CODES_OF;
    let of_codes = || parameter_of(header.provenance.parameters, name) == Some(value);
    let is_margin =
        header.encoding.is_margin() || header.flags.contains(HeaderFlags::TOP2_MARGIN) || of_codes();
    if is_margin { ScoreKind::Margin } else { ScoreKind::Probability }
}
