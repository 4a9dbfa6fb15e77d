//! Embassy on an nRF52840: a score in over the serial line, two probabilities out.
#![no_std]
#![no_main]

use calib_example_calibrator::answer;
use embassy_executor::Spawner;
use embassy_nrf::bind_interrupts;
use embassy_nrf::peripherals::UARTE0;
use embassy_nrf::uarte::{self, Uarte};
use panic_halt as _;

bind_interrupts!(struct Interrupts {
    UARTE0 => uarte::InterruptHandler<UARTE0>;
});

/// Where the artifact is, by `memory.x`.
fn slot() -> &'static [u8] {
    unsafe extern "C" {
        static CALIBRATOR: [u8; 4096];
    }
    // SAFETY: the linker script leaves these bytes of flash to the calibrator, and nothing writes them while the program runs.
    unsafe { &CALIBRATOR }
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let p = embassy_nrf::init(Default::default());
    let mut line = Uarte::new(p.UARTE0, p.P0_08, p.P0_06, Interrupts, uarte::Config::default());
    let mut score = [0; 4];
    loop {
        // A faulty line is heard as silence.
        if line.read(&mut score).await.is_ok() {
            let _ = line.write(&answer(slot(), score)).await;
        }
    }
}
