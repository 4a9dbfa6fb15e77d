//! A calibrator for every class.

use crate::artifact::Tables;
use crate::outcome::Outcome;
use crate::score::{ClassCountError, Score, ScoreVector};

/// Maps every class's score to the probability of the class, with a table for each class (Gupta and Ramdas 2022, Algorithms 3
/// and 9).
///
/// Each probability is right for its class; together they need not sum to one.
///
/// ```
/// use calib_core::{Artifact, Calibrator, Outcome, Probs, VectorCalibrator};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::class_wise();
/// # let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let Calibrator::Vector(VectorCalibrator::ClassWise(calibrator)) = artifact.calibrator() else { panic!() };
/// let probs = Probs::new(&[0.1, 0.7, 0.2]).unwrap();
/// let outcomes = calibrator.calibrate_all(probs.into(), None)?;
/// let calibrated = outcomes.map(|outcome| match outcome {
///     Outcome::Calibrated(calibrated) => calibrated.prob,
///     Outcome::Uncalibrated(why) => panic!("{why}"),
/// });
/// assert_eq!(calibrated.collect::<Vec<_>>(), [0.1, 0.8, 0.1]);
/// # Ok::<(), calib_core::score::ClassCountError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassWiseCalibrator<'a> {
    tables: Tables<'a>,
}

impl<'a> ClassWiseCalibrator<'a> {
    pub(crate) const fn new(tables: Tables<'a>) -> Self {
        Self { tables }
    }

    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.tables.count()
    }

    /// Returns the calibrated probability of a class, given the class's score.
    ///
    /// A class without a table is uncalibrated, and so is a class that the calibrator does not have. The random word is used as in
    /// [`BinaryCalibrator::calibrate_with`](crate::calibrator::BinaryCalibrator::calibrate_with).
    #[inline]
    pub fn calibrate(&self, class: u16, score: Score, word: Option<u32>) -> Outcome {
        self.tables.calibrate(class.into(), score, word)
    }

    /// Returns every class's calibrated probability, in the order of the classes.
    ///
    /// One random word serves all classes, because each table's guarantee is about its own class alone.
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
        Ok(vector.scores().enumerate().map(move |(class, score)| tables.calibrate(class, score, word)))
    }

    /// Returns a class's probability without its evidence; `None` for an uncalibrated class.
    #[inline]
    pub(crate) fn prob(&self, class: usize, score: Score, word: Option<u32>) -> Option<f32> {
        match self.tables.calibrate(class, score, word) {
            Outcome::Calibrated(calibrated) => Some(calibrated.prob),
            Outcome::Uncalibrated(_) => None,
        }
    }
}
