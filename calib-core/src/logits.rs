//! A classifier's logit vector.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::artifact::MAX_CLASSES;
use crate::{Score, TopLabel};

/// A vector of `L` finite logits, one per class, with `2 <= L <= 65 535`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Logits<'a>(&'a [f32]);

/// Why a slice is not a [`Logits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum LogitsError {
    /// The slice has this many classes: fewer than 2 or more than 65 535.
    ClassCount(usize),
    /// The logit of this class is NaN.
    NaN(usize),
    /// The logit of this class is infinite.
    Infinite(usize),
}

impl<'a> Logits<'a> {
    /// Checks that there are at least two classes and that every logit is finite.
    ///
    /// # Errors
    ///
    /// The first cause found, with the class.
    pub fn new(logits: &'a [f32]) -> Result<Self, LogitsError> {
        if logits.len() < 2 || logits.len() > MAX_CLASSES {
            return Err(LogitsError::ClassCount(logits.len()));
        }
        for (class, logit) in logits.iter().enumerate() {
            if logit.is_nan() {
                return Err(LogitsError::NaN(class));
            }
            if logit.is_infinite() {
                return Err(LogitsError::Infinite(class));
            }
        }
        Ok(Self(logits))
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.0.len()
    }

    /// The class with the largest logit and its softmax probability; ties go to the lowest class.
    ///
    /// The probability is `1 / sum(exp(logit - max))` in f32 with libm's `expf`, summed from class 0
    /// upwards: the largest term is exactly 1, so the result is in `[1/L, 1]` without a clamp, and its bits
    /// are the same on every target.
    pub fn top_label(&self) -> TopLabel {
        let mut class = 0;
        let mut max = f32::NEG_INFINITY;
        for (i, &logit) in self.0.iter().enumerate() {
            if logit > max {
                (class, max) = (i, logit);
            }
        }
        let sum: f32 = self.0.iter().map(|logit| libm::expf(logit - max)).sum();
        // The sum is at least 1, so the quotient is a valid score; the fallback is never taken.
        let score = Score::new(1.0 / sum).unwrap_or(Score::ONE);
        TopLabel { class: class as u16, score }
    }
}

impl fmt::Display for LogitsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClassCount(n) => write!(f, "{n} logits: a classifier has 2 to {MAX_CLASSES} classes"),
            Self::NaN(class) => write!(f, "the logit of class {class} is NaN"),
            Self::Infinite(class) => write!(f, "the logit of class {class} is infinite"),
        }
    }
}

impl core::error::Error for LogitsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_no_logit_vector() {
        assert_eq!(Logits::new(&[]), Err(LogitsError::ClassCount(0)));
        assert_eq!(Logits::new(&[1.0]), Err(LogitsError::ClassCount(1)));
        assert_eq!(Logits::new(&[0.0, f32::NAN]), Err(LogitsError::NaN(1)));
        assert_eq!(Logits::new(&[f32::NEG_INFINITY, 0.0]), Err(LogitsError::Infinite(0)));
    }

    #[test]
    fn ties_go_to_the_lowest_class() {
        let top = Logits::new(&[-1.0, 2.0, 2.0]).unwrap().top_label();
        assert_eq!(top.class, 1);
        let uniform = Logits::new(&[7.0; 4]).unwrap().top_label();
        assert_eq!((uniform.class, uniform.score.get()), (0, 0.25));
    }

    #[test]
    fn extreme_logits_stay_in_range() {
        let top = Logits::new(&[f32::MAX, f32::MIN, 0.0]).unwrap().top_label();
        assert_eq!((top.class, top.score), (0, Score::ONE));
        let same = Logits::new(&[f32::MIN, f32::MIN]).unwrap().top_label();
        assert_eq!(same.score.get(), 0.5);
    }

    #[test]
    fn agrees_with_f64_softmax() {
        let logits = [0.3f32, -2.0, 1.7, 1.2, 0.0];
        let top = Logits::new(&logits).unwrap().top_label();
        let sum: f64 = logits.iter().map(|&z| libm::exp(f64::from(z))).sum();
        assert_eq!(top.class, 2);
        assert!((f64::from(top.score.get()) - libm::exp(f64::from(1.7f32)) / sum).abs() < 1e-7);
    }
}
