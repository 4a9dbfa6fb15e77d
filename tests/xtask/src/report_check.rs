//! `cargo xtask report-check`

use anyhow::{Context, Result, ensure};
use calib_run::{cargo, output, root, run};

use crate::setup::{CHROMIUM, Needs, Setup, chromium};

/// Opens reports in headless Chromium, in `calib-report-check`.
pub(crate) fn report_check(setup: Setup) -> Result<()> {
    let node = output("node", &["--version"]).and_then(|said| major(&said));
    ensure!(
        node.is_some_and(|major| major >= 20) && output("npm", &["--version"]).is_some(),
        "Node.js 20 or newer with npm is missing: see https://nodejs.org"
    );
    setup.provide(&Needs { programs: &[&CHROMIUM], ..Needs::default() })?;
    ensure!(
        setup.may_install || root().join("target/report-check/node_modules").exists(),
        "npm's packages playwright-core and axe-core are missing in target/report-check, and with --no-install nothing is \
         installed"
    );
    let chromium = chromium().context("Chromium was installed, but is not on the PATH")?;
    run(cargo(&root())
        .args(["run", "--quiet", "--locked", "--package", "calib-report-check", "--"])
        .arg(chromium))
}

/// The major release in `v20.1.0`.
fn major(said: &str) -> Option<u32> {
    said.strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_of_node_is_read() {
        assert_eq!([major("v20.19.5\n"), major("v18.0.0"), major("20")], [Some(20), Some(18), None]);
    }
}
