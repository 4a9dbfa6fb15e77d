//! Flash that somebody stopped erasing, or wrote to past the store.

use std::fmt;
use std::ops::Range;

use crate::faults::artifacts::{Recipe, crc32c};
use crate::faults::geometry::{Geometry, for_every_geometry};
use crate::faults::report::Report;
use crate::faults::rig::Rig;
use crate::faults::scale::Scale;

/// How many images were started, and what came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HalfErasedReport {
    /// The images.
    pub images: u64,
    /// Of these, with one of the calibrators that were installed, to the last bit.
    pub accepted: u64,
    /// Of these, with none.
    pub none: u64,
    /// What should not have happened; the first few.
    pub violations: Vec<String>,
}

/// What is done to an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    /// One slot is half erased.
    OneSlot,
    /// Both are.
    BothSlots,
    /// A few bits anywhere, such as a debug probe's slip.
    FewBits,
    /// A record that is whole, and of another artifact than the one beside it.
    LyingRecord,
}

impl Damage {
    const ALL: [Self; 4] = [Self::OneSlot, Self::BothSlots, Self::FewBits, Self::LyingRecord];
}

/// Starts devices on half-erased slots, each bit random or unstable, and on slots with a few wrong bits.
pub fn half_erased(scale: Scale) -> HalfErasedReport {
    Report::sum(for_every_geometry(|geometry, seed| of_geometry(geometry, seed, scale)))
}

fn of_geometry(geometry: Geometry, seed: u64, scale: Scale) -> HalfErasedReport {
    let artifacts = [Recipe::new(1, 6, 0), Recipe::new(2, 9, 0)].map(|recipe| recipe.artifact());
    let known = [&artifacts[0], &artifacts[1]];
    let mut prepared = Rig::new(geometry, seed);
    for artifact in &artifacts {
        prepared.try_install(artifact).expect("the power is on");
    }
    // Large sectors are slow to damage bit by bit, and no different: most images are of small ones.
    let images = match geometry.sector {
        0..=1024 => scale.pick(400, 40_000, 400_000),
        1025..=4096 => scale.pick(200, 16_000, 160_000),
        _ => scale.pick(2, 1_000, 10_000),
    };

    let mut report = HalfErasedReport::default();
    let mut generator = prepared.clone();
    for image in 0..images {
        let mut rig = prepared.clone();
        let damage = Damage::ALL[image % Damage::ALL.len()];
        spoil(&mut rig, damage, &mut || generator.flash.random());
        report.images += 1;
        // Looking at the slots ends well, too.
        let valid = rig.run(|store, _| store.survey());
        let altered = |slot: usize| valid[slot] && !is_whole(&prepared, &rig, slot);
        if damage == Damage::FewBits && (altered(0) || altered(1)) {
            report.note(format!("image {image}: an altered slot is shown as valid"));
        }
        match rig.boot(&known) {
            Ok(Some(found)) => {
                if found == 0 && is_whole(&prepared, &rig, 1) {
                    report.note(format!("image {image}: the older of two whole calibrators is in force"));
                }
                // The artifact is the one that was installed; so is all around it.
                if !is_whole(&prepared, &rig, found) && !rig.is_unstable(found) {
                    report.note(format!("{damage:?}, image {image}: an altered slot is in force"));
                }
                report.accepted += 1;
            }
            Ok(None) if damage != Damage::BothSlots => {
                report.note(format!("{geometry}, image {image}: a whole slot is not in force"));
            }
            Ok(None) => report.none += 1,
            Err(problem) => {
                report.note(format!("{geometry}, {damage:?}, image {image}: {problem}"));
            }
        }
    }
    report
}

/// Whether a slot is as it was, to the last bit, but for marks and notes: one mark that is complete suffices, the others may be torn.
fn is_whole(before: &Rig, after: &Rig, slot: usize) -> bool {
    let Range { start, end } = after.range(slot);
    let is_same = |part: Range<usize>| {
        !after.flash.is_unstable(part.clone()) && before.flash.raw()[part.clone()] == after.flash.raw()[part]
    };
    let erased = after.layout.erased.byte();
    let wrong = |byte: &u8| (!(byte ^ erased)).count_ones();
    let is_complete = |at: usize| after.flash.raw()[at..at + 32].iter().map(wrong).sum::<u32>() <= 8;
    let mut marks = (end - 224..end - 64).step_by(32).chain([end - 32]);
    is_same(start..end - 288) && is_same(end - 64..end - 32) && marks.any(is_complete)
}

fn spoil(rig: &mut Rig, damage: Damage, random: &mut impl FnMut() -> u64) {
    let slots: &[usize] = match damage {
        Damage::BothSlots => &[0, 1],
        _ if random().is_multiple_of(2) => &[0],
        _ => &[1],
    };
    let (len, sector_len) = (rig.layout.len_bytes as usize, rig.flash.geometry().sector);
    for &slot in slots {
        let start = rig.layout.offsets[slot] as usize;
        if damage == Damage::LyingRecord {
            let start = start + len - 64;
            let record = &mut rig.flash.raw_mut()[start..start + 32];
            // Counter, length or CRC is another artifact's; the record's own CRC is right.
            let field = 8 + 4 * (random() as usize % 3);
            record[field..field + 4].copy_from_slice(&(random() as u32 >> (random() % 32)).to_le_bytes());
            let crc = crc32c(&[&record[..28]]);
            record[28..].copy_from_slice(&crc.to_le_bytes());
            continue;
        }
        if damage == Damage::FewBits && random().is_multiple_of(4) {
            // One bit right behind the artifact.
            let length = start + len - 64 + 12..start + len - 64 + 16;
            let end = u32::from_le_bytes(rig.flash.raw()[length].try_into().expect("4 bytes")) as usize;
            rig.flash.raw_mut()[start + end + random() as usize % 36] ^= 1 << (random() % 8);
            continue;
        }
        if damage == Damage::FewBits {
            // Where it hurts: in the artifact, the record and the mark.
            for _ in 0..1 + random() % 6 {
                let within = if random().is_multiple_of(2) {
                    random() as usize % 256
                } else {
                    len - 1 - random() as usize % 64
                };
                rig.flash.raw_mut()[start + within] ^= 1 << (random() % 8);
            }
            continue;
        }
        // From nearly nothing erased to nearly everything, in one sector or in all.
        let sparse = random() % 12;
        let one_sector = random().is_multiple_of(2);
        let sector = start + random() as usize % (len / sector_len) * sector_len;
        let range = if one_sector { sector..sector + sector_len } else { start..start + len };
        let unstable = random().is_multiple_of(2);
        let erased = rig.layout.erased.byte();
        for at in range {
            let programmed = rig.flash.raw()[at] ^ erased;
            if programmed == 0 {
                continue;
            }
            let mut bits = random();
            for _ in 0..sparse {
                bits &= random();
            }
            let bits = if random().is_multiple_of(16) { random() as u8 } else { bits as u8 } & programmed;
            if bits == 0 {
                continue;
            }
            rig.flash.raw_mut()[at] ^= bits;
            if unstable {
                rig.flash.make_unstable(at, bits);
            }
        }
    }
}

impl Report for HalfErasedReport {
    fn add_counts(&mut self, part: &Self) {
        self.images += part.images;
        self.accepted += part.accepted;
        self.none += part.none;
    }

    fn violations(&mut self) -> &mut Vec<String> {
        &mut self.violations
    }
}

impl fmt::Display for HalfErasedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "half-erased and damaged flash: {} images, {} with a calibrator as it was installed, {} with none; violations {}",
            self.images,
            self.accepted,
            self.none,
            self.violations.len()
        )
    }
}
