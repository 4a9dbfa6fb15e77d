//! A check in headless Chromium, which Node.js drives.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};
use xtask::{root, run};

/// Chromium, and a folder with the packages that drive it.
#[derive(Debug)]
pub struct Browser {
    check: &'static str,
    chromium: OsString,
    /// Where the check runs.
    pub folder: PathBuf,
}

impl Browser {
    /// Installs the packages of Node.js for `check`, a program of this package with a `check.mjs`.
    ///
    /// # Errors
    ///
    /// If the path of Chromium is no argument of this program, or npm fails.
    pub fn of(check: &'static str) -> Result<Self> {
        let chromium = env::args_os()
            .nth(1)
            .context("the path of Chromium is missing: start this with `cargo xtask`")?;
        let folder = root().join("target/report-check");
        fs::create_dir_all(&folder)?;
        let sources = root().join("tests/claims/src/bin");
        fs::copy(sources.join("report-check/package.json"), folder.join("package.json"))?;
        fs::copy(sources.join(check).join("check.mjs"), folder.join(format!("{check}.mjs")))?;
        run(Command::new("npm").args(["install", "--no-audit", "--no-fund"]).current_dir(&folder))
            .context("npm could not install playwright-core and axe-core")?;
        Ok(Self { check, chromium, folder })
    }

    /// Runs the check with these arguments, in the folder.
    ///
    /// # Errors
    ///
    /// If it finds a fault.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<()> {
        let mut node = Command::new("node");
        node.arg(format!("{}.mjs", self.check)).arg(&self.chromium).args(arguments).current_dir(&self.folder);
        run(&mut node).context("a page has faults, see above")
    }
}
