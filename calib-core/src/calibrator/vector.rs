//! Calibrators that give a probability for every class.

use super::class_probs::{ClassProbs, UNCALIBRATED};
use super::class_wise::ClassWiseCalibrator;
use super::normalized::NormalizedCalibrator;
use crate::outcome::{BinFlags, Outcome};
use crate::score::{ClassCountError, Score, ScoreVector, TopLabel};
use crate::vector::{CellTable, Joint, ScalingInput, VectorError, VectorScaling};

/// A calibrator whose result is a probability for every class.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum VectorCalibrator<'a> {
    /// Each class on its own, not summing to one.
    ClassWise(ClassWiseCalibrator<'a>),
    /// The same, divided by the sum.
    Normalized(NormalizedCalibrator<'a>),
    /// A scaling function of the whole vector.
    Scaled(VectorScaling<'a>),
    /// The frequencies of the classes in cells of the simplex.
    Binned(CellTable<'a>),
}

impl<'a> VectorCalibrator<'a> {
    /// The calibrator that an artefact holds in place of tables.
    pub(crate) const fn of_joint(joint: Joint<'a>) -> Self {
        match joint {
            Joint::Scaled(function) => Self::Scaled(function),
            Joint::Binned(table) => Self::Binned(table),
        }
    }

    /// The number of classes.
    pub const fn classes(&self) -> usize {
        match self {
            Self::ClassWise(calibrator) => calibrator.classes(),
            Self::Normalized(calibrator) => calibrator.classes(),
            Self::Scaled(function) => function.classes(),
            Self::Binned(table) => table.scheme().classes(),
        }
    }

    /// Whether it takes logits only, not probabilities.
    pub const fn needs_logits(&self) -> bool {
        matches!(self, Self::Scaled(function) if matches!(function.input(), ScalingInput::Logits))
    }

    /// How many floats of memory [`VectorCalibrator::calibrate`] takes: one or two per class.
    pub const fn space(&self) -> usize {
        match self {
            Self::Scaled(function) => function.space(),
            _ => self.classes(),
        }
    }

    /// The probabilities of all classes, written into the front of `space`, which has room for
    /// [`VectorCalibrator::space`] of them.
    ///
    /// The word is that of [`BinaryCalibrator::calibrate_with`](crate::calibrator::BinaryCalibrator::calibrate_with); one serves all
    /// classes.
    ///
    /// # Errors
    ///
    /// If the vector has another number of classes, or `space` is shorter, or the calibrator takes logits and the vector
    /// is of probabilities.
    pub fn calibrate<'p>(
        &self,
        vector: ScoreVector<'_>,
        word: Option<u32>,
        space: &'p mut [f32],
    ) -> Result<ClassProbs<'p>, VectorError> {
        let classes = self.classes();
        ClassCountError::check(classes, vector.classes())?;
        let (expected, got) = (self.space(), space.len());
        let short = ClassCountError { expected, got };
        let (probs, more) = space.split_at_mut_checked(classes).ok_or(short)?;
        let more = more.get_mut(..expected - classes).ok_or(short)?;
        if let Self::Scaled(function) = self {
            function.calibrate(vector, probs, more)?;
            return Ok(ClassProbs { probs, bin: None, flags: BinFlags::NONE });
        }
        vector.write_scores(probs);
        let (mut bin, mut flags) = (None, BinFlags::NONE);
        match self {
            Self::ClassWise(calibrator) => {
                for (class, place) in probs.iter_mut().enumerate() {
                    let score = Score::new(*place).unwrap_or(Score::ONE);
                    *place = calibrator.prob(class, score, word).unwrap_or(UNCALIBRATED);
                }
            }
            Self::Normalized(calibrator) => calibrator.calibrate(probs, word),
            Self::Binned(table) => {
                let cell = table.calibrate(probs);
                (bin, flags) = (Some(cell), table.flags(cell));
            }
            Self::Scaled(_) => {}
        }
        Ok(ClassProbs { probs, bin, flags })
    }

    /// What [`VectorCalibrator::calibrate`] says of one class, with its evidence: `top` is that class and its score.
    pub fn outcome(&self, top: TopLabel, word: Option<u32>, probs: ClassProbs<'_>) -> Outcome {
        match self {
            Self::ClassWise(calibrator) => calibrator.calibrate(top.class, top.score, word),
            Self::Normalized(_) | Self::Scaled(_) | Self::Binned(_) => probs.outcome(top.class),
        }
    }
}

impl<'a> From<Joint<'a>> for VectorCalibrator<'a> {
    fn from(joint: Joint<'a>) -> Self {
        Self::of_joint(joint)
    }
}
