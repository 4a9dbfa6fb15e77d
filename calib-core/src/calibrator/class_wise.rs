//! A calibrator for every class.

use crate::artifact::Tables;
use crate::outcome::Outcome;
use crate::score::{ClassCountError, Score, ScoreVector};

/// Maps every class's score to the probability of that class, each with a table of its own (Gupta and Ramdas 2022,
/// Algorithms 3 and 9). The probabilities need not sum to one: each is right for its class.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassWiseCalibrator<'a> {
    tables: Tables<'a>,
}

impl<'a> ClassWiseCalibrator<'a> {
    pub(crate) const fn new(tables: Tables<'a>) -> Self {
        Self { tables }
    }

    /// The number of classes.
    pub const fn classes(&self) -> usize {
        self.tables.count()
    }

    /// The calibrated probability of a class, given the score of that class. Uncalibrated for a class without a table,
    /// and for one that the calibrator does not have.
    ///
    /// The word is that of [`BinaryCalibrator::calibrate_with`](crate::calibrator::BinaryCalibrator::calibrate_with).
    #[inline]
    pub fn calibrate(&self, class: u16, score: Score, word: Option<u32>) -> Outcome {
        Outcome::of_class(self.tables.calibrate(class.into(), score, word))
    }

    /// Every class's calibrated probability, in the order of the classes.
    ///
    /// One word serves all classes: each table's guarantee is about its own class alone.
    ///
    /// # Errors
    ///
    /// If the vector has another number of classes.
    pub fn calibrate_all<'v>(
        &self,
        vector: ScoreVector<'v>,
        word: Option<u32>,
    ) -> Result<impl Iterator<Item = Outcome> + use<'a, 'v>, ClassCountError> {
        ClassCountError::check(self.classes(), vector.classes())?;
        let tables = self.tables;
        Ok(vector
            .scores()
            .enumerate()
            .map(move |(class, score)| Outcome::of_class(tables.calibrate(class, score, word))))
    }

    /// The probability alone; `None` for an uncalibrated class.
    #[inline]
    pub(crate) fn prob(&self, class: usize, score: Score, word: Option<u32>) -> Option<f32> {
        self.tables.calibrate(class, score, word).map(|calibrated| calibrated.prob)
    }
}
