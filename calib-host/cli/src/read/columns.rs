//! Columns of labels, and matrices, under the names that options give them.

use calib_core::ScoreEncoding;
use calib_fit::data::CodeVectors;
use calib_fit::job::Finding;
use calib_fit::{ScoreKind, VectorKind, Vectors};
use calib_io::files::FileError;
use calib_io::input::{self, Column, Source, Table};

use crate::error::sentence;
use crate::options::SCORE_COLUMN;

/// Reads labels from a separate file: a NumPy array, or a column of a table.
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
    input::vectors_named(source, kind, class_list(column))
}

/// The columns of the classes that an option lists, or the name of an array, if it is not the default of the option.
pub(super) fn class_list(column: &str) -> Option<&str> {
    Some(column).filter(|name| *name != SCORE_COLUMN)
}

/// Reads vectors of codes; `column` is the array's name in an archive, or the names of a table's columns.
pub(crate) fn read_code_vectors(
    source: &Source,
    encoding: ScoreEncoding,
    kind: VectorKind,
    column: &str,
) -> Result<CodeVectors, FileError> {
    input::code_vectors(source, encoding, kind, class_list(column))
}

/// Reads a matrix of which nobody says what it holds: probabilities if every row is a probability vector, otherwise logits.
pub(super) fn read_any_vectors(source: &Source, column: &str) -> Result<Vectors, FileError> {
    let logits = read_vectors(source, VectorKind::Logits, column)?;
    Ok(match logits.all_look_like_probs() {
        true => logits.of_kind(VectorKind::Probs).expect("every row was looked at"),
        false => logits,
    })
}

/// Questions margins that could be probabilities, which are finite numbers, too. Margins that are given as probabilities are refused
/// when they are read.
pub(crate) fn margin_warning<'s>(
    source: &Source,
    kind: ScoreKind,
    scores: impl IntoIterator<Item = &'s f32>,
) -> Option<String> {
    let mut scores = scores.into_iter();
    let is_doubtful = kind == ScoreKind::Margin && scores.all(|score| (0.0..=1.0).contains(score));
    is_doubtful.then(|| sentence(&Finding::RawScoresInUnitInterval, source.path()))
}
