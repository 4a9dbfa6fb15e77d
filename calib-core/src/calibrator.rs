//! Ready-to-use calibrators over a parsed artefact.

use crate::artifact::{Artifact, Reduction};
use crate::{
    BinFlags, Calibrated, ClassCountError, ClassWiseCalibrator, EncodingError, Logits, NormalizedCalibrator,
    Outcome, Probs, QuantizedScore, Score, ScoreEncoding, Tables, TopKCalibrator, TopLabel, VectorCalibrator,
};

/// A calibrator of the kind that the artefact's reduction and score encoding say.
///
/// Floats and codes have calibrators of their own: none takes a score of the other's encoding for one of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Calibrator<'a> {
    /// Maps the score of class 1 of two.
    Binary(BinaryCalibrator<'a>),
    /// Maps the score of the predicted class of several.
    TopLabel(TopLabelCalibrator<'a>),
    /// Maps the integer code of the score of class 1 of two.
    BinaryCode(BinaryCodeCalibrator<'a>),
    /// Maps the integer code of the score of the predicted class of several.
    TopLabelCode(TopLabelCodeCalibrator<'a>),
    /// Maps the scores of the first few of several classes.
    TopK(TopKCalibrator<'a>),
    /// Maps the scores of several classes to a probability for each.
    Vector(VectorCalibrator<'a>),
}

/// Maps a binary classifier's score to the probability of class 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinaryCalibrator<'a> {
    tables: Tables<'a>,
}

/// Maps a predicted class and its score to the probability that the prediction is right: with a table for each class
/// (top-label; Gupta and Ramdas 2022, Algorithms 2 and 8) or one for all (confidence; Algorithm 1 there).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelCalibrator<'a> {
    tables: Tables<'a>,
    classes: u16,
}

/// Maps a quantised binary classifier's code to the probability of class 1, without floating point up to the bin.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinaryCodeCalibrator<'a> {
    tables: Tables<'a>,
    encoding: ScoreEncoding,
}

/// Maps a quantised classifier's predicted class and its code to the probability that the prediction is right.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelCodeCalibrator<'a> {
    tables: Tables<'a>,
    classes: u16,
    encoding: ScoreEncoding,
}

impl<'a> Artifact<'a> {
    /// The calibrator that this artefact holds.
    pub const fn calibrator(&self) -> Calibrator<'a> {
        let tables = *self.tables();
        let (classes, encoding) = (self.header().classes, self.header().encoding);
        if let Some(joint) = self.joint() {
            return Calibrator::Vector(VectorCalibrator::of_joint(joint));
        }
        match (self.header().reduction, encoding.is_quantized()) {
            (Reduction::Binary, false) => Calibrator::Binary(BinaryCalibrator { tables }),
            (Reduction::Binary, true) => Calibrator::BinaryCode(BinaryCodeCalibrator { tables, encoding }),
            // Parsing refuses codes under any other reduction.
            (_, true) => Calibrator::TopLabelCode(TopLabelCodeCalibrator { tables, classes, encoding }),
            (Reduction::TopLabel | Reduction::Confidence, false) => {
                Calibrator::TopLabel(TopLabelCalibrator { tables, classes })
            }
            (Reduction::ClassWise, false) => {
                Calibrator::Vector(VectorCalibrator::ClassWise(ClassWiseCalibrator::new(tables)))
            }
            // There is none of a whole vector without its section.
            (Reduction::Normalized | Reduction::Joint, false) => {
                Calibrator::Vector(VectorCalibrator::Normalized(NormalizedCalibrator::new(tables)))
            }
            (Reduction::TopKLabel { k }, false) => {
                Calibrator::TopK(TopKCalibrator::new(tables, classes, k, true))
            }
            (Reduction::TopKConfidence { k }, false) => {
                Calibrator::TopK(TopKCalibrator::new(tables, classes, k, false))
            }
        }
    }
}

/// What a binary calibrator says if its table is not there, which parsing refuses: marked as resting on no data at
/// all.
const NOTHING: Calibrated =
    Calibrated { prob: 0.5, bin: 0, epsilon: None, flags: BinFlags::EMPTY, interval: None };

/// [`NOTHING`] out of the way, so that a result stays in registers up to where it goes.
#[cold]
#[inline(never)]
fn nothing() -> Calibrated {
    NOTHING
}

impl BinaryCalibrator<'_> {
    /// The calibrated probability of class 1.
    ///
    /// Of a randomised artefact the result is deterministic, as with the word `u32::MAX`. If the score equals an edge
    /// then, its guarantee does not hold and the result has no epsilon and no interval: use
    /// [`BinaryCalibrator::calibrate_with`].
    #[inline]
    pub fn calibrate(&self, score: Score) -> Calibrated {
        self.calibrate_with(score, None)
    }

    /// The calibrated probability of class 1, with a random word that divides equal scores.
    ///
    /// The word is uniform over all `u32` and drawn anew for every score; an artefact that is not randomised has no
    /// use for it. `None`, as from a source of words that failed, is [`BinaryCalibrator::calibrate`].
    #[inline]
    pub fn calibrate_with(&self, score: Score, word: impl Into<Option<u32>>) -> Calibrated {
        self.tables.calibrate(0, score, word.into()).unwrap_or_else(nothing)
    }
}

impl TopLabelCalibrator<'_> {
    /// The number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// The calibrated probability that the predicted class is right. Uncalibrated for a class with too few
    /// calibration points, and for a class that the calibrator does not have.
    ///
    /// Without a random word, as [`BinaryCalibrator::calibrate`].
    #[inline]
    pub fn calibrate(&self, top: TopLabel) -> Outcome {
        self.calibrate_with(top, None)
    }

    /// [`TopLabelCalibrator::calibrate`] with a random word, as [`BinaryCalibrator::calibrate_with`].
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

impl BinaryCodeCalibrator<'_> {
    /// The encoding that the calibrator was fitted for.
    pub const fn encoding(&self) -> ScoreEncoding {
        self.encoding
    }

    /// The calibrated probability of class 1.
    ///
    /// # Errors
    ///
    /// If the score is of another encoding.
    #[inline]
    pub fn calibrate(&self, score: QuantizedScore) -> Result<Calibrated, EncodingError> {
        check_encoding(self.encoding, score)?;
        Ok(self.tables.calibrate_code(0, score).unwrap_or_else(nothing))
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
        check_encoding(self.encoding, score)?;
        let table = table(&self.tables, self.classes, class);
        Ok(Outcome::of_class(table.and_then(|table| self.tables.calibrate_code(table, score))))
    }
}

fn check_encoding(expected: ScoreEncoding, score: QuantizedScore) -> Result<(), EncodingError> {
    let got = score.encoding();
    if got == expected { Ok(()) } else { Err(EncodingError { expected, got }) }
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
