//! Sleeping until a byte is received.

use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::NVIC;

/// Sleeps until a byte is there; returns at once if one is. `clear` lets the peripheral raise its interrupt anew.
///
/// The interrupt is enabled only here, and masked here: it wakes the core without a handler to run. One that comes between
/// the check and the sleep stays pending and ends the sleep at once.
pub(crate) fn until_received(interrupt: impl InterruptNumber, clear: impl Fn(), is_there: impl Fn() -> bool) {
    if is_there() {
        return;
    }
    cortex_m::interrupt::free(|_| {
        // SAFETY: interrupts are masked, so no critical section is broken.
        unsafe { NVIC::unmask(interrupt) };
        loop {
            clear();
            NVIC::unpend(interrupt);
            if is_there() {
                break;
            }
            cortex_m::asm::wfi();
        }
        NVIC::mask(interrupt);
    });
}
