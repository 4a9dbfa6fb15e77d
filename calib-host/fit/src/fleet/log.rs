//! What a device counted, in the order in which it did, and what it answered.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The version of logs.
pub const LOG_VERSION: u32 = 1;

/// After how many predictions the firmware evaluates its monitors, unless someone asks in between.
pub const LOOKS_EVERY: u32 = 16;

/// What a device says instead whose counters are in flash: it evaluates its monitors when it saves them, as its answers show.
pub const LOOKS_WHEN_SAVED: u32 = u32::MAX;

/// A line of a log: an object with one member, which says what happened.
///
/// A log begins with a device and its calibrator, and another device may begin where one ends. Numbers of bins are all that it has of
/// predictions and outcomes: no score, and nothing of any patient. Each line may have a `time`, any text, for people.
///
/// ```json
/// {"begin": {"calib_log": 1, "device": "ward 3", "calibrator": "6d4b3c2f1a09f8e7", "looks_every": 1}}
/// {"predictions": {"bins": [0, 3, 3, 1], "time": "2026-11-23T14:00Z"}}
/// {"outcomes": {"bins": [3, 0], "labels": [1, 0]}}
/// {"answer": {"monitor": "shift", "alarm_at": null}}
/// {"counters": {"predictions": [1, 1, 0, 2], "labeled": [1, 0, 0, 1], "positives": [0, 0, 0, 1]}}
/// {"reset": {}}
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LogLine {
    /// A device begins, which has counted nothing.
    Begin(LogBegin),
    /// The device was told to count again: what follows is counted from nothing.
    Reset(LogReset),
    /// Predictions were counted.
    Predictions(LoggedPredictions),
    /// Outcomes of predictions became known, and were counted.
    Outcomes(LoggedOutcomes),
    /// The device said whether a monitor has raised its alarm.
    Answer(LoggedAnswer),
    /// The device said what it has counted.
    Counters(LoggedCounters),
}

/// The first line of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogBegin {
    /// The version of this form, [`LOG_VERSION`].
    pub calib_log: u32,
    /// The name of the device.
    pub device: String,
    /// The identity of its calibrator, as 16 hexadecimal digits.
    pub calibrator: String,
    /// The number of predictions, and of outcomes, between evaluations of the device; 1 by default. [`LOOKS_WHEN_SAVED`] if
    /// it does so with each save.
    #[serde(default = "every")]
    pub looks_every: u32,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

fn every() -> u32 {
    1
}

/// A device counts again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogReset {
    /// When it was told to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// Predictions in the order in which they were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedPredictions {
    /// The table of the calibrator.
    #[serde(default)]
    pub table: usize,
    /// The monitor's bin of each.
    pub bins: Vec<u16>,
    /// When they were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// Outcomes in the order in which they became known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedOutcomes {
    /// The table of the calibrator.
    #[serde(default)]
    pub table: usize,
    /// The table's bin of each prediction.
    pub bins: Vec<u16>,
    /// The label of each, 0 or 1; of top-label whether the prediction was right.
    pub labels: Vec<u8>,
    /// When they became known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// Which monitor answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MonitorName {
    /// Whether scores come from another distribution than the calibration scores.
    Shift,
    /// Whether they do from some time on.
    Change,
    /// Whether outcomes are as frequent as guaranteed.
    Guarantee,
}

/// A device's own answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedAnswer {
    /// The table of the calibrator.
    #[serde(default)]
    pub table: usize,
    /// Which monitor.
    pub monitor: MonitorName,
    /// With which prediction, from 1 on, the alarm was raised: of a change the last one; of a guarantee with which outcome. None without an
    /// alarm, which the line says as `null`.
    #[serde(deserialize_with = "Option::deserialize")]
    pub alarm_at: Option<u64>,
    /// When it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// A device's own counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedCounters {
    /// The table of the calibrator.
    #[serde(default)]
    pub table: usize,
    /// The predictions in each bin of the monitor.
    pub predictions: Vec<u64>,
    /// The known outcomes in each bin of the table. Empty where none is.
    #[serde(default)]
    pub labeled: Vec<u64>,
    /// How many of these were positive.
    #[serde(default)]
    pub positives: Vec<u64>,
    /// When it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl fmt::Display for MonitorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shift => "shift",
            Self::Change => "change",
            Self::Guarantee => "guarantee",
        })
    }
}
