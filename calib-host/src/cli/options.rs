//! Options that several commands share.

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_core::ScoreEncoding;
use calib_host::input::{self, Column, Source, Table};
use calib_host::{CodeVectors, Error, VectorKind, Vectors};
use clap::Args;

/// Where scores come from: exactly one of the three.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ScoreSource {
    /// Scores of class 1 of a binary classifier, in [0, 1]: a table as CSV, JSON lines, Arrow,
    /// Parquet or NPZ, or a NumPy array of shape (n,). As any one input, `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) scores: Option<PathBuf>,
    /// Logits of a multi-class classifier: a NumPy array of shape (n, classes), or one in an NPZ archive.
    #[arg(long, value_name = "FILE")]
    logits: Option<PathBuf>,
    /// Probabilities of a multi-class classifier: a NumPy array of shape (n, classes), or one in an NPZ archive. Where they
    /// are integer codes, also columns of a table.
    #[arg(long, value_name = "FILE")]
    probs: Option<PathBuf>,
}

impl ScoreSource {
    /// The file with vectors and what they are; `None` if binary scores were given.
    pub(crate) fn vectors(&self) -> Option<(&Path, VectorKind)> {
        let logits = self.logits.as_deref().map(|path| (path, VectorKind::Logits));
        logits.or(self.probs.as_deref().map(|path| (path, VectorKind::Probs)))
    }
}

/// Reads labels from a file of their own: a NumPy array, or a column of a table.
pub(crate) fn read_labels(source: &Source, column: &str) -> Result<Column<i64>, Error> {
    Table::read_only(source, &[column])?.labels(column)
}

/// The labels beside the scores in a table.
pub(crate) fn labels_beside(table: &Table, column: &str) -> Result<Column<i64>, Error> {
    if table.is_lone_array() {
        return Err(Error::Usage("--labels is needed beside a NumPy array".into()));
    }
    table.labels(column)
}

/// The default of `--score-column`.
pub(crate) const SCORE_COLUMN: &str = "score";

/// Reads a matrix; `column` is the array's name in an archive, if it is not the default of the option.
pub(crate) fn read_vectors(source: &Source, kind: VectorKind, column: &str) -> Result<Vectors, Error> {
    input::vectors_named(source, kind, Some(column).filter(|name| *name != SCORE_COLUMN))
}

/// Reads vectors of codes; `column` is the array's name in an archive, or the names of a table's columns.
pub(crate) fn read_code_vectors(
    source: &Source,
    encoding: ScoreEncoding,
    column: &str,
) -> Result<CodeVectors, Error> {
    input::code_vectors(source, encoding, Some(column).filter(|name| *name != SCORE_COLUMN))
}

/// Asks who gave logits that could be probabilities: any probabilities are finite numbers, so nothing else tells.
pub(crate) fn question_kind(source: &Source, vectors: &Vectors) -> Result<(), Error> {
    if vectors.kind() == VectorKind::Logits && vectors.all_look_like_probs() {
        writeln!(
            std::io::stderr(),
            "warning: every row of {} sums to one, with entries in [0, 1]: are these probabilities? Then use --probs \
             instead of --logits",
            source.path().display()
        )?;
    }
    Ok(())
}
