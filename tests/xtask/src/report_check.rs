//! `cargo xtask report-check` and `cargo xtask figures`

use anyhow::{Context, Result, ensure};
use xtask::{cargo, output, root, run};

use crate::setup::{CHROMIUM, Needs, Setup, release};

/// Opens reports in headless Chromium.
pub(crate) fn report_check(setup: Setup) -> Result<()> {
    in_chromium(setup, "report-check")
}

/// Runs a bin of calib-claims, which drives headless Chromium by Node.js.
pub(crate) fn in_chromium(setup: Setup, bin: &str) -> Result<()> {
    let node = output("node", &["--version"]).and_then(|said| release(&said));
    ensure!(
        node.is_some_and(|release| release >= (20, 0)) && output("npm", &["--version"]).is_some(),
        "Node.js 20 or newer with npm is missing: see https://nodejs.org"
    );
    setup.provide(&Needs { programs: &[&CHROMIUM], ..Needs::default() })?;
    ensure!(
        setup.may_install || root().join("target/report-check/node_modules").exists(),
        "npm's packages playwright-core and axe-core are missing in target/report-check, and with --no-install nothing is \
         installed"
    );
    let chromium = CHROMIUM.place().context("Chromium was installed, but is not on the PATH")?;
    run(cargo(&root())
        .args(["run", "--quiet", "--locked", "--package", "calib-claims", "--bin", bin, "--"])
        .arg(chromium))
}

/// Draws the pictures of the README and of the book's first steps.
pub(crate) fn figures(setup: Setup) -> Result<()> {
    setup.provide(&Needs { programs: &[&CHROMIUM], ..Needs::default() })?;
    let chromium = CHROMIUM.place().context("Chromium was installed, but is not on the PATH")?;
    let tests = ["test", "--locked", "--package", "calib-host", "--all-features", "--test", "cli", "picture"];
    run(cargo(&root()).env("CHROMIUM", chromium).env("UPDATE_BOOK", "1").args(tests))
}
