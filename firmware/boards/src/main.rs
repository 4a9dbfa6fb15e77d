//! calib on the boards that QEMU emulates, and on the nRF52840-DK.
//!
//! A serial line carries frames, a pin is the alarm, and the end of the code memory is the calibrator slot. What is
//! different on each board is behind `board::Board`.
#![no_std]
#![no_main]

mod classifier;
mod monitors;
#[cfg(feature = "nrf")]
mod nrf;
mod panic;
#[cfg(not(feature = "nrf"))]
mod pseudo;
mod serial;
#[cfg(target_arch = "arm")]
mod sleep;
#[cfg(not(feature = "slots"))]
mod slot;
mod stack;
mod trust;
#[cfg(feature = "slots")]
mod updatable;

#[cfg(feature = "microbit")]
#[path = "microbit/mod.rs"]
mod board;
#[cfg(feature = "mps2")]
#[path = "mps2/mod.rs"]
mod board;
#[cfg(feature = "nrf52840-dk")]
#[path = "nrf52840_dk/mod.rs"]
mod board;
#[cfg(feature = "virt")]
#[path = "virt/mod.rs"]
mod board;

use board::Board;

#[cfg_attr(target_arch = "arm", cortex_m_rt::entry)]
#[cfg_attr(target_arch = "riscv32", riscv_rt::entry)]
fn main() -> ! {
    let Some(board) = Board::take() else {
        panic!("the board was taken before");
    };
    #[cfg(feature = "slots")]
    updatable::run(board);
    #[cfg(not(feature = "slots"))]
    run(board)
}

/// Answers the host for good, with the calibrator in the one slot, whose signature nobody looks at: a build with a key does
/// not compile with this.
#[cfg(not(feature = "slots"))]
fn run(board: Board) -> ! {
    use calib_firmware::{Alarm, Classifier, Device, Slot, Watch as _, serve};
    use classifier::{ALARM_RULE, CLASSIFIER};

    let Board { mut frames, alarm, meter, entropy } = board;
    let Ok(alarm) = Alarm::new(alarm, ALARM_RULE);
    let mut monitors = monitors::take();
    let room = monitors.room();
    let slot = Slot::read_watched(slot::bytes(), trust::trust(), CLASSIFIER.id(), CLASSIFIER.task(), room);
    let mut device = Device::with_parts((&CLASSIFIER, alarm, meter, entropy, &mut monitors), slot);
    // A line without errors never ends.
    match serve(&mut frames, &mut device) {
        Ok(()) => panic!("the line ended"),
        Err(_) => panic!("the line or the pin failed"),
    }
}
