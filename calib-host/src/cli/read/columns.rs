//! Columns of labels, and matrices, under the names that options give them.

use std::io::{self, Write};

use calib_core::ScoreEncoding;
use calib_host::data::CodeVectors;
use calib_host::files::FileError;
use calib_host::input::{self, Column, Source, Table};
use calib_host::{VectorKind, Vectors};

use crate::cli::options::SCORE_COLUMN;
use crate::cli::out::stderr;

/// Reads labels from a file of their own: a NumPy array, or a column of a table.
pub(super) fn read_labels(source: &Source, column: &str) -> Result<Column<i64>, FileError> {
    Table::read_only(source, &[column])?.labels(column)
}

/// Reads the labels of a table's rows: from the second file if there is one, otherwise from beside the scores.
pub(crate) fn labels_of(sources: &[Source], table: &Table, column: &str) -> Result<Column<i64>, FileError> {
    match sources.get(1) {
        Some(labels) => read_labels(labels, column),
        None if table.is_lone_array() => Err(FileError::NoLabels),
        None => table.labels(column),
    }
}

/// Reads a matrix; `column` is the array's name in an archive, if it is not the default of the option.
pub(crate) fn read_vectors(source: &Source, kind: VectorKind, column: &str) -> Result<Vectors, FileError> {
    input::vectors_named(source, kind, Some(column).filter(|name| *name != SCORE_COLUMN))
}

/// Reads vectors of codes; `column` is the array's name in an archive, or the names of a table's columns.
pub(crate) fn read_code_vectors(
    source: &Source,
    encoding: ScoreEncoding,
    column: &str,
) -> Result<CodeVectors, FileError> {
    input::code_vectors(source, encoding, Some(column).filter(|name| *name != SCORE_COLUMN))
}

/// Asks who gave logits that could be probabilities: any probabilities are finite numbers, so nothing else tells.
pub(crate) fn question_kind(source: &Source, vectors: &Vectors) -> io::Result<()> {
    if vectors.kind() == VectorKind::Logits && vectors.all_look_like_probs() {
        writeln!(
            stderr(),
            "warning: every row of {} sums to one, with entries in [0, 1]: are these probabilities? Then use --probs \
             instead of --logits",
            source.path().display()
        )?;
    }
    Ok(())
}
