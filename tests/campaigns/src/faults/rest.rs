//! Bits that turn at rest, and flash that cannot be read for several starts: no older calibrator without a word, and no lower counter.

use std::fmt;

use calib_core::slot::InstallError;

use crate::faults::artifacts::{Aligned, Recipe};
use crate::faults::geometry::{Geometry, for_every_geometry};
use crate::faults::report::Report;
use crate::faults::rig::Rig;
use crate::faults::scale::Scale;

/// How many bits turned, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestReport {
    /// Devices with one, two and three bits that turned.
    pub flips: [u64; 3],
    /// In how many the newest was in force.
    pub newest: u64,
    /// In how many the older one was, and was told to be.
    pub told: u64,
    /// In how many none was: with two bits or more, one in each slot.
    pub none: u64,
    /// Starts at which flash could not be read at first, with a push of an older calibrator.
    pub blind: u64,
    /// What should not have happened; the first few.
    pub violations: Vec<String>,
}

/// Turns every bit of two slots, and two and three at random; and lets flash be unreadable at several starts.
pub fn rest(scale: Scale) -> RestReport {
    Report::sum(for_every_geometry(|geometry, seed| of_geometry(geometry, seed, scale)))
}

/// The older calibrator, the newest, one between them, and a later one.
fn artifacts() -> [Aligned; 4] {
    [Recipe::new(1, 5, 1), Recipe::new(2, 5, 4), Recipe::new(3, 5, 3), Recipe::new(4, 5, 5)]
        .map(|recipe| recipe.artifact())
}

fn of_geometry(geometry: Geometry, seed: u64, scale: Scale) -> RestReport {
    let artifacts = artifacts();
    let mut prepared = Rig::new(geometry, seed);
    for artifact in &artifacts[..2] {
        prepared.install(artifact).expect("the power is on");
    }
    let mut report = RestReport::default();
    let bits: Vec<usize> =
        (0..2).flat_map(|slot| prepared.range(slot)).flat_map(|at| 8 * at..8 * at + 8).collect();
    for &bit in bits.iter().step_by(scale.pick(397, 1, 1)) {
        flipped(&prepared, &artifacts, &[bit], &mut report);
    }
    for count in [2, 3] {
        for _ in 0..scale.pick(8, 2000, 20_000) {
            let flips: Vec<usize> =
                (0..count).map(|_| bits[prepared.flash.random() as usize % bits.len()]).collect();
            flipped(&prepared, &artifacts, &flips, &mut report);
        }
    }
    for _ in 0..scale.pick(3, 200, 2000) {
        if let Err(problem) = unreadable(&prepared, &artifacts, &mut report) {
            report.note(format!("{geometry}: {problem}"));
        }
        prepared.flash.random();
    }
    report
}

/// What a device does in which these bits have turned.
fn flipped(prepared: &Rig, artifacts: &[Aligned; 4], bits: &[usize], report: &mut RestReport) {
    report.flips[bits.len() - 1] += 1;
    let mut rig = prepared.clone();
    bits.iter().for_each(|bit| rig.flash.raw_mut()[bit / 8] ^= 1 << (bit % 8));
    if let Err(problem) = one(&mut rig, artifacts, bits, report) {
        report.note(format!("{}, bits {bits:?}: {problem}", prepared.flash.geometry()));
    }
}

fn one(
    rig: &mut Rig,
    artifacts: &[Aligned; 4],
    bits: &[usize],
    report: &mut RestReport,
) -> Result<(), String> {
    let [older, newest, between, later] = artifacts;
    match rig.boot(&[older, newest, between, later])? {
        Some(1) => report.newest += 1,
        Some(0) => {
            rig.flash.restart();
            if !rig.run(|store, _| store.is_fallback()) {
                return Err("the older one is in force without a word".into());
            }
            report.told += 1;
        }
        None if bits.len() > 1 => report.none += 1,
        other => return Err(format!("{other:?} is in force")),
    }
    // The newest counter is in two places: its record, and the note in the other slot.
    let [old_end, new_end] = [0, 1].map(|slot| rig.range(slot).end);
    let hits = |from: usize, to: usize| bits.iter().any(|bit| (from..to).contains(&(bit / 8)));
    let is_forgotten = hits(new_end - 64, new_end - 32) && hits(old_end - 256, old_end - 224);
    rig.flash.restart();
    match rig.try_install(between) {
        Err(InstallError::Downgrade { held: 4, offered: 3 }) => {}
        _ if is_forgotten => return Ok(()),
        other => return Err(format!("counter 3 after 4: {other:?}")),
    }
    rig.install(later).map_err(|error| format!("the next one: {error}"))?;
    match rig.boot(&[older, newest, between, later])? {
        Some(3) => Ok(()),
        other => Err(format!("{other:?} is in force in place of the next one")),
    }
}

/// Several starts at which reads fail, each with a push of a lower counter that goes on while they do.
fn unreadable(prepared: &Rig, artifacts: &[Aligned; 4], report: &mut RestReport) -> Result<(), String> {
    let mut rig = prepared.clone();
    for _ in 0..4 {
        report.blind += 1;
        rig.flash.restart();
        let reads = rig.flash.random() % 120;
        rig.flash.blind(reads);
        let outcome = rig.try_install(&artifacts[2]);
        rig.flash.blind(0);
        if outcome.is_ok() {
            return Err(format!("counter 3 is acknowledged after 4, with {reads} reads that fail"));
        }
    }
    let known: Vec<&Aligned> = artifacts.iter().collect();
    match rig.boot(&known)? {
        Some(1) => Ok(()),
        other => Err(format!("{other:?} is in force after starts without sight")),
    }
}

impl Report for RestReport {
    fn add_counts(&mut self, part: &Self) {
        self.flips.iter_mut().zip(part.flips).for_each(|(all, part)| *all += part);
        self.newest += part.newest;
        self.told += part.told;
        self.none += part.none;
        self.blind += part.blind;
    }

    fn violations(&mut self) -> &mut Vec<String> {
        &mut self.violations
    }
}

impl fmt::Display for RestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { flips: [one, two, three], newest, told, none, blind, violations } = self;
        write!(
            f,
            "at rest: {one} devices with a bit turned, {two} with two, {three} with three; in force the newest in {newest}, the older one, \
             told, in {told}, none in {none}; {blind} starts without sight at first; violations {}",
            violations.len()
        )
    }
}
