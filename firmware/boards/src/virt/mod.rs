//! QEMU's RISC-V machine `virt` with one 32-bit hart.
//!
//! Its one UART carries frames; there is no second one for a log. It has no pin either: the alarm is a byte of memory.

#[cfg(feature = "slots")]
mod flash;
mod meter;
mod pin;
mod uart;

#[cfg(all(feature = "slots", monitored))]
pub(crate) use flash::{COUNTERS, counters};
#[cfg(feature = "slots")]
pub(crate) use flash::{LAYOUT, WORDS, flash};
use meter::CycleMeter;
use pin::MemoryPin;
use uart::Uart16550;

use crate::pseudo::PseudoEntropy;
use crate::serial::Serial;

/// The parts of the machine that this firmware uses, each of which exists once.
pub(crate) struct Board {
    /// The line to the host.
    pub(crate) frames: Serial<Uart16550>,
    /// The alarm.
    pub(crate) alarm: MemoryPin,
    /// Time and stack.
    pub(crate) meter: CycleMeter,
    /// The machine has no source of random words: a pseudo-random one stands in.
    pub(crate) entropy: PseudoEntropy,
}

impl Board {
    /// Takes the machine over, once.
    pub(crate) fn take() -> Option<Self> {
        crate::stack::paint();
        // SAFETY: `main` is called once, and nothing else calls this.
        let frames = Serial(unsafe { Uart16550::new() });
        Some(Self { frames, alarm: MemoryPin, meter: CycleMeter, entropy: PseudoEntropy::new() })
    }
}

/// The alarm's pin.
///
/// # Safety
///
/// None is needed here: the pin is memory.
pub(crate) unsafe fn alarm() -> MemoryPin {
    MemoryPin
}
