//! Calibrators of a binary classifier's score.

use crate::artifact::Tables;
use crate::outcome::{BinFlags, Calibrated};
use crate::score::{EncodingError, QuantizedScore, Score, ScoreEncoding};

/// Maps a binary classifier's score to the probability of class 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinaryCalibrator<'a> {
    pub(super) tables: Tables<'a>,
}

/// Maps a quantised binary classifier's code to the probability of class 1, without floating point up to the bin.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinaryCodeCalibrator<'a> {
    pub(super) tables: Tables<'a>,
    pub(super) encoding: ScoreEncoding,
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
        EncodingError::check(self.encoding, score)?;
        Ok(self.tables.calibrate_code(0, score).unwrap_or_else(nothing))
    }
}
