//! The last two pages of flash as two slots.

use calib_core::{Erased, SlotLayout};
use calib_drivers::NvmcFlash;

use crate::nrf::Controller;

const PAGE_LEN: usize = 4096;

/// The flash's driver.
pub(crate) type Flash = NvmcFlash<Controller, PAGE_LEN>;

/// A slot of a page each.
pub(crate) const LAYOUT: SlotLayout =
    SlotLayout { offsets: [0, PAGE_LEN as u32], len_bytes: PAGE_LEN as u32, erased: Erased::Ones };

/// No artefact in a slot is longer.
pub(crate) const WORDS: usize = PAGE_LEN / 4;

/// Takes the flash over.
///
/// # Safety
///
/// Nothing else uses its controller or the region of the slots.
pub(crate) unsafe fn flash() -> Flash {
    // SAFETY: the caller's.
    NvmcFlash::new(unsafe { Controller::new() })
}
