//! The end of the code memory as two slots, and in front of them the sectors of the counters.

#[cfg(monitored)]
use calib_core::journal::JournalLayout;
use calib_core::{Erased, SlotLayout};
use calib_drivers::NvmcFlash;

use crate::nrf::Controller;

const PAGE_LEN: usize = 1024;
const SLOT_LEN: u32 = 8 << 10;
/// All counters fit into a sector of so many pages.
#[cfg(monitored)]
const COUNTER_PAGES: usize = 4;

/// The flash's driver.
pub(crate) type Flash = NvmcFlash<Controller, PAGE_LEN>;

/// Two halves.
pub(crate) const LAYOUT: SlotLayout =
    SlotLayout { offsets: [0, SLOT_LEN], len_bytes: SLOT_LEN, erased: Erased::Ones };

/// Of 32 KB of RAM, the two buffers take 2 KB each.
pub(crate) const WORDS: usize = 512;

/// Two sectors.
#[cfg(monitored)]
pub(crate) const COUNTERS: JournalLayout =
    JournalLayout { offset: 0, len_bytes: (2 * COUNTER_PAGES * PAGE_LEN) as u32, erased: Erased::Ones };

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
pub(crate) unsafe fn counters() -> NvmcFlash<Controller, PAGE_LEN, COUNTER_PAGES> {
    // SAFETY: the caller's.
    NvmcFlash::new(unsafe { Controller::of_counters() })
}
