//! A probability for every class.

use crate::outcome::{BinFlags, Calibrated, Outcome, Uncalibrated};

/// A probability for every class, in the caller's memory; none for an uncalibrated class.
///
/// [`VectorCalibrator::calibrate`](crate::calibrator::VectorCalibrator::calibrate) makes it.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassProbs<'p> {
    /// The probabilities, [`UNCALIBRATED`] for a class without one.
    pub(crate) probs: &'p [f32],
    pub(crate) bin: Option<u16>,
    pub(crate) flags: BinFlags,
}

/// The mark of an uncalibrated class among probabilities: NaN, which nobody takes for a probability.
pub(crate) const UNCALIBRATED: f32 = f32::NAN;

impl<'p> ClassProbs<'p> {
    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.probs.len()
    }

    /// Returns the probability of a class; `None` if the class is uncalibrated or does not exist.
    pub fn get(&self, class: u16) -> Option<f32> {
        self.probs.get(usize::from(class)).copied().filter(|prob| !prob.is_nan())
    }

    /// Returns the probabilities in the order of the classes, `None` for an uncalibrated class.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<f32>> + use<'p> {
        self.probs.iter().map(|&prob| Some(prob).filter(|prob| !prob.is_nan()))
    }

    /// Returns the bin of the whole vector, which may be one without calibration points; `None` if the calibrator does not bin vectors.
    pub const fn bin(&self) -> Option<u16> {
        self.bin
    }

    /// Returns what to know about the vector: [`BinFlags::EMPTY`] if its bin has no calibration point, and then no class has a
    /// probability; [`BinFlags::SHARED_OUT`] if a class is uncalibrated, and the others' probabilities sum to one without it.
    pub const fn flags(&self) -> BinFlags {
        self.flags
    }

    /// Returns a class's probability, which has no epsilon or interval.
    pub(crate) fn outcome(&self, class: u16) -> Outcome {
        match self.get(class) {
            Some(prob) => Outcome::Calibrated(Calibrated {
                prob,
                bin: self.bin.unwrap_or(0),
                epsilon: None,
                flags: self.flags,
                interval: None,
            }),
            None if self.flags.contains(BinFlags::EMPTY) => Outcome::Uncalibrated(Uncalibrated::EmptyBin),
            None => Outcome::NO_TABLE,
        }
    }
}
