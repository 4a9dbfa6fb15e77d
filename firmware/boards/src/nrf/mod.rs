//! What Nordic's nRF51 and nRF52 have in common: the same blocks at the same addresses.
//!
//! The emulator has the nRF51 alone; what is here runs in it, and on the nRF52840 unchanged.

#[cfg(feature = "slots")]
mod flash;
mod timer;
mod uart;

#[cfg(feature = "slots")]
pub(crate) use flash::Controller;
pub(crate) use timer::TimerMeter;
pub(crate) use uart::{NrfUart, Pins};

/// A register of the block at `block`.
///
/// # Safety
///
/// It is there, and nothing else uses it.
pub(crate) unsafe fn register(block: usize, offset: usize) -> &'static vcell::VolatileCell<u32> {
    // SAFETY: the caller's; registers are words and always there.
    unsafe { &*core::ptr::with_exposed_provenance(block + offset) }
}
