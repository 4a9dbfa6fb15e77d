//! What happens when something that cannot happen happens: the alarm goes on, and the device stops.

use core::panic::PanicInfo;

use embedded_hal::digital::OutputPin;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    #[cfg(target_arch = "arm")]
    cortex_m::interrupt::disable();
    // SAFETY: the program does not go on.
    let Ok(()) = unsafe { crate::board::alarm() }.set_high();
    log(info);
    loop {
        #[cfg(target_arch = "arm")]
        cortex_m::asm::wfi();
        #[cfg(target_arch = "riscv32")]
        riscv::asm::wfi();
    }
}

#[cfg(feature = "defmt")]
fn log(info: &PanicInfo<'_>) {
    use core::sync::atomic::{AtomicBool, Ordering};
    static PANICKED: AtomicBool = AtomicBool::new(false);
    // A panic of the logger itself must not log again.
    if !PANICKED.load(Ordering::Relaxed) {
        PANICKED.store(true, Ordering::Relaxed);
        defmt::error!("{}", defmt::Display2Format(info));
    }
}

/// The board has one serial line, which the frames need.
#[cfg(not(feature = "defmt"))]
fn log(_: &PanicInfo<'_>) {}
