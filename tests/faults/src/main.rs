//! Runs everything and prints the counts; fails if anything was violated. `cargo xtask faults` builds and calls it.

use std::fmt::Display;
use std::process::ExitCode;
use std::time::Instant;

use calib_faults::{Scale, counters, cuts, forgeries, half_erased, pairs, sequences, worn};

fn main() -> ExitCode {
    let (mut scale, mut is_of_counters) = (Scale::Full, false);
    for argument in std::env::args().skip(1) {
        match &*argument {
            "--long" => scale = Scale::Long,
            "--sample" => scale = Scale::Sample,
            "counters" => is_of_counters = true,
            other => {
                eprintln!("error: {other} is unknown\n  hint: --long, --sample, counters, or nothing");
                return ExitCode::from(2);
            }
        }
    }
    if is_of_counters {
        let report = part(|| counters(scale), |report| &report.violations);
        return if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let cuts = part(|| cuts(scale), |report| &report.violations);
    let pairs = part(|| pairs(scale), |report| &report.violations);
    let sequences = part(|| sequences(scale), |report| &report.violations);
    println!("power cuts in all: {}", cuts.total() + 2 * pairs.pairs + sequences.cuts);
    let half_erased = part(|| half_erased(scale), |report| &report.violations);
    let worn = part(|| worn(scale), |report| &report.violations);
    let counters = part(|| counters(scale), |report| &report.violations);
    let forgeries = part(|| forgeries(scale), |report| &report.accepted);
    let violations = [
        cuts.violations,
        pairs.violations,
        sequences.violations,
        half_erased.violations,
        worn.violations,
        counters.violations,
    ];
    if violations.concat().is_empty() && forgeries.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
