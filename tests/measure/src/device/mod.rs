//! `cargo xtask bench device`: what calib-core costs on every core, counted.

mod baseline;
mod constant;
mod image;
mod peers;
mod report;
mod stack;

use anyhow::Result;
use calib_tests::Board;

use image::{Measured, measure};
pub(crate) use image::{OptLevel, STACK_SIZES};
pub(crate) use stack::Stack;

/// Measures on every core, prints the table, and writes the baseline if asked to.
pub(crate) fn device(write_baseline: bool) -> Result<()> {
    let mut all = Vec::new();
    for opt_level in OptLevel::ALL {
        for board in Board::ALL {
            eprintln!("measuring {} at opt-level {}", board.core(), opt_level.name());
            all.push(measure(board, opt_level, peers::Wanted::Yes)?);
        }
    }
    report::print(&all);
    constant::check(&all)?;
    if write_baseline { baseline::write(&all) } else { baseline::check(&all) }
}

/// Measures without printing, and fails if a count depends on the score or has grown over the baseline, or a stack is over its
/// budget.
pub(crate) fn check() -> Result<()> {
    let measured = measure_all()?;
    stack::check(&measured)?;
    stack::check_bounds(&measured)?;
    constant::check(&measured)?;
    baseline::check(&measured)
}

/// The stack that was measured of every function of calib-core on every Cortex-M, next to its static bound.
pub(crate) fn stack() -> Result<Vec<Stack>> {
    stack::bounds(&measure_all()?)
}

fn measure_all() -> Result<Vec<Measured>> {
    Board::ALL
        .into_iter()
        .flat_map(|board| OptLevel::ALL.map(|opt_level| measure(board, opt_level, peers::Wanted::No)))
        .collect()
}
