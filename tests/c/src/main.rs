//! Runs the campaigns and prints the counts; fails if anything was violated. `cargo xtask faults` builds and calls it.

use std::fmt::Display;
use std::process::ExitCode;
use std::time::Instant;

use calib_faults::{Scale, cuts, half_erased, pairs, sequences, use_device};

fn main() -> ExitCode {
    let scale = match std::env::args().nth(1).as_deref() {
        None => Scale::Full,
        Some("--long") => Scale::Long,
        Some(other) => {
            eprintln!("error: {other} is unknown\n  hint: --long, or nothing");
            return ExitCode::from(2);
        }
    };
    use_device(calib_c_faults::start);
    println!("the slots of the library for C");
    let cuts = part(|| cuts(scale), |report| &report.violations);
    let pairs = part(|| pairs(scale), |report| &report.violations);
    let sequences = part(|| sequences(scale), |report| &report.violations);
    println!("power cuts in all: {}", cuts.total() + 2 * pairs.pairs + sequences.cuts);
    let half_erased = part(|| half_erased(scale), |report| &report.violations);
    let violations = [cuts.violations, pairs.violations, sequences.violations, half_erased.violations];
    if violations.concat().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Does a part of the work, and prints what came of it.
fn part<R: Display>(work: impl FnOnce() -> R, violations: impl FnOnce(&R) -> &[String]) -> R {
    let start = Instant::now();
    let report = work();
    println!("{report} ({:.0} s)", start.elapsed().as_secs_f64());
    for violation in violations(&report).iter().take(20) {
        println!("  VIOLATION: {violation}");
    }
    report
}
