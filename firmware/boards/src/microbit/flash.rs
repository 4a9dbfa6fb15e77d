//! The end of the code memory as two slots.

use calib_core::{Erased, SlotLayout};
use calib_drivers::NvmcFlash;

use crate::nrf::Controller;

const PAGE_LEN: usize = 1024;
const SLOT_LEN: u32 = 8 << 10;

/// The flash's driver.
pub(crate) type Flash = NvmcFlash<Controller, PAGE_LEN>;

/// Two halves.
pub(crate) const LAYOUT: SlotLayout =
    SlotLayout { offsets: [0, SLOT_LEN], len_bytes: SLOT_LEN, erased: Erased::Ones };

/// Of 32 KB of RAM, the two buffers take 2 KB each.
pub(crate) const WORDS: usize = 512;

/// Takes the flash over.
///
/// # Safety
///
/// Nothing else uses its controller or the region of the slots.
pub(crate) unsafe fn flash() -> Flash {
    // SAFETY: the caller's.
    NvmcFlash::new(unsafe { Controller::new() })
}
