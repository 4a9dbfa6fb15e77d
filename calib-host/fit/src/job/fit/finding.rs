//! What speaks against a fit.

use std::fmt;

use calib_core::Artifact;
use serde::Serialize;

use crate::assess::{Evidence, Flaw, evidence_of_fit, flaws};
use crate::data::{BinaryData, Repeats, ScoreKind, VectorKind};
use crate::dataset::{Content, Dataset};
use crate::error::FitError;
use crate::options_error::OptionsError;

/// What speaks against a calibrator, or against the data that it is of. Its sentence is that of its `Display`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Finding {
    /// What are said to be raw scores could be probabilities.
    RawScoresInUnitInterval,
    /// What are said to be logits could be probabilities.
    LogitsSumToOne,
    /// What are said to be logits lie in `[0, 1]`, but do not sum to one.
    LogitsInUnitInterval,
    /// The rows do not look independent.
    Dependence(Repeats),
    /// What the rows say against it.
    Evidence(Evidence),
    /// What the artifact shows against itself.
    Flaw(Flaw),
}

impl Finding {
    /// Returns the sentence with other names of the fields; `data` is that of the rows.
    pub fn with_names(&self, name: impl Fn(&str) -> String) -> String {
        self.sentence().with_names(name)
    }

    fn sentence(&self) -> OptionsError {
        OptionsError::new(match self {
            Self::RawScoresInUnitInterval => {
                "Every score of `data` is in [0, 1]: are these probabilities? Then use `kind=scores` instead of `kind=margins`, with an \
                 artefact that was fitted so."
                    .into()
            }
            Self::LogitsSumToOne => {
                "Every row of `data` sums to one, with entries in [0, 1]: are these probabilities? Then use `kind=probs` instead of \
                 `kind=logits`."
                    .into()
            }
            Self::LogitsInUnitInterval => {
                "Every entry of `data` is in [0, 1], but the rows do not sum to one: are these probabilities, each of a class by itself, or \
                 rounded? Then divide each row by its sum, and use `kind=probs`."
                    .into()
            }
            Self::Dependence(repeats) => format!("{repeats} Then name the patient with `clusters`."),
            Self::Evidence(evidence) => evidence.to_string(),
            Self::Flaw(flaw) => flaw.to_string(),
        })
    }

    /// What the data of a fit say against how they were read.
    pub(super) fn of_data(data: &Dataset) -> Result<Vec<Self>, FitError> {
        let kind = match data.content() {
            Content::Vectors(vectors, _) if vectors.kind() == VectorKind::Logits => {
                if vectors.all_look_like_probs() {
                    Some(Self::LogitsSumToOne)
                } else {
                    vectors.all_in_unit_interval().then_some(Self::LogitsInUnitInterval)
                }
            }
            _ if data.score_kind() == Some(ScoreKind::Margin) && !data.is_of_passes() => {
                let spread = data.spread()?.filter(|spread| 0.0 <= spread.lowest && spread.highest <= 1.0);
                spread.map(|_| Self::RawScoresInUnitInterval)
            }
            _ => None,
        };
        Ok(kind.into_iter().chain(data.repeats()?.map(Self::Dependence)).collect())
    }

    /// What points that count the same say against any fit to them.
    pub(super) fn of_points(points: &BinaryData) -> Result<Option<Self>, FitError> {
        Ok(evidence_of_fit(points)?.map(Self::Evidence))
    }

    /// What an artifact shows against itself.
    pub(super) fn of_artifact(artifact: &Artifact<'_>) -> impl Iterator<Item = Self> {
        flaws(artifact).into_iter().map(Self::Flaw)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentence().fmt(f)
    }
}
