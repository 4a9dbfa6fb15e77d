//! How much a test goes over: all of it, but less under Miri, which takes some thousand times as long.

/// Returns the distance from one number that a test takes to the next: 1, and `under_miri` there.
pub(crate) const fn step(under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { 1 }
}

/// How many cases a property with slow ones takes: `cases`, and 2 under Miri.
pub(crate) const fn cases(cases: u32) -> u32 {
    if cfg!(miri) { 2 } else { cases }
}
