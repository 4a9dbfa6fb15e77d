//! What the monitors of an artifact compare with, for programs.

use calib_core::{Artifact, Margin};
use serde::Serialize;

use super::monitors::monitor_scores;

/// The monitors of an artifact.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MonitorFacts {
    /// With a probability of at most one in so many a device says at any time, wrongly, that scores come from another distribution.
    pub shift: u32,
    /// So many predictions are, on average, between two false alarms of a change.
    pub change: u32,
    /// With a probability of at most one in so many a device says at any time, wrongly, that a guarantee that holds is contradicted.
    pub guarantee: u32,
    /// The evidence that an alarm of each table takes.
    pub alarm_at_odds: AlarmOdds,
    /// With how many scores, other than those of the calibration, they compare.
    pub scores: Option<u64>,
    /// What a device does on an alarm.
    pub action: String,
    /// The tables; `None` for one that is not monitored.
    pub tables: Vec<Option<TableMonitorFacts>>,
}

/// The evidence that an alarm takes, as odds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AlarmOdds {
    /// Of a shift.
    pub shift: u32,
    /// Of a change.
    pub change: u32,
    /// Of the guarantee.
    pub guarantee: u32,
}

/// The monitor of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TableMonitorFacts {
    /// How many gaps between scores each bin has.
    pub gaps: Vec<u32>,
    /// The inner edges; `None` if the bins are those of the table.
    pub edges: Option<Vec<f64>>,
}

impl MonitorFacts {
    /// Reads the monitors of an artifact; `None` if it has none.
    pub fn of(artifact: &Artifact<'_>) -> Option<Self> {
        let monitors = artifact.monitors()?;
        let is_margin = artifact.header().encoding.is_margin();
        let edge = |&key: &u32| match is_margin {
            true => Margin::from_key(key).map_or(f64::NAN, |margin| margin.get().into()),
            false => f64::from(f32::from_bits(key)),
        };
        let table = |table| {
            let gaps = monitors.reference(table)?.each().collect();
            let edges = monitors.own_edges(table).map(|keys| keys.iter().map(edge).collect());
            Some(TableMonitorFacts { gaps, edges })
        };
        let [shift, change, guarantee] = monitors.rarities_of_device();
        let odds = monitors.rarities();
        Some(Self {
            shift,
            change,
            guarantee,
            alarm_at_odds: AlarmOdds { shift: odds[0], change: odds[1], guarantee: odds[2] },
            scores: monitor_scores(artifact),
            action: artifact.monitor_action().map_or("flag".into(), |action| action.to_string()),
            tables: (0..monitors.count()).map(table).collect(),
        })
    }
}
