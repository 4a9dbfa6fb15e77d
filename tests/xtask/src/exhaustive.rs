//! `cargo xtask exhaustive`

use anyhow::Result;
use xtask::{cargo, root, run};

/// Sends every f32 there is through calib-core's tables.
pub(crate) fn exhaustive() -> Result<()> {
    run(cargo(&root()).args([
        "run",
        "--quiet",
        "--locked",
        "--release",
        "--package",
        "calib-campaigns",
        "--bin",
        "exhaustive",
    ]))
}
