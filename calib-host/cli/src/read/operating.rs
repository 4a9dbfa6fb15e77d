//! Labelled scores as an artefact's operating points see them.

use calib_core::{Artifact, Margin, Score, ScoreEncoding};
use calib_fit::ScoreKind;
use calib_fit::artifact::score_kind;
use calib_fit::assess::{KeyedRow, OperatingAccuracy, RowGroups, operating_accuracies};
use calib_fit::data::RowsHash;
use calib_fit::stats::Clusters;
use calib_io::input::{self, Source, Table};

use super::rows::{ColumnNames, NamedArtifact, binary_labels};
use crate::error::Error;

/// Rows for operating points.
pub(crate) struct OperatingRows {
    pub(crate) rows: Vec<KeyedRow>,
    pub(crate) clusters: Option<Clusters>,
    /// The hash of the scores with their labels.
    pub(crate) hash: RowsHash,
}

impl OperatingRows {
    /// How accurate the artefact's thresholds are on them.
    pub(crate) fn accuracies(&self, artifact: &Artifact<'_>, alpha: f64) -> Vec<OperatingAccuracy> {
        operating_accuracies(artifact, &self.rows, alpha, self.clusters.as_ref())
    }
}

impl NamedArtifact<'_> {
    /// Reads binary scores of this kind, or their codes, with their labels; `None` if the artefact has no operating points.
    pub(crate) fn operating_rows(
        &self,
        sources: &[Source],
        columns: ColumnNames<'_>,
        kind: ScoreKind,
    ) -> Result<Option<OperatingRows>, Error> {
        let artifact = self.stored.artifact();
        let Some(points) = artifact.operating_points() else { return Ok(None) };
        if kind != score_kind(&artifact) {
            return Err(self.mismatch(match kind {
                ScoreKind::Probability => "binary scores",
                ScoreKind::Margin => "binary scores of any size",
            }));
        }
        let table = Table::read_only(&sources[0], &[columns.score, columns.label])?;
        let scores = keyed(&table, columns.score, points.encoding(), kind)?;
        let labels = binary_labels(sources, &table, columns.label, scores.len())?;
        let groups = columns.groups(sources, scores.len())?;
        let clusters = columns.clusters(sources, scores.len())?;
        self.operating_of(&scores, &labels.values, groups.as_ref(), clusters).map(Some)
    }

    /// Rows of keys of scores with these, in the order of the artefact's thresholds.
    pub(crate) fn operating_of(
        &self,
        scores: &[(u32, f32)],
        labels: &[i64],
        groups: Option<&RowGroups>,
        clusters: Option<Clusters>,
    ) -> Result<OperatingRows, Error> {
        let artifact = self.stored.artifact();
        let several = artifact.operating_points().is_some_and(|points| points.groups() > 1);
        let codes = several.then(|| self.group_codes(groups)).transpose()?;
        let hash = scores.iter().zip(labels);
        let hash = hash.map(|((_, score), &label)| RowsHash::of_score(*score, label == 1)).sum();
        let row = |(row, ((key, _), &label)): (usize, (&(u32, f32), &i64))| {
            let group = codes.as_ref().zip(groups).map_or(0, |(codes, groups)| codes[groups.of(row)]);
            KeyedRow { key: *key, group, label: label == 1 }
        };
        let rows = scores.iter().zip(labels).enumerate().map(row).collect();
        Ok(OperatingRows { rows, clusters, hash })
    }

    /// The artefact's codes of the groups that occur.
    pub(super) fn group_codes(&self, groups: Option<&RowGroups>) -> Result<Vec<usize>, Error> {
        let artifact = self.stored.artifact();
        let known: Vec<&str> = artifact.groups().map_or(Vec::new(), |groups| groups.names().collect());
        let Some(groups) = groups else {
            return Err(Error::Usage(format!(
                "{} tells the groups {} apart: name the column of groups with --group-column",
                self.path.display(),
                known.join(", ")
            )));
        };
        let code = |name: &String| {
            known.iter().position(|other| other == name).ok_or_else(|| {
                Error::Mismatch(format!(
                    "the artefact knows no group {name:?}\n  artefact  {}: knows {}",
                    self.path.display(),
                    known.join(", ")
                ))
            })
        };
        groups.names().iter().map(code).collect()
    }
}

/// The keys of scores, with the scores as the device has them.
fn keyed(
    table: &Table,
    column: &str,
    encoding: ScoreEncoding,
    kind: ScoreKind,
) -> Result<Vec<(u32, f32)>, Error> {
    if encoding.is_quantized() {
        let codes = input::codes(&table.codes(column)?, encoding)?;
        return Ok(codes.iter().map(|code| (code.key().into(), code.dequantized())).collect());
    }
    let scores = table.numbers(column)?;
    Ok(match kind {
        ScoreKind::Probability => {
            scores.scores()?.iter().map(|score: &Score| (score.get().to_bits(), score.get())).collect()
        }
        ScoreKind::Margin => {
            scores.margins()?.iter().map(|margin: &Margin| (margin.key(), margin.get())).collect()
        }
    })
}
