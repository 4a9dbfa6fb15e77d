//! The UART (chapter 29, "UART").

use core::convert::Infallible;

use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::NVIC;
use embedded_io::{ErrorType, Read, Write};
use vcell::VolatileCell;

use super::register;

const UART0: usize = 0x4000_2000;
const START_RX: usize = 0x000;
const START_TX: usize = 0x008;
const RX_READY: usize = 0x108;
const TX_READY: usize = 0x11C;
const INTERRUPT_SET: usize = 0x304;
const ENABLE: usize = 0x500;
const PIN_TX: usize = 0x50C;
const PIN_RX: usize = 0x514;
const RX: usize = 0x518;
const TX: usize = 0x51C;
const BAUD_RATE: usize = 0x524;

const ENABLED: u32 = 4;
const INTERRUPT_RX_READY: u32 = 1 << 2;
const BAUD_115200: u32 = 0x01D7_E000;
/// The pins of the micro:bit's USB interface.
const USB_TX: u32 = 24;
const USB_RX: u32 = 25;

#[derive(Clone, Copy)]
struct Interrupt;

// SAFETY: the number is UART0's, fixed, and below the 32 that the part has.
unsafe impl InterruptNumber for Interrupt {
    fn number(self) -> u16 {
        2
    }
}

/// A serial port that blocks, with 115 200 baud. It holds six received bytes.
pub(crate) struct Uart {
    rx_ready: &'static VolatileCell<u32>,
    tx_ready: &'static VolatileCell<u32>,
    rx: &'static VolatileCell<u32>,
    tx: &'static VolatileCell<u32>,
    /// A byte is on its way out.
    sending: bool,
}

impl Uart {
    /// Starts the port.
    ///
    /// # Safety
    ///
    /// Nothing else uses it.
    pub(super) unsafe fn new() -> Self {
        // SAFETY: the caller's.
        let at = |offset| unsafe { register(UART0, offset) };
        at(PIN_TX).set(USB_TX);
        at(PIN_RX).set(USB_RX);
        at(BAUD_RATE).set(BAUD_115200);
        at(ENABLE).set(ENABLED);
        at(INTERRUPT_SET).set(INTERRUPT_RX_READY);
        at(START_TX).set(1);
        at(START_RX).set(1);
        Self { rx_ready: at(RX_READY), tx_ready: at(TX_READY), rx: at(RX), tx: at(TX), sending: false }
    }

    /// Sleeps until a byte is there.
    ///
    /// The interrupt is enabled only here, and masked here: it wakes the core without a handler to run. One
    /// that comes between the check and the sleep stays pending and ends the sleep at once.
    fn wait_for_byte(&self) {
        if self.rx_ready.get() != 0 {
            return;
        }
        cortex_m::interrupt::free(|_| {
            // SAFETY: interrupts are masked, so no critical section is broken.
            unsafe { NVIC::unmask(Interrupt) };
            loop {
                NVIC::unpend(Interrupt);
                if self.rx_ready.get() != 0 {
                    break;
                }
                cortex_m::asm::wfi();
            }
            NVIC::mask(Interrupt);
        });
    }
}

impl ErrorType for Uart {
    type Error = Infallible;
}

impl Read for Uart {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, Infallible> {
        if buf.is_empty() {
            return Ok(0);
        }
        self.wait_for_byte();
        let mut len = 0;
        for byte in buf {
            if self.rx_ready.get() == 0 {
                break;
            }
            // Cleared first: reading moves the next byte up, which raises it again.
            self.rx_ready.set(0);
            *byte = self.rx.get() as u8;
            len += 1;
        }
        Ok(len)
    }
}

impl Write for Uart {
    fn write(&mut self, buf: &[u8]) -> Result<usize, Infallible> {
        for &byte in buf {
            self.flush()?;
            self.tx.set(byte.into());
            self.sending = true;
        }
        Ok(buf.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        if self.sending {
            while self.tx_ready.get() == 0 {}
            self.tx_ready.set(0);
            self.sending = false;
        }
        Ok(())
    }
}
