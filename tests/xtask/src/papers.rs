//! `cargo xtask papers`

use anyhow::Result;
use calib_run::{cargo, root, run};

use crate::flags;

/// Compares with reference values, in `calib-papers`.
pub(crate) fn papers(flags::Papers { data, refs }: &flags::Papers) -> Result<()> {
    run(cargo(&root())
        .args(["run", "--quiet", "--locked", "--package", "calib-papers", "--", "--data"])
        .arg(data)
        .arg("--refs")
        .arg(refs))
}
