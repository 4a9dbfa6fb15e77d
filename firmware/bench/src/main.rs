//! Counts instructions, in an emulator where every instruction takes a nanosecond, and prints them.
//!
//! `cargo xtask bench device` builds and runs this, and explains the numbers. Semihosting prints: this is no program for a
//! real device.
#![no_std]
#![no_main]

mod artifacts;
mod host;
mod margins;
mod measure;
mod monitor;
mod ours;
#[cfg(peers)]
mod peers;
mod rules;
mod scores;
mod ticks;
mod watched;

use core::panic::PanicInfo;

use measure::Bench;

#[cfg_attr(target_arch = "arm", cortex_m_rt::entry)]
#[cfg_attr(target_arch = "riscv32", riscv_rt::entry)]
fn main() -> ! {
    let mut bench = Bench::new();
    // None of them is inlined: a core has 16 KiB of stack, and together they keep more.
    ours::run(&mut bench);
    margins::run(&mut bench);
    rules::run(&mut bench);
    monitor::run(&mut bench);
    watched::run(&mut bench);
    #[cfg(peers)]
    peers::run(&mut bench);
    host::exit(true)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    host::print(format_args!("panic: {info}\n"));
    host::exit(false)
}
