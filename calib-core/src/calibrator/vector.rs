//! Calibrators that give a probability for every class.

use super::class_probs::{ClassProbs, UNCALIBRATED};
use super::class_wise::ClassWiseCalibrator;
use super::normalized::NormalizedCalibrator;
use crate::outcome::{BinFlags, Calibrated, Outcome};
use crate::score::{ClassCountError, Score, ScoreVector, TopLabel};
use crate::vector::{CellTable, Joint, ScalingInput, VectorError, VectorScaling};

/// A calibrator whose result is a probability for every class.
///
/// ```
/// use calib_core::{Artifact, Calibrator, Logits};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::joint();
/// # let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let Calibrator::Vector(calibrator) = artifact.calibrator() else { panic!("not of whole vectors") };
/// let mut space = [0.0; 3];
/// let logits = Logits::new(&[0.0, 2.0, 0.0]).unwrap();
/// let probs = calibrator.calibrate(logits.into(), None, &mut space)?;
/// assert_eq!(probs.get(0), probs.get(2));
/// # Ok::<(), calib_core::vector::VectorError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum VectorCalibrator<'a> {
    /// Each class on its own; the probabilities need not sum to one.
    ClassWise(ClassWiseCalibrator<'a>),
    /// Each class on its own, with the probabilities divided by their sum.
    Normalized(NormalizedCalibrator<'a>),
    /// A scaling function of the whole vector.
    Scaled(VectorScaling<'a>),
    /// The frequencies of the classes in cells of the simplex.
    Binned(CellTable<'a>),
}

impl<'a> VectorCalibrator<'a> {
    /// Makes the calibrator that an artifact holds in place of tables.
    pub(crate) const fn of_joint(joint: Joint<'a>) -> Self {
        match joint {
            Joint::Scaled(function) => Self::Scaled(function),
            Joint::Binned(table) => Self::Binned(table),
        }
    }

    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        match self {
            Self::ClassWise(calibrator) => calibrator.classes(),
            Self::Normalized(calibrator) => calibrator.classes(),
            Self::Scaled(function) => function.classes(),
            Self::Binned(table) => table.scheme().classes(),
        }
    }

    /// Tells whether the calibrator takes logits only, not probabilities.
    pub const fn needs_logits(&self) -> bool {
        matches!(self, Self::Scaled(function) if matches!(function.input(), ScalingInput::Logits))
    }

    /// Returns how many floats of memory [`VectorCalibrator::calibrate`] takes: one or two per class.
    pub const fn space(&self) -> usize {
        match self {
            Self::Scaled(function) => function.space(),
            _ => self.classes(),
        }
    }

    /// Writes the probabilities of all classes into the front of `space`, which has room for [`VectorCalibrator::space`] floats.
    ///
    /// One random word serves all classes; it is used as in
    /// [`BinaryCalibrator::calibrate_with`](crate::calibrator::BinaryCalibrator::calibrate_with).
    ///
    /// # Errors
    ///
    /// If the vector has another number of classes, `space` is too short, or the calibrator takes logits and the vector has
    /// probabilities.
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
            Self::Normalized(calibrator) => flags = calibrator.calibrate(probs, word),
            Self::Binned(table) => {
                let cell = table.calibrate(probs);
                (bin, flags) = (Some(cell), table.flags(cell));
            }
            Self::Scaled(_) => {}
        }
        Ok(ClassProbs { probs, bin, flags })
    }

    /// Returns the outcome of the predicted class. `top` is the class with its score, and `probs` comes from
    /// [`VectorCalibrator::calibrate`].
    ///
    /// The outcome has neither epsilon nor interval. What [class-wise](VectorCalibrator::ClassWise) tables guarantee is about all
    /// vectors with such a score of the class, whether or not the class is predicted: among predictions alone the class may be
    /// right much more often. [`ClassWiseCalibrator::calibrate`] has each class's evidence; where the probability is to hold for
    /// predictions, the reduction is [top-label](crate::artifact::Reduction::TopLabel).
    pub fn outcome(&self, top: TopLabel, word: Option<u32>, probs: ClassProbs<'_>) -> Outcome {
        match self {
            Self::ClassWise(calibrator) => match calibrator.calibrate(top.class, top.score, word) {
                Outcome::Calibrated(of_class) => {
                    Outcome::Calibrated(Calibrated { epsilon: None, interval: None, ..of_class })
                }
                uncalibrated => uncalibrated,
            },
            Self::Normalized(calibrator) if probs.get(top.class).is_none() => {
                Outcome::Uncalibrated(calibrator.why_not(top, word))
            }
            Self::Normalized(_) | Self::Scaled(_) | Self::Binned(_) => probs.outcome(top.class),
        }
    }
}

impl<'a> From<Joint<'a>> for VectorCalibrator<'a> {
    fn from(joint: Joint<'a>) -> Self {
        Self::of_joint(joint)
    }
}
