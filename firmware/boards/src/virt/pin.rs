//! A pin that is a byte of memory, for a machine without pins.

use core::convert::Infallible;
use core::sync::atomic::{AtomicBool, Ordering};

use embedded_hal::digital::{ErrorType, OutputPin};

/// For a debugger to read.
static ALARM: AtomicBool = AtomicBool::new(true);

/// The alarm as an output pin.
pub(crate) struct MemoryPin;

impl ErrorType for MemoryPin {
    type Error = Infallible;
}

impl OutputPin for MemoryPin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        ALARM.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        ALARM.store(true, Ordering::Relaxed);
        Ok(())
    }
}
