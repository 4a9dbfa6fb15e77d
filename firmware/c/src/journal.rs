//! A journal of counters in the caller's flash.

use calib_core::journal::{JournalLayout, JournalLayoutError};
use calib_firmware::PersistentMonitors;
use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};

use crate::error::{CALIB_ERROR_ARGUMENT, CALIB_ERROR_LAYOUT, Result};
use crate::flash::{Flash, FlashError, calib_flash_t, erased};
use crate::memory;

/// Where monitors save their counters: in two or more sectors with nothing else in them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_journal_t {
    /// The flash. Its sectors are parts of 4096 bytes, or multiples of it; of longer sectors 4096 bytes are used.
    pub flash: calib_flash_t,
    /// The offset of the first sector in the flash, in bytes.
    pub offset: u32,
    /// The length of all sectors in bytes: at least 8192, in whole units of 4096 bytes; of longer sectors at least two.
    pub len_bytes: u32,
    /// After how many predictions all is saved, at least 1, and sooner after a start; an outcome is saved at once. A power cut loses what was
    /// counted since, which was neither evaluated nor reported before. With 1, anyone who switches the power cannot choose what is counted.
    pub every: u32,
    /// `CALIB_ERASED_ONES` or `CALIB_ERASED_ZEROS`.
    pub erased: u8,
    /// Always 0.
    pub reserved: [u8; 3],
}

/// The sectors of a journal, of whatever length, as sectors of [`JournalFlash::ERASE_SIZE`]: several short ones are one, and a longer
/// one is used at its start alone. Offsets are the journal's own.
#[derive(Debug)]
pub(crate) struct JournalFlash {
    flash: Flash,
    offset: u32,
    len_bytes: u32,
    /// From one sector of the journal to the next.
    stride: u32,
}

const SECTOR: u32 = JournalFlash::ERASE_SIZE as u32;

impl JournalFlash {
    /// The offset in the flash.
    fn place(&self, at: u32) -> u32 {
        // Within the flash, as the journal is.
        self.offset.saturating_add((at / SECTOR).saturating_mul(self.stride)).saturating_add(at % SECTOR)
    }
}

/// Opens monitors on the caller's journal.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned points to a journal, whose callbacks may be called with their context.
pub(crate) unsafe fn persistent<const BINS: usize, const TABLES: usize>(
    journal: *const calib_journal_t,
) -> Result<PersistentMonitors<JournalFlash, BINS, TABLES>> {
    // SAFETY: the caller's.
    let (flash, layout, every) = unsafe { parts(journal) }?;
    PersistentMonitors::open(flash, layout, every).map_err(refused)
}

/// What the caller's journal is made of.
///
/// # Safety
///
/// As [`kept`].
unsafe fn parts(journal: *const calib_journal_t) -> Result<(JournalFlash, JournalLayout, u32)> {
    // SAFETY: the caller's.
    let calib_journal_t { flash, offset, len_bytes, every, erased: bits, reserved } =
        unsafe { memory::copied(journal) }?;
    if reserved != [0; 3] || every == 0 {
        return Err(CALIB_ERROR_ARGUMENT);
    }
    let erased = erased(bits)?;
    // SAFETY: the caller's.
    let flash = unsafe { Flash::new(flash, SECTOR) }?;
    let stride = flash.sector_bytes().max(SECTOR);
    let end = offset.checked_add(len_bytes).filter(|&end| end <= flash.len_bytes());
    if end.is_none() || !offset.is_multiple_of(flash.sector_bytes()) || !len_bytes.is_multiple_of(stride) {
        return Err(CALIB_ERROR_LAYOUT);
    }
    let layout = JournalLayout { offset: 0, len_bytes: len_bytes / stride * SECTOR, erased };
    let len_bytes = layout.len_bytes;
    Ok((JournalFlash { flash, offset, len_bytes, stride }, layout, every))
}

const fn refused(_: JournalLayoutError) -> i32 {
    CALIB_ERROR_LAYOUT
}

impl ErrorType for JournalFlash {
    type Error = FlashError;
}

impl ReadNorFlash for JournalFlash {
    const READ_SIZE: usize = Flash::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> core::result::Result<(), FlashError> {
        // No record goes beyond the end of its sector.
        self.flash.read(self.place(offset), bytes)
    }

    fn capacity(&self) -> usize {
        self.len_bytes as usize
    }
}

impl NorFlash for JournalFlash {
    const WRITE_SIZE: usize = Flash::WRITE_SIZE;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, from: u32, to: u32) -> core::result::Result<(), FlashError> {
        for sector in (from..to).step_by(Self::ERASE_SIZE) {
            let start = self.place(sector);
            for part in (0..SECTOR).step_by(self.flash.sector_bytes().max(1) as usize) {
                self.flash.erase_sector(start.saturating_add(part))?;
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> core::result::Result<(), FlashError> {
        self.flash.write(self.place(offset), bytes)
    }
}
