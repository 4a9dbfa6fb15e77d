//! `cargo xtask bench host`: how fast, and in how much memory.

mod large;
mod memory;
mod peer;
mod streams;

use std::env;

use anyhow::{Result, ensure};

fn main() -> Result<()> {
    let flags = xflags::parse_or_exit! {
        /// The number of rows of the fits in memory; 10 million if not given.
        optional --rows n: u64
        /// Instead, run `calib fit`, `assess` and `report` on files of N, N / 10 and N / 100 rows, and measure time and peak memory.
        optional --large n: u64
        /// Instead, run `calib apply` and `assess` on files of N, N / 10 and N / 100 rows, each beside its peer.
        optional --streams n: u64
        /// Compare with netcal, too, which brings PyTorch: a download of several GB.
        optional --netcal
        /// Compare with the packages of Python that are installed already, if they are.
        optional --no-install
    };
    if let Some(rows) = flags.large {
        return large::large(rows);
    }
    if let Some(rows) = flags.streams {
        return streams::streams(rows, !flags.no_install);
    }
    ensure!(!cfg!(debug_assertions), "built without optimisation, this would measure nothing of use");
    memory::memory(flags.rows.unwrap_or(10_000_000), flags.netcal, !flags.no_install)
}

/// The number of processors that are used.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A line that says what was measured on what.
fn machine() -> String {
    format!("{} {}, {} cores", env::consts::OS, env::consts::ARCH, threads())
}
