//! Calibrators of a predicted class.

use crate::artifact::Tables;
use crate::outcome::Outcome;
use crate::score::{ClassCountError, EncodingError, Logits, Probs, QuantizedScore, ScoreEncoding, TopLabel};

/// Maps a predicted class and its score to the probability that the prediction is right: with a table for each class
/// (top-label; Gupta and Ramdas 2022, Algorithms 2 and 8) or one for all (confidence; Algorithm 1 there).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelCalibrator<'a> {
    pub(super) tables: Tables<'a>,
    pub(super) classes: u16,
}

/// Maps a quantised classifier's predicted class and its code to the probability that the prediction is right.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelCodeCalibrator<'a> {
    pub(super) tables: Tables<'a>,
    pub(super) classes: u16,
    pub(super) encoding: ScoreEncoding,
}

impl TopLabelCalibrator<'_> {
    /// The number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// The calibrated probability that the predicted class is right. Uncalibrated for a class with too few
    /// calibration points, and for a class that the calibrator does not have.
    ///
    /// Without a random word, as [`BinaryCalibrator::calibrate`](crate::calibrator::BinaryCalibrator::calibrate).
    #[inline]
    pub fn calibrate(&self, top: TopLabel) -> Outcome {
        self.calibrate_with(top, None)
    }

    /// [`TopLabelCalibrator::calibrate`] with a random word, as [`BinaryCalibrator::calibrate_with`](crate::calibrator::BinaryCalibrator::calibrate_with).
    // A frame of its own would lie above the deepest path.
    #[inline(always)]
    pub fn calibrate_with(&self, top: TopLabel, word: impl Into<Option<u32>>) -> Outcome {
        match table(&self.tables, self.classes, top.class) {
            Some(table) => Outcome::of_class(self.tables.calibrate(table, top.score, word.into())),
            None => Outcome::of_class(None),
        }
    }

    /// Softmax, argmax and [`TopLabelCalibrator::calibrate`].
    ///
    /// # Errors
    ///
    /// If the vector has another number of classes.
    pub fn calibrate_logits(&self, logits: Logits<'_>) -> Result<(TopLabel, Outcome), ClassCountError> {
        ClassCountError::check(self.classes(), logits.classes())?;
        let top = logits.top_label();
        Ok((top, self.calibrate(top)))
    }

    /// Argmax and [`TopLabelCalibrator::calibrate`].
    ///
    /// # Errors
    ///
    /// If the vector has another number of classes.
    pub fn calibrate_probs(&self, probs: Probs<'_>) -> Result<(TopLabel, Outcome), ClassCountError> {
        ClassCountError::check(self.classes(), probs.classes())?;
        let top = probs.top_label();
        Ok((top, self.calibrate(top)))
    }
}

impl TopLabelCodeCalibrator<'_> {
    /// The number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// The encoding that the calibrator was fitted for.
    pub const fn encoding(&self) -> ScoreEncoding {
        self.encoding
    }

    /// The calibrated probability that the predicted class is right, given the class's score. Uncalibrated as
    /// [`TopLabelCalibrator::calibrate`].
    ///
    /// # Errors
    ///
    /// If the score is of another encoding.
    #[inline]
    pub fn calibrate(&self, class: u16, score: QuantizedScore) -> Result<Outcome, EncodingError> {
        EncodingError::check(self.encoding, score)?;
        let table = table(&self.tables, self.classes, class);
        Ok(Outcome::of_class(table.and_then(|table| self.tables.calibrate_code(table, score))))
    }
}

/// The index of a predicted class's table: its own, or the only one. `None` for no class.
#[inline]
fn table(tables: &Tables<'_>, classes: u16, class: u16) -> Option<usize> {
    if class >= classes {
        None
    } else if tables.count() == 1 {
        Some(0)
    } else {
        Some(class.into())
    }
}
