//! The log of what a device counted and answered, which `calib fleet --verify` computes again.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use calib_core::artifact::{HeaderFlags, MonitorAction, Reduction};
use calib_core::wire::{Answer, Counters, Persistence, Raised, ReplyBody, ScoreEcho};
use calib_core::{Artifact, BinFlags};
use calib_fit::StoredArtifact;
use calib_fit::fleet::{
    LOG_VERSION, LOOKS_EVERY, LOOKS_WHEN_SAVED, LogBegin, LogLine, LoggedAnswer, LoggedCounters,
    LoggedPredictions, MonitorName,
};
use calib_io::files::{OutputError, read_artifact};

use crate::error::Error;

/// What a device sends, as lines of a log.
pub(super) struct FleetLog {
    calibrator: StoredArtifact,
    device: String,
    path: PathBuf,
    file: File,
    has_begun: bool,
    /// Whether the device tells what it has saved alone: what it predicted since is written once it is saved.
    is_kept: bool,
    /// The predictions of every table by bin that are written.
    predictions: Vec<Vec<u64>>,
    /// Those that are not, in their order: the bin of each.
    pending: Vec<VecDeque<u16>>,
}

impl FleetLog {
    /// Begins a file for a device that has this calibrator.
    pub(super) fn create(calibrator: &Path, path: &Path, device: String, force: bool) -> Result<Self, Error> {
        let stored = read_artifact(calibrator)?;
        let predictions = check(&stored.artifact())
            .map_err(|why| Error::Usage(format!("{}: {why}", calibrator.display())))?;
        let mut options = File::options();
        let options = options.write(true);
        let opened = match force {
            true => options.create(true).truncate(true).open(path),
            false => options.create_new(true).open(path),
        };
        let file = opened.map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => OutputError::Exists(path.into()),
            _ => OutputError::Io { path: path.into(), source },
        })?;
        let pending = vec![VecDeque::new(); predictions.len()];
        let path = path.into();
        Ok(Self {
            calibrator: stored,
            device,
            path,
            file,
            has_begun: false,
            is_kept: false,
            predictions,
            pending,
        })
    }

    /// Writes what a reply says, if it is about what the monitors count.
    pub(super) fn hear(&mut self, reply: &ReplyBody) -> Result<(), Error> {
        match reply {
            // What was predicted before the device said that it has counted nothing is not of this log.
            ReplyBody::Answer(answer) if self.has_begun => self.predicted(answer),
            ReplyBody::Counters(counters) => self.counted(counters),
            _ => Ok(()),
        }
    }

    fn predicted(&mut self, answer: &Answer) -> Result<(), Error> {
        let Some((table, bin)) = place_of(&self.calibrator.artifact(), answer) else { return Ok(()) };
        let Some(pending) = self.pending.get_mut(table) else { return Ok(()) };
        pending.push_back(bin);
        if self.is_kept { Ok(()) } else { self.write_up_to(table, u64::MAX) }
    }

    /// Writes predictions of a table until there are so many.
    fn write_up_to(&mut self, table: usize, total: u64) -> Result<(), Error> {
        while self.predictions[table].iter().sum::<u64>() < total
            && let Some(bin) = self.pending[table].pop_front()
        {
            if let Some(count) = self.predictions[table].get_mut(usize::from(bin)) {
                *count += 1;
            }
            self.write(&LogLine::Predictions(LoggedPredictions { table, bins: vec![bin], time: None }))?;
        }
        Ok(())
    }

    fn counted(&mut self, counters: &Counters) -> Result<(), Error> {
        let identity = self.calibrator.artifact().identity();
        if counters.calibrator != identity {
            return Err(Error::Mismatch(format!(
                "the device has the calibrator {}, and the log is of {identity}: begin another log with that calibrator",
                counters.calibrator
            )));
        }
        let table = usize::from(counters.table);
        let found: Vec<u64> = counters.predictions.iter().map(|&count| count.into()).collect();
        self.is_kept = counters.persistence != Persistence::MemoryOnly;
        if table < self.pending.len() {
            self.write_up_to(table, found.iter().sum())?;
        }
        let logged = self.predictions.get(table).map_or(&[][..], Vec::as_slice);
        let has_outcomes = counters.outcomes.iter().any(|known| known.labeled > 0);
        if found != logged || has_outcomes {
            return Err(Error::Mismatch(match self.has_begun {
                false => format!(
                    "the device has counted in table {table} already, and a log must begin without counts: reset them with `calib label --reset`"
                ),
                true if has_outcomes => format!(
                    "the device received outcomes of table {table} at times that the log does not know: the log ends here, and is correct up to here"
                ),
                true => format!(
                    "the device counted {} predictions of table {table}, and the log has {}: the log ends before the difference, and is correct \
                     up to there",
                    found.iter().sum::<u64>(),
                    logged.iter().sum::<u64>()
                ),
            }));
        }
        if !self.has_begun {
            self.has_begun = true;
            self.write(&LogLine::Begin(LogBegin {
                calib_log: LOG_VERSION,
                device: self.device.clone(),
                calibrator: identity.to_string(),
                looks_every: if self.is_kept { LOOKS_WHEN_SAVED } else { LOOKS_EVERY },
                time: None,
            }))?;
        }
        for (monitor, watched) in [
            (MonitorName::Shift, Some(counters.shift)),
            (MonitorName::Change, Some(counters.change)),
            (MonitorName::Guarantee, counters.guarantee),
        ] {
            let alarm_at = match watched.map(|watched| watched.raised) {
                None => continue,
                Some(None) => None,
                Some(Some(Raised::At(at))) => Some(at.into()),
                // Too long ago for the device to know when.
                Some(Some(Raised::By(_))) => continue,
            };
            self.write(&LogLine::Answer(LoggedAnswer { table, monitor, alarm_at, time: None }))?;
        }
        self.write(&LogLine::Counters(LoggedCounters {
            table,
            predictions: found,
            labeled: Vec::new(),
            positives: Vec::new(),
            time: None,
        }))
    }

    /// Writes a line at once: what is interrupted loses nothing.
    fn write(&mut self, line: &LogLine) -> Result<(), Error> {
        let mut text = serde_json::to_vec(line).map_err(std::io::Error::from)?;
        text.push(b'\n');
        let written = self.file.write_all(&text);
        written.map_err(|source| OutputError::Io { path: self.path.clone(), source }.into())
    }
}

/// Whether replies alone tell what a device with this calibrator counts; a counter for every bin, or why not.
fn check(artifact: &Artifact<'_>) -> Result<Vec<Vec<u64>>, &'static str> {
    let monitors = artifact.monitors().ok_or("it has no monitors: fit it with --monitor")?;
    if artifact.header().flags.contains(HeaderFlags::GROUPED) {
        return Err(
            "a log does not keep of which group a prediction was, so that it does not tell its table",
        );
    }
    if artifact.monitor_action() == Some(MonitorAction::Uncalibrated) {
        return Err(
            "after an alert, a device with --monitor-action uncalibrated does not state in which bin it counts",
        );
    }
    let counters = |table| vec![0; monitors.reference(table).map_or(0, |reference| reference.bins())];
    Ok((0..monitors.count()).map(counters).collect())
}

/// In which table and bin of the monitors the firmware counts a prediction; `None` if it does not.
fn place_of(artifact: &Artifact<'_>, answer: &Answer) -> Option<(usize, u16)> {
    let monitors = artifact.monitors()?;
    let table = match artifact.header().reduction {
        Reduction::Binary | Reduction::Confidence => 0,
        Reduction::TopLabel => usize::from(answer.class),
        _ => return None,
    };
    monitors.to_count(table)?;
    let key = match answer.score {
        ScoreEcho::F32(score) => score.to_bits(),
        ScoreEcho::Margin(margin) => margin.key(),
        ScoreEcho::Code(key) | ScoreEcho::Top2Margin(key) => key.into(),
    };
    if let Some(own) = monitors.own_bin(table, key) {
        return Some((table, u16::try_from(own).ok()?));
    }
    let bins = artifact.tables().get(table).map_or(0, |table| table.form.bins() as u16);
    let is_empty = |bin| artifact.tables().bin_flags(table, bin).contains(BinFlags::EMPTY);
    // Nothing is counted of a table where a device could not tell every bin.
    (!(0..bins).any(is_empty)).then_some((table, answer.outcome.calibrated()?.bin))
}
