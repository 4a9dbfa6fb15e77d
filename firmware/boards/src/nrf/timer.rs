//! TIMER0, which has 32 bits (nRF51 Series Reference Manual, chapter 18; nRF52840 Product Specification, 6.30: the same
//! registers).

use calib_firmware::Meter;
use vcell::VolatileCell;

use super::register;

const TIMER0: usize = 0x4000_8000;
const START: usize = 0x000;
const CAPTURE_0: usize = 0x040;
const MODE: usize = 0x504;
const BIT_MODE: usize = 0x508;
const PRESCALER: usize = 0x510;
const CC_0: usize = 0x540;
const MODE_TIMER: u32 = 0;
const BIT_MODE_32: u32 = 3;

/// Measures time in ticks of the 16 MHz clock, up to 268 s, and the stack by its paint.
pub(crate) struct TimerMeter {
    capture: &'static VolatileCell<u32>,
    captured: &'static VolatileCell<u32>,
}

impl TimerMeter {
    /// Starts the timer.
    ///
    /// # Safety
    ///
    /// Nothing else uses it.
    pub(crate) unsafe fn new() -> Self {
        // SAFETY: the caller's.
        let at = |offset| unsafe { register(TIMER0, offset) };
        at(MODE).set(MODE_TIMER);
        at(BIT_MODE).set(BIT_MODE_32);
        at(PRESCALER).set(0);
        at(START).set(1);
        Self { capture: at(CAPTURE_0), captured: at(CC_0) }
    }

    fn now(&self) -> u32 {
        self.capture.set(1);
        self.captured.get()
    }
}

impl Meter for TimerMeter {
    fn measure_ticks(&mut self, work: impl FnOnce()) -> Option<u32> {
        let start = self.now();
        work();
        // A wrap is a longer time than any request asks for.
        Some(self.now().wrapping_sub(start))
    }

    fn stack_high_water_bytes(&mut self) -> u32 {
        crate::stack::high_water_bytes()
    }
}
