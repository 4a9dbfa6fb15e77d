//! Probabilities of all classes, made to sum to one.

use super::class_probs::UNCALIBRATED;
use super::class_wise::ClassWiseCalibrator;
use crate::artifact::Tables;
use crate::outcome::{BinFlags, Outcome, Uncalibrated};
use crate::score::{Score, TopLabel};

/// Divides class-wise probabilities by their sum (Gupta and Ramdas 2022, Algorithm 4; Zadrozny and Elkan 2002).
///
/// An uncalibrated class has no part in the sum, so that the others' probabilities leave nothing to it: a
/// [flag](BinFlags::SHARED_OUT) says so. The division voids every class's guarantee, so there is no epsilon. Where every class's probability must be right, use a
/// [`ClassWiseCalibrator`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NormalizedCalibrator<'a> {
    class_wise: ClassWiseCalibrator<'a>,
}

impl<'a> NormalizedCalibrator<'a> {
    pub(crate) const fn new(tables: Tables<'a>) -> Self {
        Self { class_wise: ClassWiseCalibrator::new(tables) }
    }

    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.class_wise.classes()
    }

    /// Turns scores into probabilities, in place, and returns [`BinFlags::SHARED_OUT`] if a class is uncalibrated and others are
    /// not.
    ///
    /// The sum is taken in f32 from class 0 upwards, over the calibrated classes. If it is 0, every class is uncalibrated: nothing
    /// is known about how the classes share the probability.
    pub(crate) fn calibrate(&self, scores: &mut [f32], word: Option<u32>) -> BinFlags {
        let (mut sum, mut is_shared_out) = (0.0, false);
        for (class, place) in scores.iter_mut().enumerate() {
            let score = Score::new(*place).unwrap_or(Score::ONE);
            *place = match self.class_wise.prob(class, score, word) {
                Some(prob) => {
                    sum += prob;
                    prob
                }
                None => {
                    is_shared_out = true;
                    UNCALIBRATED
                }
            };
        }
        if sum <= 0.0 {
            scores.fill(UNCALIBRATED);
            return BinFlags::NONE;
        }
        // The mark of an uncalibrated class is NaN, and stays NaN.
        scores.iter_mut().for_each(|prob| *prob /= sum);
        if is_shared_out { BinFlags::SHARED_OUT } else { BinFlags::NONE }
    }

    /// Returns why a class has no probability after [`NormalizedCalibrator::calibrate`].
    pub(crate) fn why_not(&self, top: TopLabel, word: Option<u32>) -> Uncalibrated {
        match self.class_wise.calibrate(top.class, top.score, word) {
            Outcome::Uncalibrated(why) => why,
            Outcome::Calibrated(_) => Uncalibrated::ZeroSum,
        }
    }
}
