//! `cargo xtask demo`

use std::process::Command;

use anyhow::Result;
use xtask::{built, cargo, root, run};

use crate::setup::{Needs, QEMU_ARM, Setup};

/// Runs the main job on real data.
pub(crate) fn demo(setup: Setup) -> Result<()> {
    setup.provide(&Needs {
        targets: &["thumbv7em-none-eabihf"],
        programs: &[&QEMU_ARM],
        ..Needs::default()
    })?;
    eprintln!("building calib");
    // The demo's tables are CSV and NumPy: the light build is enough. Both are built at once, so that they share calib-host.
    run(cargo(&root())
        .args(["build", "--quiet", "--locked", "--package", "calib-host", "--package", "calib-tests"])
        .args(["--bin", "calib", "--bin", "demo", "--no-default-features", "--features", "calib-host/cli"]))?;
    run(&mut Command::new(built("demo")?))
}
