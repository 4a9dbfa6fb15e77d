//! What is on the board.

use crate::led::Led;
use crate::systick::SysTickMeter;
use crate::uart::{Interrupt, Uart};

/// The parts of the board that this firmware uses, each of which exists once.
pub(crate) struct Board {
    /// The line to the host.
    pub(crate) frames: Uart,
    /// The line of the log.
    pub(crate) log: Uart,
    /// The alarm.
    pub(crate) alarm: Led,
    /// Time and stack.
    pub(crate) meter: SysTickMeter,
}

impl Board {
    /// Takes the board over. The core's peripherals exist once, and so does what comes from them.
    pub(crate) fn new(core: cortex_m::Peripherals) -> Self {
        // SAFETY: the addresses are those of UART0, UART1 and the FPGA's I/O block in AN386, section 3.8,
        // "Memory map", and as `core` exists once, nothing else uses them.
        let (frames, log, alarm) = unsafe {
            (
                Uart::new(0x4000_4000, Interrupt::Uart0Rx),
                Uart::new(0x4000_5000, Interrupt::Uart1Rx),
                Led::new(),
            )
        };
        Self { frames, log, alarm, meter: SysTickMeter::new(core.SYST) }
    }
}
