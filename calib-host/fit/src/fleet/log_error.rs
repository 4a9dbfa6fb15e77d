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
    /// An e-value that is never computed.
    #[error("looks_every is 0: the e-value would never be computed")]
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
    /// More than can be computed again.
    #[error("there are too many bins, or predictions in one bin, to compute the e-value again")]
    TooMany,
    /// An alert at a time that has not come.
    #[error("the log states an alert of {monitor} at number {at}, but only {counted} were counted")]
    NotYet {
        /// The monitor.
        monitor: MonitorName,
        /// When it was raised, by the log.
        at: u64,
        /// How many were counted.
        counted: u64,
    },
    /// An alert with too small an e-value.
    #[error(
        "the alert of {monitor} at number {at} has no reason: the e-value was {odds:.1} then, and an alert needs {rarity}"
    )]
    Unfounded {
        /// The monitor.
        monitor: MonitorName,
        /// When it was raised, by the log.
        at: u64,
        /// The e-value.
        odds: f64,
        /// The e-value that an alert needs.
        rarity: u32,
    },
    /// An e-value that is high enough, without an alert.
    #[error(
        "the log states no alert of {monitor}, but at number {at} the e-value was {odds:.1}: an alert needs {rarity}"
    )]
    Missed {
        /// The monitor.
        monitor: MonitorName,
        /// When the e-value was computed.
        at: u64,
        /// The e-value.
        odds: f64,
        /// The e-value that an alert needs.
        rarity: u32,
    },
    /// An alert that was raised too late, by the log.
    #[error(
        "the log states an alert of {monitor} at number {at}, but the e-value was already {odds:.1} at number {due}: an alert \
         needs {rarity}"
    )]
    Late {
        /// The monitor.
        monitor: MonitorName,
        /// When it was raised, by the log.
        at: u64,
        /// When it was due at the latest.
        due: u64,
        /// The e-value at that time.
        odds: f64,
        /// The e-value that an alert needs.
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
    /// Another last change alert than the predictions give.
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
    alarm.map_or("no alert".into(), |at| format!("an alert at number {at}"))
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
