//! The micro:bit: an nRF51822 with a Cortex-M0, 256 KB of flash and 16 KB of RAM (nRF51 Series Reference Manual, 3.0).
//!
//! The UART on the pins of the USB interface carries frames; there is no second one for a log. The LED at the top left
//! is the alarm. The random words are the hardware generator's.

#[cfg(feature = "slots")]
mod flash;
mod led;
mod rng;

#[cfg(all(feature = "slots", monitored))]
pub(crate) use flash::{COUNTERS, counters};
#[cfg(feature = "slots")]
pub(crate) use flash::{LAYOUT, WORDS, flash};
use led::Led;
use rng::Rng;

use crate::nrf::{NrfUart, Pins, TimerMeter};
use crate::serial::Serial;

/// The pins of the USB interface.
const USB_PINS: Pins = Pins { tx: 24, rx: 25 };

/// The parts of the board that this firmware uses, each of which exists once.
pub(crate) struct Board {
    /// The line to the host.
    pub(crate) frames: Serial<NrfUart>,
    /// The alarm.
    pub(crate) alarm: Led,
    /// Time and stack.
    pub(crate) meter: TimerMeter,
    /// Random words.
    pub(crate) entropy: Rng,
}

impl Board {
    /// Takes the board over, once.
    pub(crate) fn take() -> Option<Self> {
        // The core's peripherals exist once, and so does what comes with them.
        let _core = cortex_m::Peripherals::take()?;
        // SAFETY: as they exist once, nothing else uses the blocks.
        let (frames, alarm, meter, entropy) =
            unsafe { (Serial(NrfUart::new(USB_PINS)), alarm(), TimerMeter::new(), Rng::new()) };
        Some(Self { frames, alarm, meter, entropy })
    }
}

/// The alarm's pin.
///
/// # Safety
///
/// Nothing else uses it, or nothing else will any more.
pub(crate) unsafe fn alarm() -> Led {
    // SAFETY: the caller's.
    unsafe { Led::new() }
}
