//! Why counters are not added up.

use crate::artifact::number_of;

/// Why counters say nothing about a calibrator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// There is nothing to compare counts with.
    #[error("the calibrator has no monitors")]
    NoMonitors,
    /// A device without a name, which nobody can tell from another.
    #[error("a device has no name")]
    Nameless {
        /// What stands for the name.
        device: String,
    },
    /// There are no counters.
    #[error("there are no counters")]
    Empty,
    /// Counters of a later version.
    #[error(
        "{device}: counters of version {version} are not known, only those of version {}",
        super::COUNTERS_VERSION
    )]
    Version {
        /// The device.
        device: String,
        /// Its version.
        version: u32,
    },
    /// Counts of another calibrator's bins.
    #[error("{device}: its counters are of the calibrator {calibrator}, and this one is {identity}")]
    Calibrator {
        /// The device.
        device: String,
        /// Its calibrator.
        calibrator: String,
        /// The calibrator at hand.
        identity: String,
    },
    /// A device's counters grow: the older ones are in the newer.
    #[error("the device {0} occurs twice: keep only its newest counters, which include the older")]
    Twice(String),
    /// Another number of tables.
    #[error("{device}: there are counters of {tables} tables, and the calibrator has {expected}")]
    Tables {
        /// The device.
        device: String,
        /// Its tables.
        tables: usize,
        /// Those of the calibrator.
        expected: usize,
    },
    /// Counters of a table that has no reference.
    #[error("{device}, table {table}: the calibrator's table is not monitored")]
    NotMonitored {
        /// The device.
        device: String,
        /// The table.
        table: usize,
    },
    /// Another number of bins.
    #[error("{device}, table {table}: {name} has {bins} bins, and the calibrator {expected}")]
    Bins {
        /// The device.
        device: String,
        /// The table.
        table: usize,
        /// What was counted.
        name: &'static str,
        /// In how many bins.
        bins: usize,
        /// Those of the calibrator.
        expected: usize,
    },
    /// Outcomes without positives, or the reverse.
    #[error("{device}, table {table}: labeled and positives go together, a number for every bin")]
    Unpaired {
        /// The device.
        device: String,
        /// The table.
        table: usize,
    },
    /// More positives than outcomes.
    #[error("{device}, table {table}, bin {bin}: {positives} positives of {}", number_of(*labeled, "outcome"))]
    Positives {
        /// The device.
        device: String,
        /// The table.
        table: usize,
        /// The bin.
        bin: usize,
        /// The positives.
        positives: u64,
        /// Of so many.
        labeled: u64,
    },
    /// More outcomes than predictions.
    #[error(
        "{device}, table {table}{}: {} of {}",
        bin.map(|bin| format!(", bin {bin}")).unwrap_or_default(),
        number_of(*labeled, "outcome"),
        number_of(*predictions, "prediction")
    )]
    Labeled {
        /// The device.
        device: String,
        /// The table.
        table: usize,
        /// The bin; `None` of all together, where the monitors have other bins.
        bin: Option<usize>,
        /// The outcomes.
        labeled: u64,
        /// The predictions.
        predictions: u64,
    },
    /// More than a device counts.
    #[error("{device}, table {table}: there are more predictions than the 4294967295 that a device counts")]
    TooMany {
        /// The device.
        device: String,
        /// The table.
        table: usize,
    },
}

impl FleetError {
    /// Returns the name of the device whose counters are at fault, if one's are.
    pub fn device(&self) -> Option<&str> {
        match self {
            Self::NoMonitors | Self::Empty => None,
            Self::Twice(device)
            | Self::Version { device, .. }
            | Self::Nameless { device }
            | Self::Calibrator { device, .. }
            | Self::Tables { device, .. }
            | Self::NotMonitored { device, .. }
            | Self::Bins { device, .. }
            | Self::Unpaired { device, .. }
            | Self::Positives { device, .. }
            | Self::Labeled { device, .. }
            | Self::TooMany { device, .. } => Some(device),
        }
    }
}
