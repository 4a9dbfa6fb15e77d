//! The UART, a 16550, and the interrupt controller that wakes the hart for it.

use riscv::register::mie;
use vcell::VolatileCell;

use crate::serial::Uart;

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

/// The port.
///
/// It holds one received byte: switching the port's buffer on would drop what came before.
pub(crate) struct Uart16550 {
    registers: &'static Registers,
    claim: &'static VolatileCell<u32>,
}

impl Uart16550 {
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
}

impl Uart for Uart16550 {
    fn take(&mut self) -> Option<u8> {
        self.is(LINE_RX_FULL).then(|| self.registers.data.get())
    }

    fn wait_for_byte(&mut self) {
        while !self.is(LINE_RX_FULL) {
            riscv::asm::wfi();
            // Taken and done: the controller raises it again for the next byte.
            self.claim.set(self.claim.get());
        }
    }

    fn is_sending(&self) -> bool {
        !self.is(LINE_TX_EMPTY)
    }

    fn put(&mut self, byte: u8) {
        self.registers.data.set(byte);
    }
}
