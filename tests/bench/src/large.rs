//! `calib` on files of many rows: time and peak memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use calib_run::{cargo, root, run};

use crate::machine;

/// How often the memory of a run is looked at.
const PERIOD: Duration = Duration::from_millis(5);

const METHODS: [&[&str]; 4] =
    [&["umd", "--bins", "15"], &["fixed-width", "--bins", "15"], &["isotonic"], &["platt"]];

/// The program that writes the files.
const WRITER: &str = "large_files";

/// A folder that goes when this does.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Result<Self> {
        let folder = Self(std::env::temp_dir().join(format!("calib-bench-{}", std::process::id())));
        fs::create_dir_all(&folder.0)?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(cause) = fs::remove_dir_all(&self.0) {
            eprintln!("{} is left: {cause}", self.0.display());
        }
    }
}

/// The most rows that are assessed and reported on: these commands read whole files.
const MOST_READ_WHOLE: u64 = 10_000_000;

/// Builds the program and the writer of files.
pub(crate) fn build() -> Result<()> {
    eprintln!("building for release");
    let build =
        ["build", "--quiet", "--release", "--package", "calib-host", "--bin", "calib", "--example", WRITER];
    run(cargo(&root()).args(build))
}

/// Writes files of so many rows.
pub(crate) fn write_rows(folder: &Path, rows: u64) -> Result<()> {
    eprintln!("writing {rows} rows to {}", folder.display());
    let writer = root().join("target/release/examples").join(WRITER);
    run(Command::new(writer).arg(folder).arg(rows.to_string()))
}

/// Measures files of `rows`, a tenth and a hundredth of them.
pub(crate) fn large(rows: u64) -> Result<()> {
    build()?;
    println!("{}", machine());
    println!("{:<12} {:<8} {:>14} {:>10} {:>16}", "", "format", "rows", "time (s)", "peak memory (MiB)");
    for rows in [rows / 100, rows / 10, rows] {
        let folder = Folder::new()?;
        write_rows(&folder.0, rows)?;
        for method in METHODS {
            for format in ["npy", "parquet"] {
                let scores: &[&str] = match format {
                    "npy" => &["--scores", "scores.npy", "--labels", "labels.npy"],
                    _ => &["--scores", "rows.parquet"],
                };
                let fit = [&["fit", "--force", "-o", "cal.bin", "--method"], method, scores].concat();
                line(&folder.0, method[0], format, rows, &fit)?;
            }
        }
        if rows <= MOST_READ_WHOLE {
            read_whole(&folder.0, rows)?;
        }
    }
    Ok(())
}

/// Measures what is done with a calibrator and as many labelled rows.
fn read_whole(folder: &Path, rows: u64) -> Result<()> {
    let arrays = ["--scores", "scores.npy", "--labels", "labels.npy"];
    let fit = ["fit", "--force", "-o", "cal.bin", "--method", "umd", "--bins", "15"];
    measured(&mut calib(folder, &[&fit[..], &arrays].concat()))?;
    line(folder, "assess", "npy", rows, &[&["assess", "cal.bin", "--same-rows"], &arrays[..]].concat())?;
    let calibration = ["--calibration", "scores.npy", "--calibration-labels", "labels.npy"];
    let test = ["--test", "scores.npy", "--test-labels", "labels.npy"];
    let report =
        [&["report", "cal.bin", "--force", "--same-rows", "-o", "report.html"], &calibration[..], &test]
            .concat();
    line(folder, "report", "npy", rows, &report)?;
    let page = fs::metadata(folder.join("report.html"))?.len();
    println!("{:<12} the page: {page} bytes", "");
    Ok(())
}

/// Runs a command and prints a line about it.
fn line(folder: &Path, name: &str, format: &str, rows: u64, arguments: &[&str]) -> Result<()> {
    eprintln!("{name}, {format}");
    let (seconds, peak) = measured(&mut calib(folder, arguments))?;
    let peak = peak.map_or("-".into(), |kib| (kib / 1024).to_string());
    println!("{name:<12} {format:<8} {rows:>14} {seconds:>10.2} {peak:>16}");
    Ok(())
}

/// `calib` in a folder.
pub(crate) fn calib(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(root().join("target/release/calib"));
    command.current_dir(folder).args(arguments);
    command
}

/// Runs a command; gives its seconds and its peak memory in KiB, where the system says it.
pub(crate) fn measured(command: &mut Command) -> Result<(f64, Option<u64>)> {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot run {command:?}"))?;
    let mut peak = None;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        peak = peak_kib(&child).max(peak);
        thread::sleep(PERIOD);
    };
    ensure!(status.success(), "{command:?} failed ({status})");
    Ok((start.elapsed().as_secs_f64(), peak))
}

/// The most memory that a process has had so far; Linux only.
fn peak_kib(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
