//! A probability for every class.

use crate::outcome::{BinFlags, Calibrated, Outcome, Uncalibrated};

/// A probability for every class, or none for a class that is uncalibrated, in memory of the caller's.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassProbs<'p> {
    /// Probabilities, [`UNCALIBRATED`] for a class without one.
    pub(crate) probs: &'p [f32],
    pub(crate) bin: Option<u16>,
    pub(crate) flags: BinFlags,
}

/// What stands in place of a probability that there is not: never a number to be taken for one.
pub(crate) const UNCALIBRATED: f32 = f32::NAN;

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
    pub(crate) fn outcome(&self, class: u16) -> Outcome {
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
