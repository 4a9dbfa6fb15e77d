//! The hart's count of instructions.

use calib_firmware::Meter;
use riscv::register::minstret;

/// Measures time in instructions, up to 2^32 of them, and the stack by its paint.
pub(crate) struct CycleMeter;

impl Meter for CycleMeter {
    fn measure_ticks(&mut self, work: impl FnOnce()) -> Option<u32> {
        let start = minstret::read64();
        work();
        u32::try_from(minstret::read64() - start).ok()
    }

    fn stack_high_water_bytes(&mut self) -> u32 {
        crate::stack::high_water_bytes()
    }
}
