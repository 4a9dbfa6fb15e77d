//! The calibrator slot: a region of the code memory that the program does not occupy.

unsafe extern "C" {
    static __calib_slot_start: u8;
    static __calib_slot_end: u8;
}

/// The bytes of the slot.
pub(crate) fn bytes() -> &'static [u8] {
    let (start, end) = (&raw const __calib_slot_start, &raw const __calib_slot_end);
    // SAFETY: `memory.x` sets both symbols around a region of memory that nothing writes while the program
    // runs.
    unsafe { core::slice::from_raw_parts(start, end.addr() - start.addr()) }
}
