//! `cargo xtask engines`

use std::process::Command;

use anyhow::Result;
use xtask::{cargo, root, run};

use crate::flags;
use crate::setup::{JAVA, Needs, Setup};
use crate::wheel;

/// Asks DuckDB, DataFusion and Spark what `calib sql` prints, and compares artifacts with those of all rows.
pub(crate) fn engines(setup: Setup, flags: &flags::Engines) -> Result<()> {
    setup.provide(&Needs { programs: &[&JAVA], ..Needs::default() })?;
    let python = wheel::environment("engines", setup)?;
    eprintln!("building for release");
    run(cargo(&root()).args(["build", "--quiet", "--locked", "--release", "--package", "calib-host"]))?;
    let rows = flags.rows.map(|rows| format!("--rows={rows}"));
    run(Command::new(python)
        .arg(root().join("tests/python/engines.py"))
        .arg("--calib")
        .arg(root().join("target/release/calib"))
        .arg("--folder")
        .arg(root().join("target/engines"))
        .args(rows))
}
