//! How much stack calib-core may use.

use anyhow::{Context, Result, ensure};

use calib_tests::Board;

use super::image::{Measured, OptLevel};
use super::report::code_symbol;
use crate::stack::{Bounds, Program};

/// What applying a calibrator may use, in bytes, measured by paint in the emulator.
const BUDGETS: [(&str, u64); 32] = [
    ("fixed_15", 256),
    ("fixed_64", 256),
    ("u16_15", 256),
    ("direct_u8", 256),
    ("parsed_15", 256),
    ("parsed_64", 256),
    ("calibrate_15", 256),
    ("calibrate_64", 256),
    ("ranges_64", 288),
    ("ranges_platt", 432),
    ("ranges_beta", 432),
    ("interpolated_15", 256),
    ("platt_logit", 256),
    ("beta", 256),
    ("top_label_probs", 512),
    ("top_label_logits", 512),
    ("fixed_margin_15", 256),
    ("fixed_margin_64", 256),
    ("parsed_margin_15", 256),
    ("calibrate_margin_15", 256),
    ("top2_margin_i8_1000", 256),
    ("calibrate_top2_margin_i8_10", 512),
    ("top_label_margin", 512),
    ("monitor_count", 256),
    ("monitor_shift", 512),
    ("monitor_change", 512),
    ("monitor_guarantee", 512),
    ("counted_look_15", 704),
    ("watched_look_15", 704),
    ("told_look_15", 704),
    ("counted_look_top_label", 704),
    ("watched_look_top_label", 704),
];

/// Fails if a function uses more than its budget, on any core.
pub(super) fn check(all: &[Measured]) -> Result<()> {
    for measured in all {
        for (name, budget) in BUDGETS {
            let place =
                || format!("{name} on {} at opt-level {}", measured.board.core(), measured.opt_level.name());
            let cost = measured.costs.get(name).and_then(|cost| cost.stack_bytes);
            let bytes = cost.with_context(|| format!("nothing was measured of {}", place()))?;
            ensure!(bytes <= budget, "{} uses {bytes} bytes of stack, and may use {budget}", place());
        }
    }
    Ok(())
}

/// The stack of a function on a core.
pub(crate) struct Stack {
    pub(crate) board: Board,
    pub(crate) opt_level: OptLevel,
    pub(crate) name: &'static str,
    /// The high-water mark in the emulator.
    pub(crate) measured_bytes: u64,
    /// More than this no call can take.
    pub(crate) bound_bytes: u64,
}

/// Measured stack next to the static bound, from the same program, at the firmware's own level.
pub(super) fn bounds(all: &[Measured]) -> Result<Vec<Stack>> {
    let mut stacks = Vec::new();
    for measured in all {
        if measured.opt_level != OptLevel::Speed {
            continue;
        }
        let (board, opt_level) = (measured.board, measured.opt_level);
        let program = Program::read(&measured.elf)?;
        let mut bounds = Bounds::new(&program)?;
        for (name, _) in BUDGETS {
            let measured = measured.costs.get(name).and_then(|cost| cost.stack_bytes);
            let measured_bytes = measured.with_context(|| format!("nothing was measured of {name}"))?;
            let bound_bytes = bounds.of(code_symbol(name))?.bytes;
            stacks.push(Stack { board, opt_level, name, measured_bytes, bound_bytes });
        }
    }
    Ok(stacks)
}

/// Fails if more was measured than the static bound allows, which would show that the bound is none.
pub(super) fn check_bounds(all: &[Measured]) -> Result<()> {
    for Stack { board, opt_level, name, measured_bytes, bound_bytes } in bounds(all)? {
        ensure!(
            measured_bytes <= bound_bytes,
            "{name} on {} at opt-level {} used {measured_bytes} bytes of stack, and cannot use more than {bound_bytes}",
            board.core(),
            opt_level.name()
        );
    }
    Ok(())
}
