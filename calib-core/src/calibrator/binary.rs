//! Calibrators of a binary classifier's score.

use crate::artifact::Tables;
use crate::outcome::Outcome;
use crate::score::{EncodingError, Margin, QuantizedScore, Score, ScoreEncoding};

/// Maps a binary classifier's score to the probability of class 1.
///
/// ```
/// use calib_core::{Artifact, Calibrator, Outcome, Score};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::binary();
/// # let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("not a binary calibrator") };
/// let Outcome::Calibrated(calibrated) = calibrator.calibrate(Score::new(0.3)?) else { panic!("uncalibrated") };
/// assert_eq!((calibrated.prob, calibrated.bin, calibrated.epsilon), (0.1, 0, Some(0.125)));
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinaryCalibrator<'a> {
    pub(super) tables: Tables<'a>,
}

/// Maps a binary classifier's margin to the probability of class 1.
///
/// ```
/// use calib_core::{Artifact, Calibrator, Margin};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::margins();
/// # let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let Calibrator::BinaryMargin(calibrator) = artifact.calibrator() else { panic!("not over margins") };
/// assert_eq!(calibrator.calibrate(Margin::new(-0.5)?).calibrated().unwrap().prob, 0.1);
/// assert_eq!(calibrator.calibrate(Margin::new(2.5)?).calibrated().unwrap().prob, 0.8);
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinaryMarginCalibrator<'a> {
    pub(super) tables: Tables<'a>,
}

/// Maps a quantized binary classifier's code to the probability of class 1. Finding the bin takes no floating point.
///
/// ```
/// use calib_core::{Artifact, Calibrator, QuantizedScore};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::codes();
/// # let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let Calibrator::BinaryCode(calibrator) = artifact.calibrator() else { panic!("not over codes") };
/// let score = QuantizedScore::new(calibrator.encoding(), 100).unwrap();
/// assert_eq!(calibrator.calibrate(score)?.calibrated().unwrap().prob, 0.8);
/// # Ok::<(), calib_core::score::EncodingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinaryCodeCalibrator<'a> {
    pub(super) tables: Tables<'a>,
    pub(super) encoding: ScoreEncoding,
}

impl BinaryCalibrator<'_> {
    /// Returns the calibrated probability of class 1; none for a score whose bin has no calibration point.
    ///
    /// A randomized artifact is used with the word `u32::MAX`. Its guarantee is about scores with random words, so no result has an
    /// epsilon or an interval: use [`BinaryCalibrator::calibrate_with`].
    #[inline]
    pub fn calibrate(&self, score: Score) -> Outcome {
        self.calibrate_with(score, None)
    }

    /// Returns the calibrated probability of class 1, with a random word that divides equal scores between bins.
    ///
    /// The word is uniform over all `u32`, independent of the score and drawn again for every score: otherwise the epsilon of the
    /// result does not hold, which no code can notice. An artifact that is not randomized ignores the word. With `None`, as from a
    /// source of words that failed, the result is the one of [`BinaryCalibrator::calibrate`].
    #[inline]
    pub fn calibrate_with(&self, score: Score, word: impl Into<Option<u32>>) -> Outcome {
        self.tables.calibrate(0, score, word.into())
    }
}

impl BinaryMarginCalibrator<'_> {
    /// Returns the calibrated probability of class 1, as [`BinaryCalibrator::calibrate`].
    #[inline]
    pub fn calibrate(&self, margin: Margin) -> Outcome {
        self.calibrate_with(margin, None)
    }

    /// Returns the calibrated probability of class 1, with a random word as [`BinaryCalibrator::calibrate_with`].
    #[inline]
    pub fn calibrate_with(&self, margin: Margin, word: impl Into<Option<u32>>) -> Outcome {
        self.tables.calibrate(0, margin, word.into())
    }
}

impl BinaryCodeCalibrator<'_> {
    /// Returns the encoding for which the calibrator was fitted.
    pub const fn encoding(&self) -> ScoreEncoding {
        self.encoding
    }

    /// Returns the calibrated probability of class 1; none for a code whose bin has no calibration point.
    ///
    /// # Errors
    ///
    /// If the score is in another encoding.
    #[inline]
    pub fn calibrate(&self, score: QuantizedScore) -> Result<Outcome, EncodingError> {
        EncodingError::check(self.encoding, score)?;
        Ok(self.tables.calibrate_code(0, score.key()))
    }
}
