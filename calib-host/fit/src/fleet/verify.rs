//! Working out again what a device answered.

use calib_core::Artifact;
use calib_core::monitor::{ChangeMonitor, ShiftMonitor};
use serde::Serialize;

use super::aggregate::Comparison;
use super::evidence::Evidence;
use super::log::{
    LOG_VERSION, LOOKS_EVERY, LOOKS_WHEN_SAVED, LogBegin, LogLine, LoggedAnswer, LoggedCounters,
    LoggedOutcomes, LoggedPredictions, MonitorName,
};
use super::log_error::LogError;

/// A monitor of more bins is not computed again.
const MOST_BINS: usize = 256;
/// By how much the logarithm of a device's evidence of a shift is less than there is, for each bin and one more.
const SHIFT_SLACK: f64 = 1.0 / 16_384.0;
/// By how much that of outcomes is, at most, for each outcome and for a thousand more.
const GUARANTEE_SLACK: f64 = 1e-6;

/// Computes again, line by line, what devices say that they counted and answered.
///
/// An alert needs its e-value, by the definition and in doubles: a device rounds its e-value down, so it never has more. An answer without an
/// alert, or with a later alert, is wrong if the e-value was high enough. The excess must be more than a device may round off, when the device
/// worked it out before. The alarms of a change depend on the order of predictions, and are computed as on the device, bit for bit.
pub struct LogVerifier<'a> {
    artifact: &'a Artifact<'a>,
    devices: Vec<DeviceLog>,
}

/// What the log of a device holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VerifiedDevice {
    /// Its name.
    pub device: String,
    /// How often it had been told to count again before.
    pub resets: u32,
    /// After how many predictions, and outcomes, it evaluates its monitors, as the log says.
    pub looks_every: u32,
    /// Its tables, of which something was logged.
    pub tables: Vec<VerifiedTable>,
}

/// What the log of a table holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VerifiedTable {
    /// Which.
    pub table: usize,
    /// How many predictions.
    pub predictions: u64,
    /// How many outcomes.
    pub outcomes: u64,
    /// How many answers and counters of the device, all of which are right.
    pub answers: u64,
    /// With which prediction the alarm of a shift was raised, as the device said.
    pub shift_alarm_at: Option<u64>,
    /// With which prediction it was raised at the latest, by the definition, whether the device said so or not.
    pub shift_due_at: Option<u64>,
    /// The predictions with which a change was noticed.
    pub change_alarms_at: Vec<u64>,
    /// With which outcome the alarm of a guarantee that does not hold was raised, as the device said.
    pub guarantee_alarm_at: Option<u64>,
    /// With which outcome it was raised at the latest, by the definition, whether the device said so or not.
    pub guarantee_due_at: Option<u64>,
    /// How many predictions, and outcomes, came after the last answer about the shift, and about the guarantee.
    #[serde(skip)]
    after_answer: [u64; 2],
}

struct DeviceLog {
    begin: LogBegin,
    resets: u32,
    tables: Vec<TableLog>,
}

struct TableLog {
    comparison: Comparison,
    predictions: Vec<u16>,
    outcomes: Vec<(u16, bool)>,
    /// By bin: all predictions, all outcomes, and those of them that were positive.
    counts: Counts,
    /// All predictions so far, as the device counts them, and the monitor that depends on their order.
    shift: Box<ShiftMonitor<MOST_BINS>>,
    change: Box<ChangeMonitor<MOST_BINS>>,
    change_alarms_at: Vec<u64>,
    /// When the evidence of a shift, and against the guarantee, first sufficed for certain when it was computed.
    due: [Option<Due>; 2],
    /// The last answers about a shift and about the guarantee.
    replies: [Option<MonitorReply>; 2],
    answers: u64,
}

/// Numbers by bin.
#[derive(Clone)]
struct Counts {
    predictions: Vec<u64>,
    labeled: Vec<u64>,
    positives: Vec<u64>,
}

/// Evidence that is enough whatever a device rounds off.
#[derive(Clone, Copy)]
struct Due {
    at: u64,
    odds: f64,
    rarity: u32,
}

/// What a monitor answered.
#[derive(Clone, Copy)]
struct MonitorReply {
    alarm_at: Option<u64>,
    /// How many had been counted.
    counted: u64,
}

impl<'a> LogVerifier<'a> {
    /// Begins with the calibrator that all devices of the log have.
    ///
    /// # Errors
    ///
    /// [`LogError::NoMonitors`].
    pub fn new(artifact: &'a Artifact<'a>) -> Result<Self, LogError> {
        artifact.monitors().ok_or(LogError::NoMonitors)?;
        Ok(Self { artifact, devices: Vec::new() })
    }

    /// Takes the next line.
    ///
    /// # Errors
    ///
    /// If the line cannot follow those before, or says what these do not give.
    pub fn take(&mut self, line: &LogLine) -> Result<(), LogError> {
        if let LogLine::Begin(begin) = line {
            return self.begin(begin);
        }
        let artifact = self.artifact;
        let device = self.devices.last_mut().ok_or(LogError::NotBegun)?;
        let looks_every = u64::from(device.begin.looks_every);
        match line {
            LogLine::Begin(_) => Ok(()),
            LogLine::Reset(_) => {
                let (begin, resets) = (device.begin.clone(), device.resets + 1);
                self.devices.push(DeviceLog { begin, resets, tables: Vec::new() });
                Ok(())
            }
            LogLine::Predictions(logged) => {
                device.table(artifact, logged.table)?.predict(artifact, logged, looks_every)
            }
            LogLine::Outcomes(logged) => device.table(artifact, logged.table)?.label(logged, looks_every),
            LogLine::Answer(logged) => device.table(artifact, logged.table)?.answer(logged),
            LogLine::Counters(logged) => device.table(artifact, logged.table)?.compare(logged),
        }
    }

    /// Returns what was computed, for every device in the order of the log; of one that was told to count again once more for each time.
    pub fn finish(self) -> Vec<VerifiedDevice> {
        let devices = self.devices.into_iter().map(|DeviceLog { begin, resets, mut tables }| {
            tables.sort_by_key(|table| table.comparison.table);
            VerifiedDevice {
                looks_every: begin.looks_every,
                device: begin.device,
                resets,
                tables: tables.into_iter().map(TableLog::verified).collect(),
            }
        });
        devices.collect()
    }

    fn begin(&mut self, begin: &LogBegin) -> Result<(), LogError> {
        if begin.calib_log != LOG_VERSION {
            return Err(LogError::Version { version: begin.calib_log });
        }
        if begin.device.trim().is_empty() {
            return Err(LogError::Nameless);
        }
        let identity = self.artifact.identity().to_string();
        if !begin.calibrator.eq_ignore_ascii_case(&identity) {
            let (device, calibrator) = (begin.device.clone(), begin.calibrator.clone());
            return Err(LogError::Calibrator { device, calibrator, identity });
        }
        if self.devices.iter().any(|device| device.begin.device == begin.device) {
            return Err(LogError::Twice(begin.device.clone()));
        }
        if begin.looks_every == 0 {
            return Err(LogError::NeverLooks);
        }
        self.devices.push(DeviceLog { begin: begin.clone(), resets: 0, tables: Vec::new() });
        Ok(())
    }
}

impl VerifiedDevice {
    /// What a right log leaves open: monitors that are evaluated too rarely, and alarms that were due when nobody asked.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let name = match self.resets {
            0 => self.device.clone(),
            resets => format!("{}, after reset {resets}", self.device),
        };
        let longest =
            self.tables.iter().map(|table| table.predictions.max(table.outcomes)).max().unwrap_or(0);
        if self.looks_every == LOOKS_WHEN_SAVED {
            for table in &self.tables {
                for (monitor, of, after) in [
                    (MonitorName::Shift, "predictions", table.after_answer[0]),
                    (MonitorName::Guarantee, "outcomes", table.after_answer[1]),
                ] {
                    if after > 0 {
                        warnings.push(format!(
                            "{name}: the last {after} {of} of table {} have no answer about {monitor}: whether an alert was \
                             due was not checked",
                            table.table
                        ));
                    }
                }
            }
        } else if self.looks_every > LOOKS_EVERY {
            let never = if u64::from(self.looks_every) > longest { ", so it never did" } else { "" };
            warnings.push(format!(
                "{name}: the log states that the device evaluates its monitors every {} predictions{never}; calib's firmware \
                 does so every {LOOKS_EVERY}. An alert in between was not checked",
                self.looks_every
            ));
        }
        for table in &self.tables {
            for (monitor, of, due, told) in [
                (MonitorName::Shift, "prediction", table.shift_due_at, table.shift_alarm_at),
                (MonitorName::Guarantee, "outcome", table.guarantee_due_at, table.guarantee_alarm_at),
            ] {
                if let (Some(due), None) = (due, told) {
                    warnings.push(format!(
                        "{name}: an alert of {monitor} was due at {of} {due} of table {}, and the log has no answer about it",
                        table.table
                    ));
                }
            }
        }
        warnings
    }
}

impl DeviceLog {
    /// The log of a table that is monitored.
    fn table(&mut self, artifact: &Artifact<'_>, table: usize) -> Result<&mut TableLog, LogError> {
        let at = match self.tables.iter().position(|known| known.comparison.table == table) {
            Some(at) => at,
            None => {
                let monitors = artifact.monitors().ok_or(LogError::NoMonitors)?;
                let reference = monitors.reference(table).ok_or(LogError::NotMonitored(table))?;
                if reference.bins() > MOST_BINS {
                    return Err(LogError::TooMany);
                }
                self.tables.push(TableLog::new(Comparison::of(artifact, table)));
                self.tables.len() - 1
            }
        };
        Ok(&mut self.tables[at])
    }
}

impl TableLog {
    fn new(comparison: Comparison) -> Self {
        let of_table = vec![0; comparison.guaranteed.len()];
        let counts = Counts {
            predictions: vec![0; comparison.gaps.len()],
            labeled: of_table.clone(),
            positives: of_table,
        };
        Self {
            comparison,
            counts,
            predictions: Vec::new(),
            outcomes: Vec::new(),
            shift: Box::new(ShiftMonitor::new()),
            change: Box::new(ChangeMonitor::new()),
            change_alarms_at: Vec::new(),
            due: [None; 2],
            replies: [None; 2],
            answers: 0,
        }
    }

    fn predict(
        &mut self,
        artifact: &Artifact<'_>,
        logged: &LoggedPredictions,
        looks_every: u64,
    ) -> Result<(), LogError> {
        let bins = self.comparison.gaps.len();
        check_bins(&logged.bins, "the monitor", bins)?;
        let monitors = artifact.monitors().ok_or(LogError::NoMonitors)?;
        let reference = monitors.reference(logged.table).ok_or(LogError::NotMonitored(logged.table))?;
        let level = monitors.alarms().change;
        for &bin in &logged.bins {
            if self.shift.is_full() {
                return Err(LogError::TooMany);
            }
            self.predictions.push(bin);
            self.counts.predictions[usize::from(bin)] += 1;
            if self.change.count(bin.into(), &self.shift, &reference, level) {
                self.change_alarms_at.push(self.predictions.len() as u64);
            }
            self.shift.count(bin.into());
            self.look(MonitorName::Shift, looks_every);
        }
        Ok(())
    }

    fn label(&mut self, logged: &LoggedOutcomes, looks_every: u64) -> Result<(), LogError> {
        let LoggedOutcomes { bins, labels, .. } = logged;
        if bins.len() != labels.len() {
            return Err(LogError::Labels { bins: bins.len(), labels: labels.len() });
        }
        check_bins(bins, "the table", self.comparison.guaranteed.len())?;
        if let Some(&label) = labels.iter().find(|&&label| label > 1) {
            return Err(LogError::Label(label));
        }
        for (&bin, &label) in bins.iter().zip(labels) {
            self.outcomes.push((bin, label == 1));
            self.counts.labeled[usize::from(bin)] += 1;
            self.counts.positives[usize::from(bin)] += u64::from(label);
            self.look(MonitorName::Guarantee, looks_every);
        }
        let (outcomes, predictions) = (self.outcomes.len() as u64, self.predictions.len() as u64);
        match outcomes > predictions {
            true => Err(LogError::MoreOutcomes { outcomes, predictions }),
            false => Ok(()),
        }
    }

    /// Works the evidence out when the device does, until it suffices for certain.
    fn look(&mut self, monitor: MonitorName, looks_every: u64) {
        let at = self.counted(monitor);
        let due = usize::from(monitor == MonitorName::Guarantee);
        if self.due[due].is_some() || !at.is_multiple_of(looks_every) {
            return;
        }
        self.due[due] = self.certain_after(monitor, at);
    }

    /// The evidence after so many, if it suffices for certain.
    fn certain_after(&self, monitor: MonitorName, at: u64) -> Option<Due> {
        let (evidence, slack) = self.evidence_after(monitor, at);
        let is_certain = |e: &Evidence| e.log - slack >= f64::from(e.rarity).ln();
        evidence.filter(is_certain).map(|e| Due { at, odds: e.odds(), rarity: e.rarity })
    }

    /// How many a monitor has counted.
    fn counted(&self, monitor: MonitorName) -> u64 {
        match monitor {
            MonitorName::Shift | MonitorName::Change => self.predictions.len() as u64,
            MonitorName::Guarantee => self.outcomes.len() as u64,
        }
    }

    fn answer(&mut self, logged: &LoggedAnswer) -> Result<(), LogError> {
        let &LoggedAnswer { monitor, alarm_at, .. } = logged;
        let counted = self.counted(monitor);
        if let Some(at) = alarm_at.filter(|&at| at == 0 || at > counted) {
            return Err(LogError::NotYet { monitor, at, counted });
        }
        match monitor {
            MonitorName::Change => {
                let found = self.change_alarms_at.last().copied();
                if alarm_at != found {
                    return Err(LogError::OtherChange { now: alarm_at, found });
                }
            }
            MonitorName::Shift | MonitorName::Guarantee => {
                let before = &mut self.replies[usize::from(monitor == MonitorName::Guarantee)];
                let said = before.replace(MonitorReply { alarm_at, counted });
                if let Some(said) = said.filter(|said| !said.may_become(alarm_at)) {
                    return Err(LogError::Changed { monitor, now: alarm_at, before: said.alarm_at });
                }
                // An alarm that was told before has been looked at.
                if said.is_none_or(|said| said.alarm_at.is_none()) {
                    self.check_evidence(monitor, alarm_at)?;
                }
            }
        }
        self.answers += 1;
        Ok(())
    }

    /// Checks an alarm against the evidence when it was raised; and that there was none, or none earlier, against when it sufficed for
    /// certain.
    fn check_evidence(&self, monitor: MonitorName, alarm_at: Option<u64>) -> Result<(), LogError> {
        let due = self.due[usize::from(monitor == MonitorName::Guarantee)];
        let Some(at) = alarm_at else {
            // A device that answers has looked.
            return match due.or_else(|| self.certain_after(monitor, self.counted(monitor))) {
                Some(Due { at, odds, rarity }) => Err(LogError::Missed { monitor, at, odds, rarity }),
                None => Ok(()),
            };
        };
        let (evidence, _) = self.evidence_after(monitor, at);
        let (log, rarity) =
            evidence.map_or((f64::NEG_INFINITY, 2), |evidence| (evidence.log, evidence.rarity));
        if log < f64::from(rarity).ln() {
            return Err(LogError::Unfounded { monitor, at, odds: log.exp(), rarity });
        }
        match due {
            Some(Due { at: due, odds, rarity }) if due < at => {
                Err(LogError::Late { monitor, at, due, odds, rarity })
            }
            _ => Ok(()),
        }
    }

    /// The evidence after so many predictions or outcomes, and by how much its logarithm may be less on a device.
    fn evidence_after(&self, monitor: MonitorName, at: u64) -> (Option<Evidence>, f64) {
        match monitor {
            MonitorName::Guarantee => {
                (self.guarantee_after(at as usize), GUARANTEE_SLACK * (at as f64 + 1000.0))
            }
            MonitorName::Shift | MonitorName::Change => {
                let slack = SHIFT_SLACK * (self.comparison.gaps.len() as f64 + 1.0);
                (Some(self.shift_after(at as usize)), slack)
            }
        }
    }

    /// The evidence of a shift after so many predictions.
    fn shift_after(&self, predictions: usize) -> Evidence {
        let mut counts = self.counts.predictions.clone();
        self.predictions[predictions..].iter().for_each(|&bin| counts[usize::from(bin)] -= 1);
        self.comparison.shift_of(&counts)
    }

    /// The evidence against the guarantee after so many outcomes.
    fn guarantee_after(&self, outcomes: usize) -> Option<Evidence> {
        let Counts { mut labeled, mut positives, .. } = self.counts.clone();
        for &(bin, label) in &self.outcomes[outcomes..] {
            labeled[usize::from(bin)] -= 1;
            positives[usize::from(bin)] -= u64::from(label);
        }
        self.comparison.guarantee_of(&labeled, &positives)
    }

    fn compare(&mut self, logged: &LoggedCounters) -> Result<(), LogError> {
        for (name, device, log) in [
            ("predictions", &logged.predictions, &self.counts.predictions),
            ("labeled", &logged.labeled, &self.counts.labeled),
            ("positives", &logged.positives, &self.counts.positives),
        ] {
            if device.is_empty() && name != "predictions" && self.outcomes.is_empty() {
                continue;
            }
            if device.len() != log.len() {
                return Err(LogError::Bins { name, bins: device.len(), expected: log.len() });
            }
            if let Some(bin) = (0..log.len()).find(|&bin| device[bin] != log[bin]) {
                return Err(LogError::Counters { name, bin, device: device[bin], log: log[bin] });
            }
        }
        self.answers += 1;
        Ok(())
    }

    fn verified(self) -> VerifiedTable {
        let said = |which: usize| self.replies[which].and_then(|replies| replies.alarm_at);
        let due = |which: usize| self.due[which].map(|due| due.at);
        let replies = self.replies.map(|replies| replies.map_or(0, |replies| replies.counted));
        let after_answer =
            [self.predictions.len() as u64 - replies[0], self.outcomes.len() as u64 - replies[1]];
        VerifiedTable {
            after_answer,
            table: self.comparison.table,
            predictions: self.predictions.len() as u64,
            outcomes: self.outcomes.len() as u64,
            answers: self.answers,
            shift_alarm_at: said(0),
            shift_due_at: due(0),
            guarantee_alarm_at: said(1),
            guarantee_due_at: due(1),
            change_alarms_at: self.change_alarms_at,
        }
    }
}

impl MonitorReply {
    /// Whether the next answer can be this: an alarm stays as it is, and a new one is raised after the last answer without.
    fn may_become(&self, alarm_at: Option<u64>) -> bool {
        match (self.alarm_at, alarm_at) {
            (Some(before), now) => now == Some(before),
            (None, Some(now)) => now >= self.counted,
            (None, None) => true,
        }
    }
}

fn check_bins(given: &[u16], of: &'static str, bins: usize) -> Result<(), LogError> {
    match given.iter().find(|&&bin| usize::from(bin) >= bins) {
        Some(&bin) => Err(LogError::Bin { bin, of, bins }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use calib_core::monitor::{GuaranteeMonitor, LogEvidence};
    use calib_core::{Artifact, ProbInterval};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::artifact::{ArtifactOptions, Monitoring, StoredArtifact, artifact_bytes};
    use crate::binary::{BinaryMethod, Umd};
    use crate::data::BinaryData;
    use crate::fit::fit_binary;
    use crate::fleet::LogReset;

    const BINS: usize = 4;

    fn stored() -> StoredArtifact {
        let scores = (0..1999).map(|i| f64::from(i) / 2048.0).collect();
        let labels = (0..1999).map(|i| (i * 7919) % 1999 < i).collect();
        let data = BinaryData::new(scores, labels).unwrap().on_device();
        let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(BINS)), 0.1).unwrap();
        let monitors = Some(Monitoring { change: 200, ..Monitoring::default() });
        let options = ArtifactOptions { monitors, intervals: true, ..ArtifactOptions::default() };
        StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap()
    }

    fn begin(artifact: &Artifact<'_>, looks_every: u32) -> LogLine {
        LogLine::Begin(LogBegin {
            calib_log: LOG_VERSION,
            device: format!("every {looks_every}"),
            calibrator: artifact.identity().to_string(),
            looks_every,
            time: None,
        })
    }

    fn predictions(bins: &[u16]) -> LogLine {
        LogLine::Predictions(LoggedPredictions { table: 0, bins: bins.to_vec(), time: None })
    }

    fn outcomes(bins: &[u16], labels: &[u8]) -> LogLine {
        LogLine::Outcomes(LoggedOutcomes {
            table: 0,
            bins: bins.to_vec(),
            labels: labels.to_vec(),
            time: None,
        })
    }

    fn answer(monitor: MonitorName, alarm_at: Option<u64>) -> LogLine {
        LogLine::Answer(LoggedAnswer { table: 0, monitor, alarm_at, time: None })
    }

    /// What a device says, with the monitors that run on it: scores shift after 300 predictions, and outcomes after 200.
    fn device_log(artifact: &Artifact<'_>, looks_every: u32, seed: u64) -> Vec<LogLine> {
        let monitors = artifact.monitors().unwrap();
        let (reference, alarms) = (monitors.reference(0).unwrap(), monitors.alarms());
        let guaranteed = || {
            (0..BINS as u16)
                .map(|bin| artifact.tables().interval(0, bin))
                .collect::<Vec<Option<ProbInterval>>>()
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut shift = ShiftMonitor::<BINS>::new();
        let mut change = ChangeMonitor::<BINS>::new();
        let mut guarantee = GuaranteeMonitor::<BINS>::new();
        let (mut lines, mut last_change) = (vec![begin(artifact, looks_every)], None);
        for row in 0..900u32 {
            let bin =
                if row > 300 && random.random_bool(0.5) { 3 } else { random.random_range(0..BINS as u16) };
            if change.count(bin.into(), &shift, &reference, alarms.change) {
                last_change = Some(u64::from(row) + 1);
            }
            shift.count(bin.into());
            lines.push(predictions(&[bin]));
            if (row + 1).is_multiple_of(looks_every) {
                shift.look(&reference, alarms.shift);
            }
            let share = if row > 200 { 0.05 } else { (f64::from(bin) + 0.5) / 4.0 };
            let label = random.random_bool(share);
            guarantee.count(bin.into(), label);
            lines.push(outcomes(&[bin], &[label.into()]));
            if (row + 1).is_multiple_of(looks_every) {
                guarantee.look(guaranteed().into_iter(), alarms.guarantee);
            }
            if row % 50 == 7 {
                // A device that is asked looks.
                shift.look(&reference, alarms.shift);
                guarantee.look(guaranteed().into_iter(), alarms.guarantee);
                lines.push(answer(MonitorName::Shift, shift.alarm_at().map(u64::from)));
                lines.push(answer(MonitorName::Change, last_change));
                lines.push(answer(MonitorName::Guarantee, guarantee.alarm_at().map(u64::from)));
            }
        }
        let counts = |counts: Vec<u32>| counts.into_iter().map(u64::from).collect();
        lines.push(LogLine::Counters(LoggedCounters {
            table: 0,
            predictions: counts(shift.counts().to_vec()),
            labeled: counts(guarantee.counts().map(|count| count.0).collect()),
            positives: counts(guarantee.counts().map(|count| count.1).collect()),
            time: None,
        }));
        lines
    }

    fn verified(
        artifact: &Artifact<'_>,
        lines: &[LogLine],
    ) -> Result<Vec<VerifiedDevice>, (usize, LogError)> {
        let mut verifier = LogVerifier::new(artifact).unwrap();
        for (at, line) in lines.iter().enumerate() {
            verifier.take(line).map_err(|error| (at, error))?;
        }
        Ok(verifier.finish())
    }

    /// What runs on a device answers as its own log says, whatever it looks at when.
    #[test]
    fn a_devices_own_answers_are_right() {
        let stored = stored();
        let artifact = stored.artifact();
        let mut alarms = [0; 3];
        for seed in 0..20 {
            for looks_every in [1, 16, 100] {
                let found = verified(&artifact, &device_log(&artifact, looks_every, seed)).unwrap();
                let table = &found[0].tables[0];
                assert_eq!((table.predictions, table.outcomes, table.answers), (900, 900, 55));
                // Raised when it was due, or a little before: what a device may round off is rarely needed, and at most a few looks.
                for (told, due) in [
                    (table.shift_alarm_at, table.shift_due_at),
                    (table.guarantee_alarm_at, table.guarantee_due_at),
                ] {
                    let Some(due) = due else { continue };
                    let told = told.unwrap();
                    assert!(told <= due && due - told <= 100, "{told} {due}");
                }
                alarms[0] += usize::from(table.shift_alarm_at.is_some());
                alarms[1] += table.change_alarms_at.len();
                alarms[2] += usize::from(table.guarantee_alarm_at.is_some());
            }
        }
        assert!(alarms[0] > 50 && alarms[1] > 50 && alarms[2] > 50, "{alarms:?}");
    }

    /// Every answer that is not the device's own, and every count, is found at its line.
    #[test]
    fn a_line_that_is_changed_is_found() {
        let stored = stored();
        let artifact = stored.artifact();
        let good = device_log(&artifact, 1, 3);
        let refused = |at: usize, line: LogLine| {
            let mut lines = good.clone();
            lines[at] = line;
            let (found, error) = verified(&artifact, &lines).unwrap_err();
            assert_eq!(found, at, "{error}");
            error
        };
        let answers: Vec<(usize, LoggedAnswer)> = good
            .iter()
            .enumerate()
            .filter_map(|(at, line)| match line {
                LogLine::Answer(answer) => Some((at, answer.clone())),
                _ => None,
            })
            .collect();
        let find = |monitor: MonitorName, raised: bool| {
            let found = answers.iter().find(|(_, a)| a.monitor == monitor && a.alarm_at.is_some() == raised);
            found.cloned().unwrap()
        };
        for monitor in [MonitorName::Shift, MonitorName::Guarantee] {
            let (at, raised) = find(monitor, true);
            let missed = refused(at, answer(monitor, None));
            assert!(matches!(missed, LogError::Missed { .. }) && missed.is_difference(), "{missed}");
            let later = refused(at, answer(monitor, raised.alarm_at.map(|at| at + 3)));
            let LogError::Late { due, .. } = later else { panic!("{later}") };
            assert!(Some(due) <= raised.alarm_at.map(|at| at + 2) && later.is_difference(), "{later}");
            // Raised as soon as the evidence suffices: one sooner it did not.
            let sooner = refused(at, answer(monitor, raised.alarm_at.map(|at| at - 1)));
            assert!(matches!(sooner, LogError::Unfounded { .. }), "{sooner}");
            assert!(matches!(
                refused(at, answer(monitor, Some(5000))),
                LogError::NotYet { counted: 1.., .. }
            ));
            assert!(matches!(refused(at, answer(monitor, Some(1))), LogError::Changed { .. }));
            let (at, _) = find(monitor, false);
            assert!(matches!(refused(at, answer(monitor, Some(1))), LogError::Unfounded { at: 1, .. }));
        }
        let (at, _) = find(MonitorName::Change, true);
        assert!(matches!(refused(at, answer(MonitorName::Change, None)), LogError::OtherChange { .. }));
        assert!(matches!(refused(1, predictions(&[4])), LogError::Bin { bin: 4, bins: 4, .. }));
        assert!(matches!(refused(2, outcomes(&[0], &[2])), LogError::Label(2)));
        assert!(matches!(refused(2, outcomes(&[0], &[])), LogError::Labels { .. }));
        assert!(matches!(refused(2, outcomes(&[0, 1], &[1, 1])), LogError::MoreOutcomes { .. }));
        let Some(LogLine::Counters(counters)) = good.last() else { panic!("counters end the log") };
        let end = good.len() - 1;
        for change in [
            (|c: &mut LoggedCounters| c.predictions[2] += 1) as fn(&mut LoggedCounters),
            |c| c.labeled[0] -= 1,
            |c| c.positives[3] += 1,
        ] {
            let mut counters = counters.clone();
            change(&mut counters);
            assert!(matches!(refused(end, LogLine::Counters(counters)), LogError::Counters { .. }));
        }
        let short = LoggedCounters { labeled: Vec::new(), ..counters.clone() };
        assert!(matches!(refused(end, LogLine::Counters(short)), LogError::Bins { name: "labeled", .. }));
    }

    /// Whether anybody asked the device or not.
    #[test]
    fn an_alarm_is_worked_out_without_any_answer() {
        let stored = stored();
        let artifact = stored.artifact();
        for looks_every in [1, 16] {
            let mut lines = device_log(&artifact, looks_every, 3);
            let told = verified(&artifact, &lines).unwrap()[0].tables[0].clone();
            lines.retain(|line| !matches!(line, LogLine::Answer(_)));
            let found = verified(&artifact, &lines).unwrap()[0].tables[0].clone();
            assert_eq!((found.shift_alarm_at, found.guarantee_alarm_at), (None, None));
            // What nobody asked about is said.
            let warnings = verified(&artifact, &lines).unwrap()[0].warnings();
            assert_eq!(warnings.len(), 2, "{warnings:?}");
            assert!(warnings[0].contains("alert of shift was due at prediction"), "{warnings:?}");
            assert!(warnings[1].contains("alert of guarantee was due at outcome"), "{warnings:?}");
            for (due, told) in
                [(found.shift_due_at, told.shift_alarm_at), (found.guarantee_due_at, told.guarantee_alarm_at)]
            {
                let due = due.unwrap();
                assert!(
                    due.is_multiple_of(looks_every.into())
                        && (0..3 * u64::from(looks_every)).contains(&(due - told.unwrap()))
                );
            }
        }
    }

    /// An alarm that went away when nobody looked is no alarm; evidence that sank again after one is.
    #[test]
    fn evidence_that_sinks_again_was_an_alarm() {
        let stored = stored();
        let artifact = stored.artifact();
        let shifted = [3; 20];
        let back: Vec<u16> = (0..4000).map(|row| row % 4).collect();
        let none = answer(MonitorName::Shift, None);
        let log = |looks_every| {
            vec![begin(&artifact, looks_every), predictions(&shifted), predictions(&back), none.clone()]
        };
        let (at, error) = verified(&artifact, &log(16)).unwrap_err();
        assert!(at == 3 && matches!(error, LogError::Missed { at: 16, .. }), "{error}");
        let found = verified(&artifact, &log(4020)).unwrap();
        assert_eq!((found[0].tables[0].shift_due_at, found[0].looks_every), (None, 4020));
        // Anyone who writes the log says how often is looked, so that it is said when that is rarely.
        let warnings = found[0].warnings();
        assert!(
            warnings.len() == 1 && warnings[0].contains("every 4020 predictions; calib's"),
            "{warnings:?}"
        );
        let never = verified(&artifact, &log(1_000_000_000)).unwrap()[0].warnings();
        assert!(
            never.len() == 1 && never[0].contains("1000000000 predictions, so it never did"),
            "{never:?}"
        );
        // A device that looks when it saves is believed as far as it answers.
        let saved = |lines: &[LogLine]| {
            let lines =
                [&[begin(&artifact, LOOKS_WHEN_SAVED), predictions(&back), none.clone()], lines].concat();
            verified(&artifact, &lines).unwrap()[0].warnings()
        };
        assert_eq!(saved(&[]), [""; 0]);
        let silent = saved(&[predictions(&shifted)]);
        assert!(silent.len() == 1 && silent[0].contains("the last 20 predictions of table 0"), "{silent:?}");
        let usual = verified(&artifact, &[begin(&artifact, LOOKS_EVERY), predictions(&back)]).unwrap();
        assert_eq!(usual[0].warnings(), [""; 0]);
    }

    #[test]
    fn a_device_that_counts_anew_begins_with_nothing() {
        let stored = stored();
        let artifact = stored.artifact();
        let reset = LogLine::Reset(LogReset { time: None });
        let counters = |count| {
            LogLine::Counters(LoggedCounters {
                table: 0,
                predictions: vec![0, 0, 0, count],
                labeled: Vec::new(),
                positives: Vec::new(),
                time: None,
            })
        };
        let lines = [
            begin(&artifact, 1),
            predictions(&[3; 20]),
            answer(MonitorName::Shift, Some(9)),
            reset.clone(),
            answer(MonitorName::Shift, None),
            predictions(&[3; 8]),
            answer(MonitorName::Shift, None),
            counters(8),
        ];
        let found = verified(&artifact, &lines).unwrap();
        let told = found.iter().map(|device| {
            let table = &device.tables[0];
            (&*device.device, device.resets, table.predictions, table.shift_alarm_at, table.shift_due_at)
        });
        assert!(told.eq([("every 1", 0, 20, Some(9), Some(9)), ("every 1", 1, 8, None, None)]), "{found:?}");
        assert_eq!(verified(&artifact, &[reset]).unwrap_err().1, LogError::NotBegun);
    }

    #[test]
    fn a_log_begins_with_a_device_of_the_calibrator() {
        let stored = stored();
        let artifact = stored.artifact();
        let refused = |lines: &[LogLine]| verified(&artifact, lines).unwrap_err().1;
        let LogLine::Begin(good) = begin(&artifact, 1) else { panic!("it begins") };
        let with = |begin: LogBegin| refused(&[LogLine::Begin(begin)]);
        assert_eq!(refused(&[predictions(&[0])]), LogError::NotBegun);
        assert_eq!(with(LogBegin { calib_log: 2, ..good.clone() }), LogError::Version { version: 2 });
        for nobody in ["", " \t"] {
            assert_eq!(with(LogBegin { device: nobody.into(), ..good.clone() }), LogError::Nameless);
        }
        assert_eq!(with(LogBegin { looks_every: 0, ..good.clone() }), LogError::NeverLooks);
        assert!(matches!(
            with(LogBegin { calibrator: "00".repeat(8), ..good.clone() }),
            LogError::Calibrator { .. }
        ));
        let twice = [LogLine::Begin(good.clone()), LogLine::Begin(good.clone())];
        assert_eq!(refused(&twice), LogError::Twice(good.device.clone()));
        let table = LogLine::Predictions(LoggedPredictions { table: 1, bins: vec![0], time: None });
        assert_eq!(refused(&[LogLine::Begin(good), table]), LogError::NotMonitored(1));
    }

    /// The exact e-value is never below the device's, so no alert of the device is rejected.
    #[test]
    fn a_level_is_that_of_the_device() {
        for rarity in [2, 20, 100, 10_000] {
            let device = LogEvidence::of_one_in(rarity).units() as f64 / LogEvidence::UNITS as f64;
            assert!((device - f64::from(rarity).ln()).abs() < 1e-6, "{rarity}");
        }
    }
}
