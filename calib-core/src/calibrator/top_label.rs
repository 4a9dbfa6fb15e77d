//! Calibrators of a predicted class.

use crate::artifact::Tables;
use crate::outcome::Outcome;
use crate::score::{
    ClassCountError, EncodingError, Logits, Probs, QuantizedScore, ScoreEncoding, TopLabel,
    TopLabelCodeMargin, TopLabelMargin,
};

/// Maps a predicted class and its score to the probability that the prediction is right.
///
/// There is a table for each class (top-label; Gupta and Ramdas 2022, Algorithms 2 and 8) or one for all classes (confidence;
/// Algorithm 1).
///
/// ```
/// use calib_core::{Artifact, Calibrator, Logits, Outcome, Uncalibrated};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::top_label();
/// # let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let Calibrator::TopLabel(calibrator) = artifact.calibrator() else { panic!("not top-label") };
/// let (top, outcome) = calibrator.calibrate_logits(Logits::new(&[0.0, 2.0, -1.0]).unwrap())?;
/// assert_eq!(top.class, 1);
/// assert!(matches!(outcome, Outcome::Calibrated(calibrated) if calibrated.prob == 0.8));
/// // Class 2 had too few calibration points.
/// let (_, outcome) = calibrator.calibrate_logits(Logits::new(&[0.0, 1.0, 3.0]).unwrap())?;
/// assert_eq!(outcome, Outcome::Uncalibrated(Uncalibrated::Class));
/// # Ok::<(), calib_core::score::ClassCountError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelCalibrator<'a> {
    pub(super) tables: Tables<'a>,
    pub(super) classes: u16,
}

/// Maps a quantized classifier's predicted class and its code to the probability that the prediction is right. Finding the bin
/// takes no floating point.
///
/// [`TopLabelCode`](crate::score::TopLabelCode) finds the class and its code.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelCodeCalibrator<'a> {
    pub(super) tables: Tables<'a>,
    pub(super) classes: u16,
    pub(super) encoding: ScoreEncoding,
}

/// Maps a predicted class and the top-two margin of the logits to the probability that the prediction is right, without a softmax.
///
/// The guarantees of top-label and confidence (Gupta and Ramdas 2022, Theorem 1) hold for any score of the predicted class that was
/// fixed before the calibration rows. The top-two margin is another score than the softmax, and may tell right from wrong predictions better
/// or worse.
///
/// ```
/// use calib_core::{Artifact, Calibrator, Logits};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::top_label_margin();
/// # let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let Calibrator::TopLabelMargin(calibrator) = artifact.calibrator() else { panic!("not by margin") };
/// let (top, outcome) = calibrator.calibrate_logits(Logits::new(&[0.0, 2.5, -1.0]).unwrap())?;
/// assert_eq!((top.class, top.margin.get()), (1, 2.5));
/// assert_eq!(outcome.calibrated().unwrap().prob, 0.8);
/// # Ok::<(), calib_core::score::ClassCountError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelMarginCalibrator<'a> {
    pub(super) tables: Tables<'a>,
    pub(super) classes: u16,
}

/// Maps a quantized classifier's predicted class and the top-two margin of the codes to the probability that the prediction is right, without
/// a softmax and without floating point.
///
/// [`TopLabelCodeMargin`](crate::score::TopLabelCodeMargin) finds the class and its top-two margin.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopLabelCodeMarginCalibrator<'a> {
    pub(super) tables: Tables<'a>,
    pub(super) classes: u16,
    pub(super) encoding: ScoreEncoding,
}

impl TopLabelCalibrator<'_> {
    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the calibrated probability that the predicted class is right.
    ///
    /// A class without a table is uncalibrated, and so are a class that the calibrator does not have and a score whose bin has no
    /// calibration point. There is no random word, as in
    /// [`BinaryCalibrator::calibrate`](crate::calibrator::BinaryCalibrator::calibrate).
    #[inline]
    pub fn calibrate(&self, top: TopLabel) -> Outcome {
        self.calibrate_with(top, None)
    }

    /// [`TopLabelCalibrator::calibrate`] with a random word, as [`BinaryCalibrator::calibrate_with`](crate::calibrator::BinaryCalibrator::calibrate_with).
    // Inlined, because a separate frame would lie above the deepest path.
    #[inline(always)]
    pub fn calibrate_with(&self, top: TopLabel, word: impl Into<Option<u32>>) -> Outcome {
        match table(&self.tables, self.classes, top.class) {
            Some(table) => self.tables.calibrate(table, top.score, word.into()),
            None => Outcome::NO_TABLE,
        }
    }

    /// Finds the class with the largest logit, and [calibrates](TopLabelCalibrator::calibrate) its softmax.
    ///
    /// # Errors
    ///
    /// If the vector has another number of classes.
    pub fn calibrate_logits(&self, logits: Logits<'_>) -> Result<(TopLabel, Outcome), ClassCountError> {
        ClassCountError::check(self.classes(), logits.classes())?;
        let top = logits.top_label();
        Ok((top, self.calibrate(top)))
    }

    /// Finds the class with the largest probability, and [calibrates](TopLabelCalibrator::calibrate) it.
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
    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the encoding for which the calibrator was fitted.
    pub const fn encoding(&self) -> ScoreEncoding {
        self.encoding
    }

    /// Returns the calibrated probability that the predicted class is right, given the code of its score.
    ///
    /// Classes are uncalibrated as in [`TopLabelCalibrator::calibrate`].
    ///
    /// # Errors
    ///
    /// If the score is in another encoding.
    #[inline]
    pub fn calibrate(&self, class: u16, score: QuantizedScore) -> Result<Outcome, EncodingError> {
        EncodingError::check(self.encoding, score)?;
        Ok(match table(&self.tables, self.classes, class) {
            Some(table) => self.tables.calibrate_code(table, score.key()),
            None => Outcome::NO_TABLE,
        })
    }
}

impl TopLabelMarginCalibrator<'_> {
    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the calibrated probability that the predicted class is right, as [`TopLabelCalibrator::calibrate`].
    #[inline]
    pub fn calibrate(&self, top: TopLabelMargin) -> Outcome {
        self.calibrate_with(top, None)
    }

    /// [`TopLabelMarginCalibrator::calibrate`] with a random word, as
    /// [`BinaryCalibrator::calibrate_with`](crate::calibrator::BinaryCalibrator::calibrate_with).
    #[inline(always)]
    pub fn calibrate_with(&self, top: TopLabelMargin, word: impl Into<Option<u32>>) -> Outcome {
        match table(&self.tables, self.classes, top.class) {
            Some(table) => self.tables.calibrate(table, top.margin, word.into()),
            None => Outcome::NO_TABLE,
        }
    }

    /// Finds the class with the largest logit, and [calibrates](TopLabelMarginCalibrator::calibrate) its top-two margin.
    ///
    /// # Errors
    ///
    /// If the vector has another number of classes.
    pub fn calibrate_logits(&self, logits: Logits<'_>) -> Result<(TopLabelMargin, Outcome), ClassCountError> {
        ClassCountError::check(self.classes(), logits.classes())?;
        let top = logits.top_label_margin();
        Ok((top, self.calibrate(top)))
    }
}

impl TopLabelCodeMarginCalibrator<'_> {
    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the encoding of the logits for which the calibrator was fitted.
    pub const fn encoding(&self) -> ScoreEncoding {
        self.encoding
    }

    /// Returns the calibrated probability that the predicted class is right.
    ///
    /// Classes are uncalibrated as in [`TopLabelCalibrator::calibrate`].
    ///
    /// # Errors
    ///
    /// If the codes are in another encoding.
    #[inline]
    pub fn calibrate(&self, top: TopLabelCodeMargin) -> Result<Outcome, EncodingError> {
        EncodingError::check_encodings(self.encoding, top.encoding())?;
        Ok(match table(&self.tables, self.classes, top.class()) {
            Some(table) => self.tables.calibrate_code(table, top.top2_margin()),
            None => Outcome::NO_TABLE,
        })
    }
}

/// Returns the index of a predicted class's table, its own or the only one; `None` if the calibrator does not have the class.
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
