//! Columns of labels, and matrices, under the names that options give them.

use std::path::Path;

use calib_core::ScoreEncoding;
use calib_fit::data::CodeVectors;
use calib_fit::{ScoreKind, VectorKind, Vectors};
use calib_io::files::FileError;
use calib_io::input::{self, Column, Source, Table};

use crate::options::SCORE_COLUMN;

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
pub(crate) fn question_margins<'s>(
    source: &Source,
    kind: ScoreKind,
    scores: impl IntoIterator<Item = &'s f32>,
) -> Option<String> {
    let mut scores = scores.into_iter();
    let is_doubtful = kind == ScoreKind::Margin && scores.all(|score| (0.0..=1.0).contains(score));
    is_doubtful.then(|| doubt_of_margins(source.path()))
}

/// What is said of margins that could be probabilities.
pub(crate) fn doubt_of_margins(path: &Path) -> String {
    format!(
        "Every score of {} is in [0, 1]: are these probabilities? Then use --scores instead of --margins, with an artefact \
         that was fitted so.",
        path.display()
    )
}

/// Questions logits that could be probabilities: any probabilities are finite numbers, so nothing else tells. Logits that are
/// given as probabilities are refused when they are read.
pub(crate) fn question_kind(source: &Source, vectors: &Vectors) -> Option<String> {
    Looks::of(vectors).doubt(source.path())
}

/// Whether what is said to be logits looks like something else.
#[derive(Clone, Copy)]
pub(crate) struct Looks {
    like_probs: bool,
    in_unit_interval: bool,
}

impl Looks {
    /// Of no rows: like anything.
    pub(crate) fn like_anything() -> Self {
        Self { like_probs: true, in_unit_interval: true }
    }

    fn of(vectors: &Vectors) -> Self {
        Self::like_anything().and(vectors)
    }

    /// With more rows of the same matrix.
    pub(crate) fn and(self, vectors: &Vectors) -> Self {
        let are_logits = vectors.kind() == VectorKind::Logits;
        Self {
            like_probs: self.like_probs && are_logits && vectors.all_look_like_probs(),
            in_unit_interval: self.in_unit_interval && are_logits && vectors.all_in_unit_interval(),
        }
    }

    /// What is doubtful about the file.
    pub(crate) fn doubt(self, path: &Path) -> Option<String> {
        let path = path.display();
        if self.like_probs {
            Some(format!(
                "Every row of {path} sums to one, with entries in [0, 1]: are these probabilities? Then use --probs instead of \
                 --logits."
            ))
        } else if self.in_unit_interval {
            Some(format!(
                "Every entry of {path} is in [0, 1], but the rows do not sum to one: are these probabilities, each of a class by \
                 itself, or rounded? Then divide each row by its sum, and use --probs."
            ))
        } else {
            None
        }
    }
}
