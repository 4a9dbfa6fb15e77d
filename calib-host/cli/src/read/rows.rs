//! Artifacts, and the columns of the rows that they are for.

use std::path::{Path, PathBuf};

use calib_core::ScoreEncoding;
use calib_core::predict::Mismatch;
use calib_fit::apply::{Outputs, RandomWords, apply};
use calib_fit::artifact::score_kind;
use calib_fit::data::{Overlap, RowGroups, RowsDigest};
use calib_fit::job::{AssessError, binary_encoding, mismatch, needs_logits, overlap_with_fit};
use calib_fit::stats::Clusters;
use calib_fit::{ScoreKind, StoredArtifact, VectorKind, Vectors};
use calib_io::files::read_artifact;
use calib_io::input::{self, Column, Source, Table};

use super::columns::{labels_of, read_any_vectors, read_vectors};
use crate::error::Error;
use crate::options::{ClusterSource, WeightArgs};

/// An artifact with the file that it is from.
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
    /// How many points a row is, if not one.
    pub(crate) points: Option<&'a WeightArgs>,
}

impl ColumnNames<'_> {
    /// All columns of a table of binary scores that are read together.
    pub(super) fn named(&self) -> Vec<&str> {
        let points = self.points.into_iter().flat_map(WeightArgs::columns);
        [self.score, self.label].into_iter().chain(self.groups).chain(points).collect()
    }

    /// Whether rows are scores with labels, and nothing is known of them besides.
    pub(super) fn are_scores_and_labels(&self) -> bool {
        let are_aggregated = self.points.is_some_and(WeightArgs::are_aggregated);
        self.groups.is_none() && self.clusters.is_none() && !are_aggregated
    }

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
}

impl<'a> NamedArtifact<'a> {
    /// A column of groups, if the artifact tells groups apart: every file of rows then needs it.
    pub(crate) fn needed<'n>(&self, groups: Option<&'n str>) -> Option<&'n str> {
        self.stored.artifact().groups().and(groups)
    }

    pub(crate) fn read(path: &'a PathBuf, seed: u64) -> Result<Self, Error> {
        Ok(Self { path, stored: read_artifact(path)?, seed })
    }

    /// What its binary scores are.
    pub(crate) fn score_kind(&self) -> ScoreKind {
        score_kind(&self.stored.artifact())
    }

    /// Whether it was fitted to rows with this digest, which the files hold, all or some.
    pub(crate) fn overlap_with_fit(&self, rows: &RowsDigest, sources: &[Source]) -> Option<Overlap> {
        let sha256 = || input::sha256(&sources.iter().collect::<Vec<_>>());
        overlap_with_fit(&self.stored, rows, self.stored.sample().is_none().then(sha256))
    }

    /// Says what it takes, and what it got.
    pub(crate) fn mismatch(&self, got: &str) -> Error {
        self.refuse(mismatch(&self.stored.artifact(), got).into())
    }

    /// Why it is not for some scores.
    pub(crate) fn refuse(&self, cause: AssessError) -> Error {
        Error::assess(cause, Path::new("-"), self.path)
    }

    /// The encoding of the binary scores that it takes, which are to be of this kind.
    pub(super) fn binary_encoding(&self, kind: ScoreKind) -> Result<ScoreEncoding, Error> {
        binary_encoding(&self.stored.artifact(), kind).ok_or_else(|| {
            self.mismatch(match kind {
                ScoreKind::Probability => "binary scores",
                ScoreKind::Margin => "binary scores of any size",
            })
        })
    }

    /// Reads a matrix of what the user says that it holds, or else of what the artifact takes, or else of what its numbers
    /// look like.
    pub(super) fn matrix(
        &self,
        source: &Source,
        kind: Option<VectorKind>,
        column: &str,
    ) -> Result<Vectors, Error> {
        Ok(match kind.or(needs_logits(&self.stored.artifact()).then_some(VectorKind::Logits)) {
            Some(kind) => read_vectors(source, kind, column)?,
            None => read_any_vectors(source, column)?,
        })
    }

    /// Checks that it says something of outputs, and says what it got if not.
    pub(crate) fn check(&self, outputs: Outputs<'_>, got: impl FnOnce() -> String) -> Result<(), Error> {
        let artifact = self.stored.artifact();
        match apply(&artifact, outputs, RandomWords::new(&artifact, 0)).next() {
            None | Some(Ok(_)) => Ok(()),
            Some(Err(Mismatch::Group(_))) => {
                let known = artifact.groups().map_or(Vec::new(), |groups| groups.names().collect());
                Err(self.refuse(AssessError::NoGroups { known: known.join(", ") }))
            }
            Some(Err(_)) => Err(self.mismatch(&got())),
        }
    }
}

/// At most so many groups are compared: as many as a device tells apart.
const MOST_GROUPS: usize = 255;

/// Reads a column of groups.
pub(crate) fn read_groups(source: &Source, column: &str, rows: usize) -> Result<RowGroups, Error> {
    groups_beside(&Table::read_only(source, &[column])?, column, rows, source.path())
}

/// Reads a column of groups from a table of so many rows of a file.
pub(super) fn groups_beside(
    table: &Table,
    column: &str,
    rows: usize,
    path: &Path,
) -> Result<RowGroups, Error> {
    let groups = groups_of(table, column)?;
    match groups.rows() == rows {
        true => Ok(groups),
        // Of arrays in an archive each has a length of its own.
        false => input::check_rows(&table.names(column)?, rows, path).map(|()| groups).map_err(Error::from),
    }
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

/// The columns of binary scores and labels.
pub(crate) fn score_columns(sources: &[Source], columns: ColumnNames<'_>) -> Result<ScoreColumns, Error> {
    let table = Table::read_only(&sources[0], &[columns.score, columns.label])?;
    let scores = table.numbers(columns.score)?;
    let labels = binary_labels(sources, &table, columns.label, scores.len())?;
    let clusters = columns.clusters(sources, scores.len())?;
    Ok(ScoreColumns { scores, labels, clusters })
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
