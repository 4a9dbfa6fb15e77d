//! Rows for prediction sets.

use calib_core::ScoreEncoding;
use calib_fit::sets::{Conformities, ConformityScore};
use calib_fit::{ScoreKind, VectorKind};
use calib_io::input::{self, Source, Table};

use super::class_labels::{MatrixColumns, row_labels};
use super::columns::{read_code_vectors, read_vectors};
use super::rows::table_labels;
use crate::error::Error;

/// What a row is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum SetInput {
    /// The score of class 1 of two.
    Binary(ScoreKind),
    /// A vector, with an entry a class.
    Vectors(VectorKind),
}

/// Where rows for prediction sets are, and what they are compared by.
pub(crate) struct SetSource<'a> {
    pub(crate) input: SetInput,
    /// The encoding of codes; `None` for floats.
    pub(crate) encoding: Option<ScoreEncoding>,
    pub(crate) score_column: &'a str,
    pub(crate) label_column: &'a str,
    /// What is compared; `None` for what the rows have.
    pub(crate) score: Option<ConformityScore>,
}

/// Rows for prediction sets.
pub(crate) struct SetRows {
    pub(crate) rows: Conformities,
    pub(crate) labels: Vec<i64>,
}

impl SetSource<'_> {
    pub(crate) fn read(&self, sources: &[Source]) -> Result<SetRows, Error> {
        match self.input {
            SetInput::Binary(kind) => self.binary(sources, kind),
            SetInput::Vectors(kind) => self.vectors(sources, kind),
        }
    }

    fn binary(&self, sources: &[Source], kind: ScoreKind) -> Result<SetRows, Error> {
        let table = Table::read_only(&sources[0], &[self.score_column, self.label_column])?;
        if let Some(encoding) = self.encoding {
            let codes = input::codes(&table.codes(self.score_column)?, encoding)?;
            let labels = table_labels(sources, &table, self.label_column, codes.len())?;
            labels.check_classes(2)?;
            let rows = Conformities::of_binary_codes(&codes);
            return Ok(SetRows { rows, labels: labels.values });
        }
        let scores = table.numbers(self.score_column)?;
        let labels = table_labels(sources, &table, self.label_column, scores.len())?;
        labels.check_classes(2)?;
        let data = input::binary_data(&scores, &labels, kind)?;
        let (rows, _) = Conformities::of_scores(&data)?;
        Ok(SetRows { rows, labels: labels.values })
    }

    fn vectors(&self, sources: &[Source], kind: VectorKind) -> Result<SetRows, Error> {
        let own = match (self.encoding, kind) {
            (Some(_), VectorKind::Logits) => ConformityScore::Margin,
            _ => ConformityScore::Softmax,
        };
        let score = self.score.unwrap_or(own);
        let columns = MatrixColumns { score: self.score_column, label: self.label_column };
        if let Some(encoding) = self.encoding {
            let codes = read_code_vectors(&sources[0], encoding, kind, self.score_column)?;
            let labels = row_labels(sources, columns, codes.len(), codes.classes())?.values;
            let rows = match score {
                ConformityScore::Margin => Conformities::of_codes(&codes),
                ConformityScore::Softmax => Conformities::of_code_probs(&codes)?,
            };
            return Ok(SetRows { rows, labels });
        }
        let vectors = read_vectors(&sources[0], kind, self.score_column)?;
        let labels = row_labels(sources, columns, vectors.len(), vectors.classes())?.values;
        let rows = Conformities::of_vectors(&vectors, score)?;
        Ok(SetRows { rows, labels })
    }
}
