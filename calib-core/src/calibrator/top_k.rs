//! Calibrators of the first few classes.

use crate::artifact::Tables;
use crate::outcome::Outcome;
use crate::score::{ClassCountError, MAX_TOP_K, ScoreVector, TopLabel};

/// Maps the scores of the `k` first classes to the probability of each class being right.
///
/// There is a table for each rank and class (top-k-label; Gupta and Ramdas 2022, Algorithm 6) or for each rank (top-k-confidence;
/// Algorithm 7).
///
/// ```
/// use calib_core::{Artifact, Calibrator, Outcome, Probs};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::top_k();
/// # let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let Calibrator::TopK(calibrator) = artifact.calibrator() else { panic!("not top-k") };
/// let probs = Probs::new(&[0.1, 0.7, 0.2]).unwrap();
/// let mut ranked = calibrator.calibrate_all(probs.into(), None)?;
/// let (top, outcome) = ranked.next().unwrap();
/// assert_eq!(top.class, 1);
/// assert!(matches!(outcome, Outcome::Calibrated(calibrated) if calibrated.prob == 0.8));
/// assert_eq!(ranked.next().unwrap().0.class, 2);
/// # Ok::<(), calib_core::score::ClassCountError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopKCalibrator<'a> {
    tables: Tables<'a>,
    classes: u16,
    k: u16,
    by_class: bool,
}

impl<'a> TopKCalibrator<'a> {
    pub(crate) const fn new(tables: Tables<'a>, classes: u16, k: u16, by_class: bool) -> Self {
        Self { tables, classes, k, by_class }
    }

    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the number of ranks, at most [`MAX_TOP_K`].
    pub const fn k(&self) -> usize {
        self.k as usize
    }

    /// Returns the calibrated probability that the class with this rank, 0-based, is right.
    ///
    /// A rank or class without a table is uncalibrated, and so is one that the calibrator does not have. The random word is used as
    /// in [`BinaryCalibrator::calibrate_with`](crate::calibrator::BinaryCalibrator::calibrate_with).
    #[inline]
    pub fn calibrate(&self, rank: u16, top: TopLabel, word: Option<u32>) -> Outcome {
        if rank >= self.k || top.class >= self.classes {
            return Outcome::NO_TABLE;
        }
        let table = match self.by_class {
            true => usize::from(rank) * self.classes() + usize::from(top.class),
            false => rank.into(),
        };
        self.tables.calibrate(table, top.score, word)
    }

    /// Returns the `k` first classes with their scores and calibrated probabilities, in descending order of score.
    ///
    /// One random word serves all ranks, because each table's guarantee is about its own rank alone.
    ///
    /// # Errors
    ///
    /// If the vector has another number of classes.
    pub fn calibrate_all(
        &self,
        vector: ScoreVector<'_>,
        word: Option<u32>,
    ) -> Result<impl Iterator<Item = (TopLabel, Outcome)> + use<'a>, ClassCountError> {
        ClassCountError::check(self.classes(), vector.classes())?;
        let mut top = [TopLabel::default(); MAX_TOP_K];
        // There are at least as many classes as ranks.
        vector.top_k(top.get_mut(..self.k()).unwrap_or_default());
        let calibrator = *self;
        Ok((0..self.k).zip(top).map(move |(rank, top)| (top, calibrator.calibrate(rank, top, word))))
    }
}
