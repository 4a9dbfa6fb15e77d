//! The LED at the top left: row 1, column 1 of the matrix (chapter 14, "GPIO").

use core::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};
use vcell::VolatileCell;

use crate::nrf::register;

const GPIO: usize = 0x5000_0000;
const OUT_SET: usize = 0x508;
const OUT_CLR: usize = 0x50C;
const DIR_SET: usize = 0x518;
const ROW_1: u32 = 1 << 13;
const COLUMN_1: u32 = 1 << 4;

/// An LED as an output pin: on with its row high and its column low.
pub(crate) struct Led {
    set: &'static VolatileCell<u32>,
    clear: &'static VolatileCell<u32>,
}

impl Led {
    /// Takes the LED.
    ///
    /// # Safety
    ///
    /// Nothing else uses the two pins, or nothing else will any more.
    pub(super) unsafe fn new() -> Self {
        // SAFETY: writing ones to these registers changes these two pins alone, which are the caller's.
        let (set, clear, direction) =
            unsafe { (register(GPIO, OUT_SET), register(GPIO, OUT_CLR), register(GPIO, DIR_SET)) };
        clear.set(COLUMN_1);
        direction.set(ROW_1 | COLUMN_1);
        Self { set, clear }
    }
}

impl ErrorType for Led {
    type Error = Infallible;
}

impl OutputPin for Led {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.clear.set(ROW_1);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.set.set(ROW_1);
        Ok(())
    }
}
