//! `cargo xtask papers`

use anyhow::Result;
use xtask::{cargo, root, run};

use crate::flags;

/// Compares with reference values, in the bin `reference`.
pub(crate) fn papers(flags::Papers { data, refs }: &flags::Papers) -> Result<()> {
    run(cargo(&root())
        .args([
            "run",
            "--quiet",
            "--locked",
            "--package",
            "calib-claims",
            "--bin",
            "reference",
            "--",
            "--data",
        ])
        .arg(data)
        .arg("--refs")
        .arg(refs))
}
