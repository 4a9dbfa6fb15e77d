//! LED 0 of the FPGA's I/O block (AN386, section 4.1, "FPGAIO").

use core::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};
use vcell::VolatileCell;

const FPGAIO_LED: usize = 0x4002_8000;
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
    /// Nothing else uses the register, or nothing else will any more.
    pub(crate) unsafe fn new() -> Self {
        // SAFETY: the register is always there, and the caller's word that nothing else uses it.
        Self { register: unsafe { &*core::ptr::with_exposed_provenance(FPGAIO_LED) } }
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
