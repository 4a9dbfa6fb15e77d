//! What the prediction sets of an artifact do on rows with labels.

use calib_core::Artifact;

use super::assessed::AssessedSets;
use super::error::AssessError;
use super::mismatch::mismatch;
use crate::dataset::Dataset;
use crate::job::sets::SetRows;
use crate::sets::{PredictionSets, SetFigures};

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
    let rows = SetRows::of::<AssessError>(data, Some(sets.score))?;
    let rows = rows.ok_or_else(|| mismatch(artifact, "weighted scores"))?;
    let figures = SetFigures::of(&sets, &rows.conformities, &rows.labels, kept.never_empty(), alpha)?;
    Ok(Some(figures.into()))
}
