//! Outputs of a classifier, one a row.

use std::ops::Range;

use calib_core::predict::{Output, Query};
use calib_core::{Margin, QuantizedScore, Score, ScoreVector};

use crate::data::{CodeVectors, Vectors};

/// Outputs of a classifier, one a row, and the groups that the rows are of.
#[derive(Clone, Debug)]
pub struct Outputs<'r> {
    pub(super) kind: Kind<'r>,
    groups: &'r [u8],
    pub(super) rows: Range<usize>,
}

/// What a row's output is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'r> {
    Scores(&'r [Score]),
    Margins(&'r [Margin]),
    Codes(&'r [QuantizedScore]),
    Vectors(&'r Vectors),
    CodeVectors(&'r CodeVectors),
}

impl<'r> Outputs<'r> {
    fn all(kind: Kind<'r>, rows: usize) -> Self {
        Self { kind, groups: &[], rows: 0..rows }
    }

    /// The same with the artifact's code of each row's group, for an artifact with groups.
    #[must_use]
    pub fn with_groups(self, groups: &'r [u8]) -> Self {
        Self { groups, ..self }
    }

    /// Some of all rows.
    ///
    /// # Panics
    ///
    /// When they are applied, if there are no such rows.
    #[must_use]
    pub fn part(self, rows: Range<usize>) -> Self {
        Self { rows, ..self }
    }

    pub(super) fn query(&self, row: usize, word: Option<u32>) -> Query<'r> {
        let output = match self.kind {
            Kind::Scores(scores) => Output::Score(scores[row]),
            Kind::Margins(margins) => Output::Margin(margins[row]),
            Kind::Codes(codes) => Output::Code(codes[row]),
            Kind::CodeVectors(codes) => Output::Codes(codes.vector(row)),
            Kind::Vectors(vectors) => match vectors.vector_of(row) {
                ScoreVector::Logits(logits) => Output::Logits(logits),
                ScoreVector::Probs(probs) => Output::Probs(probs),
            },
        };
        Query { output, group: self.groups.get(row).copied(), word }
    }
}

impl<'r> From<&'r [Score]> for Outputs<'r> {
    fn from(scores: &'r [Score]) -> Self {
        Self::all(Kind::Scores(scores), scores.len())
    }
}

impl<'r> From<&'r [Margin]> for Outputs<'r> {
    fn from(margins: &'r [Margin]) -> Self {
        Self::all(Kind::Margins(margins), margins.len())
    }
}

impl<'r> From<&'r [QuantizedScore]> for Outputs<'r> {
    fn from(codes: &'r [QuantizedScore]) -> Self {
        Self::all(Kind::Codes(codes), codes.len())
    }
}

impl<'r> From<&'r Vectors> for Outputs<'r> {
    fn from(vectors: &'r Vectors) -> Self {
        Self::all(Kind::Vectors(vectors), vectors.len())
    }
}

impl<'r> From<&'r CodeVectors> for Outputs<'r> {
    fn from(codes: &'r CodeVectors) -> Self {
        Self::all(Kind::CodeVectors(codes), codes.len())
    }
}
