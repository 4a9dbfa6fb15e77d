//! What calibrating a score gives.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::interval::ProbInterval;

/// A calibrated probability with its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Calibrated {
    /// The calibrated probability, in `[0, 1]`.
    pub prob: f32,
    /// The bin the score fell in, 0-based within its table.
    pub bin: u16,
    /// The guarantee: with the artefact's `alpha` as failure probability, `prob` is within `epsilon` of
    /// the truth for its bin. `None` when nothing is guaranteed.
    pub epsilon: Option<f32>,
    /// What to know about the bin.
    pub flags: BinFlags,
    /// Where the truth for the bin lies: by exact binomial intervals, with the artefact's `alpha` as failure
    /// probability, or between the two probabilities of Venn-Abers. `None` if the artefact holds no interval.
    pub interval: Option<ProbInterval>,
}

/// Marks of a single bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinFlags(u8);

impl BinFlags {
    /// An ordinary bin.
    pub const NONE: Self = Self(0);
    /// No calibration point fell in the bin: its probability is the bin's midpoint, not a measurement.
    pub const EMPTY: Self = Self(1);

    /// The byte stored in an artefact.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The flags stored as `bits`; `None` if a bit is not known.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits & !Self::EMPTY.0 == 0 { Some(Self(bits)) } else { None }
    }

    /// Whether every flag of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A calibrated probability, or the reason why there is none. Never a bare score posing as a probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Outcome {
    /// A probability with its evidence.
    Calibrated(Calibrated),
    /// There is no calibrated probability, for this reason.
    Uncalibrated(Uncalibrated),
}

impl Outcome {
    /// What a class's table gives; without one the class is uncalibrated.
    pub(crate) fn of_class(calibrated: Option<Calibrated>) -> Self {
        match calibrated {
            Some(calibrated) => Self::Calibrated(calibrated),
            None => Self::Uncalibrated(Uncalibrated::Class),
        }
    }
}

/// Why there is no calibrated probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
// A word, so that an `Outcome` is moved by words: as a byte it cost a Cortex-M4 300 instructions a calibration.
#[repr(u32)]
pub enum Uncalibrated {
    /// The class, or its rank, had too few calibration points for a table of its own, or none that could be fitted.
    Class,
    /// There is no artefact.
    NoArtifact,
    /// The artefact is damaged or of an unknown format.
    BadArtifact,
    /// The artefact was fitted for another classifier, or for another kind or number of scores.
    OtherClassifier,
}

impl fmt::Display for Uncalibrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Class => "the class had too few calibration points",
            Self::NoArtifact => "there is no calibrator",
            Self::BadArtifact => "the calibrator is damaged",
            Self::OtherClassifier => "the calibrator was fitted for another classifier",
        })
    }
}
