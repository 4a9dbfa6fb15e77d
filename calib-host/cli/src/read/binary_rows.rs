//! Binary scores as the device has them, and what an artefact makes of them.

use std::ops::Range;

use calib_core::artifact::Reduction;
use calib_core::{Calibrator, Margin, QuantizedScore, Score, ScoreEncoding};
use calib_fit::apply::{
    Applied, Words, apply_codes, apply_codes_of_groups, apply_margins_from, apply_margins_of_groups,
    apply_scores_from, apply_scores_of_groups,
};
use calib_fit::assess::RowGroups;
use calib_fit::{ScoreKind, StoredArtifact};
use calib_io::files::FileError;
use calib_io::input::{self, Table};
use calib_io::output::ScoreNumbers;

use super::rows::NamedArtifact;
use crate::error::Error;

/// Binary scores as the device has them.
pub(crate) enum BinaryScores {
    Scores(Vec<Score>),
    Margins(Vec<Margin>),
    Codes(Vec<QuantizedScore>),
}

impl BinaryScores {
    /// Reads a column of scores of this kind, or of codes if the encoding has such, and the numbers in it.
    pub(super) fn read(
        table: &Table,
        column: &str,
        encoding: ScoreEncoding,
        kind: ScoreKind,
    ) -> Result<(Self, ReadNumbers), FileError> {
        if encoding.is_quantized() {
            let codes = table.codes(column)?;
            return Ok((Self::Codes(input::codes(&codes, encoding)?), ReadNumbers::Integers(codes.values)));
        }
        let numbers = table.numbers(column)?;
        let scores = match kind {
            ScoreKind::Probability => Self::Scores(numbers.scores()?),
            ScoreKind::Margin => Self::Margins(numbers.margins()?),
        };
        Ok((scores, ReadNumbers::F64(numbers.values)))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Scores(scores) => scores.len(),
            Self::Margins(margins) => margins.len(),
            Self::Codes(codes) => codes.len(),
        }
    }

    /// Whether they are margins that could be probabilities.
    pub(crate) fn could_be_probs(&self) -> bool {
        match self {
            Self::Margins(margins) => margins.iter().all(|margin| (0.0..=1.0).contains(&margin.get())),
            _ => false,
        }
    }
}

/// The numbers that scores were read as.
pub(crate) enum ReadNumbers {
    F64(Vec<f64>),
    Integers(Vec<i64>),
}

impl ReadNumbers {
    pub(crate) fn shown(&self) -> ScoreNumbers<'_> {
        match self {
            Self::F64(numbers) => ScoreNumbers::F64(numbers),
            Self::Integers(numbers) => ScoreNumbers::Integers(numbers),
        }
    }
}

/// Binary scores that an artefact calibrates, and the numbers that they were read as.
pub(crate) struct BinaryRows {
    pub(crate) scores: CheckedScores,
    pub(crate) numbers: ReadNumbers,
}

/// Binary scores that an artefact calibrates.
pub(crate) struct CheckedScores {
    scores: BinaryScores,
    /// The artefact's code of each row's group, if it has tables for groups.
    groups: Vec<u8>,
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
        let encoding = self.binary_encoding(kind)?;
        let (scores, numbers) = BinaryScores::read(table, column, encoding, kind)?;
        Ok(BinaryRows { scores: self.checked_scores(scores, groups)?, numbers })
    }

    /// The encoding of the binary scores that it takes, which are to be of this kind.
    pub(crate) fn binary_encoding(&self, kind: ScoreKind) -> Result<ScoreEncoding, Error> {
        let artifact = self.stored.artifact();
        if artifact.header().reduction != Reduction::Binary || kind != self.score_kind() {
            return Err(self.mismatch(match kind {
                ScoreKind::Probability => "binary scores",
                ScoreKind::Margin => "binary scores of any size",
            }));
        }
        Ok(match of_one_group(artifact.calibrator()) {
            Calibrator::BinaryCode(calibrator) => calibrator.encoding(),
            _ => ScoreEncoding::F32,
        })
    }

    /// Scores for this artefact; `groups` are those of the rows, if there are some.
    pub(crate) fn checked_scores(
        &self,
        scores: BinaryScores,
        groups: Option<&RowGroups>,
    ) -> Result<CheckedScores, Error> {
        let artifact = self.stored.artifact();
        match (of_one_group(artifact.calibrator()), &scores) {
            (Calibrator::Binary(_), BinaryScores::Scores(_))
            | (Calibrator::BinaryMargin(_), BinaryScores::Margins(_))
            | (Calibrator::BinaryCode(_), BinaryScores::Codes(_)) => {}
            _ => return Err(self.mismatch("scores to be calibrated, without groups")),
        }
        let groups = match artifact.calibrator() {
            Calibrator::Grouped(_) => self.codes_of_rows(groups)?,
            _ => Vec::new(),
        };
        Ok(CheckedScores { scores, groups })
    }

    /// The artefact's code of each row's group.
    fn codes_of_rows(&self, groups: Option<&RowGroups>) -> Result<Vec<u8>, Error> {
        let codes = self.group_codes(groups)?;
        // A device tells at most 255 groups apart.
        let code = |groups: &RowGroups, row: usize| codes[groups.of(row)] as u8;
        Ok(groups.map_or(Vec::new(), |groups| (0..groups.rows()).map(|row| code(groups, row)).collect()))
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
        Ok(scores.all_applied(&self.stored, self.seed))
    }
}

/// The calibrator of one group, where there is one for each.
fn of_one_group(calibrator: Calibrator<'_>) -> Calibrator<'_> {
    match &calibrator {
        Calibrator::Grouped(calibrators) => calibrators.of_group(0).unwrap_or(calibrator),
        _ => calibrator,
    }
}

impl CheckedScores {
    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether they are margins that could be probabilities.
    pub(crate) fn could_be_probs(&self) -> bool {
        self.scores.could_be_probs()
    }

    /// Calibrates all of them.
    pub(crate) fn all_applied(&self, stored: &StoredArtifact, seed: u64) -> Vec<Applied> {
        self.applied(stored, 0..self.len(), Words::new(&stored.artifact(), seed))
    }

    /// Calibrates some of the rows with the artefact that they were read for; the words are those of these rows.
    pub(crate) fn applied(&self, stored: &StoredArtifact, rows: Range<usize>, words: Words) -> Vec<Applied> {
        const READ_FOR: &str = "the rows were read for this artefact";
        let artifact = stored.artifact();
        let is_grouped = matches!(artifact.calibrator(), Calibrator::Grouped(_));
        let groups = if is_grouped { &self.groups[rows.clone()] } else { &[] };
        match &self.scores {
            BinaryScores::Codes(codes) if is_grouped => {
                let applied = apply_codes_of_groups(&artifact, &codes[rows], groups).expect(READ_FOR);
                applied.expect("every group and code is one of the artefact's")
            }
            BinaryScores::Codes(codes) => {
                apply_codes(&artifact, &codes[rows]).expect(READ_FOR).expect(READ_FOR)
            }
            BinaryScores::Scores(scores) if is_grouped => {
                let applied = apply_scores_of_groups(&artifact, &scores[rows], groups, words);
                applied.expect(READ_FOR).expect("every code is one of the artefact's")
            }
            BinaryScores::Margins(margins) if is_grouped => {
                let applied = apply_margins_of_groups(&artifact, &margins[rows], groups, words);
                applied.expect(READ_FOR).expect("every code is one of the artefact's")
            }
            BinaryScores::Scores(scores) => {
                apply_scores_from(&artifact, &scores[rows], words).expect(READ_FOR)
            }
            BinaryScores::Margins(margins) => {
                apply_margins_from(&artifact, &margins[rows], words).expect(READ_FOR)
            }
        }
    }
}
