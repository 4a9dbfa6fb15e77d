//! FriedmanDrift (Ikonomovska 2012), next to the detectors of the Python package river.
//!
//! The score is the probability integral transform of a regressor that was trained once, before the drift. Unlike the other detectors
//! ours knows a calibration set in every trial: 5000 transforms from before the drift, of rows that nothing was trained on.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use calib_core::monitor::{ChangeMonitor, LogEvidence, ShiftMonitor};
use rayon::prelude::*;
use serde_json::Value;
use xtask::root;

use crate::calibrated::{Calibrated, MOST};

const BEFORE: u32 = 2500;
const ROWS: usize = 5000;
const CALIBRATION: usize = 5000;
/// e-CUSUM is at most the sum of evidence from every start, whose mean after t rows is t: P(an alarm within t rows) <= t / c. So 1 in 20
/// trials has a false one.
const CHANGE: u32 = 20 * BEFORE;
const SHIFT: u32 = 20;

/// The row of a first alarm in each trial.
type Alarms = Vec<Option<u32>>;

/// The bins of a monitor that takes more memory: `--monitor=B`, and firmware that is built for as many.
const WIDE: usize = 31;

/// When ours notice, in a trial of a calibration set and a stream: a change, and a shift.
fn ours<const B: usize>(trial: &[f64]) -> [Option<u32>; 2] {
    let (calibration, transforms) = trial.split_at(CALIBRATION);
    let calibrated = Calibrated::of(calibration.to_vec(), B);
    let reference = calibrated.reference();
    let (mut shift, mut change) = (ShiftMonitor::<B>::new(), ChangeMonitor::<B>::new());
    let (of_shift, of_change) = (LogEvidence::of_one_in(SHIFT), LogEvidence::of_one_in(CHANGE));
    let mut changed = None;
    for (row, &transform) in transforms.iter().enumerate() {
        let bin = calibrated.bin(transform);
        if change.count(bin, &shift, &reference, of_change) && changed.is_none() {
            changed = Some(row as u32);
        }
        shift.count(bin);
        shift.look(&reference, of_shift);
    }
    // After so many predictions: the row is the one before.
    [changed, shift.alarm_at().map(|predictions| predictions - 1)]
}

/// A line of the table; the share of false alarms.
fn told(name: &str, alarms: &Alarms) -> f64 {
    let trials = alarms.len() as f64;
    let wrong = alarms.iter().flatten().filter(|&&row| row < BEFORE).count() as f64;
    let delays: Vec<f64> =
        alarms.iter().flatten().filter_map(|row| row.checked_sub(BEFORE)).map(f64::from).collect();
    let delay = match delays.len() {
        0 => "-".into(),
        found => format!("{:.0}", delays.iter().sum::<f64>() / found as f64),
    };
    let percent = |count: f64| 100.0 * count / trials;
    println!("  {name:<22} {:>6.1} {:>6.1} {delay:>7}", percent(delays.len() as f64), percent(wrong));
    wrong / trials
}

/// Prints the table; whether our false alarms are as rare as was guaranteed.
pub(crate) fn friedman(python: &Path, trials: u32) -> Result<bool> {
    let folder = root().join("target/friedman-drift");
    fs::create_dir_all(&folder)?;
    let script = folder.join("friedman.py");
    fs::write(&script, include_str!("friedman.py"))?;
    eprintln!("FriedmanDrift: {trials} streams of each kind, and the detectors of river");
    let run = Command::new(python)
        .arg(&script)
        .arg(&folder)
        .arg(trials.to_string())
        // Each of the processes takes one processor.
        .env("OMP_NUM_THREADS", "1")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(run.status.success(), "the script of the detectors failed ({})", run.status);
    let lines: Vec<Value> = String::from_utf8(run.stdout)?
        .lines()
        .map(|line| serde_json::from_str(line).context("the script of the detectors printed something else"))
        .collect::<Result<_>>()?;
    let mut kept = true;
    for kind in ["gra", "gsg", "lea"] {
        println!("FriedmanDrift {kind}, {trials} trials: noticed %, false alarms %, mean delay");
        let bytes = fs::read(folder.join(kind).with_extension("f64"))?;
        let (numbers, rest) = bytes.as_chunks::<8>();
        let numbers: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        let expected = trials as usize * (CALIBRATION + ROWS);
        ensure!(numbers.len() == expected && rest.is_empty(), "{} of {expected} numbers", numbers.len());
        for (bins, of_bins) in [(MOST, ours::<MOST> as fn(&[f64]) -> _), (WIDE, ours::<WIDE>)] {
            let found: Vec<[Option<u32>; 2]> = numbers.par_chunks(CALIBRATION + ROWS).map(of_bins).collect();
            for (monitor, name) in ["change", "shift"].into_iter().enumerate() {
                let name = format!("{name} (ours), B = {bins}");
                let wrong = told(&name, &found.iter().map(|found| found[monitor]).collect());
                // Six standard deviations more than the mean of a twentieth.
                kept &= wrong <= 0.05 + 6.0 * (0.05 * 0.95 / f64::from(trials)).sqrt();
            }
        }
        for line in lines.iter().filter(|line| line["kind"] == kind) {
            let alarms = line["alarms"].as_array().context("a detector lacks its alarms")?;
            let alarms = alarms.iter().map(|row| row.as_u64().map(|row| row as u32)).collect();
            told(line["detector"].as_str().unwrap_or_default(), &alarms);
        }
    }
    Ok(kept)
}
