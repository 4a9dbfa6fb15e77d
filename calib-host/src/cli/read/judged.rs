//! What thresholds and prediction sets of an artefact do on rows with labels.

use std::path::Path;

use calib_core::ScoreEncoding;
use calib_host::files::Place;
use calib_host::input::{self, Source, Table};
use calib_host::operating::{KeyedScores, PointFigures};
use calib_host::sets::{PredictionSets, SetFigures};
use calib_host::{ScoreKind, StoredArtifact, VectorKind};

use super::rows::table_labels;
use super::sets::{SetInput, SetSource};
use crate::cli::error::Error;
use crate::cli::options::AssessedOptions;

/// What an artefact's own rule does on rows with labels.
pub(crate) enum Judged {
    /// The thresholds of each group, by its name.
    Points(Vec<(Option<String>, PointFigures)>),
    /// The prediction sets.
    Sets(Box<SetFigures>),
}

impl Judged {
    /// Judges the thresholds or sets of an artefact by the rows that are to be assessed; `None` if it has neither.
    pub(crate) fn read(
        options: &AssessedOptions,
        stored: &StoredArtifact,
        sources: &[Source],
        alpha: f64,
    ) -> Result<Option<Self>, Error> {
        let artifact = stored.artifact();
        if artifact.operating_points().is_some() {
            return Ok(Some(Self::Points(points(options, stored, sources, alpha)?)));
        }
        let Some(stored_sets) = artifact.prediction_sets() else { return Ok(None) };
        let sets = PredictionSets::stored(stored_sets);
        let Some(input) = set_input(options) else {
            return Err(Error::Usage(
                "the sets of the artefact are judged by --scores, --margins, --logits or --probs, with labels".into(),
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
        Ok(Some(Self::Sets(Box::new(figures))))
    }
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

fn points(
    options: &AssessedOptions,
    stored: &StoredArtifact,
    sources: &[Source],
    alpha: f64,
) -> Result<Vec<(Option<String>, PointFigures)>, Error> {
    let artifact = stored.artifact();
    let points = artifact.operating_points().expect("asked before");
    let encoding = points.encoding();
    let kind = match set_input(options) {
        Some(SetInput::Binary(kind))
            if encoding.is_quantized() || encoding.is_margin() == (kind == ScoreKind::Margin) =>
        {
            kind
        }
        _ => {
            let option = if encoding.is_margin() { "--margins" } else { "--scores" };
            return Err(Error::Mismatch(format!(
                "the thresholds of the artefact are of binary scores in {encoding}: use {option}"
            )));
        }
    };
    let groups = artifact.groups().filter(|_| points.groups() > 1);
    let column = options.group_column.name();
    let names: Vec<&str> =
        [&*options.score_column, &*options.label_column].into_iter().chain(column).collect();
    let table = Table::read_only(&sources[0], &names)?;
    let codes = match encoding.is_quantized() {
        true => Some(input::codes(&table.codes(&options.score_column)?, encoding)?),
        false => None,
    };
    let scores = if codes.is_none() { Some(table.numbers(&options.score_column)?) } else { None };
    let rows = codes.as_ref().map(Vec::len).or(scores.as_ref().map(|scores| scores.len())).unwrap_or(0);
    let labels = table_labels(sources, &table, &options.label_column, rows)?;
    labels.check_classes(2)?;
    let keyed = |rows: &[usize]| match (&codes, &scores) {
        (Some(codes), _) => {
            Ok(KeyedScores::of_codes(encoding, rows.iter().map(|&row| (codes[row], labels.values[row] == 1))))
        }
        (None, Some(scores)) => {
            let data = input::binary_data(&scores.part(rows), &labels.part(rows), kind)?;
            KeyedScores::of_scores(&data).map_err(|cause| Error::fit(Place::file(sources[0].path()), cause))
        }
        (None, None) => unreachable!("either was read"),
    };
    let figures = |group: usize, rows: &[usize]| -> Result<PointFigures, Error> {
        let thresholds = points.thresholds(group).expect("there is such a group");
        Ok(PointFigures::of(thresholds.lower.key, thresholds.upper.key, &keyed(rows)?, alpha))
    };
    let (Some(groups), Some(column)) = (groups, column) else {
        if groups.is_some() {
            return Err(Error::Usage(
                "the artefact has thresholds for each group: name the column of groups with --group-column"
                    .into(),
            ));
        }
        return Ok(vec![(None, figures(0, &(0..rows).collect::<Vec<_>>())?)]);
    };
    let of = table.names(column)?;
    input::check_rows(&of, rows, sources[0].path())?;
    if let Some(unknown) = of.values.iter().find(|name| groups.code(name).is_none()) {
        let known = groups.names().collect::<Vec<_>>().join(", ");
        return Err(Error::Mismatch(format!(
            "{}: the artefact has no group {unknown:?}, but {known}",
            sources[0].path().display()
        )));
    }
    let judged = groups.names().enumerate().map(|(group, name)| {
        let rows: Vec<usize> = (0..rows).filter(|&row| of.values[row] == name).collect();
        match rows.is_empty() {
            true => Ok(None),
            false => Ok(Some((Some(name.to_owned()), figures(group, &rows)?))),
        }
    });
    let judged: Result<Vec<_>, Error> = judged.collect();
    Ok(judged?.into_iter().flatten().collect())
}
