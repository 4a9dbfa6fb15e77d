//! Embassy on an RP2350: a score in over the serial line, two probabilities out.
#![no_std]
#![no_main]

use calib_example_calibrator::answer;
use embassy_executor::Spawner;
use embassy_rp::bind_interrupts;
use embassy_rp::dma;
use embassy_rp::peripherals::{DMA_CH0, DMA_CH1, UART0};
use embassy_rp::uart::{self, Uart};
use panic_halt as _;

bind_interrupts!(struct Interrupts {
    UART0_IRQ => uart::InterruptHandler<UART0>;
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>, dma::InterruptHandler<DMA_CH1>;
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
    let p = embassy_rp::init(Default::default());
    let config = uart::Config::default();
    let mut line = Uart::new(p.UART0, p.PIN_0, p.PIN_1, Interrupts, p.DMA_CH0, p.DMA_CH1, config);
    let mut score = [0; 4];
    loop {
        // A faulty line is heard as silence.
        if line.read(&mut score).await.is_ok() {
            let _ = line.write(&answer(slot(), score)).await;
        }
    }
}
