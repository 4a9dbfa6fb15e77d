//! Many starts, one after the other: pushes of new and of known calibrators, cuts, and starts at which flash cannot be read.

use std::fmt;

use calib_core::slot::InstallError;

use crate::faults::artifacts::{Aligned, Recipe};
use crate::faults::flash::Cut;
use crate::faults::geometry::{Geometry, for_every_geometry};
use crate::faults::nature::Nature;
use crate::faults::report::Report;
use crate::faults::rig::{Failure, Loaded, Rig, which};
use crate::faults::scale::Scale;

/// The counters of the artifacts that are pushed.
const COUNTERS: [u32; 5] = [3, 3, 3, 4, 5];

/// How many sequences there were, and what came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceReport {
    /// The sequences.
    pub sequences: u64,
    /// The power cuts.
    pub cuts: u64,
    /// The starts.
    pub starts: u64,
    /// Of these, the starts at which flash could not be read at first.
    pub blind: u64,
    /// The acknowledged installations.
    pub acknowledged: u64,
    /// Of these, those of what was in force already.
    pub again: u64,
    /// How often the device had to look at its slots again first.
    pub reloads: u64,
    /// How many sequences ended with a slot without a place for a mark.
    pub exhausted: u64,
    /// What should not have happened; the first few.
    pub violations: Vec<String>,
}

/// Runs random sequences on flash of every nature; every draw is of others.
pub fn sequences(scale: Scale, draw: u64) -> SequenceReport {
    Report::sum(for_every_geometry(|geometry, seed| of_geometry(geometry, seed + (draw << 40), scale)))
}

fn of_geometry(geometry: Geometry, seed: u64, scale: Scale) -> SequenceReport {
    let artifacts: Vec<Aligned> = (0u32..)
        .zip(COUNTERS)
        .map(|(index, counter)| Recipe::new(index + 1, 2 + index as usize, counter).artifact())
        .collect();
    let runs = match geometry.sector {
        0..=1024 => scale.pick(24, 1200, 1200),
        1025..=4096 => scale.pick(16, 800, 800),
        _ => scale.pick(2, 60, 60),
    };
    let mut report = SequenceReport::default();
    for nature in Nature::ALL {
        for run in 0..runs as u64 {
            let mut rig = Rig::new(geometry, seed + 104_729 * run + nature as u64);
            rig.flash.set_nature(nature);
            let mut sequence = Sequence { rig, artifacts: &artifacts, allowed: vec![None], held: None };
            report.sequences += 1;
            if let Err(problem) = sequence.run(&mut report) {
                report.note(format!("{geometry}, {nature:?}, run {run}: {problem}"));
            }
        }
    }
    report
}

/// A device, and what may be in force on it.
struct Sequence<'a> {
    rig: Rig,
    artifacts: &'a [Aligned],
    /// What may be in force at the next start: what was acknowledged last, and what was pushed since without a word.
    allowed: Vec<Option<usize>>,
    /// What was acknowledged last.
    held: Option<usize>,
}

impl Sequence<'_> {
    fn random(&mut self, below: u64) -> u64 {
        self.rig.flash.random() % below
    }

    fn run(&mut self, report: &mut SequenceReport) -> Result<(), String> {
        for round in 0..3 + self.random(6) {
            self.start_and_push(report).map_err(|problem| format!("round {round}: {problem}"))?;
            for _ in 0..2 {
                report.starts += 1;
                self.looks_right().map_err(|problem| format!("after round {round}: {problem}"))?;
            }
        }
        // In the end the newest can be installed, and is in force for good.
        let last = self.artifacts.len() - 1;
        match self.rig.install(&self.artifacts[last]) {
            Ok(_) => {}
            Err(error) if error == Failure::NoMark.to_string() => {
                report.exhausted += 1;
                return Ok(());
            }
            Err(error) => return Err(format!("in the end: {error}")),
        }
        self.allowed = vec![Some(last)];
        (0..3).try_for_each(|_| self.looks_right().map_err(|problem| format!("in the end: {problem}")))
    }

    /// Starts, at times with flash that cannot be read at first, and pushes something, at times with a cut.
    fn start_and_push(&mut self, report: &mut SequenceReport) -> Result<(), String> {
        report.starts += 1;
        self.rig.flash.restart();
        let is_blind = self.random(4) == 0;
        if is_blind {
            report.blind += 1;
            let reads = if self.random(2) == 0 { 9 * self.random(8) } else { self.random(1500) };
            self.rig.flash.blind(reads);
        }
        let steps = self.rig.flash.steps();
        let slot_len = self.rig.layout.len_bytes;
        let artifacts = self.artifacts;
        let (pushed, outcome, found) = self.rig.run(|store, found| {
            let flash = store.flash();
            if flash.steps() != steps {
                return Err("a start wrote to flash");
            }
            // What the glitch hid is read again from here on.
            flash.blind(0);
            let pushed = choice(artifacts, flash.random(), found.as_ref());
            if flash.random() % 4 != 0 {
                let cut = Cut::ALL[flash.random() as usize % 4];
                let step = place_of_cut(flash.geometry().sector, slot_len, flash.random());
                flash.cut_at(step, cut);
            }
            Ok((pushed, store.install(artifacts[pushed].bytes()), found))
        })?;
        report.cuts += u64::from(self.rig.flash.is_dead());
        if !is_blind {
            let known: Vec<&Aligned> = artifacts.iter().collect();
            let found = found.map(|loaded| which(&loaded, &known)).transpose()?;
            self.is_allowed(found)?;
        }
        self.judge(pushed, outcome.map(|_| ()), report)
    }

    /// Whether what happened to a push may happen, and what may be in force now.
    fn judge(
        &mut self,
        pushed: usize,
        outcome: Result<(), Failure>,
        report: &mut SequenceReport,
    ) -> Result<(), String> {
        let counter = |index: usize| COUNTERS[index];
        match outcome {
            Ok(()) => {
                if self.held.is_some_and(|held| counter(pushed) < counter(held)) {
                    return Err(format!("{pushed} is acknowledged over {:?}", self.held));
                }
                report.acknowledged += 1;
                report.again += u64::from(self.held == Some(pushed));
                self.held = Some(pushed);
                self.allowed = vec![Some(pushed)];
            }
            Err(InstallError::Flash(_) | InstallError::ReadBack { .. }) => {
                if !self.allowed.contains(&Some(pushed)) {
                    self.allowed.push(Some(pushed));
                }
            }
            Err(InstallError::Downgrade { held, offered }) => {
                let highest = self.allowed.iter().flatten().map(|&index| counter(index)).max();
                if Some(held) > highest || held <= offered {
                    return Err(format!(
                        "{offered} is refused for {held}, though {highest:?} is the highest"
                    ));
                }
            }
            Err(InstallError::Reload) => report.reloads += 1,
            Err(InstallError::NoMark) => {}
            Err(other) => return Err(format!("refused: {other}")),
        }
        Ok(())
    }

    /// Starts, and looks whether what is in force may be.
    fn looks_right(&mut self) -> Result<(), String> {
        let found = self.rig.boot(&self.artifacts.iter().collect::<Vec<_>>())?;
        self.is_allowed(found)
    }

    fn is_allowed(&self, found: Option<usize>) -> Result<(), String> {
        if self.allowed.contains(&found) {
            return Ok(());
        }
        Err(format!("{found:?} is in force, though only {:?} may be", self.allowed))
    }
}

/// What to push: what is in force, or anything.
fn choice(artifacts: &[Aligned], random: u64, found: Option<&Loaded>) -> usize {
    let in_force = found.and_then(|(bytes, _)| artifacts.iter().position(|known| known.bytes() == bytes));
    match in_force {
        Some(index) if random.is_multiple_of(3) => index,
        _ => (random / 3) as usize % artifacts.len(),
    }
}

/// Where to cut: often where a mark is written, which is at the start and at the end of an installation.
fn place_of_cut(sector_len: usize, slot_len: u32, random: u64) -> u64 {
    let erase = u64::from(slot_len) / sector_len as u64 * crate::faults::flash::ERASE_STEPS as u64;
    let (kind, random) = (random % 4, random / 4);
    match kind {
        // The marks that make sure, if there are some to write.
        0 => random % 100,
        // The erase.
        1 => 96 * (random % 2) + random / 2 % (erase + 1),
        // Record and mark of an artifact of up to 300 bytes, with or without marks before.
        2 => 96 * (random % 2) + erase + 120 + random / 2 % 260,
        _ => random % (erase + 800),
    }
}

impl Report for SequenceReport {
    fn add_counts(&mut self, part: &Self) {
        self.sequences += part.sequences;
        self.cuts += part.cuts;
        self.starts += part.starts;
        self.blind += part.blind;
        self.acknowledged += part.acknowledged;
        self.again += part.again;
        self.reloads += part.reloads;
        self.exhausted += part.exhausted;
    }

    fn violations(&mut self) -> &mut Vec<String> {
        &mut self.violations
    }
}

impl fmt::Display for SequenceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "sequences: {}, with {} cuts and {} starts, {} of them blind at first; acknowledged {}, {} of them again; \
             looked again {} times; without a place for a mark in the end {}; violations {}",
            self.sequences,
            self.cuts,
            self.starts,
            self.blind,
            self.acknowledged,
            self.again,
            self.reloads,
            self.exhausted,
            self.violations.len()
        )
    }
}
