//! What people write instead, in C, compiled by the core's own compiler: see `peers/peers.c`.

use core::ffi::c_void;

use crate::measure::Bench;

unsafe extern "C" {
    fn c_linear_15(score: f32, context: *const c_void) -> u64;
    fn c_linear_64(score: f32, context: *const c_void) -> u64;
    #[cfg(target_arch = "arm")]
    fn c_bsearch_15(score: f32, context: *const c_void) -> u64;
    #[cfg(target_arch = "arm")]
    fn c_bsearch_64(score: f32, context: *const c_void) -> u64;
    fn c_binary_15(score: f32, context: *const c_void) -> u64;
    fn c_binary_64(score: f32, context: *const c_void) -> u64;
    fn c_binary_checked_15(score: f32, context: *const c_void) -> u64;
    fn c_binary_checked_64(score: f32, context: *const c_void) -> u64;
    #[cfg(target_arch = "arm")]
    fn c_platt_newlib(score: f32, context: *const c_void) -> u64;
}

/// Measures all of them.
pub(crate) fn run(bench: &mut Bench) {
    bench.float("c_linear_15", 0, c_linear_15, &());
    bench.float("c_linear_64", 0, c_linear_64, &());
    bench.float("c_binary_15", 0, c_binary_15, &());
    bench.float("c_binary_64", 0, c_binary_64, &());
    bench.float("c_binary_checked_15", 0, c_binary_checked_15, &());
    bench.float("c_binary_checked_64", 0, c_binary_checked_64, &());
    // What newlib has; there is none for RISC-V.
    #[cfg(target_arch = "arm")]
    {
        bench.float("c_bsearch_15", 0, c_bsearch_15, &());
        bench.float("c_bsearch_64", 0, c_bsearch_64, &());
        bench.float("c_platt_newlib", 0, c_platt_newlib, &());
    }
}
