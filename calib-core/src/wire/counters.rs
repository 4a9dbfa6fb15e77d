//! The part of the device protocol about what the monitors of the active calibrator counted.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::artifact::{Identity, MonitorAction};
use crate::monitor::LogEvidence;

/// The largest number of bins whose counters a reply holds, and so of bins in which a device counts.
pub const MAX_COUNTED_BINS: usize = 32;

/// What a device says of the monitors of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Counters {
    /// The identity of the calibrator whose predictions were counted.
    pub calibrator: Identity,
    /// The table.
    pub table: u16,
    /// How many tables the calibrator has.
    pub tables: u16,
    /// The predictions in each bin of the monitors, since the counters began. Of counters that survive a restart these and all else are as they
    /// were saved last: what is not saved is neither looked at nor told.
    pub predictions: heapless::Vec<u32, MAX_COUNTED_BINS>,
    /// The outcomes in each bin of the table.
    pub outcomes: heapless::Vec<KnownOutcomes, MAX_COUNTED_BINS>,
    /// Whether scores come from another distribution.
    pub shift: Watched,
    /// Whether they do from some time on.
    pub change: Watched,
    /// Whether outcomes are as frequent as guaranteed; `None` where nothing is guaranteed that they could contradict.
    pub guarantee: Option<Watched>,
    /// Whether a counter has reached what it can hold. Nothing is counted from then on.
    pub is_full: bool,
    /// Whether the counters survive a restart.
    pub persistence: Persistence,
    /// Whether outcomes are taken and counters set back over this line.
    pub takes_outcomes: bool,
    /// What the device does on an alarm of a shift or of the guarantee; `None` if it only tells it.
    pub action: Option<ActionOnAlarm>,
}

/// What a device does on an alarm of its monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ActionOnAlarm {
    /// What it does.
    pub action: MonitorAction,
    /// Whether it does so already, on an alarm of any table.
    pub is_done: bool,
}

/// The outcomes in a bin that the device was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct KnownOutcomes {
    /// How many predictions have a known outcome.
    pub labeled: u32,
    /// How many of them were positive; for several classes, how many predictions were right.
    pub positives: u32,
}

/// What a monitor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Watched {
    /// The evidence against the calibrator.
    pub evidence: LogEvidence,
    /// How much an alarm takes.
    pub alarm: LogEvidence,
    /// When the alarm was raised; `None` if it was not. Of a change, the last alarm: its evidence then restarts.
    pub raised: Option<Raised>,
}

/// The number of the prediction that raised an alarm, or of the outcome, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Raised {
    /// With this one, or since the device had looked last before it.
    At(u32),
    /// With this one or before.
    By(u32),
}

/// Whether counters survive a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Persistence {
    /// They are in memory alone: the device began again when it was switched on, and the bound on false alarms is that of one start.
    MemoryOnly,
    /// The number of predictions and outcomes of all tables since the last save. They are not in the reported counts.
    SavedExcept(u32),
    /// The flash failed when they were to be saved.
    Failed,
    /// As [`Persistence::SavedExcept`], and what was saved before could not be read, or is a calibrator's that was passed over: whether there was an alarm is not
    /// known, and what is done on one is done.
    Lost(u32),
}

/// The outcome of a prediction, told when it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PredictionOutcome {
    /// The identity of the calibrator that calibrated the prediction.
    pub calibrator: Identity,
    /// The group that the prediction was asked with.
    pub group: Option<u8>,
    /// The class that was predicted; 1 for a binary classifier.
    pub class: u16,
    /// The bin that was answered.
    pub bin: u16,
    /// Whether it was positive; for several classes, whether the prediction was right.
    pub is_positive: bool,
    /// How many outcomes of this bin the device was told before: if it knows of one more, and that was the same and the last of all, this one was
    /// sent again, and is not counted twice.
    pub known: u32,
}

/// Why a device does not tell what its monitors counted, or does not count an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CountersRefusal {
    /// The device was built without monitors.
    NotBuilt,
    /// There is no calibrator, or it has nothing that monitors compare with, or several probabilities for a prediction.
    NotMonitored,
    /// The calibrator has no monitor for this table.
    Table {
        /// How many tables it has.
        tables: u16,
    },
    /// The calibrator has more tables, or more bins in one, than the device has room for.
    Room {
        /// The tables that it has room for.
        tables: u16,
        /// The bins of each.
        bins: u16,
    },
    /// Another calibrator is active than the one that the request names.
    OtherCalibrator(Identity),
    /// The table has fewer bins.
    Bin,
    /// As many outcomes are known as predictions were counted.
    NoPrediction,
    /// The device was told another number of outcomes of this bin.
    Known(u32),
    /// A counter has reached what it can hold.
    Full,
}

impl fmt::Display for CountersRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBuilt => f.write_str("its firmware was built without monitors"),
            Self::NotMonitored => f.write_str("there is no calibrator with monitors in force"),
            Self::Table { tables } => {
                write!(f, "its calibrator has {tables} tables, and this one is not monitored")
            }
            Self::Room { tables, bins } => {
                write!(
                    f,
                    "its monitors have room for {tables} tables of {bins} bins, and the calibrator has more"
                )
            }
            Self::OtherCalibrator(identity) => write!(f, "the calibrator {identity} is in force there"),
            Self::Bin => f.write_str("its calibrator has no such bin"),
            Self::NoPrediction => f.write_str("it knows as many outcomes as it counted predictions"),
            Self::Known(known) => write!(f, "it knows {known} outcomes of this bin"),
            Self::Full => f.write_str("a counter has reached what it can hold"),
        }
    }
}

impl core::error::Error for CountersRefusal {}
