//! Links only if no path to a panic is left in the functions of calib-core, of the firmware's library and of the library for C.
//!
//! The panic handler calls a function that does not exist. `prove` calls the public functions with inputs of which the
//! compiler knows nothing; whatever of them may panic keeps the handler, and the linker says so.
//!
//! Left out: text (`Display` and `Debug`), because core's own formatting of floats holds panics; and what is a board's own
//! (its serial port, flash, start-up code and panic handler).
#![no_std]
#![no_main]

mod any;
mod c;
mod device;
mod entries;
mod functions;
mod line;
mod monitor;
mod rules;
mod slots;
mod writing;

use core::panic::PanicInfo;

unsafe extern "C" {
    fn a_function_of_calib_core_can_panic() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: it does not exist, so that nothing that calls it is ever linked.
    unsafe { a_function_of_calib_core_can_panic() }
}

#[unsafe(no_mangle)]
extern "C" fn prove() {
    functions::prove();
    entries::prove();
    device::prove();
    writing::prove();
    line::prove();
    monitor::prove();
    rules::prove();
    slots::prove();
    c::prove();
    #[cfg(feature = "control")]
    control();
}

/// What the linker must find: an index that may be out of bounds.
#[cfg(feature = "control")]
fn control() {
    any::keep(any::floats()[any::any::<usize>()]);
}
