//! A column of binary scores, and what an artifact makes of it.

use calib_fit::ScoreKind;
use calib_fit::apply::Applied;
use calib_fit::data::RowGroups;
use calib_fit::job::CheckedScores;
use calib_io::input::{ReadNumbers, Table};

use super::rows::NamedArtifact;
use crate::error::Error;

/// Binary scores that an artifact calibrates, and the numbers that they were read as.
pub(crate) struct BinaryRows {
    pub(crate) scores: CheckedScores,
    pub(crate) numbers: ReadNumbers,
}

impl NamedArtifact<'_> {
    /// Reads a column of scores of class 1 of this kind, or of their codes; `groups` are those of the rows, if there are some.
    pub(crate) fn binary_rows(
        &self,
        table: &Table,
        column: &str,
        kind: ScoreKind,
        groups: Option<&RowGroups>,
    ) -> Result<BinaryRows, Error> {
        let artifact = self.stored.artifact();
        let header = artifact.header();
        let encoding = match header.method.has_no_calibrator() && header.encoding.is_quantized() {
            // Thresholds and sets alone are about codes, whatever these stand for.
            true => header.encoding,
            false => self.binary_encoding(kind)?,
        };
        let (scores, numbers) = table.read_scores(column, encoding, kind)?;
        let scores = scores.check(&artifact, groups).map_err(|cause| self.refuse(cause))?;
        Ok(BinaryRows { scores, numbers })
    }

    /// Calibrates all of a column.
    pub(crate) fn apply_scores(
        &self,
        table: &Table,
        column: &str,
        kind: ScoreKind,
        groups: Option<&RowGroups>,
    ) -> Result<Vec<Applied>, Error> {
        let BinaryRows { scores, .. } = self.binary_rows(table, column, kind, groups)?;
        let applied = scores.applied(&self.stored.artifact(), self.seed);
        applied.map_err(|cause| self.refuse(cause))
    }
}
