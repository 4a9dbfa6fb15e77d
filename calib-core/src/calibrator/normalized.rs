//! Probabilities of all classes, made to sum to one.

use super::class_probs::UNCALIBRATED;
use super::class_wise::ClassWiseCalibrator;
use crate::artifact::Tables;
use crate::score::Score;

/// Divides class-wise probabilities by their sum (Gupta and Ramdas 2022, Algorithm 4; Zadrozny and Elkan 2002).
///
/// The division voids every class's guarantee, so there is no epsilon. Where every class's probability must be right, use a
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

    /// Turns scores into probabilities, in place.
    ///
    /// The sum is taken in f32 from class 0 upwards, over the calibrated classes. If the sum is 0, these classes share the
    /// probability evenly.
    pub(crate) fn calibrate(&self, scores: &mut [f32], word: Option<u32>) {
        let (mut sum, mut calibrated) = (0.0, 0u16);
        for (class, place) in scores.iter_mut().enumerate() {
            let score = Score::new(*place).unwrap_or(Score::ONE);
            *place = match self.class_wise.prob(class, score, word) {
                Some(prob) => {
                    sum += prob;
                    calibrated += 1;
                    prob
                }
                None => UNCALIBRATED,
            };
        }
        let even = 1.0 / f32::from(calibrated.max(1));
        for prob in scores.iter_mut().filter(|prob| !prob.is_nan()) {
            *prob = if sum > 0.0 { *prob / sum } else { even };
        }
    }
}
