//! `cargo xtask bench`: how fast, and in how much memory.

pub(crate) mod device;
mod host;
mod large;
mod peer;

use std::env;

use anyhow::Result;
use clap::Args;

use crate::root;
use crate::run::{cargo, run};

/// What to measure on this machine.
#[derive(Args)]
pub(crate) struct Host {
    /// The number of rows of the fits in memory.
    #[arg(long, default_value_t = 10_000_000, value_name = "N")]
    rows: u64,
    /// Instead, run `calib fit`, `assess` and `report` on files of N, N / 10 and N / 100 rows, and measure time and peak
    /// memory.
    #[arg(long, value_name = "N", conflicts_with = "rows")]
    large: Option<u64>,
    /// Compare with netcal, too, which brings PyTorch: a download of several GB.
    #[arg(long)]
    netcal: bool,
}

/// Measures with a release build, whatever this one is.
pub(crate) fn host(options: &Host) -> Result<()> {
    if let Some(rows) = options.large {
        return large::large(rows);
    }
    if !cfg!(debug_assertions) {
        return host::host(options.rows, options.netcal);
    }
    eprintln!("building for release");
    run(cargo(&root())
        .args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench", "host", "--rows"])
        .arg(options.rows.to_string())
        .args(options.netcal.then_some("--netcal")))
}

/// The number of processors that are used.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A line that says what was measured on what.
fn machine() -> String {
    format!("{} {}, {} cores", env::consts::OS, env::consts::ARCH, threads())
}
