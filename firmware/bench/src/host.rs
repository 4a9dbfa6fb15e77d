//! Semihosting: the emulator prints, and ends.

use core::fmt::{self, Write};

const SYS_WRITEC: usize = 0x03;
const SYS_EXIT: usize = 0x18;
const STOPPED_EXIT: usize = 0x2_0026;
const STOPPED_ERROR: usize = 0x2_0023;

struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            call(SYS_WRITEC, (&raw const byte).addr());
        }
        Ok(())
    }
}

/// Prints on the emulator's console.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    // The console takes everything.
    let _ = Console.write_fmt(text);
}

/// Ends the emulator.
pub(crate) fn exit(success: bool) -> ! {
    call(SYS_EXIT, if success { STOPPED_EXIT } else { STOPPED_ERROR });
    loop {
        core::hint::spin_loop();
    }
}

#[cfg(target_arch = "arm")]
fn call(operation: usize, argument: usize) {
    // SAFETY: the emulator's semihosting reads at most the byte at `argument`, and changes only r0.
    unsafe {
        core::arch::asm!("bkpt #0xAB", inout("r0") operation => _, in("r1") argument, options(nostack));
    }
}

#[cfg(target_arch = "riscv32")]
fn call(operation: usize, argument: usize) {
    // SAFETY: as on Arm; the three instructions, uncompressed and next to each other, are what the emulator looks for.
    unsafe {
        core::arch::asm!(
            ".balign 16",
            ".option push",
            ".option norvc",
            "slli zero, zero, 0x1f",
            "ebreak",
            "srai zero, zero, 7",
            ".option pop",
            inout("a0") operation => _,
            in("a1") argument,
            options(nostack)
        );
    }
}
