//! Arm's MPS2 board, with one of the FPGA images that application notes AN385, AN386, AN500 and AN505 describe.
//!
//! UART0 carries frames, UART1 defmt's log, and LED 0 is the alarm.

#[cfg(feature = "slots")]
mod flash;
mod led;
mod systick;
mod uart;

#[cfg(all(feature = "slots", monitored))]
pub(crate) use flash::{COUNTERS, counters};
#[cfg(feature = "slots")]
pub(crate) use flash::{LAYOUT, WORDS, flash};
use led::Led;
use systick::SysTickMeter;
use uart::{ApbUart, Interrupt};

use crate::pseudo::PseudoEntropy;
use crate::serial::Serial;

/// The addresses of UART0, UART1 and the FPGA's I/O block: AN385, AN386 and AN500, section 3.8, "Memory map".
#[cfg(not(feature = "mps2-an505"))]
mod addr {
    pub(super) const UART0: usize = 0x4000_4000;
    pub(super) const UART1: usize = 0x4000_5000;
    pub(super) const FPGAIO: usize = 0x4002_8000;
}

/// The same in the secure half of AN505's map, section 3.5, "Peripherals".
#[cfg(feature = "mps2-an505")]
mod addr {
    pub(super) const UART0: usize = 0x5020_0000;
    pub(super) const UART1: usize = 0x5020_1000;
    pub(super) const FPGAIO: usize = 0x5030_2000;
}

// Ticks of the core's clock, downwards, and around after 2^24.
defmt::timestamp!("{=u32}", cortex_m::peripheral::SYST::get_current());

/// The parts of the board that this firmware uses, each of which exists once.
pub(crate) struct Board {
    /// The line to the host.
    pub(crate) frames: Serial<ApbUart>,
    /// The alarm.
    pub(crate) alarm: Led,
    /// Time and stack.
    pub(crate) meter: SysTickMeter,
    /// The board has no source of random words: a pseudo-random one stands in, for the emulation only.
    pub(crate) entropy: PseudoEntropy,
}

impl Board {
    /// Takes the board over, once, and starts the log.
    pub(crate) fn take() -> Option<Self> {
        // The core's peripherals exist once, and so does what comes from them.
        let core = cortex_m::Peripherals::take()?;
        // SAFETY: the addresses are the blocks', and as `core` exists once, nothing else uses them.
        let (frames, log, alarm) = unsafe {
            (
                ApbUart::new(addr::UART0, Interrupt::Uart0Rx),
                ApbUart::new(addr::UART1, Interrupt::Uart1Rx),
                alarm(),
            )
        };
        defmt_serial::defmt_serial(cortex_m::singleton!(: Serial<ApbUart> = Serial(log))?);
        let frames = Serial(frames);
        Some(Self { frames, alarm, meter: SysTickMeter::new(core.SYST), entropy: PseudoEntropy::new() })
    }
}

/// The alarm's pin.
///
/// # Safety
///
/// Nothing else uses it, or nothing else will any more.
pub(crate) unsafe fn alarm() -> Led {
    // SAFETY: the caller's.
    unsafe { Led::new(addr::FPGAIO) }
}
