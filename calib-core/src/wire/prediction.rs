//! What is answered about scores.

use serde::{Deserialize, Serialize};

use super::question::MAX_VALUES;
use crate::decision::{ClassSet, Verdict};
use crate::outcome::Outcome;
use crate::score::{MAX_TOP_K, Margin, Score};

/// A calibrated probability for every class, `None` for an uncalibrated class.
pub type ClassProbList = heapless::Vec<Option<f32>, MAX_VALUES>;
/// The first few classes.
pub type RankedList = heapless::Vec<Ranked, MAX_TOP_K>;
/// A prediction with its calibrated probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Prediction {
    /// The class of the score and the probability: 1 for a binary classifier, otherwise the predicted class.
    pub class: u16,
    /// The classifier's score. Not a probability.
    pub score: RawScore,
    /// The calibrated probability, or why there is none.
    pub outcome: Outcome,
    /// Whether the alarm is raised.
    pub alarm: bool,
    /// The random word of the calibration, drawn by the device or given by the host. `None` if the calibrator is not randomised, or
    /// the device has no source of words; a randomised calibrator then states no epsilon.
    pub word: Option<u32>,
    /// The action of the calibrator's decision rule, as an index. `None` if there is no rule or no calibrator.
    pub action: Option<u8>,
}

/// The first few classes with their calibrated probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopKPrediction {
    /// The classes in descending order of score, as many as the calibrator has ranks.
    pub ranked: RankedList,
    /// Whether the alarm is raised by the probability of the first class.
    pub alarm: bool,
    /// The random word of all ranks, as in [`Prediction::word`].
    pub word: Option<u32>,
    /// The action for the first class, as in [`Prediction::action`].
    pub action: Option<u8>,
}

/// A class with its calibrated probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ranked {
    /// The class.
    pub class: u16,
    /// The classifier's score for it. Not a probability.
    pub score: RawScore,
    /// The calibrated probability, or why there is none.
    pub outcome: Outcome,
}

/// Every class's calibrated probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassesPrediction {
    /// The class that the classifier predicts, with its probability. This probability decides about the alarm,
    /// whether or not another class has a higher one. The random word is the same for all classes.
    pub top: Prediction,
    /// The probabilities in the order of the classes, `None` for an uncalibrated class. The calibrator's reduction says whether they
    /// sum to one.
    pub probs: ClassProbList,
}

/// A score in the form in which the calibrator took it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum RawScore {
    /// A float.
    F32(Score),
    /// The key of an integer code.
    Code(u16),
    /// A margin: of class 1 of a binary classifier, otherwise the lead of the predicted class's logit. Since version 3.
    Margin(Margin),
    /// The lead of the predicted class's code, in codes. Since version 3.
    Lead(u16),
}

/// To [`RequestBody::Ask`](super::RequestBody::Ask): the prediction with all that the calibrator says of it. Since version 4.
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
