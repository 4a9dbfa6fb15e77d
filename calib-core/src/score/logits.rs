//! A classifier's logit vector.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::classes::{ClassCountError, MAX_CLASSES};
use super::float::Score;
use super::margin::Margin;
use super::ranking::{argmax, rank};
use super::softmax::{self, Softmax};
use super::top_label::TopLabel;
use super::top_label_margin::TopLabelMargin;

/// A vector of `L` finite logits, one per class, with `2 <= L <= 65 535`.
///
/// ```
/// use calib_core::Logits;
/// use calib_core::score::LogitsError;
///
/// let logits = Logits::new(&[0.0, 2.0, -1.0])?;
/// let top = logits.top_label();
/// assert_eq!(top.class, 1);
/// assert!((top.score.get() - 0.844).abs() < 1e-3);
/// assert_eq!(Logits::new(&[0.0, f32::NAN]), Err(LogitsError::NaN(1)));
/// # Ok::<(), LogitsError>(())
/// ```
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

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.0.len()
    }

    /// Returns the logits in the order of the classes.
    pub const fn as_slice(&self) -> &'a [f32] {
        self.0
    }

    /// Returns the class with the largest logit and its softmax probability; ties go to the lowest class.
    ///
    /// The probability is `1 / sum(exp(logit - max))` in f32 with libm's `expf`, summed from class 0 upwards: the same bits on
    /// every target. The largest term is exactly 1, so the result is in `[1/L, 1]` without a clamp.
    pub fn top_label(&self) -> TopLabel {
        let (class, softmax) = self.softmax();
        TopLabel { class: class as u16, score: softmax.top() }
    }

    /// Returns the class with the largest logit and the top-two margin; ties go to the lowest class,
    /// with a top-two margin of 0.
    ///
    /// The top-two margin is one subtraction in f32, without an exponential: the same bits on every target. A top-two margin above the largest `f32`
    /// becomes the largest `f32`.
    ///
    /// ```
    /// use calib_core::Logits;
    ///
    /// let top = Logits::new(&[0.0, 2.0, -1.0, 1.5]).unwrap().top_label_margin();
    /// assert_eq!((top.class, top.margin.get()), (1, 0.5));
    /// ```
    pub fn top_label_margin(&self) -> TopLabelMargin {
        let (mut class, mut top, mut second) = (0, 0, 0);
        for (i, logit) in self.0.iter().enumerate() {
            // Keys are compared as integers, because a comparison of floats is a call on cores without an FPU.
            let key = Margin::key_of_finite(*logit);
            if key > top {
                (class, second, top) = (i, top, key);
            } else if key > second {
                second = key;
            }
        }
        let logit = |key| Margin::from_key(key).unwrap_or_default().get();
        let top2_margin = Margin::new(logit(top) - logit(second)).unwrap_or(Margin::MAX);
        TopLabelMargin { class: class as u16, margin: top2_margin }
    }

    /// Writes the classes with the largest logits and their [scores](Logits::scores) into `top` in descending order, and
    /// returns them; ties go to the lowest class.
    ///
    /// There are as many as `top` has places, but at most one per class.
    pub fn top_k<'t>(&self, top: &'t mut [TopLabel]) -> &'t [TopLabel] {
        let (_, softmax) = self.softmax();
        rank(self.0, top, |logit| softmax.score(logit))
    }

    /// Writes the softmax into `probs`: `exp(logit - max) / sum(exp(logit - max))`, computed as in [`Logits::top_label`].
    ///
    /// # Errors
    ///
    /// If the length of `probs` is not the number of classes.
    pub fn write_softmax(&self, probs: &mut [f32]) -> Result<(), ClassCountError> {
        ClassCountError::check(self.classes(), probs.len())?;
        let (_, max) = argmax(self.0);
        softmax::write(self.0, max, probs);
        Ok(())
    }

    /// Returns the softmax score of every class, in the order of the classes: the numbers of [`Logits::write_softmax`].
    pub fn scores(&self) -> impl ExactSizeIterator<Item = Score> + use<'a> {
        let (_, softmax) = self.softmax();
        self.0.iter().map(move |&logit| softmax.score(logit))
    }

    /// Returns the class with the largest logit, and the softmax.
    fn softmax(&self) -> (usize, Softmax) {
        let (class, max) = argmax(self.0);
        (class, Softmax::of(self.0, max))
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
    extern crate std;

    use proptest::prelude::*;

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
    fn the_top2_margin_is_over_the_second_largest_and_always_finite() {
        let top2_margin = |logits: &[f32]| {
            let top = Logits::new(logits).unwrap().top_label_margin();
            (top.class, top.margin.get())
        };
        assert_eq!(top2_margin(&[-1.0, 2.0, 2.0]), (1, 0.0));
        assert_eq!(top2_margin(&[-0.0, 0.0, -1.0]), (0, 0.0));
        assert_eq!(top2_margin(&[-3.0, -5.0, -4.5]), (0, 1.5));
        assert_eq!(top2_margin(&[f32::MIN, f32::MAX]), (1, f32::MAX));
        assert_eq!(top2_margin(&[f32::MIN, f32::MIN]), (0, 0.0));
        assert_eq!(top2_margin(&[0.0, f32::from_bits(1)]), (1, f32::from_bits(1)));
    }

    #[test]
    fn agrees_with_f64_softmax() {
        let logits = [0.3f32, -2.0, 1.7, 1.2, 0.0];
        let top = Logits::new(&logits).unwrap().top_label();
        let sum: f64 = logits.iter().map(|&z| libm::exp(f64::from(z))).sum();
        assert_eq!(top.class, 2);
        assert!((f64::from(top.score.get()) - libm::exp(f64::from(1.7f32)) / sum).abs() < 1e-7);
    }

    #[test]
    fn equal_shares_do_not_change_who_is_first() {
        // In f32 both have the same exponential: the logits decide.
        let logits = [0.1f32, 0.1f32.next_up(), -3.0];
        let logits = Logits::new(&logits).unwrap();
        let mut top = [TopLabel::default(); 2];
        assert_eq!(logits.top_k(&mut top).iter().map(|t| t.class).collect::<std::vec::Vec<_>>(), [1, 0]);
        assert_eq!(top[0].score, top[1].score);
    }

    proptest! {
        /// All three ways to a score give the same bits, for any number of classes.
        #[test]
        fn the_ways_to_a_score_agree(
            logits in proptest::collection::vec(-30.0f32..30.0, 2..1000 / crate::test_size::step(25)), k in 1usize..20,
        ) {
            let vector = Logits::new(&logits).unwrap();
            let mut probs = std::vec![0.0; logits.len()];
            vector.write_softmax(&mut probs).unwrap();
            prop_assert!(vector.scores().map(Score::get).eq(probs.iter().copied()));
            prop_assert!((probs.iter().map(|&p| f64::from(p)).sum::<f64>() - 1.0).abs() < 1e-4);

            let mut order: std::vec::Vec<usize> = (0..logits.len()).collect();
            order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]).then(a.cmp(&b)));
            let mut space = std::vec![TopLabel::default(); k];
            let top = vector.top_k(&mut space);
            prop_assert_eq!(top[0], vector.top_label());
            let margin = vector.top_label_margin();
            prop_assert_eq!(usize::from(margin.class), order[0]);
            prop_assert_eq!(margin.margin.get(), logits[order[0]] - logits[order[1]]);
            prop_assert_eq!(top.len(), k.min(logits.len()));
            for (top, class) in top.iter().zip(order) {
                prop_assert_eq!((usize::from(top.class), top.score.get()), (class, probs[class]));
            }
        }
    }
}
