//! LED 1, which is on while its pin is low.

use core::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};
use nrf52840_hal::gpio::p0::P0_13;
use nrf52840_hal::gpio::{Disconnected, Level, Output, PushPull};

/// An LED as an output pin: high is on.
pub(crate) struct Led(P0_13<Output<PushPull>>);

impl Led {
    /// Takes the LED, which is off.
    pub(super) fn new(pin: P0_13<Disconnected>) -> Self {
        Self(pin.into_push_pull_output(Level::High))
    }
}

impl ErrorType for Led {
    type Error = Infallible;
}

impl OutputPin for Led {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.0.set_high()
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.0.set_low()
    }
}
