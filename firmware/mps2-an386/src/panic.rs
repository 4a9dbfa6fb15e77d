//! What happens when something that cannot happen happens: the alarm goes on, and the device stops.

use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

use embedded_hal::digital::OutputPin;

use crate::led::Led;

static PANICKED: AtomicBool = AtomicBool::new(false);

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    cortex_m::interrupt::disable();
    // SAFETY: the program does not go on.
    let Ok(()) = unsafe { Led::new() }.set_high();
    // A panic of the logger itself must not log again.
    if !PANICKED.swap(true, Ordering::Relaxed) {
        defmt::error!("{}", defmt::Display2Format(info));
    }
    loop {
        cortex_m::asm::wfi();
    }
}
