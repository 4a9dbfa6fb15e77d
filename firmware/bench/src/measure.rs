//! How instructions and stack are counted.
//!
//! A function is called 4096 times through a pointer, and so is one that only returns. The difference of both times,
//! divided by 4096, plus that one return, is what a call executes from the function's first instruction to its return.

use core::arch::{asm, global_asm};
use core::ffi::c_void;
use core::hint::black_box;

use crate::{host, scores, ticks};

/// How often a function is called.
const CALLS: u32 = 4096;
/// More stack than any function here uses.
const STACK_WORDS: usize = 768;
const PAINT: u32 = 0xA5A5_5A5A;

/// What is measured: takes a float and what it works on, and returns what a core returns in two registers.
pub(crate) type OfFloat = unsafe extern "C" fn(f32, *const c_void) -> u64;
/// The same for scores that are integers.
pub(crate) type OfInteger = unsafe extern "C" fn(u32, *const c_void) -> u64;

#[cfg(target_arch = "arm")]
global_asm!(
    ".section .text.bench_nothing,\"ax\",%progbits",
    ".global bench_nothing",
    ".type bench_nothing,%function",
    ".thumb_func",
    "bench_nothing:",
    "bx lr",
);
#[cfg(target_arch = "riscv32")]
global_asm!(
    ".section .text.bench_nothing,\"ax\",@progbits",
    ".global bench_nothing",
    "bench_nothing:",
    "ret",
);

/// One function, under two types.
#[expect(clashing_extern_declarations)]
mod nothing {
    use core::ffi::c_void;

    unsafe extern "C" {
        #[link_name = "bench_nothing"]
        pub(super) fn of_float(score: f32, context: *const c_void) -> u64;
        #[link_name = "bench_nothing"]
        pub(super) fn of_integer(score: u32, context: *const c_void) -> u64;
    }
}

/// The scores of one measurement: from a list, again and again, or always the same.
enum Scores {
    Uniform,
    Margins,
    Always(f32),
}

/// The same for integers.
enum Codes {
    Varied,
    Always(u32),
}

/// Measures, and prints what it measured.
pub(crate) struct Bench {
    empty_float_ticks: u32,
    empty_integer_ticks: u32,
}

impl Bench {
    /// Starts the clock, and measures what a call costs besides the function.
    pub(crate) fn new() -> Self {
        ticks::start();
        let empty_float_ticks = float_ticks(nothing::of_float, core::ptr::null(), &Scores::Uniform);
        let empty_integer_ticks = integer_ticks(nothing::of_integer, core::ptr::null(), &Codes::Varied);
        Self { empty_float_ticks, empty_integer_ticks }
    }

    /// Measures a function of a float: its mean over uniform scores, its least and most over the middle of every bin, and
    /// its stack.
    pub(crate) fn float<T>(&mut self, name: &str, bins: u16, function: OfFloat, context: &T) {
        self.floats(name, bins, function, (&raw const *context).cast(), &Scores::Uniform);
    }

    /// Measures a function of a margin in `[-4, 4)`: as [`Bench::float`].
    pub(crate) fn margin<T>(&mut self, name: &str, bins: u16, function: OfFloat, context: &T) {
        self.floats(name, bins, function, (&raw const *context).cast(), &Scores::Margins);
    }

    fn floats(&mut self, name: &str, bins: u16, function: OfFloat, context: *const c_void, scores: &Scores) {
        let ticks = float_ticks(function, context, scores);
        self.print(name, CALLS, ticks, self.empty_float_ticks);
        for bin in 0..bins {
            let uniform = (f32::from(bin) + 0.5) / f32::from(bins);
            let middle = if matches!(scores, Scores::Margins) { 8.0 * uniform - 4.0 } else { uniform };
            let ticks = float_ticks(function, context, &Scores::Always(middle));
            host::print(format_args!("bin {name} {ticks} {}\n", self.empty_float_ticks));
        }
        let bytes = stack_bytes(|| {
            // SAFETY: the function is called with what it is made for.
            unsafe { function(black_box(0.6), context) };
        });
        host::print(format_args!("stack {name} {bytes}\n"));
    }

    /// Measures a function of an integer below 65 536, or below 256: as [`Bench::float`].
    pub(crate) fn integer<T>(&mut self, name: &str, bins: u16, function: OfInteger, context: &T) {
        let context = (&raw const *context).cast();
        let ticks = integer_ticks(function, context, &Codes::Varied);
        self.print(name, CALLS, ticks, self.empty_integer_ticks);
        for bin in 0..u32::from(bins) {
            let middle = (2 * bin + 1) * 0x8000 / u32::from(bins);
            let ticks = integer_ticks(function, context, &Codes::Always(middle));
            host::print(format_args!("bin {name} {ticks} {}\n", self.empty_integer_ticks));
        }
        let bytes = stack_bytes(|| {
            // SAFETY: the function is called with what it is made for.
            unsafe { function(black_box(77), context) };
        });
        host::print(format_args!("stack {name} {bytes}\n"));
    }

    /// Measures a function that does `items` pieces of work in a call, and its stack: what one piece takes.
    pub(crate) fn batch<T>(&mut self, name: &str, items: u32, function: OfInteger, context: &T) {
        let context = (&raw const *context).cast();
        let start = ticks::now();
        for _ in 0..CALLS / items {
            // SAFETY: the function is called with what it is made for.
            black_box(unsafe { black_box(function)(0, context) });
        }
        let ticks = ticks::between(start, ticks::now());
        self.print(name, CALLS, ticks, 0);
        let bytes = stack_bytes(|| {
            // SAFETY: as above.
            unsafe { function(0, context) };
        });
        host::print(format_args!("stack {name} {bytes}\n"));
    }

    /// Measures a call that takes much longer than others.
    pub(crate) fn single(&mut self, name: &str, call: impl FnOnce()) {
        let start = ticks::now();
        call();
        let ticks = ticks::between(start, ticks::now());
        host::print(format_args!("call {name} {ticks}\n"));
    }

    /// Measures the stack of such a call.
    pub(crate) fn stack(&mut self, name: &str, call: impl FnOnce()) {
        host::print(format_args!("stack {name} {}\n", stack_bytes(call)));
    }

    fn print(&self, name: &str, calls: u32, ticks: u32, empty: u32) {
        host::print(format_args!("count {name} {calls} {ticks} {empty}\n"));
    }
}

/// One loop for all functions, so that it costs the same for all.
#[inline(never)]
fn float_ticks(function: OfFloat, context: *const c_void, scores: &Scores) -> u32 {
    let (list, mask) = match scores {
        Scores::Uniform => (scores::UNIFORM.as_slice(), scores::COUNT - 1),
        Scores::Margins => (scores::MARGINS.as_slice(), scores::COUNT - 1),
        Scores::Always(score) => (core::slice::from_ref(score), 0),
    };
    let (function, list) = (black_box(function), black_box(list));
    let start = ticks::now();
    for i in 0..CALLS as usize {
        let Some(&score) = list.get(i & mask) else { break };
        // SAFETY: the function is called with what it is made for.
        black_box(unsafe { function(score, context) });
    }
    ticks::between(start, ticks::now())
}

#[inline(never)]
fn integer_ticks(function: OfInteger, context: *const c_void, codes: &Codes) -> u32 {
    // Odd, so that all residues come up.
    let (mut code, step) = match *codes {
        Codes::Varied => (0, 40_503),
        Codes::Always(code) => (code, 0),
    };
    let (function, step) = (black_box(function), black_box(step));
    let start = ticks::now();
    for _ in 0..CALLS {
        code = (code + step) & 0xFFFF;
        // SAFETY: the function is called with what it is made for.
        black_box(unsafe { function(code, context) });
    }
    ticks::between(start, ticks::now())
}

/// The stack that `work` uses, by painting what is below this frame.
#[inline(never)]
fn stack_bytes(work: impl FnOnce()) -> usize {
    let top: *mut u32;
    // SAFETY: reads the stack pointer.
    unsafe {
        #[cfg(target_arch = "arm")]
        asm!("mov {}, sp", out(reg) top, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "riscv32")]
        asm!("mv {}, sp", out(reg) top, options(nomem, nostack, preserves_flags));
    }
    for word in 1..=STACK_WORDS {
        // SAFETY: below the stack pointer nothing is in use, and no interrupt is enabled.
        unsafe { top.wrapping_sub(word).write_volatile(PAINT) };
    }
    work();
    // SAFETY: as above.
    let untouched = |word: &usize| unsafe { top.wrapping_sub(*word).read_volatile() } == PAINT;
    4 * (STACK_WORDS - (1..=STACK_WORDS).rev().take_while(untouched).count())
}
