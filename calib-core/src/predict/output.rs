//! What a classifier puts out.

use super::prediction::ScoreEcho;
use crate::score::{
    CodeVector, Logits, Margin, Probs, QuantizedScore, Score, ScoreVector, TopLabelCode, TopLabelCodeMargin,
};

/// What a classifier says about one input.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Output<'a> {
    /// The score of class 1 of two.
    Score(Score),
    /// The margin of class 1 of two.
    Margin(Margin),
    /// The integer code of the score of class 1 of two.
    Code(QuantizedScore),
    /// A logit per class. A calibrator by margin takes the top-two margin, any other their softmax.
    Logits(Logits<'a>),
    /// A probability per class.
    Probs(Probs<'a>),
    /// The codes of several classes. The calibrator takes the highest one, or its top-two margin; prediction sets take all.
    Codes(CodeVector<'a>),
    /// The codes of the logits of several classes, and the logits that they stand for: a calibrator of codes takes the former, any
    /// other the latter.
    QuantizedLogits {
        /// The codes.
        codes: CodeVector<'a>,
        /// What they stand for, as many.
        logits: Logits<'a>,
    },
    /// The predicted class of several and the integer code of its score, found among the codes of all.
    TopLabelCode(TopLabelCode),
    /// The predicted class of several and the top-two margin of the codes, found among the codes of all.
    TopLabelCodeMargin(TopLabelCodeMargin),
}

/// An output, with what else an artifact may ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Query<'a> {
    /// The output.
    pub output: Output<'a>,
    /// The code of the group of the person or thing that is scored. An artifact without groups does not look at it.
    pub group: Option<u8>,
    /// A random word for an artifact that [is randomized](crate::artifact::Artifact::is_randomized). Without one it still calibrates,
    /// but guarantees nothing: the outcome has no epsilon.
    pub word: Option<u32>,
}

impl<'a> Output<'a> {
    /// Returns the number of classes; `None` of a binary output.
    pub fn classes(&self) -> Option<usize> {
        match self {
            Self::Score(_) | Self::Margin(_) | Self::Code(_) => None,
            Self::Logits(logits) => Some(logits.classes()),
            Self::Probs(probs) => Some(probs.classes()),
            Self::TopLabelCode(top) => Some(top.classes()),
            Self::TopLabelCodeMargin(top) => Some(top.classes()),
            Self::Codes(codes) | Self::QuantizedLogits { codes, .. } => Some(codes.classes()),
        }
    }

    /// Returns the floats of several classes; `None` of a binary output, and of codes alone.
    pub const fn vector(self) -> Option<ScoreVector<'a>> {
        match self {
            Self::Logits(logits) | Self::QuantizedLogits { logits, .. } => Some(ScoreVector::Logits(logits)),
            Self::Probs(probs) => Some(ScoreVector::Probs(probs)),
            Self::Score(_)
            | Self::Margin(_)
            | Self::Code(_)
            | Self::TopLabelCode(_)
            | Self::TopLabelCodeMargin(_)
            | Self::Codes(_) => None,
        }
    }

    /// Returns the predicted class, which is 1 of a binary output, and its score: what there is to say without an artifact.
    pub fn first(&self) -> (u16, ScoreEcho) {
        match self {
            Self::Score(score) => (1, ScoreEcho::F32(*score)),
            Self::Margin(margin) => (1, ScoreEcho::Margin(*margin)),
            Self::Code(score) => (1, ScoreEcho::Code(score.key())),
            Self::Logits(logits) => ScoreEcho::of_top(logits.top_label()),
            Self::Probs(probs) => ScoreEcho::of_top(probs.top_label()),
            Self::Codes(codes) | Self::QuantizedLogits { codes, .. } => {
                let top = codes.top_label();
                (top.class(), ScoreEcho::Code(top.score().key()))
            }
            Self::TopLabelCode(top) => (top.class(), ScoreEcho::Code(top.score().key())),
            Self::TopLabelCodeMargin(top) => (top.class(), ScoreEcho::Top2Margin(top.top2_margin())),
        }
    }
}

impl<'a> From<Output<'a>> for Query<'a> {
    fn from(output: Output<'a>) -> Self {
        Self { output, group: None, word: None }
    }
}
