//! `cargo xtask bench device`: what calib-core costs on every core, counted.

mod baseline;
mod image;
mod peers;
mod report;
mod stack;

use anyhow::Result;
use calib_tests::Board;

use crate::setup;
pub(crate) use image::OptLevel;
use image::{Measured, measure};

/// Measures on every core, prints the table, and writes the baseline if asked to.
pub(crate) fn device(write_baseline: bool) -> Result<()> {
    setup::targets(&Board::ALL.map(Board::target))?;
    setup::qemu()?;
    let mut all = Vec::new();
    for opt_level in OptLevel::ALL {
        for board in Board::ALL {
            eprintln!("measuring {} at opt-level {}", board.core(), opt_level.name());
            all.push(measure(board, opt_level, peers::Wanted::Yes)?);
        }
    }
    report::print(&all);
    if write_baseline { baseline::write(&all) } else { baseline::check(&all) }
}

/// Measures without printing, and fails if a count has grown over the baseline or a stack is over its budget.
pub(crate) fn check() -> Result<()> {
    let measured: Result<Vec<Measured>> = Board::ALL
        .into_iter()
        .flat_map(|board| OptLevel::ALL.map(|opt_level| measure(board, opt_level, peers::Wanted::No)))
        .collect();
    let measured = measured?;
    stack::check(&measured)?;
    baseline::check(&measured)
}
