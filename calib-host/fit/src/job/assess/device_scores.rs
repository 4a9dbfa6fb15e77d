//! Binary scores as the device has them, and what an artifact makes of them.

use calib_core::artifact::Reduction;
use calib_core::{Artifact, Calibrator, Margin, QuantizedScore, Score, ScoreEncoding};

use super::error::AssessError;
use super::mismatch::{Mismatch, mismatch};
use crate::apply::{Applied, Outputs, RandomWords, calibrate};
use crate::artifact::score_kind;
use crate::assess::KeyedRow;
use crate::data::{DataError, RowGroups, ScoreKind, code_of_score};

/// Binary scores as the device has them.
#[derive(Clone, Debug)]
pub enum DeviceScores {
    /// Probabilities.
    Scores(Vec<Score>),
    /// Scores of any size.
    Margins(Vec<Margin>),
    /// Integer codes of either.
    Codes(Vec<QuantizedScore>),
}

/// Binary scores of the kind that an artifact calibrates.
#[derive(Clone, Debug)]
pub struct CheckedScores {
    scores: DeviceScores,
    /// The artifact's code of each row's group, if it has tables for groups.
    groups: Vec<u8>,
}

impl DeviceScores {
    /// Checks scores of a kind, which stand for codes if there is an encoding.
    pub(super) fn new(
        kind: ScoreKind,
        encoding: Option<ScoreEncoding>,
        scores: impl Iterator<Item = f64>,
    ) -> Result<Self, DataError> {
        let of_row = |(row, cause)| DataError::Score { row, cause };
        let rows = scores.enumerate();
        Ok(match (encoding, kind) {
            (Some(encoding), _) => Self::Codes(
                rows.map(|(row, score)| code_of_score(encoding, kind, score as f32, row))
                    .collect::<Result<_, _>>()?,
            ),
            (None, ScoreKind::Probability) => Self::Scores(
                rows.map(|(row, score)| Score::try_from(score).map_err(|cause| of_row((row, cause))))
                    .collect::<Result<_, _>>()?,
            ),
            (None, ScoreKind::Margin) => Self::Margins(
                rows.map(|(row, score)| Margin::new(score as f32).map_err(|cause| of_row((row, cause))))
                    .collect::<Result<_, _>>()?,
            ),
        })
    }

    /// Returns the number of rows.
    #[expect(clippy::len_without_is_empty, reason = "a table has rows")]
    pub fn len(&self) -> usize {
        match self {
            Self::Scores(scores) => scores.len(),
            Self::Margins(margins) => margins.len(),
            Self::Codes(codes) => codes.len(),
        }
    }

    /// Whether these are margins that could be probabilities.
    pub fn could_be_probs(&self) -> bool {
        match self {
            Self::Margins(margins) => margins.iter().all(|margin| (0.0..=1.0).contains(&margin.get())),
            _ => false,
        }
    }

    /// Checks that an artifact takes such scores, and finds its codes of the groups that rows are of.
    ///
    /// # Errors
    ///
    /// Another kind of scores, or groups that are missing or that it does not know.
    pub fn check(
        self,
        artifact: &Artifact<'_>,
        groups: Option<&RowGroups>,
    ) -> Result<CheckedScores, AssessError> {
        let is_grouped = matches!(artifact.calibrator(), Calibrator::Grouped);
        let mut of_rows = Vec::new();
        if is_grouped || artifact.groups().is_some() && groups.is_some() {
            let codes = group_codes(artifact, groups)?;
            // A device tells at most 255 groups apart.
            of_rows.extend(groups.iter().flat_map(|of| (0..of.rows()).map(|row| codes[of.of(row)] as u8)));
        }
        let checked = CheckedScores { scores: self, groups: of_rows };
        let first = checked.outputs().part(0..checked.len().min(1));
        match calibrate(artifact, first, RandomWords::new(artifact, 0)) {
            Err(_) => Err(mismatch(artifact, TO_BE_CALIBRATED).into()),
            Ok(_) => Ok(checked),
        }
    }

    /// Rows in the order of the artifact's thresholds.
    pub(super) fn keyed_rows(
        &self,
        artifact: &Artifact<'_>,
        labels: &[bool],
        groups: Option<&RowGroups>,
    ) -> Result<Vec<KeyedRow>, AssessError> {
        let Some(points) = artifact.operating_points() else { return Ok(Vec::new()) };
        let is_of_kind = match self {
            Self::Scores(_) => {
                !points.encoding().is_quantized() && score_kind(artifact) == ScoreKind::Probability
            }
            Self::Margins(_) => {
                !points.encoding().is_quantized() && score_kind(artifact) == ScoreKind::Margin
            }
            Self::Codes(codes) => codes.iter().all(|code| code.encoding() == points.encoding()),
        };
        if !is_of_kind {
            let kind =
                if matches!(self, Self::Margins(_)) { ScoreKind::Margin } else { ScoreKind::Probability };
            return Err(mismatch(artifact, of_kind(kind)).into());
        }
        let codes = (points.groups() > 1).then(|| group_codes(artifact, groups)).transpose()?;
        let keys: Vec<u32> = match self {
            Self::Scores(scores) => scores.iter().map(|score| score.get().to_bits()).collect(),
            Self::Margins(margins) => margins.iter().map(|margin| margin.key()).collect(),
            Self::Codes(codes) => codes.iter().map(|code| code.key().into()).collect(),
        };
        let row = |(row, (key, &label)): (usize, (u32, &bool))| {
            let group = codes.as_ref().zip(groups).map_or(0, |(codes, groups)| codes[groups.of(row)]);
            KeyedRow { key, group, label }
        };
        Ok(keys.into_iter().zip(labels).enumerate().map(row).collect())
    }
}

/// What scores of a kind are called.
pub(super) fn of_kind(kind: ScoreKind) -> &'static str {
    match kind {
        ScoreKind::Probability => "binary scores",
        ScoreKind::Margin => "binary scores of any size",
    }
}

/// The encoding of the binary scores of a kind that an artifact takes; `None` if it takes none of these.
pub fn binary_encoding(artifact: &Artifact<'_>, kind: ScoreKind) -> Option<ScoreEncoding> {
    if artifact.header().reduction != Reduction::Binary || kind != score_kind(artifact) {
        return None;
    }
    Some(artifact.header().encoding).filter(ScoreEncoding::is_quantized).or(Some(ScoreEncoding::F32))
}

/// The encoding of the binary scores of a kind that an artifact is assessed by, and the kind of what codes stand for.
///
/// # Errors
///
/// If it takes no such scores.
pub fn scores_encoding(
    artifact: &Artifact<'_>,
    kind: ScoreKind,
) -> Result<(ScoreEncoding, ScoreKind), Mismatch> {
    if let (Some(sets), true) = (artifact.prediction_sets(), artifact.header().method.has_no_calibrator()) {
        // Sets are about codes, whatever these stand for.
        let of_codes = sets.encoding().is_quantized().then_some(ScoreKind::Margin);
        return Ok((sets.encoding(), of_codes.unwrap_or(kind)));
    }
    let encoding = binary_encoding(artifact, kind).ok_or_else(|| mismatch(artifact, of_kind(kind)))?;
    Ok((artifact.operating_points().map_or(encoding, |points| points.encoding()), kind))
}

impl CheckedScores {
    /// Returns the number of rows.
    #[expect(clippy::len_without_is_empty, reason = "a table has rows")]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether these are margins that could be probabilities.
    pub fn could_be_probs(&self) -> bool {
        self.scores.could_be_probs()
    }

    /// Returns the rows, to be applied.
    pub fn outputs(&self) -> Outputs<'_> {
        let outputs: Outputs<'_> = match &self.scores {
            DeviceScores::Scores(scores) => scores[..].into(),
            DeviceScores::Margins(margins) => margins[..].into(),
            DeviceScores::Codes(codes) => codes[..].into(),
        };
        outputs.with_groups(&self.groups)
    }

    /// Calibrates the rows with the artifact that they were checked for; `seed` draws the random words of a randomized one.
    ///
    /// # Errors
    ///
    /// If it calibrates nothing.
    pub fn applied(&self, artifact: &Artifact<'_>, seed: u64) -> Result<Vec<Applied>, AssessError> {
        let other = || mismatch(artifact, TO_BE_CALIBRATED).into();
        if artifact.header().method.has_no_calibrator() {
            return Err(other());
        }
        calibrate(artifact, self.outputs(), RandomWords::new(artifact, seed)).map_err(|_| other())
    }
}

/// What an artifact gets that calibrates no scores of the kind.
const TO_BE_CALIBRATED: &str = "scores to be calibrated, without groups";

/// The artifact's codes of the groups that occur.
fn group_codes(artifact: &Artifact<'_>, groups: Option<&RowGroups>) -> Result<Vec<usize>, AssessError> {
    let known: Vec<&str> = artifact.groups().map_or(Vec::new(), |groups| groups.names().collect());
    let Some(groups) = groups else {
        return Err(AssessError::NoGroups { known: known.join(", ") });
    };
    let code = |name: &String| {
        let code = known.iter().position(|other| other == name);
        code.ok_or_else(|| AssessError::UnknownGroup { name: name.clone(), known: known.join(", ") })
    };
    groups.names().iter().map(code).collect()
}
