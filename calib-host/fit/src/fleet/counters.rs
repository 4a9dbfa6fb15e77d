//! What one device counted.

use calib_core::Artifact;
use serde::{Deserialize, Serialize};

use super::error::FleetError;

/// The version of counters that are stored.
pub const COUNTERS_VERSION: u32 = 1;

/// What the monitors of a device counted since its calibrator came into force: numbers of bins, and nothing of any patient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceCounters {
    /// The version of this form, [`COUNTERS_VERSION`].
    pub calib_counters: u32,
    /// The name of the device.
    pub device: String,
    /// The identity of its calibrator, as 16 hexadecimal digits.
    pub calibrator: String,
    /// The counters of every table of the calibrator, in their order; `None` of a table that is not monitored.
    pub tables: Vec<Option<TableCounters>>,
}

/// What the monitors of one table counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableCounters {
    /// The predictions in each bin of the monitors.
    pub predictions: Vec<u64>,
    /// The predictions in each bin of the table whose outcome is known. Empty where none is.
    #[serde(default)]
    pub labeled: Vec<u64>,
    /// How many of these outcomes were positive; for top-label how many predictions were right.
    #[serde(default)]
    pub positives: Vec<u64>,
}

impl DeviceCounters {
    /// Makes the counters of a device that has counted nothing.
    ///
    /// # Errors
    ///
    /// If the calibrator has no monitors, or the device no name.
    pub fn new(artifact: &Artifact<'_>, device: &str) -> Result<Self, FleetError> {
        let monitors = artifact.monitors().ok_or(FleetError::NoMonitors)?;
        if device.trim().is_empty() {
            return Err(FleetError::Nameless { device: device.into() });
        }
        let table = |table: usize| {
            let outcomes = vec![0; artifact.tables().bins(table).unwrap_or(0)];
            monitors.reference(table).map(|reference| TableCounters {
                predictions: vec![0; reference.bins()],
                labeled: outcomes.clone(),
                positives: outcomes,
            })
        };
        Ok(Self {
            calib_counters: COUNTERS_VERSION,
            device: device.into(),
            calibrator: artifact.identity().to_string(),
            tables: (0..monitors.count()).map(table).collect(),
        })
    }

    /// Checks the counters against the calibrator, whose monitors they are to be.
    pub(super) fn check(&self, artifact: &Artifact<'_>) -> Result<(), FleetError> {
        let device = || self.device.clone();
        let monitors = artifact.monitors().ok_or(FleetError::NoMonitors)?;
        if self.device.trim().is_empty() {
            return Err(FleetError::Nameless { device: device() });
        }
        if self.calib_counters != COUNTERS_VERSION {
            return Err(FleetError::Version { device: device(), version: self.calib_counters });
        }
        let identity = artifact.identity().to_string();
        if !self.calibrator.eq_ignore_ascii_case(&identity) {
            let calibrator = self.calibrator.clone();
            return Err(FleetError::Calibrator { device: device(), calibrator, identity });
        }
        let tables = monitors.count();
        if self.tables.len() != tables {
            return Err(FleetError::Tables { device: device(), tables: self.tables.len(), expected: tables });
        }
        for (table, counters) in self.tables.iter().enumerate() {
            let Some(counters) = counters else { continue };
            let reference = monitors.reference(table);
            let reference = reference.ok_or_else(|| FleetError::NotMonitored { device: device(), table })?;
            let of_table = artifact.tables().bins(table).unwrap_or(0);
            let has_same_bins = !monitors.have_own_bins();
            counters.check(&self.device, table, [reference.bins(), of_table], has_same_bins)?;
        }
        Ok(())
    }
}

impl TableCounters {
    /// Tells whether a counter holds no more. The device then stops counting predictions of this table, or outcomes, and what
    /// comes later is in none of these counts.
    pub fn is_full(&self) -> bool {
        self.predictions.iter().chain(&self.labeled).any(|&count| is_full(count))
    }

    fn check(
        &self,
        device: &str,
        table: usize,
        [bins, of_table]: [usize; 2],
        has_same_bins: bool,
    ) -> Result<(), FleetError> {
        let device = || device.to_owned();
        let columns = [
            ("predictions", &self.predictions, bins),
            ("labeled", &self.labeled, of_table),
            ("positives", &self.positives, of_table),
        ];
        for (name, counts, expected) in columns {
            if counts.len() != expected && (name == "predictions" || !counts.is_empty()) {
                return Err(FleetError::Bins { device: device(), table, name, bins: counts.len(), expected });
            }
        }
        if self.labeled.len() != self.positives.len() {
            return Err(FleetError::Unpaired { device: device(), table });
        }
        if let Some(bin) = (0..self.labeled.len()).find(|&bin| self.positives[bin] > self.labeled[bin]) {
            let (positives, labeled) = (self.positives[bin], self.labeled[bin]);
            return Err(FleetError::Positives { device: device(), table, bin, positives, labeled });
        }
        let sum = |counts: &[u64]| counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
        let fail = |bin, labeled, predictions| {
            Err(FleetError::Labeled { device: device(), table, bin, labeled, predictions })
        };
        let mut pairs = self.labeled.iter().zip(&self.predictions);
        let bin = pairs.position(|(labeled, predictions)| labeled > predictions).filter(|_| has_same_bins);
        match (sum(&self.labeled), sum(&self.predictions)) {
            // Sums of this many devices stay within what a double counts.
            (Some(labeled), Some(predictions)) if predictions <= MAX_COUNT => match bin {
                Some(bin) => fail(Some(bin), self.labeled[bin], self.predictions[bin]),
                None if labeled > predictions => fail(None, labeled, predictions),
                None => Ok(()),
            },
            _ => Err(FleetError::TooMany { device: device(), table }),
        }
    }
}

/// Whether a counter of a monitor of so many bins, at most 255, holds no more. The count itself shows this: it stops where
/// the count of only one number of bins does.
pub(super) fn is_full(count: u64) -> bool {
    const ALL: u64 = u32::MAX as u64;
    count > ALL >> 8 && count <= ALL && ALL / (ALL / count) == count
}

/// More predictions than a device's counters hold.
const MAX_COUNT: u64 = u32::MAX as u64;
