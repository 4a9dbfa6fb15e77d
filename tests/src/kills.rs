//! Power cuts in the middle of updates over a terminal: the emulator is killed, its flash stays.

use std::fmt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::classifier::SEED;
use anyhow::{Result, bail, ensure};
use calib_core::Identity;
use calib_host::StoredArtifact;
use calib_host::io::device::serial::{RetryPolicy, Stage, push};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Board, TtyDevice};

/// How many updates were cut off, where, and what was in force afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kills {
    /// The updates.
    pub kills: usize,
    /// Cut off before the first byte of the artifact was there.
    pub before: usize,
    /// While the artifact was sent.
    pub sending: usize,
    /// While flash was erased, written and compared.
    pub installing: usize,
    /// After the device had acknowledged it.
    pub acknowledged: usize,
    /// Afterwards in force: the calibrator before.
    pub old: usize,
    /// Afterwards in force: the one that was pushed.
    pub new: usize,
}

/// Pushes two artifacts in turn to QEMU's RISC-V machine, and kills it at a random moment of each push. After every
/// restart the old one or the new one must be in force, the new one if it was acknowledged; every tenth is pushed again
/// to the end.
///
/// # Errors
///
/// If that does not hold, or the emulator fails.
pub fn kills(elf: &Path, artifacts: [&StoredArtifact; 2], count: usize) -> Result<Kills> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let identity = |index: usize| artifacts[index % 2].artifact().identity();
    let mut device = TtyDevice::new(Board::Virt, elf)?;
    device.switch_on()?;
    device.slots()?;
    let mut in_force = None;
    let mut shortest = Duration::MAX;
    for artifact in artifacts {
        let start = Instant::now();
        push(&mut device.link(retry_policy())?, artifact, |_| ())?;
        shortest = shortest.min(start.elapsed());
        in_force = Some(artifact.artifact().identity());
    }

    let mut kills = Kills::default();
    for index in 0..count {
        let artifact = artifacts[index % 2];
        // A little longer than a push takes: a few are acknowledged first.
        let moment = shortest.mul_f64(random.random_range(0.0..1.1));
        let (stage, acknowledged) = killed_push(&mut device, artifact, moment)?;
        kills.kills += 1;
        match (acknowledged, stage) {
            (true, _) => kills.acknowledged += 1,
            (false, None) => kills.before += 1,
            (false, Some(Stage::Sending { .. })) => kills.sending += 1,
            (false, Some(Stage::Installing { .. })) => kills.installing += 1,
        }
        device.switch_on()?;
        let found = found(&device)?;
        if found == Some(identity(index)) {
            kills.new += 1;
        } else if found == in_force && !acknowledged {
            kills.old += 1;
        } else {
            bail!(
                "after kill {index} at {moment:?} ({stage:?}, acknowledged {acknowledged}): {found:?} is in force"
            );
        }
        in_force = found;
        if index % 10 == 9 {
            push(&mut device.link(retry_policy())?, artifact, |_| ())?;
            in_force = Some(identity(index));
            ensure!(self::found(&device)? == in_force, "a repeated push did not help");
        }
    }
    Ok(kills)
}

/// A program with its classifier, and two calibrators for it.
pub(crate) type Image<'a> = (&'a Path, [&'a StoredArtifact; 2]);

/// How often a program was replaced by the other one, and what each found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The updates that were cut off, each followed by a start of either program.
    pub kills: usize,
    /// How often a program found a calibrator of its own.
    pub calibrated: usize,
    /// How often it found none.
    pub uncalibrated: usize,
}

/// Changes the program of QEMU's RISC-V machine as a bootloader does, pushes that program's calibrators in turn, and kills the
/// emulator at a random moment of each push. Whichever program starts then, its own calibrator is in force, or none: a push may take the
/// slot of the other program's. In the end one that is pushed is in force.
///
/// # Errors
///
/// If that does not hold, or the emulator fails.
pub fn changes(images: [Image<'_>; 2], count: usize) -> Result<Changes> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut device = TtyDevice::new(Board::Virt, images[0].0)?;
    device.switch_on()?;
    let start = Instant::now();
    push(&mut device.link(retry_policy())?, images[0].1[0], |_| ())?;
    let length = start.elapsed();
    let mut changes = Changes::default();
    for index in 0..count {
        let (elf, artifacts) = images[index % 2];
        let artifact = artifacts[index / 2 % 2];
        device.replace_program(elf)?;
        device.switch_on()?;
        let (_, acknowledged) =
            killed_push(&mut device, artifact, length.mul_f64(random.random_range(0.0..1.1)))?;
        changes.kills += 1;
        for (at, (elf, own)) in images.into_iter().enumerate() {
            device.replace_program(elf)?;
            device.switch_on()?;
            let found = found(&device)?;
            let is_own = own.iter().any(|own| found == Some(own.artifact().identity()));
            ensure!(
                is_own || found.is_none(),
                "after kill {index} {found:?} is in force, which is another program's"
            );
            let is_lost = acknowledged && at == index % 2 && found != Some(artifact.artifact().identity());
            ensure!(!is_lost, "after kill {index} {found:?} is in force, and another one was acknowledged");
            changes.calibrated += usize::from(is_own);
            changes.uncalibrated += usize::from(found.is_none());
        }
    }
    let (elf, own) = images[1];
    device.replace_program(elf)?;
    device.switch_on()?;
    push(&mut device.link(retry_policy())?, own[1], |_| ())?;
    ensure!(found(&device)? == Some(own[1].artifact().identity()), "a repeated push did not help");
    Ok(changes)
}

/// Pushes, kills the emulator at a moment, and returns how far it was and whether it had acknowledged.
fn killed_push(
    device: &mut TtyDevice,
    artifact: &StoredArtifact,
    moment: Duration,
) -> Result<(Option<Stage>, bool)> {
    let mut link = device.link(RetryPolicy { reply: Duration::from_millis(400), tries: 1 })?;
    let process = device.process()?;
    thread::scope(|scope| {
        let pushing = scope.spawn(move || {
            let mut stage = None;
            let result = push(&mut link, artifact, |now| stage = Some(now));
            (stage, result.is_ok())
        });
        thread::sleep(moment);
        process.kill()?;
        process.wait()?;
        Ok(pushing.join().expect("pushing does not panic"))
    })
}

fn retry_policy() -> RetryPolicy {
    RetryPolicy { reply: Duration::from_secs(2), tries: 10 }
}

/// The calibrator in force.
fn found(device: &TtyDevice) -> Result<Option<Identity>> {
    let slots = device.slots()?;
    let slot = slots.in_force.and_then(|slot| slots.slots.get(usize::from(slot)).copied()?.ok());
    Ok(slot.map(|content| content.identity))
}

impl fmt::Display for Kills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, before, sending, installing, acknowledged, old, new } = self;
        writeln!(f, "emulator killed during an update: {kills}")?;
        write!(
            f,
            "  before it {before}, sending {sending}, installing {installing}, acknowledged {acknowledged}; \
             afterwards in force: the old calibrator {old} times, the new one {new} times"
        )
    }
}
