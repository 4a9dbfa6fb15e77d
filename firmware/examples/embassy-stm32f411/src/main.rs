//! Embassy on an STM32F411: a score in over the serial line, two probabilities out.
#![no_std]
#![no_main]

use calib_example_calibrator::answer;
use embassy_executor::Spawner;
use embassy_stm32::bind_interrupts;
use embassy_stm32::dma;
use embassy_stm32::peripherals::{DMA2_CH2, DMA2_CH7, USART1};
use embassy_stm32::usart::{self, Uart};
use panic_halt as _;

bind_interrupts!(struct Interrupts {
    USART1 => usart::InterruptHandler<USART1>;
    DMA2_STREAM2 => dma::InterruptHandler<DMA2_CH2>;
    DMA2_STREAM7 => dma::InterruptHandler<DMA2_CH7>;
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
    let p = embassy_stm32::init(Default::default());
    let config = usart::Config::default();
    let line = Uart::new(p.USART1, p.PA10, p.PA9, p.DMA2_CH7, p.DMA2_CH2, Interrupts, config);
    let mut line = line.expect("115 200 baud can be had");
    let mut score = [0; 4];
    loop {
        // A faulty line is heard as silence.
        if line.read(&mut score).await.is_ok() {
            let _ = line.write(&answer(slot(), score)).await;
        }
    }
}
