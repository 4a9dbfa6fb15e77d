//! What calibrating a score gives.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::interval::ProbInterval;

/// A calibrated probability with its evidence.
///
/// ```
/// use calib_core::{BinFlags, Calibrated, ProbInterval};
///
/// let calibrated = Calibrated {
///     prob: 0.5,
///     bin: 3,
///     epsilon: Some(0.125),
///     flags: BinFlags::NONE,
///     interval: ProbInterval::new(0.375, 0.625),
/// };
/// assert!(calibrated.interval.unwrap().contains(calibrated.prob));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Calibrated {
    /// The calibrated probability, in `[0, 1]`.
    pub prob: f32,
    /// The bin that contains the score, 0-based within its table.
    pub bin: u16,
    /// The guarantee: but for the failure probability `alpha` in the artefact's header, `prob` is within `epsilon` of the
    /// bin's true probability. `None` if nothing is guaranteed.
    pub epsilon: Option<f32>,
    /// What to know about the bin.
    pub flags: BinFlags,
    /// An interval for the bin's true probability: the exact binomial interval, but for the failure probability `alpha` in the
    /// artefact's header, or the two probabilities of Venn-Abers. `None` if the artefact holds no interval.
    pub interval: Option<ProbInterval>,
}

/// Marks of a single bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinFlags(u8);

impl BinFlags {
    /// An ordinary bin.
    pub const NONE: Self = Self(0);
    /// The bin has no calibration point: its probability is the bin's midpoint, not a measurement.
    pub const EMPTY: Self = Self(1);

    /// Returns the byte stored in an artefact.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the flags stored as `bits`; `None` if a bit is not known.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits & !Self::EMPTY.0 == 0 { Some(Self(bits)) } else { None }
    }

    /// Tells whether every flag of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A calibrated probability, or the reason why there is none; never a bare score posing as a probability.
///
/// ```
/// use calib_core::{Outcome, Uncalibrated};
///
/// fn shown(outcome: Outcome) -> String {
///     match outcome {
///         Outcome::Calibrated(calibrated) => format!("{:.0} %", 100.0 * calibrated.prob),
///         Outcome::Uncalibrated(why) => format!("no probability: {why}"),
///     }
/// }
/// assert_eq!(shown(Outcome::Uncalibrated(Uncalibrated::NoArtifact)), "no probability: there is no calibrator");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Outcome {
    /// A probability with its evidence.
    Calibrated(Calibrated),
    /// There is no calibrated probability, for this reason.
    Uncalibrated(Uncalibrated),
}

impl Outcome {
    /// Makes the outcome of a class from its table's result; without a result the class is uncalibrated.
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
// A word wide, so that an `Outcome` is moved by words: with a byte a calibration took a Cortex-M4 300 instructions more.
#[repr(u32)]
pub enum Uncalibrated {
    /// The class, or its rank, had too few calibration points for a table of its own, or no table could be fitted to them.
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
