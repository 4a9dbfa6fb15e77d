//! Ready-to-use calibrators over a parsed artefact.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, ClassifierId, Reduction};
use crate::{Calibrated, Logits, Outcome, Probs, Score, Tables, TopLabel, Uncalibrated};

/// A calibrator of either kind, as the artefact's reduction says.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Calibrator<'a> {
    /// Maps the score of class 1 of two.
    Binary(BinaryCalibrator<'a>),
    /// Maps the score of the predicted class of several.
    TopLabel(TopLabelCalibrator<'a>),
}

/// Maps a binary classifier's score to the probability of class 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinaryCalibrator<'a> {
    tables: Tables<'a>,
}

/// Maps a predicted class and its score to the probability that the prediction is right (Gupta and Ramdas
/// 2022, Algorithms 2 and 8).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelCalibrator<'a> {
    tables: Tables<'a>,
}

/// A vector has another number of classes than the calibrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassCountError {
    /// The calibrator's number of classes.
    pub expected: usize,
    /// The vector's.
    pub got: usize,
}

impl<'a> Artifact<'a> {
    /// The calibrator that this artefact holds.
    pub const fn calibrator(&self) -> Calibrator<'a> {
        let tables = *self.tables();
        match self.header().reduction {
            Reduction::Binary => Calibrator::Binary(BinaryCalibrator { tables }),
            Reduction::TopLabel => Calibrator::TopLabel(TopLabelCalibrator { tables }),
        }
    }

    /// Whether this artefact may be used with a classifier: false only if it names another one.
    pub fn is_for(&self, classifier: ClassifierId) -> bool {
        self.header().provenance.classifier.is_none_or(|id| id == classifier)
    }
}

impl BinaryCalibrator<'_> {
    /// The calibrated probability of class 1.
    pub fn calibrate(&self, score: Score) -> Calibrated {
        // The table is there: parsing refuses a binary artefact without it. Were it not, the answer would be
        // marked as resting on no data at all.
        self.tables.calibrate(0, score).unwrap_or(Calibrated {
            prob: 0.5,
            bin: 0,
            epsilon: None,
            flags: crate::BinFlags::EMPTY,
        })
    }
}

impl TopLabelCalibrator<'_> {
    /// The number of classes.
    pub const fn classes(&self) -> usize {
        self.tables.count()
    }

    /// The calibrated probability that the predicted class is right. Uncalibrated for a class with too few
    /// calibration points, and for a class that the calibrator does not have.
    pub fn calibrate(&self, top: TopLabel) -> Outcome {
        match self.tables.calibrate(usize::from(top.class), top.score) {
            Some(calibrated) => Outcome::Calibrated(calibrated),
            None => Outcome::Uncalibrated(Uncalibrated::Class),
        }
    }

    /// Softmax, argmax and [`TopLabelCalibrator::calibrate`].
    ///
    /// # Errors
    ///
    /// If the vector has another number of classes.
    pub fn calibrate_logits(&self, logits: Logits<'_>) -> Result<(TopLabel, Outcome), ClassCountError> {
        self.check(logits.classes())?;
        let top = logits.top_label();
        Ok((top, self.calibrate(top)))
    }

    /// Argmax and [`TopLabelCalibrator::calibrate`].
    ///
    /// # Errors
    ///
    /// If the vector has another number of classes.
    pub fn calibrate_probs(&self, probs: Probs<'_>) -> Result<(TopLabel, Outcome), ClassCountError> {
        self.check(probs.classes())?;
        let top = probs.top_label();
        Ok((top, self.calibrate(top)))
    }

    fn check(&self, got: usize) -> Result<(), ClassCountError> {
        let expected = self.classes();
        if got == expected { Ok(()) } else { Err(ClassCountError { expected, got }) }
    }
}

impl fmt::Display for ClassCountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a vector of {} classes for a calibrator of {}", self.got, self.expected)
    }
}

impl core::error::Error for ClassCountError {}
