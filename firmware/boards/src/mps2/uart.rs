//! The CMSDK APB UART (Arm DDI 0479, section 4.3, "APB UART").

use cortex_m::interrupt::InterruptNumber;
use vcell::VolatileCell;

use crate::serial::Uart;
use crate::sleep;

/// The clock of the peripherals.
const CLOCK_HZ: u32 = if cfg!(feature = "mps2-an505") { 20_000_000 } else { 25_000_000 };
const BAUD_HZ: u32 = 115_200;

const STATE_TX_FULL: u32 = 1 << 0;
const STATE_RX_FULL: u32 = 1 << 1;
const CTRL_TX_ENABLE: u32 = 1 << 0;
const CTRL_RX_ENABLE: u32 = 1 << 1;
const CTRL_RX_INTERRUPT: u32 = 1 << 3;
const INTERRUPT_RX: u32 = 1 << 1;

#[repr(C)]
struct Registers {
    data: VolatileCell<u32>,
    state: VolatileCell<u32>,
    ctrl: VolatileCell<u32>,
    /// Reads as the interrupts' state; ones that are written clear them.
    interrupt: VolatileCell<u32>,
    baud_div: VolatileCell<u32>,
}

/// The interrupts in use, numbered as in AN385, AN386 and AN500.
#[cfg(not(feature = "mps2-an505"))]
#[derive(Clone, Copy)]
pub(crate) enum Interrupt {
    /// UART0 received a byte.
    Uart0Rx = 0,
    /// UART1 received a byte.
    Uart1Rx = 2,
}

/// The interrupts in use, numbered as in AN505.
#[cfg(feature = "mps2-an505")]
#[derive(Clone, Copy)]
pub(crate) enum Interrupt {
    /// UART0 received a byte.
    Uart0Rx = 32,
    /// UART1 received a byte.
    Uart1Rx = 34,
}

// SAFETY: the numbers are fixed, distinct, and below the number that the part has.
unsafe impl InterruptNumber for Interrupt {
    fn number(self) -> u16 {
        self as u16
    }
}

/// The port, with 115 200 baud.
///
/// It holds one received byte: the host waits for a reply before it sends the next request.
pub(crate) struct ApbUart {
    registers: &'static Registers,
    interrupt: Interrupt,
}

impl ApbUart {
    /// Starts the port.
    ///
    /// # Safety
    ///
    /// `address` is that of a UART which raises `interrupt`, and nothing else uses it.
    pub(crate) unsafe fn new(address: usize, interrupt: Interrupt) -> Self {
        // SAFETY: the caller's; the registers are laid out like the block's, and always there.
        let registers = unsafe { &*core::ptr::with_exposed_provenance::<Registers>(address) };
        registers.baud_div.set(CLOCK_HZ / BAUD_HZ);
        registers.ctrl.set(CTRL_TX_ENABLE | CTRL_RX_ENABLE | CTRL_RX_INTERRUPT);
        Self { registers, interrupt }
    }

    fn is(&self, state: u32) -> bool {
        self.registers.state.get() & state != 0
    }
}

impl Uart for ApbUart {
    fn take(&mut self) -> Option<u8> {
        self.is(STATE_RX_FULL).then(|| self.registers.data.get() as u8)
    }

    fn wait_for_byte(&mut self) {
        let clear = || self.registers.interrupt.set(INTERRUPT_RX);
        sleep::until_received(self.interrupt, clear, || self.is(STATE_RX_FULL));
    }

    fn is_sending(&self) -> bool {
        self.is(STATE_TX_FULL)
    }

    fn put(&mut self, byte: u8) {
        self.registers.data.set(byte.into());
    }
}
