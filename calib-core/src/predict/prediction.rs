//! What an artifact says of an output, or why it does not.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::calibrator::ClassProbs;
use crate::decision::{ClassSet, Verdict};
use crate::outcome::Outcome;
use crate::score::{MAX_TOP_K, Margin, Score, ScoreEncoding, TopLabel};

/// All that an artifact says of an output: of class 1 of a binary classifier, otherwise of the predicted class.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Prediction {
    /// The class with its score and its calibrated probability.
    pub first: Ranked,
    /// The group whose tables or thresholds were used; `None` if the artifact has no groups.
    pub group: Option<u8>,
    /// What the thresholds say; `None` if there are none.
    pub verdict: Option<Verdict>,
    /// The classes in the prediction set; `None` if there are no sets.
    pub set: Option<ClassSet>,
    /// The action of the decision rule, as an index; `None` if there is no rule.
    pub action: Option<u8>,
    /// Whether the alarm is raised; `None` if the artifact has no rule, thresholds or sets, which would decide.
    pub alarm: Option<bool>,
}

/// A class with its calibrated probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ranked {
    /// The class.
    pub class: u16,
    /// The classifier's score for it. Not a probability.
    pub score: ScoreEcho,
    /// The calibrated probability, or why there is none.
    pub outcome: Outcome,
}

/// A score in the form in which the calibrator took it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ScoreEcho {
    /// A float.
    F32(Score),
    /// The key of an integer code.
    Code(u16),
    /// A margin: of class 1 of a binary classifier, otherwise the top-two margin of the logits.
    Margin(Margin),
    /// The top-two margin of the codes, in codes.
    Top2Margin(u16),
}

/// The classes after the first, in descending order of score.
pub type RankedList = heapless::Vec<Ranked, { MAX_TOP_K - 1 }>;

/// What a calibrator says of the classes besides the predicted one.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and no allocator to box it")]
pub enum OtherClasses<'p> {
    /// Nothing: it gives one probability.
    None,
    /// The classes after the first, of a calibrator of the first few classes.
    Ranked(RankedList),
    /// The probability of every class, the predicted one included.
    Probs(ClassProbs<'p>),
}

/// Why an artifact says nothing of an output.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Mismatch {
    /// The artifact is for another kind or number of scores, or gives more probabilities than one.
    Kind {
        /// The number of classes that the artifact is for; 2 stands for a binary score.
        classes: u16,
    },
    /// The artifact takes scores in this encoding.
    Encoding(ScoreEncoding),
    /// The output is the predicted class with its code, and the calibrator takes the top-two margin of the codes, or the other way round.
    ClassScore,
    /// The output is the predicted class's code alone, and the prediction sets take the codes of all classes.
    AllClasses,
    /// The artifact has tables or thresholds for this number of groups, and the query names none of them.
    Group(u8),
}

impl From<Ranked> for Prediction {
    /// Says nothing but this.
    fn from(first: Ranked) -> Self {
        Self { first, group: None, verdict: None, set: None, action: None, alarm: None }
    }
}

impl ScoreEcho {
    /// Returns the class and the score of a predicted class.
    pub(crate) const fn of_top(top: TopLabel) -> (u16, Self) {
        (top.class, Self::F32(top.score))
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind { classes: 2 } => f.write_str("the artifact takes another kind of score"),
            Self::Kind { classes } => write!(f, "the artifact takes scores of {classes} classes"),
            Self::Encoding(encoding) => write!(f, "the artifact takes {encoding}"),
            Self::ClassScore => {
                f.write_str("the artifact takes the other one of a code and its top-two margin")
            }
            Self::AllClasses => f.write_str("the artifact takes the codes of all classes"),
            Self::Group(groups) => write!(f, "the artifact has {groups} groups, and none of them is named"),
        }
    }
}

impl core::error::Error for Mismatch {}
