//! A fleet's counters, added up.

use std::collections::HashSet;

use calib_core::{Artifact, BinFlags};
use serde::Serialize;

use super::counters::DeviceCounters;
use super::error::FleetError;
use super::evidence::{Evidence, EvidenceLevel, guarantee_evidence, shift_evidence};
use crate::artifact::values;
use crate::stats::{Interval, clopper_pearson};

/// What a fleet's counters say about one table of the calibrator.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FleetTable {
    /// Which.
    pub table: usize,
    /// The predictions in each bin of the monitors.
    pub predictions: Vec<u64>,
    /// Whether scores come from another distribution than the calibration scores.
    pub shift: Evidence,
    /// Whether the guarantee is contradicted; `None` where nothing is guaranteed, or nothing that could be contradicted.
    pub guarantee: Option<Evidence>,
    /// The outcome of the predictions in each bin of the table.
    pub bins: Vec<FleetBin>,
    /// What each device says alone, in the order given; those that did not count this table are left out.
    pub devices: Vec<DeviceEvidence>,
}

/// The outcome of the predictions in a bin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FleetBin {
    /// The calibrated probability; `None` of a table whose probabilities are not constant within a bin.
    pub prob: Option<f32>,
    /// Within which the probability was guaranteed to lie.
    pub guaranteed: Option<Interval>,
    /// How many outcomes are known.
    pub labeled: u64,
    /// How many of them were positive.
    pub positives: u64,
    /// The exact interval of their share: all bins of the table are covered at once with the confidence that was asked for.
    pub interval: Interval,
}

/// What one device says alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DeviceEvidence {
    /// Its name.
    pub device: String,
    /// How many predictions it counted.
    pub predictions: u64,
    /// How many outcomes it was told.
    pub labeled: u64,
    /// Whether a counter is full, so that what came later is not counted.
    #[serde(rename = "full")]
    pub is_full: bool,
    /// Whether its scores come from another distribution.
    pub shift: Evidence,
    /// Whether the guarantee is contradicted there.
    pub guarantee: Option<Evidence>,
}

impl FleetTable {
    /// The devices that have a separate alarm.
    pub fn alone(&self) -> impl Iterator<Item = &DeviceEvidence> {
        let is_alarm = |evidence: Evidence| evidence.level() == EvidenceLevel::Alarm;
        self.devices
            .iter()
            .filter(move |device| is_alarm(device.shift) || device.guarantee.is_some_and(is_alarm))
    }

    /// The devices with a full counter.
    pub fn full(&self) -> impl Iterator<Item = &DeviceEvidence> {
        self.devices.iter().filter(|device| device.is_full)
    }

    /// How many would have, on average and at most, with nothing wrong.
    pub fn expected_alone(&self) -> f64 {
        let chance = |evidence: Evidence| 1.0 / f64::from(evidence.rarity);
        let chances =
            self.devices.iter().map(|device| chance(device.shift) + device.judged().map_or(0.0, chance));
        // Of no devices a sum of floats is -0.
        chances.fold(0.0, |sum, chance| sum + chance)
    }
}

impl DeviceEvidence {
    /// What its outcomes say of the guarantee; `None` where none is known, or nothing is guaranteed.
    pub fn judged(&self) -> Option<Evidence> {
        self.guarantee.filter(|_| self.labeled > 0)
    }
}

/// Adds the counters of all devices, and works the evidence out: of all together and of each alone, for every table that is
/// monitored. The intervals of a table's shares cover all of its bins at once with probability `1 - alpha`.
///
/// All devices have the same calibrator, and so the same calibration scores: counts are added, and evidence is never multiplied.
/// Of D devices that nothing is wrong with, up to D in the shift's rarity raise a separate alarm.
///
/// # Errors
///
/// Without counters, with a device that is there twice, or with counters that are not the calibrator's.
///
/// # Panics
///
/// If alpha is not in `(0, 1)`.
///
/// ```
/// use calib_core::Artifact;
/// use calib_fit::artifact::{ArtifactOptions, Monitoring, artifact_bytes};
/// use calib_fit::binary::{BinaryMethod, Umd};
/// use calib_fit::data::BinaryData;
/// use calib_fit::fit::fit_binary;
/// use calib_fit::fleet::{COUNTERS_VERSION, DeviceCounters, EvidenceLevel, TableCounters, aggregate};
///
/// let scores = (0..400).map(|i| f64::from(i) / 512.0).collect();
/// let data = BinaryData::new(scores, (0..400).map(|i| i % 3 == 0).collect())?.on_device();
/// let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(2)), 0.1)?;
/// let monitors = Some(Monitoring::default());
/// let bytes = artifact_bytes(&fit, &ArtifactOptions::default().monitors(monitors))?;
/// let artifact = Artifact::parse(&bytes).unwrap();
///
/// // Four in five scores are in the upper half: no device sees it, and together they do.
/// let counters = |device: usize| DeviceCounters {
///     calib_counters: COUNTERS_VERSION,
///     device: format!("ward {device}"),
///     calibrator: artifact.identity().to_string(),
///     tables: vec![Some(TableCounters { predictions: vec![1, 4], ..Default::default() })],
/// };
/// let devices: Vec<_> = (0..20).map(counters).collect();
/// let table = &aggregate(&artifact, &devices, 0.05)?[0];
/// assert_eq!(table.shift.level(), EvidenceLevel::Alarm);
/// assert!(table.devices.iter().all(|device| device.shift.level() != EvidenceLevel::Alarm));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn aggregate(
    artifact: &Artifact<'_>,
    devices: &[DeviceCounters],
    alpha: f64,
) -> Result<Vec<FleetTable>, FleetError> {
    assert!(alpha > 0.0 && alpha < 1.0, "{alpha}");
    let monitors = artifact.monitors().ok_or(FleetError::NoMonitors)?;
    if devices.is_empty() {
        return Err(FleetError::Empty);
    }
    let mut names = HashSet::new();
    for device in devices {
        if !names.insert(&device.device) {
            return Err(FleetError::Twice(device.device.clone()));
        }
        device.check(artifact)?;
    }
    let monitored = (0..monitors.count()).filter(|&table| monitors.reference(table).is_some());
    Ok(monitored.map(|table| Comparison::of(artifact, table).aggregate(devices, alpha)).collect())
}

/// What the counts of a table are compared with.
pub(super) struct Comparison {
    pub(super) table: usize,
    pub(super) gaps: Vec<u32>,
    pub(super) guaranteed: Vec<Option<Interval>>,
    probs: Vec<Option<f32>>,
    shift: u32,
    guarantee: u32,
}

impl Comparison {
    /// That of a table that is monitored.
    pub(super) fn of(artifact: &Artifact<'_>, table: usize) -> Self {
        let monitors = artifact.monitors().expect("the caller asked for them");
        let reference = monitors.reference(table).expect("the caller asked for a table that has one");
        let [shift, _, guarantee] = monitors.rarities();
        let found = artifact.tables().get(table);
        let bins = artifact.tables().bins(table).unwrap_or(0);
        // A range of the score has no single value.
        let of_steps = found.as_ref().filter(|_| artifact.tables().score_bins(table).is_none());
        let known = of_steps.map(|found| values(&found.form)).unwrap_or_default();
        let guaranteed = |bin: usize| {
            let tables = artifact.tables();
            if let Some(interval) = tables.interval(table, bin as u16) {
                return Some(Interval { lo: interval.lo.into(), hi: interval.hi.into() });
            }
            let is_empty = tables.bin_flags(table, bin as u16).contains(BinFlags::EMPTY);
            let epsilon = f64::from(found.as_ref()?.epsilon.filter(|_| !is_empty)?);
            let prob = f64::from(*known.get(bin)?);
            Some(Interval { lo: (prob - epsilon).max(0.0), hi: (prob + epsilon).min(1.0) })
        };
        Self {
            table,
            gaps: reference.each().collect(),
            guaranteed: (0..bins).map(guaranteed).collect(),
            probs: (0..bins).map(|bin| known.get(bin).copied()).collect(),
            shift,
            guarantee,
        }
    }

    fn aggregate(&self, devices: &[DeviceCounters], alpha: f64) -> FleetTable {
        let bins = self.guaranteed.len();
        let (mut predictions, mut labeled, mut positives) =
            (vec![0; self.gaps.len()], vec![0; bins], vec![0; bins]);
        let mut alone = Vec::with_capacity(devices.len());
        for device in devices {
            let Some(counters) = device.tables.get(self.table).and_then(Option::as_ref) else { continue };
            add(&mut predictions, &counters.predictions);
            add(&mut labeled, &counters.labeled);
            add(&mut positives, &counters.positives);
            alone.push(DeviceEvidence {
                device: device.device.clone(),
                predictions: counters.predictions.iter().sum(),
                labeled: counters.labeled.iter().sum(),
                is_full: counters.is_full(),
                shift: self.shift_of(&counters.predictions),
                guarantee: self.guarantee_of(&counters.labeled, &counters.positives),
            });
        }
        let of_bin = |bin: usize| FleetBin {
            prob: self.probs[bin],
            guaranteed: self.guaranteed[bin],
            labeled: labeled[bin],
            positives: positives[bin],
            interval: clopper_pearson(positives[bin], labeled[bin], alpha / bins as f64),
        };
        FleetTable {
            table: self.table,
            shift: self.shift_of(&predictions),
            guarantee: self.guarantee_of(&labeled, &positives),
            bins: (0..bins).map(of_bin).collect(),
            devices: alone,
            predictions,
        }
    }

    pub(super) fn shift_of(&self, predictions: &[u64]) -> Evidence {
        Evidence { log: shift_evidence(&self.gaps, predictions), rarity: self.shift }
    }

    pub(super) fn guarantee_of(&self, labeled: &[u64], positives: &[u64]) -> Option<Evidence> {
        // Without any outcome there is none of any bin.
        let count = |counts: &[u64], bin| counts.get(bin).copied().unwrap_or_default();
        let bins = self.guaranteed.iter().enumerate();
        let log = guarantee_evidence(
            bins.map(|(bin, &guaranteed)| (guaranteed, count(labeled, bin), count(positives, bin))),
        );
        log.map(|log| Evidence { log, rarity: self.guarantee })
    }
}

fn add(sum: &mut [u64], counts: &[u64]) {
    for (sum, count) in sum.iter_mut().zip(counts) {
        // A device counts less than 2^32.
        *sum += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{ArtifactOptions, MonitorBins, Monitoring, StoredArtifact, artifact_bytes};
    use crate::binary::{BinaryMethod, Isotonic, Umd};
    use crate::data::BinaryData;
    use crate::fit::fit_binary;
    use crate::fleet::{COUNTERS_VERSION, TableCounters};

    fn data() -> BinaryData {
        let scores = (0..1999).map(|i| f64::from(i) / 2048.0).collect();
        BinaryData::new(scores, (0..1999).map(|i| (i * 7919) % 1999 < i).collect()).unwrap().on_device()
    }

    fn stored(method: BinaryMethod, bins: Option<MonitorBins>, intervals: bool) -> StoredArtifact {
        let fit = fit_binary(&data(), &method, 0.1).unwrap();
        let monitors = Some(Monitoring { bins, ..Monitoring::default() });
        let bytes = artifact_bytes(&fit, &ArtifactOptions { monitors, intervals, ..Default::default() });
        StoredArtifact::from_bytes(&bytes.unwrap()).unwrap()
    }

    fn umd() -> StoredArtifact {
        stored(BinaryMethod::Umd(Umd::new(4)), None, false)
    }

    fn device(stored: &StoredArtifact, name: &str, counts: [&[u64]; 3]) -> DeviceCounters {
        let [predictions, labeled, positives] = counts.map(<[u64]>::to_vec);
        DeviceCounters {
            calib_counters: COUNTERS_VERSION,
            device: name.into(),
            calibrator: stored.artifact().identity().to_string(),
            tables: vec![Some(TableCounters { predictions, labeled, positives })],
        }
    }

    #[test]
    fn counts_are_added_and_each_device_is_told_alone() {
        let stored = umd();
        let devices = [
            device(&stored, "a", [&[10, 10, 10, 10], &[8, 8, 8, 8], &[1, 3, 5, 7]]),
            device(&stored, "b", [&[0, 0, 0, 60], &[0, 0, 0, 60], &[0, 0, 0, 9]]),
            device(&stored, "c", [&[3, 2, 1, 0], &[], &[]]),
        ];
        let tables = aggregate(&stored.artifact(), &devices, 0.05).unwrap();
        let [table] = &tables[..] else { panic!("{tables:?}") };
        assert_eq!(table.predictions, [13, 12, 11, 70]);
        let bins: Vec<_> = table.bins.iter().map(|bin| (bin.labeled, bin.positives)).collect();
        assert_eq!(bins, [(8, 1), (8, 3), (8, 5), (68, 16)]);
        assert_eq!(table.bins[3].interval, clopper_pearson(16, 68, 0.0125));
        let standings = |device: &DeviceEvidence| (device.shift.level(), device.guarantee.unwrap().level());
        assert_eq!(standings(&table.devices[1]), (EvidenceLevel::Alarm, EvidenceLevel::Alarm));
        assert_eq!(standings(&table.devices[0]), (EvidenceLevel::Quiet, EvidenceLevel::Quiet));
        assert_eq!((table.devices[2].predictions, table.devices[2].labeled), (6, 0));
        // One of 20 by its scores, and one of 100 by its outcomes, which the last one has none of.
        assert!((table.expected_alone() - (3.0 * 0.05 + 2.0 * 0.01)).abs() < 1e-12);
        assert!(table.devices[2].judged().is_none() && table.devices[1].judged().is_some());
        assert!(table.alone().map(|device| &*device.device).eq(["b"]));
        let contradicted = [device(&stored, "d", [&[60; 4], &[0, 0, 0, 60], &[0, 0, 0, 9]])];
        let contradicted = aggregate(&stored.artifact(), &contradicted, 0.05).unwrap();
        assert_eq!(
            (contradicted[0].shift.level(), contradicted[0].alone().count()),
            (EvidenceLevel::Quiet, 1)
        );
        assert_eq!(table.shift.level(), EvidenceLevel::Alarm);
        // Not the product of what the devices say.
        let product: f64 = table.devices.iter().map(|device| device.shift.log).sum();
        assert!((table.shift.log - product).abs() > 1.0);
        assert_eq!(table.shift.log, shift_evidence(&[500; 4], &table.predictions));
        // In whatever order they come.
        let reversed: Vec<_> = devices.iter().rev().cloned().collect();
        let reversed = aggregate(&stored.artifact(), &reversed, 0.05).unwrap();
        assert_eq!((reversed[0].shift, reversed[0].guarantee), (table.shift, table.guarantee));
    }

    #[test]
    fn what_is_guaranteed_is_the_interval_of_a_bin_or_its_epsilon() {
        let table = |stored: &StoredArtifact| {
            let device = device(stored, "a", [&[1; 4], &[], &[]]);
            aggregate(&stored.artifact(), &[device], 0.05).unwrap().remove(0)
        };
        let (plain, exact) = (umd(), stored(BinaryMethod::Umd(Umd::new(4)), None, true));
        let epsilon = f64::from(plain.artifact().header().guarantee.unwrap().epsilon);
        for bin in table(&plain).bins {
            let prob = f64::from(bin.prob.unwrap());
            let guaranteed = bin.guaranteed.unwrap();
            assert_eq!(
                (guaranteed.lo, guaranteed.hi),
                ((prob - epsilon).max(0.0), (prob + epsilon).min(1.0))
            );
        }
        for (at, bin) in table(&exact).bins.iter().enumerate() {
            let interval = exact.artifact().tables().interval(0, at as u16).unwrap();
            assert_eq!(bin.guaranteed, Some(Interval { lo: interval.lo.into(), hi: interval.hi.into() }));
        }
        // Isotonic regression guarantees nothing, and its monitors have separate bins.
        let own = Some(MonitorBins::of(&data(), 4).unwrap());
        let isotonic = stored(BinaryMethod::Isotonic(Isotonic::default()), own, false);
        let table = table(&isotonic);
        assert!(table.guarantee.is_none() && table.bins.iter().all(|bin| bin.guaranteed.is_none()));
        assert_ne!(table.bins.len(), 4);
        let (labeled, positives) = (vec![9; table.bins.len()], vec![0; table.bins.len()]);
        let many = device(&isotonic, "a", [&[1; 4], &labeled, &positives]);
        let error = aggregate(&isotonic.artifact(), &[many], 0.05).unwrap_err();
        assert!(matches!(error, FleetError::Labeled { bin: None, predictions: 4, .. }), "{error}");
    }

    #[test]
    fn counters_of_another_calibrator_are_refused() {
        let stored = umd();
        let good = device(&stored, "a", [&[1; 4], &[1; 4], &[1; 4]]);
        let refused = |devices: &[DeviceCounters]| aggregate(&stored.artifact(), devices, 0.05).unwrap_err();
        let with = |change: &dyn Fn(&mut DeviceCounters)| {
            let mut changed = good.clone();
            change(&mut changed);
            refused(&[changed])
        };
        let table =
            |change: &dyn Fn(&mut TableCounters)| with(&|device| change(device.tables[0].as_mut().unwrap()));
        assert!(aggregate(&stored.artifact(), std::slice::from_ref(&good), 0.05).is_ok());
        assert_eq!(refused(&[]), FleetError::Empty);
        assert_eq!(refused(&[good.clone(), good.clone()]), FleetError::Twice("a".into()));
        assert!(matches!(with(&|device| device.calib_counters = 2), FleetError::Version { version: 2, .. }));
        assert!(matches!(with(&|device| device.calibrator = "00".repeat(8)), FleetError::Calibrator { .. }));
        assert!(matches!(with(&|device| device.tables.push(None)), FleetError::Tables { tables: 2, .. }));
        assert!(matches!(
            table(&|counts| counts.predictions.truncate(3)),
            FleetError::Bins { name: "predictions", .. }
        ));
        assert!(matches!(
            table(&|counts| counts.predictions.clear()),
            FleetError::Bins { name: "predictions", .. }
        ));
        assert!(matches!(
            table(&|counts| counts.labeled.truncate(3)),
            FleetError::Bins { name: "labeled", .. }
        ));
        assert!(matches!(table(&|counts| counts.positives.clear()), FleetError::Unpaired { .. }));
        assert!(matches!(table(&|counts| counts.positives[2] = 2), FleetError::Positives { bin: 2, .. }));
        // As many as there are predictions, but not in this bin.
        let in_bin = |counts: &mut TableCounters| {
            counts.labeled = vec![2, 1, 1, 0];
            counts.positives = vec![0; 4];
        };
        let error = table(&in_bin);
        assert!(matches!(error, FleetError::Labeled { bin: Some(0), labeled: 2, .. }), "{error}");
        assert!(error.to_string().ends_with(", table 0, bin 0: 2 outcomes of 1 prediction"), "{error}");
        assert!(matches!(table(&|counts| counts.predictions[1] = 1 << 32), FleetError::TooMany { .. }));
        assert!(matches!(table(&|counts| counts.labeled[1] = u64::MAX), FleetError::TooMany { .. }));
        let plain = fit_binary(&data(), &BinaryMethod::Umd(Umd::new(4)), 0.1).unwrap();
        let plain =
            StoredArtifact::from_bytes(&artifact_bytes(&plain, &Default::default()).unwrap()).unwrap();
        assert_eq!(aggregate(&plain.artifact(), &[good], 0.05), Err(FleetError::NoMonitors));
    }
}
