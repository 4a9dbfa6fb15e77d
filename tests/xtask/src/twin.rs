//! `cargo xtask twin`

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xtask::{cargo, root, run};

use crate::flags;

/// Builds a network for this machine, as a device's program is built, and runs it.
pub(crate) fn twin(flags::Twin { model, features, output, logits, force }: &flags::Twin) -> Result<()> {
    let mut command = cargo(&root().join("firmware"));
    command
        .args(["run", "--quiet", "--locked", "--package", "calib-twin", "--"])
        .arg("--features")
        .arg(here(features)?)
        .arg("--output")
        .arg(here(output)?)
        .env("CALIB_MODEL", here(model)?);
    if let Some(logits) = logits {
        command.arg("--logits").arg(here(logits)?);
    }
    run(command.args(force.then_some("--force")))
}

/// A path from the folder where the command was called: cargo runs it in another one.
fn here(path: &Path) -> Result<PathBuf> {
    Ok(env::current_dir().context("there is no current folder")?.join(path))
}
