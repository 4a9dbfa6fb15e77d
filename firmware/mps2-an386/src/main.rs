//! calib on Arm's MPS2 board with a Cortex-M4F (application note AN386), as QEMU emulates it.
//!
//! UART0 carries frames, UART1 defmt's log, LED 0 is the alarm, and the last 64 KB of the code memory are the
//! calibrator slot. The board has no source of random words: a pseudo-random one stands in, for the emulation only.
#![no_std]
#![no_main]

mod board;
mod classifier;
mod entropy;
mod led;
mod panic;
mod slot;
mod systick;
mod uart;

use board::Board;
use calib_firmware::{Alarm, Device, serve};
use cortex_m_rt::entry;
use defmt::unwrap;

use classifier::{ALARM_RULE, CLASSIFIER};
use entropy::PseudoEntropy;

#[entry]
fn main() -> ! {
    let core = unwrap!(cortex_m::Peripherals::take());
    let Board { mut frames, log, alarm, meter } = Board::new(core);
    defmt_serial::defmt_serial(unwrap!(cortex_m::singleton!(: uart::Uart = log)));

    let alarm = unwrap!(Alarm::new(alarm, ALARM_RULE));
    let mut device = Device::new(&CLASSIFIER, slot::bytes(), alarm, meter, PseudoEntropy::new());
    let end = serve(&mut frames, &mut device);
    defmt::panic!("serving ended: {}", end);
}
