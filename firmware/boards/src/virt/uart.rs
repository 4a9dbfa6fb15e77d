//! The UART, a 16550, and the interrupt controller that wakes the hart for it.

use core::convert::Infallible;

use embedded_io::{ErrorType, Read, Write};
use riscv::register::mie;
use vcell::VolatileCell;

const UART: usize = 0x1000_0000;
const LINE_RX_FULL: u8 = 1 << 0;
const LINE_TX_EMPTY: u8 = 1 << 5;
const INTERRUPT_RX: u8 = 1 << 0;

/// The platform-level interrupt controller, for hart 0 in machine mode (RISC-V PLIC specification, 1.0).
const PLIC: usize = 0x0C00_0000;
const PLIC_PRIORITY: usize = 0x0;
const PLIC_ENABLE: usize = 0x2000;
const PLIC_THRESHOLD: usize = 0x20_0000;
const PLIC_CLAIM: usize = 0x20_0004;
/// The UART's interrupt.
const SOURCE: u32 = 10;

#[repr(C)]
struct Registers {
    /// Received when read, sent when written.
    data: VolatileCell<u8>,
    interrupt_enable: VolatileCell<u8>,
    _fifo: VolatileCell<u8>,
    _line_control: VolatileCell<u8>,
    _modem_control: VolatileCell<u8>,
    line_status: VolatileCell<u8>,
}

/// A serial port that blocks.
///
/// It holds one received byte: switching the port's buffer on would drop what came before.
pub(crate) struct Uart {
    registers: &'static Registers,
    claim: &'static VolatileCell<u32>,
}

impl Uart {
    /// Starts the port, and lets its interrupt wake the hart. No handler runs: interrupts stay disabled as a whole.
    ///
    /// # Safety
    ///
    /// Nothing else uses the UART or the interrupt controller.
    pub(super) unsafe fn new() -> Self {
        // SAFETY: the caller's; the registers are laid out like the block's, and always there.
        let registers = unsafe { &*core::ptr::with_exposed_provenance::<Registers>(UART) };
        // SAFETY: the caller's.
        let plic =
            |offset| unsafe { &*core::ptr::with_exposed_provenance::<VolatileCell<u32>>(PLIC + offset) };
        plic(PLIC_PRIORITY + 4 * SOURCE as usize).set(1);
        plic(PLIC_ENABLE).set(1 << SOURCE);
        plic(PLIC_THRESHOLD).set(0);
        registers.interrupt_enable.set(INTERRUPT_RX);
        // SAFETY: interrupts are disabled as a whole, so that this only ends a sleep.
        unsafe { mie::set_mext() };
        Self { registers, claim: plic(PLIC_CLAIM) }
    }

    fn is(&self, status: u8) -> bool {
        self.registers.line_status.get() & status != 0
    }

    /// Sleeps until a byte is there.
    fn wait_for_byte(&self) {
        while !self.is(LINE_RX_FULL) {
            riscv::asm::wfi();
            // Taken and done: the controller raises it again for the next byte.
            self.claim.set(self.claim.get());
        }
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
            if !self.is(LINE_RX_FULL) {
                break;
            }
            *byte = self.registers.data.get();
            len += 1;
        }
        Ok(len)
    }
}

impl Write for Uart {
    fn write(&mut self, buf: &[u8]) -> Result<usize, Infallible> {
        for &byte in buf {
            self.flush()?;
            self.registers.data.set(byte);
        }
        Ok(buf.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        while !self.is(LINE_TX_EMPTY) {}
        Ok(())
    }
}
