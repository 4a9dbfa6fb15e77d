//! The last two pages of flash as two slots, and the two in front of them for the counters.

#[cfg(monitored)]
use calib_core::journal::JournalLayout;
use calib_core::{Erased, SlotLayout};
use calib_drivers::NvmcFlash;

use crate::nrf::Controller;

const PAGE_LEN: usize = 4096;

/// The flash's driver.
pub(crate) type Flash = NvmcFlash<Controller, PAGE_LEN>;

/// A slot of a page each.
pub(crate) const LAYOUT: SlotLayout =
    SlotLayout { offsets: [0, PAGE_LEN as u32], len_bytes: PAGE_LEN as u32, erased: Erased::Ones };

/// No artifact in a slot is longer.
pub(crate) const WORDS: usize = PAGE_LEN / 4;

/// Two sectors of a page each.
#[cfg(monitored)]
pub(crate) const COUNTERS: JournalLayout =
    JournalLayout { offset: 0, len_bytes: 2 * PAGE_LEN as u32, erased: Erased::Ones };

/// Takes the slots over.
///
/// # Safety
///
/// Nothing else uses their region, and nothing their controller while this does.
pub(crate) unsafe fn flash() -> Flash {
    // SAFETY: the caller's.
    NvmcFlash::new(unsafe { Controller::of_slots() })
}

/// Takes the sectors of the counters over.
///
/// # Safety
///
/// As of [`flash`].
#[cfg(monitored)]
pub(crate) unsafe fn counters() -> Flash {
    // SAFETY: the caller's.
    NvmcFlash::new(unsafe { Controller::of_counters() })
}
