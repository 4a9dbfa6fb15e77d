//! Power cuts in the middle of updates over a terminal: the emulator is killed, its flash stays.

use std::fmt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use calib_classifier::SEED;
use calib_core::Identity;
use calib_host::StoredArtifact;
use calib_host::device::serial::{Patience, Stage, push};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Board, TtyDevice};

/// How many updates were cut off, where, and what was in force afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kills {
    /// The updates.
    pub kills: usize,
    /// Cut off before the first byte of the artefact was there.
    pub before: usize,
    /// While the artefact was sent.
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

/// Pushes two artefacts in turn to QEMU's RISC-V machine, and kills it at a random moment of each push. After every
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
        push(&mut device.link(patience())?, artifact, |_| ())?;
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
            push(&mut device.link(patience())?, artifact, |_| ())?;
            in_force = Some(identity(index));
            ensure!(self::found(&device)? == in_force, "a repeated push did not help");
        }
    }
    Ok(kills)
}

/// Pushes, kills the emulator at a moment, and returns how far it was and whether it had acknowledged.
fn killed_push(
    device: &mut TtyDevice,
    artifact: &StoredArtifact,
    moment: Duration,
) -> Result<(Option<Stage>, bool)> {
    let mut link = device.link(Patience { reply: Duration::from_millis(400), tries: 1 })?;
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

fn patience() -> Patience {
    Patience { reply: Duration::from_secs(2), tries: 10 }
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
