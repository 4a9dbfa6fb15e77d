//! The UART (nRF51 Series Reference Manual, chapter 29; nRF52840 Product Specification, 6.33: the same registers).

use cortex_m::interrupt::InterruptNumber;
use vcell::VolatileCell;

use super::register;
use crate::serial::Uart;
use crate::sleep;

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

#[derive(Clone, Copy)]
struct Interrupt;

// SAFETY: the number is UART0's, fixed, and below the number that either part has.
unsafe impl InterruptNumber for Interrupt {
    fn number(self) -> u16 {
        2
    }
}

/// The pins that the port uses, by their numbers in port 0.
#[derive(Clone, Copy)]
pub(crate) struct Pins {
    /// The device sends on it.
    pub(crate) tx: u32,
    /// The device receives on it.
    pub(crate) rx: u32,
}

/// The port, with 115 200 baud. It holds six received bytes.
pub(crate) struct NrfUart {
    rx_ready: &'static VolatileCell<u32>,
    tx_ready: &'static VolatileCell<u32>,
    rx: &'static VolatileCell<u32>,
    tx: &'static VolatileCell<u32>,
    /// A byte is on its way out.
    sending: bool,
}

impl NrfUart {
    /// Starts the port.
    ///
    /// # Safety
    ///
    /// Nothing else uses it or the pins.
    pub(crate) unsafe fn new(pins: Pins) -> Self {
        // SAFETY: the caller's.
        let at = |offset| unsafe { register(UART0, offset) };
        at(PIN_TX).set(pins.tx);
        at(PIN_RX).set(pins.rx);
        at(BAUD_RATE).set(BAUD_115200);
        at(ENABLE).set(ENABLED);
        at(INTERRUPT_SET).set(INTERRUPT_RX_READY);
        at(START_TX).set(1);
        at(START_RX).set(1);
        Self { rx_ready: at(RX_READY), tx_ready: at(TX_READY), rx: at(RX), tx: at(TX), sending: false }
    }
}

impl Uart for NrfUart {
    fn take(&mut self) -> Option<u8> {
        if self.rx_ready.get() == 0 {
            return None;
        }
        // Cleared first: reading moves the next byte up, which raises it again.
        self.rx_ready.set(0);
        Some(self.rx.get() as u8)
    }

    fn wait_for_byte(&mut self) {
        // Taking a byte clears it.
        sleep::until_received(Interrupt, || (), || self.rx_ready.get() != 0);
    }

    fn is_sending(&self) -> bool {
        self.sending && self.tx_ready.get() == 0
    }

    fn put(&mut self, byte: u8) {
        self.tx_ready.set(0);
        self.tx.set(byte.into());
        self.sending = true;
    }
}
