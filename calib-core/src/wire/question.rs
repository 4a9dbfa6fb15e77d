//! What is asked about: scores of any kind.

use serde::{Deserialize, Serialize};

/// The largest number of features, logits, probabilities or codes in a request.
pub const MAX_VALUES: usize = 128;

/// Features, logits or probabilities.
pub type Values = heapless::Vec<f32, MAX_VALUES>;
/// The integer code of every class's score, as [keys](crate::score::QuantizedScore::key).
pub type Keys = heapless::Vec<u16, MAX_VALUES>;

/// Scores or features of any kind, with what else a calibrator may ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Question {
    /// The code of the group of the person or thing that is scored. A calibrator without groups does not look at it; the answer says
    /// whether it did.
    pub group: Option<u8>,
    /// A random word, instead of one that the device draws. The device cannot tell whether the word is random: the epsilon of a
    /// randomized calibrator holds only if the host drew the word again, uniformly over all `u32` and without regard to the scores.
    pub word: Option<u32>,
    /// The scores.
    pub scores: Scores,
}

/// What is to be calibrated.
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

impl Question {
    /// Tells whether the question gives what the device would find by itself: the scores or the random word.
    pub const fn is_trial(&self) -> bool {
        !matches!(self.scores, Scores::Features(_)) || self.word.is_some()
    }
}
