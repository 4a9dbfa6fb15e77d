//! The first of the machine's two flashes: 32 MiB of two 16-bit chips side by side, in a file of the host.

#[cfg(monitored)]
use calib_core::journal::JournalLayout;
use calib_core::{Erased, SlotLayout};
use calib_drivers::{CfiFlash, FlashBus};
use vcell::VolatileCell;

const FLASH: usize = 0x2000_0000;
const FLASH_LEN: usize = 32 << 20;
const SECTOR_LEN: usize = 256 << 10;

/// The flash's driver.
pub(crate) type Flash = CfiFlash<Window, SECTOR_LEN>;

/// A slot of a sector each, in the middle: the start holds what the machine starts with.
pub(crate) const LAYOUT: SlotLayout = SlotLayout {
    offsets: [0x0100_0000, 0x0100_0000 + SECTOR_LEN as u32],
    len_bytes: SECTOR_LEN as u32,
    erased: Erased::Ones,
};

/// Two sectors behind the slots.
#[cfg(monitored)]
pub(crate) const COUNTERS: JournalLayout = JournalLayout {
    offset: LAYOUT.offsets[1] + SECTOR_LEN as u32,
    len_bytes: 2 * SECTOR_LEN as u32,
    erased: Erased::Ones,
};

/// The longest calibrator is of 8 KB; there are two buffers of that.
pub(crate) const WORDS: usize = 2048;

/// The flash in the address space.
pub(crate) struct Window {
    words: &'static [VolatileCell<u32>],
}

/// Takes the flash over. Every operation lets it be read again, so that there may be a driver for each region.
///
/// # Safety
///
/// Nothing else uses it while this does, and the program does not run from it.
pub(crate) unsafe fn flash() -> Flash {
    let first = core::ptr::with_exposed_provenance(FLASH);
    // SAFETY: the flash is always there; its cells change only by what is written to them, and the caller's word that
    // nothing else writes while this does.
    let words = unsafe { core::slice::from_raw_parts(first, FLASH_LEN / 4) };
    CfiFlash::new(Window { words })
}

/// Takes the flash over for the counters.
///
/// # Safety
///
/// As of [`flash`].
#[cfg(monitored)]
pub(crate) unsafe fn counters() -> Flash {
    // SAFETY: the caller's.
    unsafe { flash() }
}

impl FlashBus for Window {
    fn read(&mut self, offset: u32) -> u32 {
        self.words.get(offset as usize / 4).map_or(u32::MAX, VolatileCell::get)
    }

    fn write(&mut self, offset: u32, word: u32) {
        if let Some(cell) = self.words.get(offset as usize / 4) {
            cell.set(word);
        }
    }

    fn len_bytes(&self) -> usize {
        FLASH_LEN
    }
}
