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
    /// The bin that contains the score, 0-based within its table: a range of the score if the artifact has
    /// [intervals of ranges](crate::artifact::ScoreIntervals), otherwise a bin of the calibrator.
    pub bin: u16,
    /// The guarantee: except for the failure probability `alpha` in the artifact's header, `prob` is within `epsilon` of the
    /// true probability of the calibrator's bin. `None` if nothing is guaranteed.
    pub epsilon: Option<f32>,
    /// What to know about the bin.
    pub flags: BinFlags,
    /// What the artifact holds beside the probability; `None` if it holds nothing.
    ///
    /// If the artifact has [intervals of ranges](crate::artifact::ScoreIntervals), it is the interval of the score's range, whatever the
    /// calibrator: with probability at least `1 - alpha` it contains the event rate of the range. `prob` may lie outside of it.
    ///
    /// Otherwise, of a binning method it is the exact binomial interval, which contains the bin's true probability except for the failure
    /// probability `alpha` in the artifact's header. Of [Venn-Abers](crate::table::VennAbersTable) it is no such interval: `lo`
    /// is `p0` and `hi` is `p1`, and the true probability of the score mostly lies outside of both.
    pub interval: Option<ProbInterval>,
}

/// Marks of a single bin, in an artifact or of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinFlags(u8);

impl BinFlags {
    /// An ordinary bin.
    pub const NONE: Self = Self(0);
    /// In an artifact: the bin has no calibration point, and its value is a midpoint, not a measurement. Results for the bin
    /// are [`Uncalibrated::EmptyBin`]; older firmware sent the midpoint with this flag.
    pub const EMPTY: Self = Self(1);
    /// In a result of [`Reduction::Normalized`](crate::artifact::Reduction::Normalized): another class is uncalibrated, so
    /// that nothing was left to it when the probabilities of the others were made to sum to one.
    pub const SHARED_OUT: Self = Self(2);
    /// In a result: the score lies below or above the scores of all calibration points. No calibration score was there, and what
    /// is stated about the bin is about other scores. Artifacts that tell the range of scores are marked so, except for those of
    /// [`Reduction::Normalized`](crate::artifact::Reduction::Normalized) and of whole vectors.
    pub const OUT_OF_RANGE: Self = Self(4);
    /// In a result: the bin is a range of the score, and the interval is that of the [range](crate::artifact::ScoreIntervals). It holds with
    /// the probability that is stated there. The result may have no epsilon.
    pub const RANGE: Self = Self(8);

    /// Returns the byte stored in an artifact.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the flags that an artifact stores as `bits`; `None` if a bit is not one for artifacts.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits & !Self::EMPTY.0 == 0 { Some(Self(bits)) } else { None }
    }

    /// Joins two sets of flags.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
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
    /// The outcome of a class without a table.
    pub(crate) const NO_TABLE: Self = Self::Uncalibrated(Uncalibrated::Class);

    /// Returns the probability with its evidence; `None` if there is none.
    ///
    /// The midpoint of a bin without calibration points, which older firmware sent with
    /// [`BinFlags::EMPTY`], is none.
    ///
    /// ```
    /// use calib_core::{BinFlags, Calibrated, Outcome, Uncalibrated};
    ///
    /// let midpoint =
    ///     Calibrated { prob: 0.25, bin: 2, epsilon: None, flags: BinFlags::EMPTY, interval: None };
    /// assert_eq!(Outcome::Calibrated(midpoint).calibrated(), None);
    /// assert_eq!(Outcome::Uncalibrated(Uncalibrated::EmptyBin).calibrated(), None);
    /// ```
    #[inline]
    pub const fn calibrated(&self) -> Option<&Calibrated> {
        match self {
            Self::Calibrated(calibrated) if !calibrated.flags.contains(BinFlags::EMPTY) => Some(calibrated),
            _ => None,
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
    /// The class, or its rank, has no table: it had too few calibration points, or none could be fitted to them, as where all
    /// have the same label.
    Class,
    /// There is no artifact.
    NoArtifact,
    /// The artifact is damaged or of an unknown format.
    BadArtifact,
    /// The artifact was fitted for another classifier, or for another kind or number of scores.
    OtherClassifier,
    /// No calibration point is in the score's bin: nothing is known about such scores.
    EmptyBin,
    /// Every class's probability is 0, so that they cannot be made to sum to one.
    ZeroSum,
    /// The artifact has no table: it holds operating points or prediction sets alone.
    NoTable,
    /// The monitors raised an alarm, and the artifact has no probability from then on.
    Alarmed,
    /// The artifact asks for an action on an alarm of its monitors, and the device has none, or none with room for its tables.
    NotMonitored,
}

impl fmt::Display for Uncalibrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Class => "no table could be fitted for the class",
            Self::NoArtifact => "there is no calibrator",
            Self::BadArtifact => "the calibrator is damaged",
            Self::OtherClassifier => "the calibrator was fitted for another classifier",
            Self::EmptyBin => "no calibration observation is in the score's bin",
            Self::ZeroSum => "every class has the probability 0",
            Self::NoTable => "the calibrator has no table, only thresholds of the score",
            Self::Alarmed => "the calibrator's monitors raised an alarm",
            Self::NotMonitored => "the calibrator asks for monitors that the firmware does not have",
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    const CALIBRATED: Calibrated = Calibrated {
        prob: 0.5,
        bin: 3,
        epsilon: None,
        flags: BinFlags::NONE,
        interval: Some(ProbInterval { lo: 0.25, hi: 0.75 }),
    };

    /// What older firmware and hosts say keeps its bytes, and what is new is appended.
    #[test]
    fn the_bytes_of_an_outcome_are_pinned() {
        let mut buf = [0; 32];
        let mut bytes = |outcome: Outcome| postcard::to_slice(&outcome, &mut buf).unwrap().to_vec();
        let interval = [1, 0, 0, 0x80, 0x3E, 0, 0, 0x40, 0x3F];
        let prob = [0, 0, 0, 0, 0x3F, 3, 0];
        let empty = Calibrated { flags: BinFlags::EMPTY, ..CALIBRATED };
        let outside = Calibrated { flags: BinFlags::OUT_OF_RANGE, ..CALIBRATED };
        assert_eq!(bytes(Outcome::Calibrated(outside)), [&prob[..], &[4], &interval].concat());
        assert_eq!(bytes(Outcome::Calibrated(CALIBRATED)), [&prob[..], &[0], &interval].concat());
        assert_eq!(bytes(Outcome::Calibrated(empty)), [&prob[..], &[1], &interval].concat());
        let reasons = [
            Uncalibrated::Class,
            Uncalibrated::NoArtifact,
            Uncalibrated::BadArtifact,
            Uncalibrated::OtherClassifier,
            Uncalibrated::EmptyBin,
            Uncalibrated::ZeroSum,
            Uncalibrated::NoTable,
            Uncalibrated::Alarmed,
            Uncalibrated::NotMonitored,
        ];
        for (number, reason) in (0..).zip(reasons) {
            assert_eq!(bytes(Outcome::Uncalibrated(reason)), [1, number]);
        }
    }

    #[test]
    fn the_midpoint_of_an_empty_bin_is_no_probability() {
        assert_eq!(Outcome::Calibrated(CALIBRATED).calibrated(), Some(&CALIBRATED));
        let shared_out = Calibrated { flags: BinFlags::SHARED_OUT, ..CALIBRATED };
        assert_eq!(Outcome::Calibrated(shared_out).calibrated(), Some(&shared_out));
        let empty = Calibrated { flags: BinFlags::EMPTY, ..CALIBRATED };
        assert_eq!(Outcome::Calibrated(empty).calibrated(), None);
        assert_eq!(Outcome::Uncalibrated(Uncalibrated::EmptyBin).calibrated(), None);
    }

    #[test]
    fn an_artifact_knows_no_flag_of_results() {
        assert_eq!(BinFlags::from_bits(1), Some(BinFlags::EMPTY));
        for flag in [BinFlags::SHARED_OUT, BinFlags::OUT_OF_RANGE, BinFlags::RANGE] {
            assert_eq!(BinFlags::from_bits(flag.bits()), None);
        }
    }
}
