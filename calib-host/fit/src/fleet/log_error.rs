//! Why a log is not what a device counted and answered.

use super::log::MonitorName;

/// Why a line of a log is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// There is nothing to compare counts with.
    #[error("the calibrator has no monitors")]
    NoMonitors,
    /// A log of a later version.
    #[error("a log of version {version} is not known, only one of version {}", super::LOG_VERSION)]
    Version {
        /// Its version.
        version: u32,
    },
    /// Bins of another calibrator.
    #[error("{device} has the calibrator {calibrator}, and this one is {identity}")]
    Calibrator {
        /// The device.
        device: String,
        /// Its calibrator.
        calibrator: String,
        /// The calibrator at hand.
        identity: String,
    },
    /// A device that began before.
    #[error("the device {0} began before: all of its lines follow each other")]
    Twice(String),
    /// A device without a name, which nobody can tell from another.
    #[error("the device has no name")]
    Nameless,
    /// Evidence that is never worked out.
    #[error("looks_every is 0: evidence would never be computed")]
    NeverLooks,
    /// Something happens before a device begins.
    #[error("no device has begun: the first line names it, with its calibrator")]
    NotBegun,
    /// A table that is not monitored.
    #[error("the calibrator's table {0} is not monitored")]
    NotMonitored(usize),
    /// A bin that is not there.
    #[error("there is no bin {bin}: {of} has {bins}")]
    Bin {
        /// The bin.
        bin: u16,
        /// What has no such bin.
        of: &'static str,
        /// How many it has.
        bins: usize,
    },
    /// Outcomes without labels, or the reverse.
    #[error("{bins} outcomes have {labels} labels")]
    Labels {
        /// The number of bins.
        bins: usize,
        /// The number of labels.
        labels: usize,
    },
    /// A label that is none.
    #[error("the label {0} is neither 0 nor 1")]
    Label(u8),
    /// More outcomes than predictions.
    #[error("{outcomes} outcomes of {predictions} predictions")]
    MoreOutcomes {
        /// The outcomes.
        outcomes: u64,
        /// The predictions.
        predictions: u64,
    },
    /// More than can be worked out again.
    #[error("there are too many bins, or predictions in one bin, to compute the evidence again")]
    TooMany,
    /// An alarm at a time that has not come.
    #[error("the log states an alarm of {monitor} at number {at}, and only {counted} were counted")]
    NotYet {
        /// The monitor.
        monitor: MonitorName,
        /// When it is said to be raised.
        at: u64,
        /// How many were counted.
        counted: u64,
    },
    /// An alarm without the evidence for it.
    #[error(
        "the alarm of {monitor} at number {at} has no reason: the evidence was 1 : {odds:.1} then, and an alarm needs 1 : \
         {rarity}"
    )]
    Unfounded {
        /// The monitor.
        monitor: MonitorName,
        /// When it is said to be raised.
        at: u64,
        /// What the evidence was.
        odds: f64,
        /// What it takes.
        rarity: u32,
    },
    /// Evidence without an alarm.
    #[error(
        "the log states no alarm of {monitor}, and at number {at} the evidence was 1 : {odds:.1}: an alarm needs 1 : {rarity}"
    )]
    Missed {
        /// The monitor.
        monitor: MonitorName,
        /// When the evidence was worked out.
        at: u64,
        /// What it was.
        odds: f64,
        /// What an alarm takes.
        rarity: u32,
    },
    /// An alarm that is said to be raised after it was.
    #[error(
        "the log states an alarm of {monitor} at number {at}, and already at number {due} the evidence was 1 : {odds:.1}: an \
         alarm needs 1 : {rarity}"
    )]
    Late {
        /// The monitor.
        monitor: MonitorName,
        /// When it is said to be raised.
        at: u64,
        /// When it was raised at the latest.
        due: u64,
        /// What the evidence was then.
        odds: f64,
        /// What an alarm takes.
        rarity: u32,
    },
    /// An answer that does not go with the one before.
    #[error("the log states {} of {monitor}, and stated {} before", said(*.now), said(*.before))]
    Changed {
        /// The monitor.
        monitor: MonitorName,
        /// What is said.
        now: Option<u64>,
        /// What was said.
        before: Option<u64>,
    },
    /// Another last alarm of a change than the predictions have.
    #[error("the log states {} of a change, and these predictions give {}", said(*.now), said(*.found))]
    OtherChange {
        /// What is said.
        now: Option<u64>,
        /// What was found.
        found: Option<u64>,
    },
    /// Other counters than the log has.
    #[error("{name} of bin {bin}: the device counted {device}, and the log has {log}")]
    Counters {
        /// What was counted.
        name: &'static str,
        /// In which bin.
        bin: usize,
        /// By the device.
        device: u64,
        /// By the log.
        log: u64,
    },
    /// Counters of another number of bins.
    #[error("{name} has {bins} bins, and the calibrator {expected}")]
    Bins {
        /// What was counted.
        name: &'static str,
        /// In how many bins.
        bins: usize,
        /// Those of the calibrator.
        expected: usize,
    },
}

fn said(alarm: Option<u64>) -> String {
    alarm.map_or("no alarm".into(), |at| format!("an alarm at number {at}"))
}

impl LogError {
    /// Whether the log and the calibrator, or the log and the device's answers, do not belong together; otherwise the line is no line of
    /// a log.
    pub fn is_difference(&self) -> bool {
        matches!(
            self,
            Self::NoMonitors
                | Self::Calibrator { .. }
                | Self::NotYet { .. }
                | Self::Unfounded { .. }
                | Self::Missed { .. }
                | Self::Late { .. }
                | Self::Changed { .. }
                | Self::OtherChange { .. }
                | Self::Counters { .. }
        )
    }
}
