//! Flash whose power fails where it is told to.

use std::ops::Range;

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::faults::geometry::Geometry;
use crate::faults::nature::Nature;

/// How many steps erasing a sector takes.
pub(crate) const ERASE_STEPS: usize = 16;
/// Of so many reads of flash that misreads, one gets a bit wrong.
const MISREAD: u64 = 5000;

/// How an interrupted step leaves the bits that it was to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// As they were: the step had not begun.
    Before,
    /// A part of them changed, for good: those of a byte written, or of the sixteenth of a sector erased.
    Torn,
    /// A part of them changed, for good: those of a whole write unit, or of a whole sector.
    TornUnit,
    /// Those of a whole write unit, or of a whole sector, read otherwise every time.
    Unstable,
}

impl Cut {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Before, Self::Torn, Self::TornUnit, Self::Unstable];
}

/// Why the flash did not do as it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashFault {
    /// The power failed; nothing works until the next start.
    PowerCut,
    /// A unit was not read.
    Unreadable,
    /// A unit that was written before is not written again.
    WrittenBefore,
}

impl NorFlashError for FlashFault {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

/// NOR flash in memory: writing moves bits away from the erased value, only erasing moves them back.
///
/// # Panics
///
/// When it is used against the rules of `NorFlash`: misaligned, out of bounds, or a unit written twice. A unit whose write was
/// interrupted may be written again only while it reads as blank, which is when nobody can know better.
#[derive(Clone, Debug)]
pub struct Flash {
    geometry: Geometry,
    bytes: Vec<u8>,
    nature: Nature,
    /// What was done to each write unit since it was erased.
    units: Vec<Unit>,
    /// The bits that read otherwise every time; empty if there are none.
    unstable: Vec<u8>,
    /// How firmly unstable bits lean to the value that was stored last: each bit reads otherwise with a probability of
    /// two to the power of minus one minus this.
    lean: u32,
    /// Worn bits of a byte, which can no longer be programmed.
    worn: Option<(usize, u8)>,
    /// How many steps until the power fails, and how.
    fuse: Option<(u64, Cut)>,
    /// How many reads will fail.
    blind: u64,
    dead: bool,
    /// How many steps were done.
    steps: u64,
    random: Xoshiro256PlusPlus,
}

/// What was done to a write unit since it was erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Erased,
    Written,
    /// Writing or erasing it was interrupted.
    Torn,
}

/// Flash with its geometry in its type, as drivers have it.
#[derive(Debug)]
pub(crate) struct Chip<const WRITE: usize, const SECTOR: usize>(pub(crate) Flash);

impl Flash {
    /// Erased flash.
    pub fn new(geometry: Geometry, sectors: usize, seed: u64) -> Self {
        let len = sectors * geometry.sector;
        Self {
            geometry,
            bytes: vec![geometry.erased.byte(); len],
            nature: Nature::Plain,
            units: vec![Unit::Erased; len / geometry.write],
            unstable: Vec::new(),
            lean: 0,
            worn: None,
            fuse: None,
            blind: 0,
            dead: false,
            steps: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// How it is written and erased.
    pub const fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Lets it be of another nature from now on.
    pub fn set_nature(&mut self, nature: Nature) {
        self.nature = nature;
    }

    /// Lets the power fail in the step of this number from now on, 0-based.
    pub fn cut_at(&mut self, step: u64, cut: Cut) {
        self.fuse = Some((step, cut));
    }

    /// Lets so many reads fail from now on.
    pub fn blind(&mut self, reads: u64) {
        self.blind = reads;
    }

    /// Switches the power on again. What was in RAM is gone: open a new store.
    pub fn restart(&mut self) {
        self.dead = false;
        self.fuse = None;
        self.blind = 0;
    }

    /// How many steps were done since it was made: bytes written, and sixteenths of sectors erased.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether the power has failed.
    pub const fn is_dead(&self) -> bool {
        self.dead
    }

    /// The bits as they lie in flash, those that change among them.
    pub fn raw(&self) -> &[u8] {
        &self.bytes
    }

    /// Changes bits by another way than `NorFlash`.
    pub fn raw_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Wears bits of a byte out: programming leaves them erased, and says nothing.
    pub fn wear(&mut self, at: usize, bits: u8) {
        self.worn = Some((at, bits));
    }

    /// Lets bits of a byte read otherwise every time.
    pub fn make_unstable(&mut self, at: usize, bits: u8) {
        if self.unstable.is_empty() {
            self.unstable = vec![0; self.bytes.len()];
        }
        self.unstable[at] |= bits;
    }

    /// Whether a bit of this range reads otherwise every time.
    pub(crate) fn is_unstable(&self, range: Range<usize>) -> bool {
        // All at once, as most reads find none.
        self.unstable.get(range).is_some_and(|bits| bits.iter().fold(0, |any, bits| any | bits) != 0)
    }

    pub(crate) fn random(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// Whether something with a probability of one in `n` happens.
    fn one_in(&mut self, n: u64) -> bool {
        self.random.next_u64().is_multiple_of(n)
    }

    /// Whether the power fails in the next step, and how.
    fn burns(&mut self) -> Option<Cut> {
        self.steps += 1;
        match &mut self.fuse {
            Some((0, cut)) => {
                self.dead = true;
                Some(*cut)
            }
            Some((left, _)) => {
                *left -= 1;
                None
            }
            None => None,
        }
    }

    /// The write units that a range touches.
    fn units_of(&self, range: &Range<usize>) -> Range<usize> {
        range.start / self.geometry.write..range.end.div_ceil(self.geometry.write)
    }

    /// Leaves bits halfway between two states.
    fn tear(&mut self, range: Range<usize>, to: impl Fn(usize) -> u8, unstable: bool) {
        let units = self.units_of(&range);
        self.units[units].fill(Unit::Torn);
        self.lean = (self.random.next_u64() % 5) as u32;
        let leans = unstable && self.lean > 0;
        for at in range {
            let shaky = self.unstable.get(at).copied().unwrap_or_default();
            let changing = (self.bytes[at] ^ to(at)) | shaky;
            if changing == 0 {
                continue;
            }
            let changed = if leans { changing } else { self.random.next_u64() as u8 & changing };
            self.bytes[at] ^= changed & (self.bytes[at] ^ to(at));
            if unstable {
                self.make_unstable(at, changing);
            }
        }
    }

    fn settle(&mut self, range: Range<usize>) {
        if let Some(bits) = self.unstable.get_mut(range) {
            bits.fill(0);
        }
    }

    /// Whether a read of this range fails.
    fn is_unreadable(&mut self, range: &Range<usize>) -> bool {
        if self.blind > 0 {
            self.blind -= 1;
            return true;
        }
        let is_torn = || self.units[self.units_of(range)].contains(&Unit::Torn);
        match self.nature {
            Nature::TornUnreadable => is_torn(),
            Nature::TornFlickers => is_torn() && self.one_in(2),
            Nature::ReadsFail => self.one_in(2000),
            _ => false,
        }
    }

    /// Completes the erasing of a range; now and then, of flash that does so, without a bit of it.
    fn erase_range(&mut self, range: Range<usize>) {
        let at = range.start + self.random.next_u64() as usize % range.len();
        let forgets = self.nature == Nature::ErasesBadly
            && self.one_in(40)
            && self.bytes[at] != self.geometry.erased.byte();
        let left = self.bytes[at];
        self.bytes[range.clone()].fill(self.geometry.erased.byte());
        self.settle(range.clone());
        let units = self.units_of(&range);
        self.units[units].fill(Unit::Erased);
        if forgets {
            self.bytes[at] = left;
            self.units[at / self.geometry.write] = Unit::Torn;
        }
    }

    /// Looks whether units may be written, and does what becomes of those that were written before.
    fn begin_to_write(&mut self, start: usize, bytes: &[u8]) -> Result<(), FlashFault> {
        let unit_len = self.geometry.write;
        for unit in start / unit_len..(start + bytes.len()) / unit_len {
            let range = unit * unit_len..(unit + 1) * unit_len;
            match self.units[unit] {
                Unit::Erased => {}
                Unit::Written => panic!("unit {unit} is written twice"),
                Unit::Torn => {
                    for at in range.clone() {
                        let shaky = self.unstable.get(at).copied().unwrap_or_default();
                        let firm = (self.bytes[at] ^ self.geometry.erased.byte()) & !shaky;
                        assert!(firm == 0, "unit {unit} is written while it is not blank");
                    }
                    if self.nature == Nature::SecondWriteFails {
                        return Err(FlashFault::WrittenBefore);
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes a byte for good; `first` if it is the first of its unit.
    fn program(&mut self, at: usize, byte: u8) {
        let (unit_len, erased) = (self.geometry.write, self.geometry.erased.byte());
        let worn = self.worn.filter(|&(worn, _)| worn == at).map_or(0, |(_, bits)| bits);
        self.bytes[at] = (byte & !worn) | (erased & worn);
        self.settle(at..at + 1);
        let spoils = self.nature == Nature::SecondWriteSpoils && self.units[at / unit_len] == Unit::Torn;
        if spoils {
            self.lean = (self.random.next_u64() % 5) as u32;
            self.make_unstable(at, byte ^ erased);
        }
        let ends = (at + 1).is_multiple_of(unit_len);
        if ends && !spoils {
            self.units[at / unit_len] = Unit::Written;
        }
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// If the power is off, or a unit cannot be read.
    pub fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), FlashFault> {
        if self.dead {
            return Err(FlashFault::PowerCut);
        }
        let range = offset as usize..offset as usize + bytes.len();
        if self.is_unreadable(&range) {
            // What is there after an error is nobody's business.
            bytes.fill(self.random.next_u64() as u8);
            return Err(FlashFault::Unreadable);
        }
        bytes.copy_from_slice(&self.bytes[range.clone()]);
        if self.nature == Nature::Misreads && self.one_in(MISREAD) {
            let bit = self.random.next_u64() as usize % (8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        if self.is_unstable(range.clone()) {
            for (byte, &bits) in bytes.iter_mut().zip(&self.unstable[range]) {
                if bits != 0 {
                    let otherwise =
                        (0..self.lean).fold(bits, |otherwise, _| otherwise & self.random.next_u64() as u8);
                    *byte ^= self.random.next_u64() as u8 & otherwise;
                }
            }
        }
        Ok(())
    }

    /// Erases whole sectors.
    ///
    /// # Errors
    ///
    /// If the power is off, or fails meanwhile.
    pub fn erase(&mut self, from: u32, to: u32) -> Result<(), FlashFault> {
        if self.dead {
            return Err(FlashFault::PowerCut);
        }
        let (from, to, erased) = (from as usize, to as usize, self.geometry.erased.byte());
        let sector_len = self.geometry.sector;
        assert!(
            from.is_multiple_of(sector_len) && to.is_multiple_of(sector_len) && from < to,
            "erases {from}..{to}"
        );
        for sector in (from..to).step_by(sector_len) {
            let part = sector_len / ERASE_STEPS;
            for step in 0..ERASE_STEPS {
                let range = sector + step * part..sector + (step + 1) * part;
                match self.burns() {
                    None => {
                        self.erase_range(range);
                        continue;
                    }
                    Some(Cut::Before) => {}
                    Some(Cut::Torn) => self.tear(range, |_| erased, false),
                    Some(Cut::TornUnit) => self.tear(sector..sector + sector_len, |_| erased, false),
                    Some(Cut::Unstable) => self.tear(sector..sector + sector_len, |_| erased, true),
                }
                return Err(FlashFault::PowerCut);
            }
        }
        Ok(())
    }

    /// Writes whole write units.
    ///
    /// # Errors
    ///
    /// If the power is off, or fails meanwhile, or a unit is not written twice.
    pub fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), FlashFault> {
        if self.dead {
            return Err(FlashFault::PowerCut);
        }
        let (start, unit_len) = (offset as usize, self.geometry.write);
        assert!(
            start.is_multiple_of(unit_len) && bytes.len().is_multiple_of(unit_len),
            "writes misaligned at {start}"
        );
        self.begin_to_write(start, bytes)?;
        let before = self.bytes[start..start + bytes.len()].to_vec();
        for (at, &byte) in (start..).zip(bytes) {
            let unit = at / unit_len * unit_len;
            let to = |at: usize| bytes[at - start];
            let Some(cut) = self.burns() else {
                self.program(at, byte);
                continue;
            };
            if self.nature == Nature::TearsPages && cut != Cut::Before {
                // All bytes of the call are programmed at the same time.
                self.bytes[start..start + bytes.len()].copy_from_slice(&before);
                self.tear(start..start + bytes.len(), to, cut == Cut::Unstable);
                return Err(FlashFault::PowerCut);
            }
            match cut {
                Cut::Before if at == unit => {}
                // The bytes of the unit so far are there.
                Cut::Before => self.units[at / unit_len] = Unit::Torn,
                Cut::Torn => self.tear(at..at + 1, to, false),
                Cut::TornUnit => self.tear(unit..unit + unit_len, to, false),
                Cut::Unstable => self.tear(unit..unit + unit_len, to, true),
            }
            return Err(FlashFault::PowerCut);
        }
        Ok(())
    }
}

impl<const WRITE: usize, const SECTOR: usize> ErrorType for Chip<WRITE, SECTOR> {
    type Error = FlashFault;
}

impl<const WRITE: usize, const SECTOR: usize> ReadNorFlash for Chip<WRITE, SECTOR> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), FlashFault> {
        self.0.read(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.0.bytes.len()
    }
}

impl<const WRITE: usize, const SECTOR: usize> NorFlash for Chip<WRITE, SECTOR> {
    const WRITE_SIZE: usize = WRITE;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), FlashFault> {
        self.0.erase(from, to)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), FlashFault> {
        self.0.write(offset, bytes)
    }
}
