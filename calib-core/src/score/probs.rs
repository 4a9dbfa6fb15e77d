//! A classifier's probability vector.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::classes::MAX_CLASSES;
use super::float::{Score, ScoreError};
use super::ranking::{argmax, rank};
use super::top_label::TopLabel;

/// A vector of `L` scores in `[0, 1]`, one per class, that sum to one, with `2 <= L <= 65 535`.
///
/// ```
/// use calib_core::Probs;
/// use calib_core::score::ProbsError;
///
/// let probs = Probs::new(&[0.1, 0.7, 0.2])?;
/// assert_eq!((probs.top_label().class, probs.top_label().score.get()), (1, 0.7));
/// assert!(matches!(Probs::new(&[0.7, 0.7]), Err(ProbsError::Sum(_))));
/// # Ok::<(), ProbsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Probs<'a>(&'a [f32]);

/// Why a slice is not a [`Probs`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ProbsError {
    /// The slice has this many classes: fewer than 2 or more than 65 535.
    ClassCount(usize),
    /// The entry of this class is not a score.
    Score(usize, ScoreError),
    /// The entries sum to this value, which differs from one by more than `clamp(L/512, 0.004, 0.1)`.
    Sum(f32),
}

impl<'a> Probs<'a> {
    /// Checks that there are at least two classes, that every entry is in `[0, 1]`, and that the sum is one.
    ///
    /// An entry may lie up to 1e-6 outside `[0, 1]`, as a softmax in f32 may round. The sum may differ from one by up to
    /// `clamp(L/512, 0.004, 0.1)`: the rounding error of an int8 softmax in steps of 1/256, for up to 51 classes.
    ///
    /// # Errors
    ///
    /// The first cause found, with the class.
    pub fn new(probs: &'a [f32]) -> Result<Self, ProbsError> {
        if probs.len() < 2 || probs.len() > MAX_CLASSES {
            return Err(ProbsError::ClassCount(probs.len()));
        }
        let mut sum = 0.0;
        for (class, &prob) in probs.iter().enumerate() {
            Score::new_clamped(prob, Self::CLAMP).map_err(|cause| ProbsError::Score(class, cause))?;
            sum += prob;
        }
        let tolerance = (probs.len() as f32 / 512.0).clamp(0.004, 0.1);
        if (sum - 1.0).abs() > tolerance { Err(ProbsError::Sum(sum)) } else { Ok(Self(probs)) }
    }

    /// How far outside `[0, 1]` an entry may be.
    const CLAMP: f32 = 1e-6;

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.0.len()
    }

    /// Returns the class with the largest probability, and that probability; ties go to the lowest class.
    pub fn top_label(&self) -> TopLabel {
        let (class, prob) = argmax(self.0);
        TopLabel { class: class as u16, score: Self::score(prob) }
    }

    /// Writes the classes with the largest probabilities into `top` in descending order, and returns them; ties go to the
    /// lowest class.
    ///
    /// There are as many as `top` has places, but at most one per class.
    pub fn top_k<'t>(&self, top: &'t mut [TopLabel]) -> &'t [TopLabel] {
        rank(self.0, top, Self::score)
    }

    /// Returns every class's score, in the order of the classes.
    pub fn scores(&self) -> impl ExactSizeIterator<Item = Score> + use<'a> {
        self.0.iter().map(|&prob| Self::score(prob))
    }

    /// Returns an entry as a score. Every entry was checked, so the fallback is never taken.
    fn score(prob: f32) -> Score {
        Score::new_clamped(prob, Self::CLAMP).unwrap_or(Score::ONE)
    }
}

impl fmt::Display for ProbsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClassCount(n) => {
                write!(f, "{n} probabilities: a classifier has 2 to {MAX_CLASSES} classes")
            }
            Self::Score(class, cause) => write!(f, "class {class}: {cause}"),
            Self::Sum(sum) => write!(f, "the probabilities sum to {sum}, not to 1"),
        }
    }
}

impl core::error::Error for ProbsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_no_probability_vector() {
        assert_eq!(Probs::new(&[1.0]), Err(ProbsError::ClassCount(1)));
        assert_eq!(Probs::new(&[0.5, f32::NAN]), Err(ProbsError::Score(1, ScoreError::NaN)));
        assert_eq!(Probs::new(&[1.5, -0.5]), Err(ProbsError::Score(0, ScoreError::OutOfRange(1.5))));
        assert_eq!(Probs::new(&[0.5, 0.25]), Err(ProbsError::Sum(0.75)));
    }

    #[test]
    fn accepts_int8_softmax_rows_and_breaks_ties_downwards() {
        let row = [127.0 / 256.0, 127.0 / 256.0, 1.0 / 256.0];
        let top = Probs::new(&row).unwrap().top_label();
        assert_eq!((top.class, top.score.get()), (0, 127.0 / 256.0));
        assert_eq!(Probs::new(&[1.000_000_4, 0.0]).unwrap().top_label().score, Score::ONE);
    }
}
