//! The classifier that a device runs: a user puts their own in its place.

use calib_core::score::CodeVector;
use calib_core::wire::{MAX_VALUES, Refusal};
use calib_core::{
    ClassifierId, Logits, Margin, Probs, QuantizedScore, Score, ScoreVector, TopLabelCode, TopLabelCodeMargin,
};

use crate::Features;

/// Memory for a vector, a classifier's output or calibrated probabilities: the device's own.
pub type Scratch = [f32; MAX_VALUES];

/// Maps features to a score or a vector of scores.
pub trait Classifier {
    /// A name for people, cut off after 32 bytes in the device's status.
    fn name(&self) -> &str;

    /// The identity that a calibrator names: other weights, another identity.
    fn id(&self) -> ClassifierId;

    /// How many features it takes.
    fn feature_count(&self) -> u16;

    /// What its output is like, always the same.
    fn kind(&self) -> Kind;

    /// Classifies; an output vector is written into `scratch`.
    ///
    /// `features` holds [`Classifier::feature_count`] finite values.
    ///
    /// # Errors
    ///
    /// If the output is not finite: [`Refusal::Score`], [`Refusal::Logits`] or [`Refusal::Probs`].
    fn classify<'s>(&self, features: Features<'_>, scratch: &'s mut Scratch) -> Result<Output<'s>, Refusal>;
}

/// The problem that a classifier solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kind {
    /// It scores class 1 of two: a probability, a margin or a code.
    Binary,
    /// It gives a logit, a probability or the code of one for each of several classes.
    TopLabel {
        /// How many, at least 2.
        classes: u16,
    },
}

/// What a classifier says about one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output<'a> {
    /// The score of class 1 of two.
    Binary(Score),
    /// A logit per class. A calibrator by margin takes the lead of the largest one, any other their softmax.
    Logits(Logits<'a>),
    /// A probability per class.
    Probs(Probs<'a>),
    /// The integer code of the score of class 1 of two.
    Code(QuantizedScore),
    /// The predicted class of several and the integer code of its score, found among the codes of all.
    TopLabelCode(TopLabelCode),
    /// The margin of class 1 of two.
    Margin(Margin),
    /// The predicted class of several and the lead of its code, found among the codes of all.
    TopLabelCodeMargin(TopLabelCodeMargin),
    /// The codes of several classes. The calibrator takes the highest one, or its lead; prediction sets take all.
    Codes(CodeVector<'a>),
    /// The codes of the logits of several classes, and the logits that they stand for: a calibrator of codes takes the former,
    /// any other the latter.
    QuantizedLogits {
        /// The codes.
        codes: CodeVector<'a>,
        /// What they stand for, as many.
        logits: Logits<'a>,
    },
}

impl Kind {
    /// The number of classes.
    pub const fn classes(self) -> u16 {
        match self {
            Self::Binary => 2,
            Self::TopLabel { classes } => classes,
        }
    }

    /// Whether this is a problem of so many classes, and not a binary one.
    pub fn has_classes(self, count: usize) -> bool {
        matches!(self, Self::TopLabel { classes } if usize::from(classes) == count)
    }
}

impl<'a> Output<'a> {
    /// The floats of a classifier with several classes; `None` of a binary one, and of codes alone.
    pub const fn vector(self) -> Option<ScoreVector<'a>> {
        match self {
            Self::Logits(logits) | Self::QuantizedLogits { logits, .. } => Some(ScoreVector::Logits(logits)),
            Self::Probs(probs) => Some(ScoreVector::Probs(probs)),
            Self::Binary(_)
            | Self::Margin(_)
            | Self::Code(_)
            | Self::TopLabelCode(_)
            | Self::TopLabelCodeMargin(_)
            | Self::Codes(_) => None,
        }
    }

    /// Whether a classifier of this kind gives such an output.
    pub fn is_of(&self, kind: Kind) -> bool {
        let got = match self {
            Self::Binary(_) | Self::Margin(_) | Self::Code(_) => return kind == Kind::Binary,
            Self::Logits(logits) => logits.classes(),
            Self::Probs(probs) => probs.classes(),
            Self::TopLabelCode(top) => top.classes(),
            Self::TopLabelCodeMargin(top) => top.classes(),
            Self::Codes(codes) | Self::QuantizedLogits { codes, .. } => codes.classes(),
        };
        kind.has_classes(got)
    }
}

impl<C: Classifier + ?Sized> Classifier for &C {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn id(&self) -> ClassifierId {
        (**self).id()
    }

    fn feature_count(&self) -> u16 {
        (**self).feature_count()
    }

    fn kind(&self) -> Kind {
        (**self).kind()
    }

    fn classify<'s>(&self, features: Features<'_>, scratch: &'s mut Scratch) -> Result<Output<'s>, Refusal> {
        (**self).classify(features, scratch)
    }
}
