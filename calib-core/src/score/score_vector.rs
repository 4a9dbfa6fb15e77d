//! What a multi-class classifier puts out.

use super::float::Score;
use super::logits::Logits;
use super::probs::Probs;
use super::top_label::TopLabel;

/// The output of a classifier of several classes: a logit or a probability for each.
///
/// ```
/// use calib_core::{Probs, ScoreVector};
///
/// let vector = ScoreVector::from(Probs::new(&[0.1, 0.7, 0.2]).unwrap());
/// assert_eq!((vector.classes(), vector.top_label().class), (3, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ScoreVector<'a> {
    /// A logit per class; the scores are the softmax of the logits.
    Logits(Logits<'a>),
    /// A probability per class: the class's score.
    Probs(Probs<'a>),
}

impl<'a> ScoreVector<'a> {
    /// Returns the number of classes, at least 2.
    pub fn classes(&self) -> usize {
        match self {
            Self::Logits(logits) => logits.classes(),
            Self::Probs(probs) => probs.classes(),
        }
    }

    /// Returns the predicted class and its score: [`Logits::top_label`] or [`Probs::top_label`].
    pub fn top_label(&self) -> TopLabel {
        match self {
            Self::Logits(logits) => logits.top_label(),
            Self::Probs(probs) => probs.top_label(),
        }
    }

    /// Writes the classes with the highest scores into `top`, and returns them: [`Logits::top_k`] or [`Probs::top_k`].
    pub fn top_k<'t>(&self, top: &'t mut [TopLabel]) -> &'t [TopLabel] {
        match self {
            Self::Logits(logits) => logits.top_k(top),
            Self::Probs(probs) => probs.top_k(top),
        }
    }

    /// Returns every class's score, in the order of the classes: [`Logits::scores`] or [`Probs::scores`].
    pub fn scores(&self) -> impl Iterator<Item = Score> + use<'a> {
        let (logits, probs) = match self {
            Self::Logits(logits) => (Some(logits.scores()), None),
            Self::Probs(probs) => (None, Some(probs.scores())),
        };
        logits.into_iter().flatten().chain(probs.into_iter().flatten())
    }

    /// Writes every class's score into the front of `scores`, as far as there are places.
    ///
    /// For logits this takes one exponential per class; [`ScoreVector::scores`] takes two.
    pub(crate) fn write_scores(&self, scores: &mut [f32]) {
        match self {
            // Fails only if there are too few places, against which every caller has checked.
            Self::Logits(logits) => {
                let _ = logits.write_softmax(scores);
            }
            Self::Probs(probs) => {
                for (place, score) in scores.iter_mut().zip(probs.scores()) {
                    *place = score.get();
                }
            }
        }
    }
}

impl<'a> From<Logits<'a>> for ScoreVector<'a> {
    fn from(logits: Logits<'a>) -> Self {
        Self::Logits(logits)
    }
}

impl<'a> From<Probs<'a>> for ScoreVector<'a> {
    fn from(probs: Probs<'a>) -> Self {
        Self::Probs(probs)
    }
}
