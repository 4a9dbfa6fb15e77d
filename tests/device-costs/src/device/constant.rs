//! Lookups that take as many instructions for every score.

use anyhow::{Context, Result, ensure};
use calib_tests::Board;

use super::image::Measured;

/// Those that do no arithmetic on floats, which takes a function on cores without an FPU.
const LOOKUPS: [&str; 19] = [
    "fixed_15",
    "fixed_64",
    "fixed_margin_15",
    "fixed_margin_64",
    "u16_15",
    "u16_64",
    "parsed_15",
    "parsed_20",
    "parsed_64",
    "calibrate_15",
    "calibrate_64",
    "compact_15",
    "compact_64",
    "compact_i16_15",
    "compact_i16_64",
    "parsed_margin_15",
    "parsed_margin_64",
    "calibrate_margin_15",
    "calibrate_margin_64",
];
/// Those that take a few instructions more for one bin than for another on a Cortex-M0. Keys of margins take all 32 bits, so
/// that no sign of a difference says which of two is larger; of the carry, which does, the compiler makes a branch there, as the
/// core has no conditional instructions.
const BRANCHING: [&str; 4] =
    ["parsed_margin_15", "parsed_margin_64", "calibrate_margin_15", "calibrate_margin_64"];
/// Counts are repeatable to this.
const RESOLUTION: f64 = 0.1;

/// Fails if one of them takes more for a bin than for another, on any core at any level.
pub(super) fn check(all: &[Measured]) -> Result<()> {
    for Measured { board, opt_level, costs, .. } in all {
        for name in LOOKUPS {
            if *board == Board::Microbit && BRANCHING.contains(&name) {
                continue;
            }
            let place = || format!("{name} on {} at opt-level {}", board.core(), opt_level.name());
            let range = costs.get(name).and_then(|cost| cost.range);
            let (least, most) = range.with_context(|| format!("no bins were measured of {}", place()))?;
            ensure!(
                most - least <= RESOLUTION,
                "{} takes {least:.1} instructions for one bin and {most:.1} for another",
                place()
            );
        }
    }
    Ok(())
}
