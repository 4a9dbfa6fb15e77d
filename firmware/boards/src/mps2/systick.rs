//! The core's 24-bit timer.

use calib_firmware::Meter;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;

const MAX_TICKS: u32 = 0x00FF_FFFF;

/// Measures time in ticks of the core's clock, 25 MHz (20 MHz in AN505), up to 0.67 s, and the stack by its paint.
pub(crate) struct SysTickMeter {
    timer: SYST,
}

impl SysTickMeter {
    /// Starts the timer, which counts down from its largest value and around.
    pub(crate) fn new(mut timer: SYST) -> Self {
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(MAX_TICKS);
        timer.clear_current();
        timer.enable_counter();
        Self { timer }
    }
}

impl Meter for SysTickMeter {
    fn measure_ticks(&mut self, work: impl FnOnce()) -> Option<u32> {
        // Starts from the top, so that a wrap is an overflow. The clearing takes effect a tick later.
        self.timer.clear_current();
        while SYST::get_current() == 0 {}
        let start = SYST::get_current();
        work();
        let end = SYST::get_current();
        if self.timer.has_wrapped() { None } else { start.checked_sub(end) }
    }

    fn stack_high_water_bytes(&mut self) -> u32 {
        crate::stack::high_water_bytes()
    }
}
