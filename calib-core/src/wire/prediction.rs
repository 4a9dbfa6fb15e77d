//! What is answered about scores.

use serde::{Deserialize, Serialize};

use super::question::Values;
use crate::decision::{ClassSet, Verdict};
use crate::outcome::{Outcome, ProbInterval};
use crate::predict::{self, Ranked, RankedList, ScoreEcho};

/// To [`RequestBody::Predict`](super::RequestBody::Predict): the prediction with all that the calibrator says of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Answer {
    /// The class of the score and the probability: 1 for a binary classifier, otherwise the predicted class.
    pub class: u16,
    /// The classifier's score. Not a probability.
    pub score: ScoreEcho,
    /// The calibrated probability, or why there is none.
    pub outcome: Outcome,
    /// Whether the alarm is raised.
    pub alarm: bool,
    /// The random word of the calibration, drawn by the device or given by the host. `None` if the calibrator is not randomized, or
    /// the device has no source of words; a randomized calibrator then states no epsilon.
    pub word: Option<u32>,
    /// The action of the calibrator's decision rule, as an index. `None` if there is no rule or no calibrator.
    pub action: Option<u8>,
    /// The group whose tables or thresholds were used; `None` if the calibrator has no groups.
    pub group: Option<u8>,
    /// What the calibrator's thresholds say; `None` if it has none.
    pub verdict: Option<Verdict>,
    /// The classes in the prediction set; `None` if the calibrator has no sets.
    pub set: Option<ClassSet>,
    /// What the calibrator says beside this. The random word is the same for all classes.
    pub beside: Beside,
}

/// What a calibrator says beside the probability of the predicted class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Beside {
    /// Nothing: it gives one probability, and has no band.
    None,
    /// The classes after the first, of a calibrator of the first few classes.
    Ranked(RankedList),
    /// The probability of every class, the predicted one included, in the order of the classes: NaN for an uncalibrated class. The
    /// calibrator's reduction says whether they sum to one.
    Probs(Values),
    /// The [band](crate::artifact::Band) at the score.
    Band(ProbInterval),
}

impl Answer {
    /// Makes the answer that says nothing but this.
    pub const fn new(first: Ranked, alarm: bool) -> Self {
        let Ranked { class, score, outcome } = first;
        let (word, action, group, verdict, set) = (None, None, None, None, None);
        let beside = Beside::None;
        Self { class, score, outcome, alarm, word, action, group, verdict, set, beside }
    }

    /// Returns the [band](crate::artifact::Band) at the score; `None` if the calibrator has no band.
    pub const fn band(&self) -> Option<ProbInterval> {
        match self.beside {
            Beside::Band(band) => Some(band),
            _ => None,
        }
    }

    /// Returns the predicted class with its probability.
    pub const fn first(&self) -> Ranked {
        Ranked { class: self.class, score: self.score, outcome: self.outcome }
    }
}

impl From<&predict::OtherClasses<'_>> for Beside {
    fn from(others: &predict::OtherClasses<'_>) -> Self {
        match others {
            predict::OtherClasses::None => Self::None,
            predict::OtherClasses::Ranked(others) => Self::Ranked(others.clone()),
            predict::OtherClasses::Probs(probs) => {
                let mut list = Values::new();
                // A device answers no more than there is room for.
                probs.iter().for_each(|prob| _ = list.push(prob.unwrap_or(f32::NAN)));
                Self::Probs(list)
            }
        }
    }
}
