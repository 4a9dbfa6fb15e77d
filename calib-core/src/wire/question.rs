//! A question about scores of any kind, and the answer with everything that the calibrator says of them.

use serde::{Deserialize, Serialize};

use super::message::{Keys, Prediction, RequestBody, Values};
use crate::decision::{ClassSet, Verdict};

/// Scores or features of any kind, with what else a calibrator may ask for. Since version 4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Question {
    /// The code of the group of the person or thing that is scored. A calibrator without groups does not look at it; the answer says
    /// whether it did.
    pub group: Option<u8>,
    /// A random word in place of the device's, as in [`RequestBody::ScoreWithWord`].
    pub word: Option<u32>,
    /// The scores.
    pub scores: Scores,
}

/// What is to be calibrated. Since version 4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Scores {
    /// The features that the device classifies.
    Features(Values),
    /// The probability of class 1 of a binary classifier.
    Score(f32),
    /// The margin of class 1 of a binary classifier.
    Margin(f32),
    /// The logits of several classes.
    Logits(Values),
    /// The probabilities of several classes.
    Probs(Values),
    /// The code of a binary classifier, as a [key](crate::score::QuantizedScore::key).
    Code(u16),
    /// The codes of several classes, as keys.
    Codes(Keys),
}

/// Scores as a device looks at them, whichever request brought them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScoresRef<'r> {
    /// See [`Scores::Features`].
    Features(&'r [f32]),
    /// See [`Scores::Score`].
    Score(f32),
    /// See [`Scores::Margin`].
    Margin(f32),
    /// See [`Scores::Logits`].
    Logits(&'r [f32]),
    /// See [`Scores::Probs`].
    Probs(&'r [f32]),
    /// See [`Scores::Code`].
    Code(u16),
    /// See [`Scores::Codes`].
    Codes(&'r [u16]),
}

/// To [`RequestBody::Ask`]: the prediction with all that the calibrator says of it. Since version 4.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Answer {
    /// The prediction; of a calibrator of several classes the one of the predicted class.
    pub prediction: Prediction,
    /// The group whose tables or thresholds were used; `None` if the calibrator has no groups.
    pub group: Option<u8>,
    /// What the calibrator's thresholds say; `None` if it has none.
    pub verdict: Option<Verdict>,
    /// The classes in the prediction set; `None` if the calibrator has no sets.
    pub set: Option<ClassSet>,
}

impl Scores {
    /// Returns the scores without their buffers.
    pub fn by_ref(&self) -> ScoresRef<'_> {
        match self {
            Self::Features(values) => ScoresRef::Features(values),
            Self::Score(score) => ScoresRef::Score(*score),
            Self::Margin(margin) => ScoresRef::Margin(*margin),
            Self::Logits(values) => ScoresRef::Logits(values),
            Self::Probs(values) => ScoresRef::Probs(values),
            Self::Code(key) => ScoresRef::Code(*key),
            Self::Codes(keys) => ScoresRef::Codes(keys),
        }
    }
}

impl RequestBody {
    /// Returns the scores of a request for a prediction; `None` of a request for something else.
    ///
    /// ```
    /// use calib_core::wire::{RequestBody, ScoresRef};
    ///
    /// assert_eq!(RequestBody::Margin(-2.5).scores(), Some(ScoresRef::Margin(-2.5)));
    /// assert_eq!(RequestBody::Status.scores(), None);
    /// ```
    pub fn scores(&self) -> Option<ScoresRef<'_>> {
        Some(match self {
            Self::Classify(values) => ScoresRef::Features(values),
            Self::Score(score) | Self::ScoreWithWord { score, .. } => ScoresRef::Score(*score),
            Self::Margin(margin) | Self::MarginWithWord { margin, .. } => ScoresRef::Margin(*margin),
            Self::Logits(values) => ScoresRef::Logits(values),
            Self::Probs(values) => ScoresRef::Probs(values),
            Self::Code(key) => ScoresRef::Code(*key),
            Self::Codes(keys) => ScoresRef::Codes(keys),
            Self::Ask(question) => question.scores.by_ref(),
            Self::Status
            | Self::Measure { .. }
            | Self::Slots
            | Self::Announce { .. }
            | Self::Chunk { .. }
            | Self::Install
            | Self::Version
            | Self::Standing => return None,
        })
    }

    /// Returns the random word that the host gave in place of the device's, if it did.
    pub const fn word(&self) -> Option<u32> {
        match self {
            Self::ScoreWithWord { word, .. } | Self::MarginWithWord { word, .. } => Some(*word),
            Self::Ask(Question { word, .. }) => *word,
            _ => None,
        }
    }

    /// Returns the code of the group that the host named, if it did.
    pub const fn group(&self) -> Option<u8> {
        match self {
            Self::Ask(question) => question.group,
            _ => None,
        }
    }
}
