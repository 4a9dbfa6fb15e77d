//! A board's own measuring instruments.

/// Measures time and stack on a board.
pub trait Meter {
    /// Runs `work` and returns how many ticks of a steady timer it took; `None` if it took longer than the
    /// timer can tell.
    fn measure_ticks(&mut self, work: impl FnOnce()) -> Option<u32>;

    /// The most stack used since the start, in bytes.
    fn stack_high_water_bytes(&mut self) -> u32;
}
