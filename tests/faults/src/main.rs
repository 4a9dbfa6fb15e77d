//! Runs everything and prints the counts; fails if anything was violated. `cargo xtask faults` builds and calls it.

use std::fmt::Display;
use std::process::ExitCode;
use std::time::Instant;

use calib_faults::{Scale, cuts, forgeries, half_erased, pairs, worn};

fn main() -> ExitCode {
    let scale = match std::env::args().nth(1).as_deref() {
        None => Scale::Full,
        Some("--long") => Scale::Long,
        Some("--sample") => Scale::Sample,
        Some(other) => {
            eprintln!("error: {other} is unknown\n  hint: --long, --sample, or nothing");
            return ExitCode::from(2);
        }
    };
    let mut clean = true;
    let mut cut_count = 0;
    timed(|| {
        let report = cuts(scale);
        clean &= report.violations.is_empty();
        cut_count += report.total();
        (report.to_string(), report.violations)
    });
    timed(|| {
        let report = pairs(scale);
        clean &= report.violations.is_empty();
        cut_count += 2 * report.pairs;
        (report.to_string(), report.violations)
    });
    println!("power cuts in all: {cut_count}");
    timed(|| {
        let report = half_erased(scale);
        clean &= report.violations.is_empty();
        (report.to_string(), report.violations)
    });
    timed(|| {
        let report = worn(scale);
        clean &= report.violations.is_empty();
        (report.to_string(), report.violations)
    });
    timed(|| {
        let report = forgeries(scale);
        clean &= report.is_clean();
        (report.to_string(), report.accepted)
    });
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn timed<R: Display>(work: impl FnOnce() -> (R, Vec<String>)) {
    let start = Instant::now();
    let (report, violations) = work();
    println!("{report} ({:.0} s)", start.elapsed().as_secs_f64());
    for violation in violations.iter().take(20) {
        println!("  VIOLATION: {violation}");
    }
}
