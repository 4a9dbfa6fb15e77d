//! How much stack calib-core may use.

use anyhow::{Context, Result, ensure};

use super::image::Measured;

/// What applying a calibrator may use, in bytes, measured by paint in the emulator.
const BUDGETS: [(&str, u64); 13] = [
    ("fixed_15", 256),
    ("fixed_64", 256),
    ("u16_15", 256),
    ("direct_u8", 256),
    ("parsed_15", 256),
    ("parsed_64", 256),
    ("calibrate_15", 256),
    ("calibrate_64", 256),
    ("interpolated_15", 256),
    ("platt_logit", 256),
    ("beta", 256),
    ("top_label_probs", 512),
    ("top_label_logits", 512),
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
