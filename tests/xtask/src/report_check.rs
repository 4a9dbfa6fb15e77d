//! `cargo xtask report-check`: reports in a real browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{root, run};

/// Makes two reports, a binary and a top-label one, and opens them in headless Chromium, see `report-check/check.mjs`.
/// Installs Chromium with apt and the two npm packages; fails if it cannot.
pub(crate) fn report_check() -> Result<()> {
    let folder = root().join("target/report-check");
    fs::create_dir_all(&folder)?;
    let here = root().join("tests/xtask/report-check");
    for file in ["package.json", "check.mjs"] {
        fs::copy(here.join(file), folder.join(file))?;
    }
    let chromium = chromium()?;
    run::run(Command::new("npm").args(["install", "--no-audit", "--no-fund"]).current_dir(&folder)).context(
        "npm could not install playwright-core and axe-core; install Node.js 20 or newer with npm first",
    )?;
    run::run(Command::new("cargo").args(["build", "--locked", "-p", "calib-host"]).current_dir(root()))?;
    write_data(&folder)?;
    let calib = root().join("target/debug/calib");
    for line in [
        "fit --method umd --bins 10 --scores cal.csv -o binary.bin --force",
        "report binary.bin --calibration cal.csv --test test.csv -o binary.html --force",
        "fit --method umd --reduction top-label --points-per-bin 50 --logits cal.npy --labels cal_labels.csv -o top.bin \
         --force",
        "report top.bin --calibration cal.npy --calibration-labels cal_labels.csv --test test.npy --test-labels \
         test_labels.csv -o top.html --force",
    ] {
        run::run(Command::new(&calib).args(line.split_whitespace()).arg("--quiet").current_dir(&folder))?;
    }
    for page in ["binary.html", "top.html"] {
        let len = fs::metadata(folder.join(page))?.len();
        ensure!(len < 1_000_000, "{page} has {len} bytes");
    }
    let mut check = Command::new("node");
    check.arg("check.mjs").arg(chromium).args([".", "binary.html", "top.html"]).current_dir(&folder);
    run::run(&mut check).context("a page has faults, see above")?;
    println!("screenshots and PDFs are in {}", folder.display());
    Ok(())
}

/// The browser, installed if it is missing.
fn chromium() -> Result<PathBuf> {
    let find = || {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let path = std::env::var_os("PATH")?;
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        names
            .iter()
            .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
            .find(|p| p.is_file())
    };
    if let Some(found) = find() {
        return Ok(found);
    }
    let install =
        "apt-get update -qq && apt-get install -y --no-install-recommends chromium fonts-dejavu-core";
    run::run(Command::new("sh").args(["-c", install]))
        .context("Chromium is missing and could not be installed; install it, then run this again")?;
    find().context("Chromium was installed, but is not on the PATH")
}

/// Data that a classifier too sure of itself might give.
fn write_data(folder: &Path) -> Result<()> {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    for (name, n) in [("cal", 2000), ("test", 3000)] {
        let mut binary = String::from("score,label\n");
        let mut labels = String::from("label\n");
        let mut logits: Vec<f32> = Vec::new();
        for _ in 0..n {
            let score: f32 = rng.random();
            let label = u8::from(rng.random::<f32>() < score.powi(2));
            binary += &format!("{score},{label}\n");
            let row = [0; 3].map(|_| 4.0 * rng.random::<f32>());
            let exps = row.map(|logit| (0.6 * logit).exp());
            let mut left = rng.random::<f32>() * exps.iter().sum::<f32>();
            let class = exps.iter().position(|exp| {
                left -= exp;
                left < 0.0
            });
            labels += &format!("{}\n", class.unwrap_or(0));
            logits.extend(row);
        }
        fs::write(folder.join(format!("{name}.csv")), binary)?;
        fs::write(folder.join(format!("{name}_labels.csv")), labels)?;
        fs::write(folder.join(format!("{name}.npy")), npy(&logits, 3))?;
    }
    Ok(())
}

/// A NumPy array of shape (rows, columns).
fn npy(values: &[f32], columns: usize) -> Vec<u8> {
    let shape = format!("({}, {columns})", values.len() / columns);
    let dict = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let header_len = (11 + dict.len()).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header_len as u16).to_le_bytes());
    bytes.extend(format!("{dict:<width$}\n", width = header_len - 1).into_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}
