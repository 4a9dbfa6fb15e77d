//! `cargo xtask bench host`: how fast, and in how much memory, next to what people use instead.
//!
//! Whole processes first, each with the seconds that reading and hashing its files take alone, which no way of doing it is
//! quicker than; then what happens in memory. A ratio that is worse than the one kept in `baseline.json` is told at the end.

mod baseline;
mod case;
mod cases;
mod limit;
mod measure;
mod memory;
mod peer;
mod process;
mod table;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail, ensure};
use xtask::{cargo, root, run};

use crate::baseline::Ratios;
use crate::case::{Case, Scale};

/// The rows in memory, and the most that a case is measured at if nothing else is said.
const ROWS: u64 = 10_000_000;

fn main() -> Result<ExitCode> {
    let flags = xflags::parse_or_exit! {
        /// The number of rows of the largest files; 10 million if not given. Cases of fewer rows shrink and grow with it.
        optional --rows n: u64
        /// Measure files of ten times the rows, too.
        optional --huge
        /// Only cases whose names contain this; "in memory" for what is measured there.
        optional --only words: String
        /// Keep the ratios as those that later runs are compared with.
        optional --write-baseline
        /// Compare with netcal, too, which brings PyTorch: a download of several GB.
        optional --netcal
        /// Compare with the packages of Python that are installed already, if they are.
        optional --no-install
    };
    ensure!(!cfg!(debug_assertions), "built without optimization, this would measure nothing of use");
    let rows = flags.rows.unwrap_or(ROWS);
    let scale = Scale { share: rows as f64 / ROWS as f64, huge: flags.huge };
    let only = flags.only.unwrap_or_default();
    let cases: Vec<&Case> = cases::all().into_iter().filter(|case| case.name.contains(&only)).collect();
    let in_memory = "in memory".contains(&only);
    if cases.is_empty() && !in_memory {
        bail!("no case is called {only:?}");
    }
    let python = match peer::environment(flags.netcal, !flags.no_install) {
        Ok(python) => Some(python),
        Err(cause) => {
            eprintln!("no peers to compare with: {cause:#}");
            None
        }
    };
    let python = python.as_deref();

    println!("{}; {}", machine(), python.map_or(String::new(), |_| peer::versions(flags.netcal)));
    let mut ratios = whole_processes(&cases, scale, python)?;
    if in_memory {
        let measured = memory::memory(rows, python, flags.netcal)?;
        println!("\n{}", table::in_memory(&measured));
        let named = |line: &memory::Measured| Some((format!("in memory: {}", line.name), line.ratio()?));
        // Of several peers the quickest counts.
        for (name, ratio) in measured.iter().filter_map(named) {
            ratios.entry(name).and_modify(|least| *least = least.min(ratio)).or_insert(ratio);
        }
    }
    told(&ratios, flags.write_baseline)
}

/// Measures files, with a line for each as soon as it is known.
fn whole_processes(cases: &[&Case], scale: Scale, python: Option<&Path>) -> Result<Ratios> {
    if cases.is_empty() {
        return Ok(Ratios::new());
    }
    eprintln!("building for release");
    run(cargo(&root()).args([
        "build",
        "--quiet",
        "--release",
        "--package",
        "calib-host",
        "--all-features",
        "--bin",
        "calib",
        "--example",
        "large_files",
    ]))?;
    println!("{}", table::head());
    let lines = measure::measure(cases, scale, python, |line| println!("{}", table::line(line)))?;
    Ok(lines.iter().filter_map(|line| Some((line.name.to_owned(), line.ratio()?))).collect())
}

/// Keeps the ratios, or says which of them got worse: a failure, but of a measurement that no test waits for.
fn told(ratios: &Ratios, write: bool) -> Result<ExitCode> {
    if write {
        baseline::write(ratios)?;
        return Ok(ExitCode::SUCCESS);
    }
    let worse = baseline::worse(&baseline::read()?, ratios);
    for sentence in &worse {
        println!("worse: {sentence}");
    }
    Ok(if worse.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The number of processors that are used.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A line that says what was measured on what.
fn machine() -> String {
    format!("{} {}, {} cores", env::consts::OS, env::consts::ARCH, threads())
}
