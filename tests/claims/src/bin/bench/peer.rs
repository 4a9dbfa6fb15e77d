//! What people use in Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use xtask::{output, root, run};

const SCRIPT: &str = include_str!("memory.py");
const PACKAGES: [&str; 5] =
    ["numpy==2.4.6", "pandas==3.1.1", "pyarrow==26.0.1", "scikit-learn==1.9.1", "scipy==1.17.1"];
/// Brings PyTorch, several GB.
const NETCAL: &str = "netcal==1.4.0";

/// A peer's time.
pub(crate) struct Measured {
    /// What was measured.
    pub(crate) name: String,
    /// With what.
    pub(crate) peer: String,
    pub(crate) seconds: f64,
}

/// Runs all measurements on the arrays in a folder.
pub(crate) fn measure(python: &Path, folder: &Path, with_netcal: bool) -> Result<Vec<Measured>> {
    eprintln!("measuring the peers in memory");
    let script = folder.join("peer.py");
    fs::write(&script, SCRIPT)?;
    let run = Command::new(python)
        .arg(script)
        .arg(folder)
        .args(with_netcal.then_some("netcal"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(run.status.success(), "the peers' script failed ({})", run.status);
    let mut measured = Vec::new();
    for line in String::from_utf8(run.stdout)?.lines() {
        let line: Value = serde_json::from_str(line).context("the peers' script printed something else")?;
        let text = |key: &str| Some(line[key].as_str()?.to_owned());
        let fields = text("name").zip(text("peer")).zip(line["seconds"].as_f64());
        let ((name, peer), seconds) = fields.context("a measurement lacks a field")?;
        measured.push(Measured { name, peer, seconds });
    }
    Ok(measured)
}

/// The packages, as a line says them.
pub(crate) fn versions(with_netcal: bool) -> String {
    packages(with_netcal).join(", ").replace("==", " ")
}

fn packages(with_netcal: bool) -> Vec<&'static str> {
    PACKAGES.into_iter().chain(with_netcal.then_some(NETCAL)).collect()
}

/// The interpreter of a virtual environment with the packages, which is made if it is not there.
pub(crate) fn environment(with_netcal: bool, may_install: bool) -> Result<PathBuf> {
    let folder = root().join("target/bench-python");
    let python = folder.join("bin/python");
    // Written last, so that half an environment is made anew.
    let done = folder.join("packages.txt");
    let packages = packages(with_netcal);
    let there = fs::read_to_string(&done).unwrap_or_default();
    if packages.iter().all(|package| there.lines().any(|line| line == *package)) {
        return Ok(python);
    }
    output("python3", &["-c", "import ensurepip, venv"])
        .context("there is no python3 with venv: `apt-get install --no-remove python3-venv` brings it")?;
    if !may_install {
        bail!("`pip install {}` in {} would bring them", packages.join(" "), folder.display());
    }
    eprintln!("installing {} in {}", packages.join(", "), folder.display());
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(&packages))?;
    fs::write(done, packages.join("\n"))?;
    Ok(python)
}
