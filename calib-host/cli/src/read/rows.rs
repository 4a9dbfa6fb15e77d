//! Reading rows and calibrating them with an artefact.

use std::path::{Path, PathBuf};

use calib_core::{Calibrator, TopLabel};
use calib_fit::apply::{Applied, AppliedVector};
use calib_fit::artifact::score_kind;
use calib_fit::assess::{Prediction, PredictionKind, RowGroups};
use calib_fit::data::{CodeVectors, RowsHash};
use calib_fit::stats::Clusters;
use calib_fit::{ScoreKind, StoredArtifact, VectorKind, Vectors};
use calib_io::files::{Format, Place, Problem, read_artifact};
use calib_io::input::{self, Column, Source, Table};
use calib_io::report::{CalibratedRows, ClassProbRows};

use super::class_labels::{MatrixColumns, matrix_labels};
use super::class_probs::class_probs;
use super::columns::{
    labels_of, question_kind, question_margins, read_any_vectors, read_code_vectors, read_vectors,
};
use super::mismatch::{applied_codes, applied_vectors, codes_of_classes, mismatch, needs_logits};
use crate::error::Error;
use crate::options::ClusterSource;

/// An artefact with the file that it is from.
pub(crate) struct NamedArtifact<'a> {
    pub(crate) path: &'a Path,
    pub(crate) stored: StoredArtifact,
    /// The seed of the random words that it may need.
    pub(crate) seed: u64,
}

/// The names of columns.
#[derive(Clone, Copy)]
pub(crate) struct ColumnNames<'a> {
    pub(crate) score: &'a str,
    pub(crate) label: &'a str,
    /// Where it says which rows belong together.
    pub(crate) clusters: Option<ClusterSource<'a>>,
    /// The column of groups, if it says of which every row is.
    pub(crate) groups: Option<&'a str>,
}

impl<'a> From<ColumnNames<'a>> for MatrixColumns<'a> {
    fn from(names: ColumnNames<'a>) -> Self {
        Self { score: names.score, label: names.label }
    }
}

impl ColumnNames<'_> {
    /// Reads which of so many rows belong together.
    pub(super) fn clusters(&self, sources: &[Source], rows: usize) -> Result<Option<Clusters>, Error> {
        self.clusters.map(|clusters| clusters.read(&sources[0], rows)).transpose()
    }

    /// Reads of which group every one of so many rows is.
    pub(super) fn groups(&self, sources: &[Source], rows: usize) -> Result<Option<RowGroups>, Error> {
        self.groups.map(|column| read_groups(&sources[0], column, rows)).transpose()
    }

    /// Refuses groups, for a matrix.
    pub(super) fn check_no_groups(&self) -> Result<(), Error> {
        match self.groups {
            Some(_) => {
                Err(Error::Usage("--group-column needs a table of binary scores or probabilities".into()))
            }
            None => Ok(()),
        }
    }
}

/// Columns of binary scores and labels, and which rows belong together.
pub(crate) struct ScoreColumns {
    pub(crate) scores: Column<f64>,
    pub(crate) labels: Column<i64>,
    pub(crate) clusters: Option<Clusters>,
    pub(crate) groups: Option<RowGroups>,
}

/// Rows as they were read and calibrated.
pub(crate) struct ReadRows {
    /// The predictions.
    pub(crate) rows: CalibratedRows,
    /// The hash of the scores or vectors with their labels.
    pub(crate) hash: RowsHash,
    /// What is doubtful about the file of scores.
    pub(crate) doubt: Option<String>,
}

impl<'a> NamedArtifact<'a> {
    pub(crate) fn read(path: &'a PathBuf, seed: u64) -> Result<Self, Error> {
        Ok(Self { path, stored: read_artifact(path)?, seed })
    }

    /// What its binary scores are.
    pub(crate) fn score_kind(&self) -> ScoreKind {
        score_kind(&self.stored.artifact())
    }

    /// Calibrates scores of class 1 of this kind, or their codes, with their labels.
    pub(crate) fn scores(
        &self,
        sources: &[Source],
        columns: ColumnNames<'_>,
        kind: ScoreKind,
    ) -> Result<ReadRows, Error> {
        let table = Table::read_only(&sources[0], &[columns.score, columns.label])?;
        let groups = match columns.groups {
            Some(column) => Some(read_groups(&sources[0], column, table.numbers(columns.score)?.len())?),
            None => None,
        };
        let applied = self.apply_scores(&table, columns.score, kind, groups.as_ref())?;
        let labels = binary_labels(sources, &table, columns.label, applied.len())?.values;
        let clusters = columns.clusters(sources, applied.len())?;
        let (rows, hash) = binary_rows(&applied, &labels, kind, (clusters.as_ref(), groups));
        if rows.after.is_empty() {
            return Err(Error::input(Place::file(sources[0].path()), Problem::AllUncalibrated));
        }
        let doubt = question_margins(&sources[0], kind, applied.iter().map(|row| &row.score));
        Ok(ReadRows { rows, hash, doubt })
    }

    /// Whether it was fitted to rows with this hash, which the files hold.
    pub(crate) fn is_fitted_to(&self, rows: RowsHash, sources: &[Source]) -> bool {
        is_fitted_to(&self.stored, rows, || input::sha256(&sources.iter().collect::<Vec<_>>()))
    }

    /// Whether it takes codes of several classes.
    pub(crate) fn takes_codes_of_classes(&self) -> bool {
        codes_of_classes(&self.stored.artifact()).is_some()
    }

    /// Says what it takes, and what it got.
    pub(crate) fn mismatch(&self, got: &str) -> Error {
        mismatch(self.path, &self.stored.artifact(), got)
    }

    /// Reads a matrix of what the user says that it holds, or else of what the artefact takes, or else of what its numbers
    /// look like; with what is doubtful about that.
    pub(crate) fn matrix(
        &self,
        source: &Source,
        kind: Option<VectorKind>,
        column: &str,
    ) -> Result<(Vectors, Option<String>), Error> {
        let vectors = match kind.or(needs_logits(&self.stored.artifact()).then_some(VectorKind::Logits)) {
            Some(kind) => read_vectors(source, kind, column)?,
            None => read_any_vectors(source, column)?,
        };
        let doubt = question_kind(source, &vectors);
        Ok((vectors, doubt))
    }

    /// Calibrates the predicted classes of vectors, or the first of several, with their labels; with what is doubtful about
    /// the vectors. For an artefact over codes the vectors are of codes.
    pub(crate) fn vectors(
        &self,
        sources: &[Source],
        kind: Option<VectorKind>,
        columns: ColumnNames<'_>,
    ) -> Result<ReadRows, Error> {
        columns.check_no_groups()?;
        let artifact = self.stored.artifact();
        let (applied, labels, hash, doubt): (Vec<Applied>, _, _, _) = match codes_of_classes(&artifact) {
            Some((_, VectorKind::Probs)) if kind == Some(VectorKind::Logits) => {
                return Err(self.mismatch("logits"));
            }
            Some((_, VectorKind::Logits)) if kind == Some(VectorKind::Probs) => {
                return Err(self.mismatch("probabilities"));
            }
            Some((encoding, kind)) => {
                let codes = read_code_vectors(&sources[0], encoding, kind, columns.score)?;
                let applied = self.predicted_of_codes(&codes, kind)?;
                let labels = matrix_labels(sources, columns.into(), codes.len(), codes.classes())?;
                let hash = codes.rows_hash(&wide(&labels));
                (applied, labels, hash, None)
            }
            None => {
                let (vectors, doubt) = self.matrix(&sources[0], kind, columns.score)?;
                let applied = self.predicted(&vectors)?;
                let labels = matrix_labels(sources, columns.into(), vectors.len(), vectors.classes())?;
                let hash = vectors.rows_hash(&wide(&labels));
                (applied, labels, hash, doubt)
            }
        };
        let clusters = columns.clusters(sources, applied.len())?;
        let rows = predicted_rows(&applied, &labels, sources[0].path(), clusters.as_ref())?;
        Ok(ReadRows { rows, hash, doubt })
    }

    /// What is said of the predicted classes of vectors.
    pub(crate) fn predicted(&self, vectors: &Vectors) -> Result<Vec<Applied>, Error> {
        let applied = self.apply(vectors)?.map(|row| first(&row));
        Ok(match self.stored.artifact().calibrator() {
            Calibrator::TopLabelMargin(_) => with_softmax(applied, vectors.top_labels()),
            _ => applied.collect(),
        })
    }

    /// The same of vectors of codes, which stand for this.
    pub(crate) fn predicted_of_codes(
        &self,
        codes: &CodeVectors,
        kind: VectorKind,
    ) -> Result<Vec<Applied>, Error> {
        let artifact = self.stored.artifact();
        let applied = applied_codes(self.path, &artifact, codes)?.map(|row| first(&row));
        Ok(match kind {
            VectorKind::Probs => applied.collect(),
            VectorKind::Logits => with_softmax(applied, codes.softmax_top_labels()),
        })
    }

    /// Calibrates vectors of which every class has a probability: the predicted classes as [`Self::vectors`], and all.
    pub(crate) fn all_classes(
        &self,
        sources: &[Source],
        kind: Option<VectorKind>,
        columns: ColumnNames<'_>,
    ) -> Result<(ReadRows, Option<ClassProbRows>), Error> {
        columns.check_no_groups()?;
        let (vectors, doubt) = self.matrix(&sources[0], kind, columns.score)?;
        let applied = self.apply(&vectors)?;
        let labels = matrix_labels(sources, columns.into(), vectors.len(), vectors.classes())?;
        let clusters = columns.clusters(sources, labels.len())?;
        let (rows, class_probs) =
            every_class(applied, (&vectors, sources[0].path()), &labels, clusters.as_ref())?;
        let hash = vectors.rows_hash(&wide(&labels));
        Ok((ReadRows { rows, hash, doubt }, class_probs))
    }

    /// Calibrates vectors, row by row.
    pub(crate) fn apply<'v>(
        &'v self,
        vectors: &'v Vectors,
    ) -> Result<impl Iterator<Item = AppliedVector> + use<'v>, Error> {
        applied_vectors(self.path, &self.stored.artifact(), vectors, self.seed)
    }
}

/// Rows of binary scores that were calibrated, without those that have no probability, and the hash of all.
pub(crate) fn binary_rows(
    applied: &[Applied],
    labels: &[i64],
    kind: ScoreKind,
    (clusters, groups): (Option<&Clusters>, Option<RowGroups>),
) -> (CalibratedRows, RowsHash) {
    let hash = applied.iter().zip(labels);
    let hash = hash.map(|(row, &label)| RowsHash::of_score(row.score, label == 1)).sum();
    let hits = labels.iter().map(|&label| label == 1);
    let mut rows = split(applied, hits, PredictionKind::Binary, clusters);
    let is_kept = |row: &usize| applied[*row].outcome.calibrated().is_some();
    rows.groups = groups.map(|groups| groups.part((0..applied.len()).filter(is_kept)));
    if kind == ScoreKind::Margin {
        let calibrated = applied.iter().filter(|row| row.outcome.calibrated().is_some());
        rows = rows.of_margins(calibrated.map(|row| row.score).collect());
    }
    (rows, hash)
}

/// At most so many groups are compared: as many as a device tells apart.
const MOST_GROUPS: usize = 255;

/// Reads a column of groups.
pub(crate) fn read_groups(source: &Source, column: &str, rows: usize) -> Result<RowGroups, Error> {
    if matches!(source.format(), Format::Npy) {
        return Err(Error::Usage("--group-column needs a table: an array has no columns".into()));
    }
    let names = Table::read_only(source, &[column])?.names(column)?;
    input::check_rows(&names, rows, source.path())?;
    few_groups(names.values, column)
}

/// Reads a column of groups from a table that was read.
pub(crate) fn groups_of(table: &Table, column: &str) -> Result<RowGroups, Error> {
    if table.is_lone_array() {
        return Err(Error::Usage("--group-column needs a table: an array has no columns".into()));
    }
    few_groups(table.names(column)?.values, column)
}

fn few_groups(names: Vec<String>, column: &str) -> Result<RowGroups, Error> {
    let groups = RowGroups::new(names);
    check_group_count(groups.names().len(), column)?;
    Ok(groups)
}

/// Refuses more groups than there are tables for.
pub(super) fn check_group_count(count: usize, column: &str) -> Result<(), Error> {
    match count > MOST_GROUPS {
        true => Err(Error::Usage(format!(
            "{count} groups are in the column {column:?}, and at most {MOST_GROUPS} can be compared: is it a column of names or numbers?"
        ))),
        false => Ok(()),
    }
}

/// Why there are no tables of groups.
pub(crate) fn one_group(column: &str) -> Error {
    Error::Usage(format!("the column {column:?} names one group only: leave --group-column out"))
}

/// Whether an artefact was fitted to rows with this hash: by the hash that it keeps, or if it is from an older version by the
/// SHA-256 of the files.
pub(crate) fn is_fitted_to(
    stored: &StoredArtifact,
    rows: RowsHash,
    files_sha256: impl FnOnce() -> [u8; 32],
) -> bool {
    match stored.sample() {
        Some(sample) => sample.rows == rows,
        None => stored.artifact().header().provenance.data_sha256 == files_sha256(),
    }
}

/// Classes as labels.
pub(crate) fn wide(labels: &[u16]) -> Vec<i64> {
    labels.iter().map(|&label| label.into()).collect()
}

/// What is said of the predicted class.
fn first(row: &AppliedVector) -> Applied {
    match row {
        AppliedVector::TopLabel(applied) => *applied,
        AppliedVector::TopK(pairs) => *pairs.first().expect("there is at least one rank"),
        AppliedVector::Classes(row) => Applied {
            class: row.top.class,
            score: row.top.score.get(),
            outcome: row.predicted,
            word: row.word,
        },
    }
}

/// The predicted classes that are calibrated, before and after.
pub(crate) fn predicted_rows(
    applied: &[Applied],
    labels: &[u16],
    path: &Path,
    clusters: Option<&Clusters>,
) -> Result<CalibratedRows, Error> {
    let hits = applied.iter().zip(labels).map(|(row, &label)| row.class == label);
    let rows = split(applied, hits, PredictionKind::TopLabel, clusters);
    if rows.after.is_empty() {
        return Err(Error::input(Place::file(path), Problem::AllUncalibrated));
    }
    Ok(rows)
}

/// Rows of which every class has a probability: the predicted classes, and all.
pub(crate) fn every_class(
    applied: impl Iterator<Item = AppliedVector>,
    (vectors, path): (&Vectors, &Path),
    labels: &[u16],
    clusters: Option<&Clusters>,
) -> Result<(CalibratedRows, Option<ClassProbRows>), Error> {
    let mut predicted = Vec::with_capacity(labels.len());
    let applied = applied.inspect(|row| predicted.push(first(row)));
    let all = class_probs(applied, vectors, labels, clusters);
    Ok((predicted_rows(&predicted, labels, path, clusters)?, all))
}

/// The rows with the softmax for a score: a lead is no probability that the calibrated one could be compared with.
fn with_softmax(
    applied: impl Iterator<Item = Applied>,
    tops: impl Iterator<Item = TopLabel>,
) -> Vec<Applied> {
    applied.zip(tops).map(|(row, top)| Applied { score: top.score.get(), ..row }).collect()
}

/// The rows that are calibrated, before and after, in the bins of the artefact.
pub(crate) fn split(
    applied: &[Applied],
    hits: impl Iterator<Item = bool>,
    kind: PredictionKind,
    clusters: Option<&Clusters>,
) -> CalibratedRows {
    let (mut before, mut after) = (Vec::with_capacity(applied.len()), Vec::with_capacity(applied.len()));
    let is_kept = |row: &usize| applied[*row].outcome.calibrated().is_some();
    let clusters = clusters.map(|clusters| clusters.part((0..applied.len()).filter(is_kept)));
    for (row, hit) in applied.iter().zip(hits) {
        let Some(calibrated) = row.outcome.calibrated() else { continue };
        let of =
            |prob: f32| Prediction { class: row.class, prob: prob.into(), bin: calibrated.bin.into(), hit };
        before.push(of(row.score));
        after.push(of(calibrated.prob));
    }
    let uncalibrated = (applied.len() - after.len()) as u64;
    CalibratedRows { before, after, kind, uncalibrated, clusters, groups: None, margins: None }
}

/// The columns of binary scores and labels.
pub(crate) fn score_columns(sources: &[Source], columns: ColumnNames<'_>) -> Result<ScoreColumns, Error> {
    let table = Table::read_only(&sources[0], &[columns.score, columns.label])?;
    let scores = table.numbers(columns.score)?;
    let labels = binary_labels(sources, &table, columns.label, scores.len())?;
    let clusters = columns.clusters(sources, scores.len())?;
    let groups = columns.groups(sources, scores.len())?;
    Ok(ScoreColumns { scores, labels, clusters, groups })
}

/// The labels beside a table's rows, or in the second file, of two classes.
pub(super) fn binary_labels(
    sources: &[Source],
    table: &Table,
    column: &str,
    rows: usize,
) -> Result<Column<i64>, Error> {
    let labels = table_labels(sources, table, column, rows)?;
    labels.check_classes(2)?;
    Ok(labels)
}

/// The labels beside a table's rows, or in the second file.
pub(crate) fn table_labels(
    sources: &[Source],
    table: &Table,
    column: &str,
    rows: usize,
) -> Result<Column<i64>, Error> {
    let labels = labels_of(sources, table, column)?;
    input::check_rows(&labels, rows, sources[0].path())?;
    Ok(labels)
}
