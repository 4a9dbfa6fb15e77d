//! Reading rows and calibrating them with an artefact.

use std::path::{Path, PathBuf};

use calib_core::Outcome;
use calib_host::input::{self, Column, Source, Table};
use calib_host::{
    Applied, AppliedVector, CalibratedRows, Error, Place, Prediction, PredictionKind, Problem,
    StoredArtifact, VectorKind, Vectors, apply_scores,
};

use super::mismatch::{applied_vectors, mismatch};
use super::options::{labels_beside, read_labels, read_vectors};

/// An artefact with the file that it is from.
pub(crate) struct NamedArtifact<'a> {
    pub(crate) path: &'a Path,
    pub(crate) stored: StoredArtifact,
    /// The seed of the random words that it may need.
    pub(crate) seed: u64,
}

/// The names of columns.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) score: &'a str,
    pub(crate) label: &'a str,
}

impl<'a> NamedArtifact<'a> {
    pub(crate) fn read(path: &'a PathBuf, seed: u64) -> Result<Self, Error> {
        Ok(Self { path, stored: StoredArtifact::read(path)?, seed })
    }

    /// Calibrates scores of class 1 with their labels.
    pub(crate) fn scores(&self, scores: &Column<f64>, labels: &Column<i64>) -> Result<CalibratedRows, Error> {
        let device = scores.scores()?;
        let applied = apply_scores(&self.stored.artifact(), &device, self.seed)
            .ok_or_else(|| mismatch(self.path, &self.stored.artifact(), "binary scores"))?;
        let hits = labels.values.iter().map(|&label| label == 1);
        let rows = split(&applied, hits, PredictionKind::Binary);
        check_both_labels(&rows.before, labels.place())?;
        Ok(rows)
    }

    /// Calibrates the predicted classes of vectors, or the first of several, with their labels.
    pub(crate) fn vectors(
        &self,
        sources: &[Source],
        kind: VectorKind,
        columns: Columns<'_>,
    ) -> Result<CalibratedRows, Error> {
        let vectors = read_vectors(&sources[0], kind, columns.score)?;
        let labels = matrix_labels(sources, columns.label, vectors.len(), vectors.classes())?;
        let applied: Vec<Applied> = self.apply(&vectors)?.map(first).collect();
        let hits = applied.iter().zip(&labels).map(|(row, &label)| row.top.class == label);
        let rows = split(&applied, hits, PredictionKind::TopLabel);
        if rows.after.is_empty() {
            return Err(Error::input(Place::file(sources[0].path()), Problem::AllUncalibrated));
        }
        Ok(rows)
    }

    /// Calibrates vectors, row by row.
    pub(crate) fn apply<'v>(
        &'v self,
        vectors: &'v Vectors,
    ) -> Result<impl Iterator<Item = AppliedVector> + use<'v>, Error> {
        applied_vectors(self.path, &self.stored.artifact(), vectors, self.seed)
    }
}

/// What is said of the predicted class.
fn first(row: AppliedVector) -> Applied {
    match row {
        AppliedVector::TopLabel(applied) => applied,
        AppliedVector::TopK(pairs) => *pairs.first().expect("there is at least one rank"),
        AppliedVector::Classes(row) => Applied { top: row.top, outcome: row.predicted, word: row.word },
    }
}

/// The rows that are calibrated, before and after, in the bins of the artefact.
pub(crate) fn split(
    applied: &[Applied],
    hits: impl Iterator<Item = bool>,
    kind: PredictionKind,
) -> CalibratedRows {
    let (mut before, mut after) = (Vec::with_capacity(applied.len()), Vec::with_capacity(applied.len()));
    for (row, hit) in applied.iter().zip(hits) {
        let Outcome::Calibrated(calibrated) = row.outcome else { continue };
        let of = |prob: f32| Prediction {
            class: row.top.class,
            prob: prob.into(),
            bin: calibrated.bin.into(),
            hit,
        };
        before.push(of(row.top.score.get()));
        after.push(of(calibrated.prob));
    }
    let uncalibrated = (applied.len() - after.len()) as u64;
    CalibratedRows { before, after, kind, uncalibrated }
}

/// The columns of binary scores and labels.
pub(crate) fn score_columns(
    sources: &[Source],
    columns: Columns<'_>,
) -> Result<(Column<f64>, Column<i64>), Error> {
    let table = Table::read_only(&sources[0], &[columns.score, columns.label])?;
    let scores = table.numbers(columns.score)?;
    let labels = table_labels(sources, &table, columns.label, scores.len())?;
    labels.check_classes(2)?;
    Ok((scores, labels))
}

/// The labels beside a table's rows, or in the second file.
pub(crate) fn table_labels(
    sources: &[Source],
    table: &Table,
    column: &str,
    rows: usize,
) -> Result<Column<i64>, Error> {
    let labels = match sources.get(1) {
        Some(labels) => read_labels(labels, column)?,
        None => labels_beside(table, column)?,
    };
    input::check_rows(&labels, rows, sources[0].path())?;
    Ok(labels)
}

/// The labels of a matrix's rows, in the second file.
pub(crate) fn matrix_labels(
    sources: &[Source],
    column: &str,
    rows: usize,
    classes: usize,
) -> Result<Vec<u16>, Error> {
    let Some(labels) = sources.get(1) else {
        return Err(Error::Usage("--labels is needed beside a matrix".into()));
    };
    let labels = read_labels(labels, column)?;
    input::check_rows(&labels, rows, sources[0].path())?;
    labels.check_classes(classes)?;
    Ok(labels.values.iter().map(|&label| u16::try_from(label).expect("labels were checked")).collect())
}

/// Refuses binary labels that are all the same: most metrics then say nothing.
pub(crate) fn check_both_labels(rows: &[Prediction], place: &Place) -> Result<(), Error> {
    let hits = rows.iter().filter(|row| row.hit).count();
    if hits == 0 || hits == rows.len() {
        return Err(Error::input(place.clone(), Problem::OneClass((hits > 0).into())));
    }
    Ok(())
}
