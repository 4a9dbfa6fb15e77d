//! What the thresholds or the prediction sets of an artefact say of rows, exactly as the device does.

use std::ops::Range;

use calib_core::decision::{ClassSet, OperatingPoints, PredictionSets, Verdict};
use calib_core::{Artifact, ScoreVector};
use calib_fit::data::CodeVectors;
use calib_fit::job::DeviceScores;
use calib_fit::{ScoreKind, Vectors};
use calib_io::input::Table;
use calib_io::output::{NewColumn, Values};

use super::binary_rows::device_scores;
use super::rows::NamedArtifact;
use crate::error::Error;

/// Columns that an artefact's rule adds to rows.
#[derive(Clone)]
pub(crate) struct RuleColumns {
    pub(crate) names: &'static [&'static str],
    pub(crate) rows: Vec<Vec<String>>,
}

/// The column of thresholds.
pub(crate) const VERDICT: &[&str] = &["verdict"];
/// The columns of prediction sets: the classes, separated by spaces, and their number.
pub(crate) const SET: &[&str] = &["set", SIZE];
const SIZE: &str = "set_size";

impl RuleColumns {
    /// The columns of some of the rows.
    pub(crate) fn columns(&self, rows: Range<usize>) -> Vec<NewColumn> {
        let column = |(place, &name): (usize, &&'static str)| {
            let cells = self.rows[rows.clone()].iter().map(|row| &row[place]);
            let values = match name {
                SIZE => Values::U32(cells.map(|cell| cell.parse().ok()).collect()),
                _ => Values::Text(cells.map(|cell| cell.clone().into()).collect()),
            };
            NewColumn::new(name, values)
        };
        self.names.iter().enumerate().map(column).collect()
    }

    /// Says what the artefact does with binary scores; `None` if it has neither thresholds nor sets. Thresholds of groups need the
    /// column of groups.
    pub(crate) fn of_scores(
        named: &NamedArtifact<'_>,
        table: &Table,
        column: &str,
        kind: ScoreKind,
        group_column: Option<&str>,
    ) -> Result<Option<Self>, Error> {
        let artifact = named.stored.artifact();
        match (artifact.operating_points(), artifact.prediction_sets()) {
            (Some(points), _) => {
                let scores = binary(named, table, column, kind)?;
                let groups = groups(&artifact, points, table, group_column)?;
                Ok(Some(
                    verdicts(points, &scores, &groups)
                        .ok_or_else(|| named.mismatch("other binary scores"))?,
                ))
            }
            (None, Some(sets)) => {
                let scores = binary(named, table, column, kind)?;
                Ok(Some(of_sets(binary_sets(sets, &scores)).ok_or_else(|| named.mismatch("binary scores"))?))
            }
            (None, None) => Ok(None),
        }
    }

    /// Says which classes are in the set of each vector; `None` if the artefact has no sets.
    pub(crate) fn of_vectors(named: &NamedArtifact<'_>, vectors: &Vectors) -> Result<Option<Self>, Error> {
        let artifact = named.stored.artifact();
        let Some(sets) = artifact.prediction_sets() else { return Ok(None) };
        let set = |vector: ScoreVector<'_>| match vector {
            ScoreVector::Logits(logits) => sets.of_logits(logits),
            ScoreVector::Probs(probs) => sets.of_probs(probs),
        };
        let found = of_sets(vectors.vectors().map(set));
        found.map(Some).ok_or_else(|| named.mismatch(&format!("vectors of {} classes", vectors.classes())))
    }

    /// The same for vectors of codes.
    pub(crate) fn of_codes(named: &NamedArtifact<'_>, codes: &CodeVectors) -> Result<Option<Self>, Error> {
        let artifact = named.stored.artifact();
        let Some(sets) = artifact.prediction_sets() else { return Ok(None) };
        let found = of_sets(codes.rows().map(|row| sets.of_keys(row).ok()));
        found.map(Some).ok_or_else(|| named.mismatch(&format!("codes of {} classes", codes.classes())))
    }
}

fn of_sets(sets: impl Iterator<Item = Option<ClassSet>>) -> Option<RuleColumns> {
    let cells = |set: Option<ClassSet>| {
        let set = set?;
        let classes: Vec<String> = set.classes().map(|class| class.to_string()).collect();
        Some(vec![classes.join(" "), set.len().to_string()])
    };
    Some(RuleColumns { names: SET, rows: sets.map(cells).collect::<Option<_>>()? })
}

fn binary(
    named: &NamedArtifact<'_>,
    table: &Table,
    column: &str,
    kind: ScoreKind,
) -> Result<DeviceScores, Error> {
    let artifact = named.stored.artifact();
    let of_points = artifact.operating_points().map(|points| points.encoding());
    let encoding = of_points.or(artifact.prediction_sets().map(|sets| sets.encoding()));
    let encoding = encoding.unwrap_or(artifact.header().encoding);
    if !encoding.is_quantized() && encoding.is_margin() != (kind == ScoreKind::Margin) {
        return Err(named.mismatch(match kind {
            ScoreKind::Probability => "binary scores",
            ScoreKind::Margin => "binary scores of any size",
        }));
    }
    Ok(device_scores(table, column, encoding, kind)?.0)
}

/// The code of each row's group; empty if there is one group.
fn groups(
    artifact: &Artifact<'_>,
    points: &OperatingPoints<'_>,
    table: &Table,
    column: Option<&str>,
) -> Result<Vec<usize>, Error> {
    let Some(groups) = artifact.groups().filter(|_| points.groups() > 1) else { return Ok(Vec::new()) };
    let Some(column) = column else {
        return Err(Error::Usage(
            "the artefact has thresholds for each group: name the column of groups with --group-column"
                .into(),
        ));
    };
    let names = table.names(column)?;
    let code = |name: &String| {
        groups.code(name).map(usize::from).ok_or_else(|| {
            let known = groups.names().collect::<Vec<_>>().join(", ");
            Error::Mismatch(format!("the artefact has no group {name:?}, but {known}"))
        })
    };
    names.values.iter().map(code).collect()
}

fn verdicts(points: &OperatingPoints<'_>, scores: &DeviceScores, groups: &[usize]) -> Option<RuleColumns> {
    let verdict = |row: usize| -> Option<Verdict> {
        let group = groups.get(row).copied().unwrap_or(0);
        Some(match scores {
            DeviceScores::Scores(scores) => points.point(group)?.verdict(scores[row]),
            DeviceScores::Margins(margins) => points.point(group)?.verdict(margins[row]),
            DeviceScores::Codes(codes) => points.code_point(group)?.verdict(codes[row]).ok()?,
        })
    };
    let rows = (0..scores.len()).map(|row| Some(vec![verdict(row)?.to_string()]));
    Some(RuleColumns { names: VERDICT, rows: rows.collect::<Option<_>>()? })
}

fn binary_sets<'s>(
    sets: &'s PredictionSets<'_>,
    scores: &'s DeviceScores,
) -> impl Iterator<Item = Option<ClassSet>> + 's {
    (0..scores.len()).map(|row| match scores {
        DeviceScores::Scores(scores) => sets.of_score(scores[row]),
        DeviceScores::Margins(margins) => sets.of_margin(margins[row]),
        DeviceScores::Codes(codes) => sets.of_code(codes[row]),
    })
}
