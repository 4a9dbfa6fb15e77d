//! Nordic's nRF52840-DK (PCA10056): an nRF52840 with a Cortex-M4F, 1 MB of flash and 256 KB of RAM.
//!
//! The UART on the pins of the debug chip's virtual serial port carries frames, and RTT defmt's log. LED 1 is the alarm.
//! The random words are the hardware generator's. The drivers of UART, timer and flash are those of the nRF51, which run
//! in the emulator; pins, clock and generator are the HAL's.

mod flash;
mod led;
mod rng;

use defmt_rtt as _;
#[cfg(monitored)]
pub(crate) use flash::{COUNTERS, counters};
pub(crate) use flash::{LAYOUT, WORDS, flash};
use led::Led;
use nrf52840_hal::gpio::{Level, p0};
use nrf52840_hal::pac::{P0, Peripherals};
use nrf52840_hal::{Clocks, Rng};
use rng::HardwareEntropy;

use crate::nrf::{NrfUart, Pins, TimerMeter};
use crate::serial::Serial;

/// The pins of the debug chip's serial port.
const USB_PINS: Pins = Pins { tx: 6, rx: 8 };

/// The parts of the board that this firmware uses, each of which exists once.
pub(crate) struct Board {
    /// The line to the host.
    pub(crate) frames: Serial<NrfUart>,
    /// The alarm.
    pub(crate) alarm: Led,
    /// Time and stack.
    pub(crate) meter: TimerMeter,
    /// Random words.
    pub(crate) entropy: HardwareEntropy,
}

impl Board {
    /// Takes the board over, once.
    pub(crate) fn take() -> Option<Self> {
        let peripherals = Peripherals::take()?;
        // The internal oscillator is too far off for the UART.
        Clocks::new(peripherals.CLOCK).enable_ext_hfosc();
        let pins = p0::Parts::new(peripherals.P0);
        // Idle before the UART drives it.
        pins.p0_06.into_push_pull_output(Level::High);
        pins.p0_08.into_floating_input();
        // SAFETY: as the peripherals exist once, nothing else uses UART, TIMER0 or the pins.
        let (frames, meter) = unsafe { (Serial(NrfUart::new(USB_PINS)), TimerMeter::new()) };
        let entropy = HardwareEntropy(Rng::new(peripherals.RNG));
        Some(Self { frames, alarm: Led::new(pins.p0_13), meter, entropy })
    }
}

/// The alarm's pin.
///
/// # Safety
///
/// Nothing else uses it, or nothing else will any more.
pub(crate) unsafe fn alarm() -> Led {
    // SAFETY: only the LED's pin is taken from them, which is the caller's.
    let port: P0 = unsafe { Peripherals::steal() }.P0;
    Led::new(p0::Parts::new(port).p0_13)
}
