//! `cargo xtask bench device`: what calib-core costs on every core, counted.

mod amortized;
mod baseline;
mod constant;
mod image;
mod peers;
mod report;
mod stack;

use std::panic::resume_unwind;
use std::thread;

use anyhow::Result;
use calib_tests::Board;

use image::{Measured, measure};
pub(crate) use image::{OptLevel, STACK_SIZES};
pub(crate) use stack::Stack;

/// Measures on every core, prints the table, and writes the baseline if asked to.
pub(crate) fn device(write_baseline: bool) -> Result<()> {
    let all = measure_all(&OptLevel::ALL, peers::Peers::Yes)?;
    report::print(&all);
    constant::check(&all)?;
    if write_baseline { baseline::write(&all) } else { baseline::check(&all) }
}

/// Measures at the firmware's own level without printing, and fails if a count depends on the score or has grown over the baseline,
/// or a stack is over its budget.
pub(crate) fn check() -> Result<()> {
    let measured = measure_all(&[OptLevel::Speed], peers::Peers::No)?;
    stack::check(&measured)?;
    stack::check_bounds(&measured)?;
    constant::check(&measured)?;
    baseline::check(&measured)
}

/// The stack that was measured of every function of calib-core on every Cortex-M, next to its static bound.
pub(crate) fn stack() -> Result<Vec<Stack>> {
    stack::bounds(&measure_all(&[OptLevel::Speed], peers::Peers::No)?)
}

/// Measures on every core, the levels at the same time: the linker, which optimizes most, works on one processor.
fn measure_all(levels: &[OptLevel], wanted: peers::Peers) -> Result<Vec<Measured>> {
    let at = |opt_level: OptLevel| -> Result<Vec<Measured>> {
        let one = |board: Board| {
            eprintln!("measuring {} at opt-level {}", board.core(), opt_level.name());
            measure(board, opt_level, wanted)
        };
        Board::one_of_each(Board::core).map(one).collect()
    };
    let levels = thread::scope(|scope| {
        let running: Vec<_> = levels.iter().map(|&level| scope.spawn(move || at(level))).collect();
        let joined =
            running.into_iter().map(|level| level.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.collect::<Result<Vec<_>>>()
    })?;
    Ok(levels.into_iter().flatten().collect())
}
