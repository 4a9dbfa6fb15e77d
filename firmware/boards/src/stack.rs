//! How deep the stack went: the deepest word that is not as it was painted at the start.

unsafe extern "C" {
    static _stack_start: u32;
    #[cfg(target_arch = "arm")]
    static _stack_end: u32;
    #[cfg(target_arch = "riscv32")]
    #[link_name = "__eheap"]
    static _stack_end: u32;
}

#[cfg(target_arch = "arm")]
use cortex_m_rt::STACK_PAINT_VALUE as PAINT;

#[cfg(target_arch = "riscv32")]
const PAINT: u32 = 0xCCCC_CCCC;

/// Paints what the stack has not reached yet; the start-up code of the Cortex-M does it by itself.
#[cfg(target_arch = "riscv32")]
pub(crate) fn paint() {
    /// What this function itself may use.
    const MARGIN_BYTES: usize = 256;
    let here = 0u32;
    let top = (&raw const here).addr() - MARGIN_BYTES;
    let mut word = (&raw const _stack_end).cast_mut();
    while word.addr() < top {
        // SAFETY: between the end of the variables and the margin below this frame nothing is in use.
        unsafe { word.write_volatile(PAINT) };
        word = word.wrapping_add(1);
    }
}

/// The most stack used since the start, in bytes.
pub(crate) fn high_water_bytes() -> u32 {
    let (top, bottom) = (&raw const _stack_start, &raw const _stack_end);
    let mut deepest = bottom;
    // SAFETY: the linker places both ends around the stack, word-aligned; it was painted at the start, and reading
    // its unused words disturbs nobody.
    while deepest < top && unsafe { deepest.read_volatile() } == PAINT {
        deepest = deepest.wrapping_add(1);
    }
    (top.addr() - deepest.addr()) as u32
}
