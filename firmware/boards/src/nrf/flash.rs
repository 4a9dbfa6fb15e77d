//! The controller of the flash that the program runs from (nRF51 Series Reference Manual, chapter 6; nRF52840 Product
//! Specification, 4.3: the same registers), with a region of it.

use calib_drivers::{NvmcBus, NvmcMode};
use vcell::VolatileCell;

use super::register;

const NVMC: usize = 0x4001_E000;
const READY: usize = 0x400;
const CONFIG: usize = 0x504;
const ERASE_PAGE: usize = 0x508;

/// The registers, and the words of a region. Every operation leaves the controller as it found it, so that there may be one for each
/// region.
pub(crate) struct Controller {
    ready: &'static VolatileCell<u32>,
    config: &'static VolatileCell<u32>,
    erase_page: &'static VolatileCell<u32>,
    words: &'static [VolatileCell<u32>],
}

impl Controller {
    /// Takes the controller and the region of the slots.
    ///
    /// # Safety
    ///
    /// Nothing else uses the region, and nothing uses the controller while this does.
    pub(crate) unsafe fn of_slots() -> Self {
        unsafe extern "C" {
            static __calib_slot_start: VolatileCell<u32>;
            static __calib_slot_end: VolatileCell<u32>;
        }
        // SAFETY: `memory.x` sets both symbols around the region; the rest is the caller's.
        unsafe { Self::of(&raw const __calib_slot_start, &raw const __calib_slot_end) }
    }

    /// The same with the region of the counters.
    ///
    /// # Safety
    ///
    /// As of [`Controller::of_slots`].
    #[cfg(monitored)]
    pub(crate) unsafe fn of_counters() -> Self {
        unsafe extern "C" {
            static __calib_counters_start: VolatileCell<u32>;
            static __calib_counters_end: VolatileCell<u32>;
        }
        // SAFETY: `memory.x` sets both symbols around the region; the rest is the caller's.
        unsafe { Self::of(&raw const __calib_counters_start, &raw const __calib_counters_end) }
    }

    /// # Safety
    ///
    /// Between the ends are whole pages that the program does not occupy and nothing else uses, and nothing uses the controller while
    /// this does.
    unsafe fn of(start: *const VolatileCell<u32>, end: *const VolatileCell<u32>) -> Self {
        // SAFETY: the caller's; the cells change only by what this does.
        let words = unsafe { core::slice::from_raw_parts(start, (end.addr() - start.addr()) / 4) };
        // SAFETY: the caller's.
        let at = |offset| unsafe { register(NVMC, offset) };
        Self { ready: at(READY), config: at(CONFIG), erase_page: at(ERASE_PAGE), words }
    }
}

impl NvmcBus for Controller {
    fn is_ready(&mut self) -> bool {
        self.ready.get() & 1 != 0
    }

    fn set_mode(&mut self, mode: NvmcMode) {
        self.config.set(match mode {
            NvmcMode::Read => 0,
            NvmcMode::Write => 1,
            NvmcMode::Erase => 2,
        });
        // The next access finds the mode set.
        cortex_m::asm::dsb();
    }

    fn erase_page(&mut self, offset: u32) {
        // Registers and addresses have 32 bits here.
        self.erase_page.set(self.words.as_ptr().addr() as u32 + offset);
    }

    fn read(&mut self, offset: u32) -> u32 {
        self.words.get(offset as usize / 4).map_or(u32::MAX, VolatileCell::get)
    }

    fn write(&mut self, offset: u32, word: u32) {
        if let Some(cell) = self.words.get(offset as usize / 4) {
            cell.set(word);
        }
        cortex_m::asm::dmb();
    }

    fn len_bytes(&self) -> usize {
        4 * self.words.len()
    }
}
