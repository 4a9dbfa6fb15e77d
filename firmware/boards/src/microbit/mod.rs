//! The micro:bit: an nRF51822 with a Cortex-M0, 256 KB of flash and 16 KB of RAM (nRF51 Series Reference Manual, 3.0).
//!
//! The UART on the pins of the USB interface carries frames; there is no second one for a log. The LED at the top left
//! is the alarm. The random words are the hardware generator's.

mod led;
mod rng;
mod timer;
mod uart;

use led::Led;
use rng::Rng;
use timer::TimerMeter;
use uart::Uart;

/// The parts of the board that this firmware uses, each of which exists once.
pub(crate) struct Board {
    /// The line to the host.
    pub(crate) frames: Uart,
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
            unsafe { (Uart::new(), alarm(), TimerMeter::new(), Rng::new()) };
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

/// A register of the block at `block`.
///
/// # Safety
///
/// It is there, and nothing else uses it.
unsafe fn register(block: usize, offset: usize) -> &'static vcell::VolatileCell<u32> {
    // SAFETY: the caller's; registers are words and always there.
    unsafe { &*core::ptr::with_exposed_provenance(block + offset) }
}
