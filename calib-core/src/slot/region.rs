//! The bytes of both slots.

use embedded_storage::nor_flash::NorFlash;

use super::error::InstallError;
use super::layout::{SlotLayout, UNIT_LEN};
use super::record::MARK_LEN;

/// How often a read that fails is tried, and one of what is not in order.
pub(super) const READ_TRIES: usize = 3;

/// A flash with two slots.
#[derive(Debug)]
pub(super) struct Region<F> {
    pub(super) flash: F,
    pub(super) layout: SlotLayout,
}

impl<F: NorFlash> Region<F> {
    /// Returns the offset of slot 0, or of slot 1 for any other number.
    const fn start(&self, slot: usize) -> u32 {
        let [first, second] = self.layout.offsets;
        if slot == 0 { first } else { second }
    }

    /// Reads a part of a slot, again if it fails: a disturbance passes.
    ///
    /// # Errors
    ///
    /// If it fails every time.
    fn read(&mut self, slot: usize, offset: u32, bytes: &mut [u8]) -> Result<(), F::Error> {
        let from = self.start(slot) + offset;
        let mut result = self.flash.read(from, bytes);
        for _ in 1..READ_TRIES {
            if result.is_ok() {
                break;
            }
            result = self.flash.read(from, bytes);
        }
        result
    }

    /// Reads a part of `N` bytes.
    pub(super) fn unit<const N: usize>(&mut self, slot: usize, offset: u32) -> Result<[u8; N], F::Error> {
        let mut unit = [0; N];
        self.read(slot, offset, &mut unit)?;
        Ok(unit)
    }

    /// Returns the offset of the first byte in `from..to` of a slot that is not erased. Both are multiples of a unit.
    pub(super) fn first_programmed(
        &mut self,
        slot: usize,
        from: u32,
        to: u32,
    ) -> Result<Option<u32>, F::Error> {
        const CHUNK_LEN: usize = 8 * UNIT_LEN as usize;
        let blank = [self.layout.erased.byte(); CHUNK_LEN];
        let mut chunk = [0; CHUNK_LEN];
        let mut at = from;
        while at < to {
            let len = ((to - at) as usize).min(CHUNK_LEN);
            let (chunk, _) = chunk.split_at_mut(len);
            let (blank, _) = blank.split_at(len);
            self.read(slot, at, chunk)?;
            // A chunk is nearly always erased: comparing all of it is faster than searching it.
            if chunk != blank {
                let dirty = chunk.iter().zip(blank).position(|(byte, erased)| byte != erased);
                return Ok(Some(at + dirty.unwrap_or_default() as u32));
            }
            at += len as u32;
        }
        Ok(None)
    }

    /// Returns the first offset in `from..to` at which the slot differs from the artifact. `from` is a multiple of a unit.
    pub(super) fn first_difference(
        &mut self,
        slot: usize,
        from: u32,
        to: u32,
        bytes: &[u8],
    ) -> Result<Option<u32>, F::Error> {
        let mut at = from;
        while at < to {
            let unit: [u8; UNIT_LEN as usize] = self.unit(slot, at)?;
            let expected = bytes.get(at as usize..to as usize).unwrap_or_default();
            if let Some(differs) = unit.iter().zip(expected).position(|(read, written)| read != written) {
                return Ok(Some(at + differs as u32));
            }
            at += UNIT_LEN;
        }
        Ok(None)
    }

    /// Erases the sector at an offset in a slot, and looks whether it is blank; returns the offset of the next sector. Some flash
    /// says nothing when it leaves bits behind.
    ///
    /// # Errors
    ///
    /// If the flash fails, or is not blank.
    pub(super) fn erase_sector(&mut self, slot: usize, at: u32) -> Result<u32, InstallError<F::Error>> {
        let sector = F::ERASE_SIZE as u32;
        let from = self.start(slot) + at;
        self.flash.erase(from, from + sector).map_err(InstallError::Flash)?;
        match self.first_programmed(slot, at, at + sector).map_err(InstallError::Flash)? {
            None => Ok(at + sector),
            Some(offset) => Err(InstallError::ReadBack { offset }),
        }
    }

    /// Writes whole write units, which are blank.
    pub(super) fn write(
        &mut self,
        slot: usize,
        offset: u32,
        bytes: &[u8],
    ) -> Result<(), InstallError<F::Error>> {
        self.flash.write(self.start(slot) + offset, bytes).map_err(InstallError::Flash)
    }

    /// Writes a record or a mark into a unit that is blank, and reads it back.
    ///
    /// # Errors
    ///
    /// If the flash fails, or does not hold what was written.
    pub(super) fn write_unit(
        &mut self,
        slot: usize,
        offset: u32,
        unit: &[u8; MARK_LEN],
    ) -> Result<(), InstallError<F::Error>> {
        self.write(slot, offset, unit)?;
        let found: [u8; MARK_LEN] = self.unit(slot, offset).map_err(InstallError::Flash)?;
        match unit.iter().zip(&found).position(|(written, read)| written != read) {
            None => Ok(()),
            Some(at) => Err(InstallError::ReadBack { offset: offset + at as u32 }),
        }
    }
}
