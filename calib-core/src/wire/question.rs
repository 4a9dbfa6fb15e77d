//! What is asked about: scores of any kind.

use serde::{Deserialize, Serialize};

/// The largest number of features, logits, probabilities or codes in a request.
pub const MAX_VALUES: usize = 128;

/// Features, logits or probabilities.
pub type Values = heapless::Vec<f32, MAX_VALUES>;
/// The integer code of every class's score, as [keys](crate::score::QuantizedScore::key).
pub type Keys = heapless::Vec<u16, MAX_VALUES>;

/// Scores or features of any kind, with what else a calibrator may ask for. Since version 4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Question {
    /// The code of the group of the person or thing that is scored. A calibrator without groups does not look at it; the answer says
    /// whether it did.
    pub group: Option<u8>,
    /// A random word in place of the device's, as in [`RequestBody::ScoreWithWord`](super::RequestBody::ScoreWithWord).
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
