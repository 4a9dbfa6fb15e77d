//! LED 0 of the FPGA's I/O block (AN386, section 4.1, "FPGAIO"; the same in the other images).

use core::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};
use vcell::VolatileCell;

const LED_0: u32 = 1 << 0;

/// An LED as an output pin.
pub(crate) struct Led {
    register: &'static VolatileCell<u32>,
}

impl Led {
    /// Takes the LED.
    ///
    /// # Safety
    ///
    /// `fpgaio` is the block's address, and nothing else uses its first register, or nothing else will any more.
    pub(super) unsafe fn new(fpgaio: usize) -> Self {
        // SAFETY: the register is always there, and the caller's word that nothing else uses it.
        Self { register: unsafe { &*core::ptr::with_exposed_provenance(fpgaio) } }
    }
}

impl ErrorType for Led {
    type Error = Infallible;
}

impl OutputPin for Led {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.register.set(self.register.get() & !LED_0);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.register.set(self.register.get() | LED_0);
        Ok(())
    }
}
