//! The core's own clock: SysTick, or the count of instructions.

/// Starts the clock.
#[cfg(target_arch = "arm")]
pub(crate) fn start() {
    use cortex_m::peripheral::syst::SystClkSource;
    let Some(mut core) = cortex_m::Peripherals::take() else { return };
    core.SYST.set_clock_source(SystClkSource::Core);
    core.SYST.set_reload(0x00FF_FFFF);
    core.SYST.clear_current();
    core.SYST.enable_counter();
}

/// Ticks up to 2^24.
#[cfg(target_arch = "arm")]
#[inline(always)]
pub(crate) fn now() -> u32 {
    0x00FF_FFFF - cortex_m::peripheral::SYST::get_current()
}

/// The ticks between two times.
pub(crate) const fn between(start: u32, end: u32) -> u32 {
    let ticks = end.wrapping_sub(start);
    if cfg!(target_arch = "arm") { ticks & 0x00FF_FFFF } else { ticks }
}

/// Nothing to start: the hart counts its instructions.
#[cfg(target_arch = "riscv32")]
pub(crate) fn start() {}

/// Instructions, up to 2^32.
#[cfg(target_arch = "riscv32")]
#[inline(always)]
pub(crate) fn now() -> u32 {
    riscv::register::minstret::read() as u32
}
