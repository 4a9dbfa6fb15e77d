//! What the prediction sets of an artifact do on rows with labels.

use calib_core::Artifact;

use super::assessed::AssessedSets;
use super::calibrated::rows_of;
use super::device_scores::DeviceScores;
use super::error::AssessError;
use super::mismatch::mismatch;
use crate::dataset::{Content, Dataset};
use crate::sets::{ConformityScore, ConformityScores, PredictionSets, SetFigures};

/// Judges the sets of an artifact; `None` if it has none.
pub(super) fn judged_sets(
    data: &Dataset,
    artifact: &Artifact<'_>,
    alpha: f64,
) -> Result<Option<AssessedSets>, AssessError> {
    let Some(kept) = artifact.prediction_sets() else { return Ok(None) };
    if data.encoding().is_some() != kept.encoding().is_quantized() {
        return Err(
            mismatch(artifact, if data.encoding().is_some() { "integer codes" } else { "floats" }).into()
        );
    }
    let sets = PredictionSets::stored(kept);
    let (rows, labels) = match data.content() {
        Content::Points(points) => {
            let rows = rows_of(points)?;
            let labels = rows.iter().map(|row| row.1.into()).collect();
            let scores =
                DeviceScores::new(points.kind(), data.encoding(), rows.into_iter().map(|row| row.0))?;
            match scores {
                DeviceScores::Codes(codes) => (ConformityScores::of_binary_codes(&codes), labels),
                _ => (ConformityScores::of_scores(points)?.0, labels),
            }
        }
        Content::Vectors(vectors, labels) => {
            (ConformityScores::of_vectors(vectors, sets.score)?, labels.clone())
        }
        Content::Codes(codes, labels) => {
            let rows = match sets.score {
                ConformityScore::Margin => ConformityScores::of_codes(codes),
                ConformityScore::Softmax => ConformityScores::of_code_probs(codes)?,
            };
            (rows, labels.clone())
        }
        Content::Weighted(_) => return Err(mismatch(artifact, "weighted scores").into()),
    };
    let figures = SetFigures::of(&sets, &rows, &labels, kept.never_empty(), alpha)?;
    Ok(Some(figures.into()))
}
