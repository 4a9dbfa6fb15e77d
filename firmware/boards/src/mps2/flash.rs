//! The regions of the calibrator slot and of the counters, which are memory on these boards, as flash.

#[cfg(monitored)]
use calib_core::journal::JournalLayout;
use calib_core::{Erased, SlotLayout};
use calib_drivers::RamFlash;

const SECTOR_LEN: usize = 4096;
const SLOT_LEN: u32 = 32 << 10;

/// The memory behind flash's rules.
pub(crate) type Flash = RamFlash<'static, 4, SECTOR_LEN>;

/// Two halves. Memory is zero when the emulator starts.
pub(crate) const LAYOUT: SlotLayout =
    SlotLayout { offsets: [0, SLOT_LEN], len_bytes: SLOT_LEN, erased: Erased::Zeros };

/// The longest calibrator is of 8 KB; there are two buffers of that.
pub(crate) const WORDS: usize = 2048;

/// Two sectors.
#[cfg(monitored)]
pub(crate) const COUNTERS: JournalLayout =
    JournalLayout { offset: 0, len_bytes: 2 * SECTOR_LEN as u32, erased: Erased::Zeros };

/// Takes the slots over.
///
/// # Safety
///
/// Nothing else uses their region.
pub(crate) unsafe fn flash() -> Flash {
    unsafe extern "C" {
        static mut __calib_slot_start: u8;
        static __calib_slot_end: u8;
    }
    let (start, end) = (&raw mut __calib_slot_start, &raw const __calib_slot_end);
    // SAFETY: `memory.x` sets both symbols around a region of memory that is the slot's; the caller's word that nothing
    // else uses it.
    RamFlash::new(unsafe { core::slice::from_raw_parts_mut(start, end.addr() - start.addr()) })
}

/// Takes the sectors of the counters over.
///
/// # Safety
///
/// Nothing else uses their region.
#[cfg(monitored)]
pub(crate) unsafe fn counters() -> Flash {
    unsafe extern "C" {
        static mut __calib_counters_start: u8;
        static __calib_counters_end: u8;
    }
    let (start, end) = (&raw mut __calib_counters_start, &raw const __calib_counters_end);
    // SAFETY: `memory.x` sets both symbols around a region of memory that is the counters'; the caller's word that nothing
    // else uses it.
    RamFlash::new(unsafe { core::slice::from_raw_parts_mut(start, end.addr() - start.addr()) })
}
