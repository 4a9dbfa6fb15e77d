//! What the prediction sets of an artefact do on rows with labels.

use std::path::Path;

use calib_core::ScoreEncoding;
use calib_fit::sets::{PredictionSets, SetFigures};
use calib_fit::{ScoreKind, StoredArtifact, VectorKind};
use calib_io::files::Place;
use calib_io::input::Source;

use super::sets::{SetInput, SetSource};
use crate::error::Error;
use crate::options::AssessedOptions;

/// Judges the sets of an artefact by the rows that are to be assessed; `None` if it has none.
pub(crate) fn judged_sets(
    options: &AssessedOptions,
    stored: &StoredArtifact,
    sources: &[Source],
    alpha: f64,
) -> Result<Option<SetFigures>, Error> {
    let artifact = stored.artifact();
    let Some(stored_sets) = artifact.prediction_sets() else { return Ok(None) };
    let sets = PredictionSets::stored(stored_sets);
    let Some(input) = set_input(options) else {
        return Err(Error::Usage(
            "the sets of the artefact are judged by --scores, --margins, --logits or --probs, with labels"
                .into(),
        ));
    };
    let source = SetSource {
        input,
        encoding: Some(stored_sets.encoding()).filter(ScoreEncoding::is_quantized),
        score_column: &options.score_column,
        label_column: &options.label_column,
        score: Some(sets.score).filter(|_| matches!(input, SetInput::Vectors(_))),
    };
    let rows = source.read(sources)?;
    let figures = SetFigures::of(&sets, &rows.rows, &rows.labels, stored_sets.never_empty(), alpha)
        .map_err(|cause| Error::promise(Place::file(sources[0].path()), cause))?;
    Ok(Some(figures))
}

/// What the rows are.
fn set_input(options: &AssessedOptions) -> Option<SetInput> {
    let source = &options.source;
    let given = [
        (&source.scores, SetInput::Binary(ScoreKind::Probability)),
        (&source.margins, SetInput::Binary(ScoreKind::Margin)),
        (&source.logits, SetInput::Vectors(VectorKind::Logits)),
        (&source.probs, SetInput::Vectors(VectorKind::Probs)),
    ];
    given.into_iter().find_map(|(path, input)| path.as_deref().map(|_: &Path| input))
}
