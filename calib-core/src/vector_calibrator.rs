//! Calibrators that give a probability for every class.

use core::fmt;

use crate::{
    BinFlags, Calibrated, CellTable, ClassCountError, ClassWiseCalibrator, NormalizedCalibrator, Outcome,
    ScalingInput, Score, ScoreVector, TopLabel, Uncalibrated, VectorScaling,
};

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

/// Why a vector was not calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum VectorError {
    /// The vector, or the memory, is of another length.
    Length(ClassCountError),
    /// The vector is of probabilities, and the calibrator takes logits.
    NotLogits,
}

/// A probability for every class, or none for a class that is uncalibrated, in memory of the caller's.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassProbs<'p> {
    /// Probabilities, [`UNCALIBRATED`] for a class without one.
    probs: &'p [f32],
    bin: Option<u16>,
    flags: BinFlags,
}

/// What stands in place of a probability that there is not: never a number to be taken for one.
pub(crate) const UNCALIBRATED: f32 = f32::NAN;

impl<'a> VectorCalibrator<'a> {
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
    /// The word is that of [`BinaryCalibrator::calibrate_with`](crate::BinaryCalibrator::calibrate_with); one serves all
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

impl<'p> ClassProbs<'p> {
    /// The number of classes.
    pub const fn classes(&self) -> usize {
        self.probs.len()
    }

    /// The probability of a class; `None` if it is uncalibrated, and beyond the last class.
    pub fn get(&self, class: u16) -> Option<f32> {
        self.probs.get(usize::from(class)).copied().filter(|prob| !prob.is_nan())
    }

    /// The probabilities in the order of the classes, `None` for one that is uncalibrated.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<f32>> + use<'p> {
        self.probs.iter().map(|&prob| Some(prob).filter(|prob| !prob.is_nan()))
    }

    /// The bin that the whole vector fell in, for calibrators that bin vectors.
    pub const fn bin(&self) -> Option<u16> {
        self.bin
    }

    /// What to know about that bin.
    pub const fn flags(&self) -> BinFlags {
        self.flags
    }

    /// A class's probability without evidence of its own.
    fn outcome(&self, class: u16) -> Outcome {
        match self.get(class) {
            Some(prob) => Outcome::Calibrated(Calibrated {
                prob,
                bin: self.bin.unwrap_or(0),
                epsilon: None,
                flags: self.flags,
                interval: None,
            }),
            None => Outcome::Uncalibrated(Uncalibrated::Class),
        }
    }
}

impl From<ClassCountError> for VectorError {
    fn from(error: ClassCountError) -> Self {
        Self::Length(error)
    }
}

impl fmt::Display for VectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(error) => error.fmt(f),
            Self::NotLogits => f.write_str("probabilities for a calibrator of logits"),
        }
    }
}

impl core::error::Error for VectorError {}
