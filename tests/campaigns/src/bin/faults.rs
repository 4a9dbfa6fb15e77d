//! Runs the campaigns against slots and prints the counts; fails if anything was violated. `cargo xtask faults` builds and
//! calls it.

use std::fmt::Display;
use std::process::ExitCode;
use std::time::Instant;

use calib_campaigns::faults::{
    Scale, counters, cuts, forgeries, half_erased, pairs, rest, sequences, use_device, worn,
};
use calib_campaigns::lives::lives;
use calib_campaigns::start_c;

fn main() -> ExitCode {
    let (mut scale, mut is_in_c, mut is_of_counters, mut is_of_lives) = (Scale::Full, false, false, false);
    let mut is_of_rest = false;
    for argument in std::env::args().skip(1) {
        match &*argument {
            "--long" => scale = Scale::Long,
            "--sample" => scale = Scale::Sample,
            "c" => is_in_c = true,
            "counters" => is_of_counters = true,
            "lives" => is_of_lives = true,
            "rest" => is_of_rest = true,
            other => {
                eprintln!(
                    "error: {other} is unknown\n  hint: --long, --sample, c, counters, lives, rest, or nothing"
                );
                return ExitCode::from(2);
            }
        }
    }
    if is_of_counters {
        return exit_code(part(|| counters(scale), |report| &report.violations).violations.is_empty());
    }
    if is_of_lives {
        let start = Instant::now();
        let report = lives(scale);
        println!("{report}({:.0} s)", start.elapsed().as_secs_f64());
        let violations = report.violations();
        violations.iter().for_each(|violation| println!("  VIOLATION: {violation}"));
        return exit_code(violations.is_empty());
    }
    if is_in_c {
        use_device(start_c);
        println!("the slots of the library for C");
    }
    if is_of_rest {
        return exit_code(part(|| rest(scale), |report| &report.violations).violations.is_empty());
    }
    let cuts = part(|| cuts(scale), |report| &report.violations);
    let pairs = part(|| pairs(scale), |report| &report.violations);
    let sequences = part(|| sequences(scale), |report| &report.violations);
    println!("power cuts in all: {}", cuts.total() + 2 * pairs.pairs + sequences.cuts);
    let half_erased = part(|| half_erased(scale), |report| &report.violations);
    let rest = part(|| rest(scale), |report| &report.violations);
    let violations =
        [rest.violations, cuts.violations, pairs.violations, sequences.violations, half_erased.violations];
    let mut is_clean = violations.concat().is_empty();
    // What is left of the campaigns needs no other device: these parts are of calib-core.
    if !is_in_c {
        is_clean &= part(|| worn(scale), |report| &report.violations).violations.is_empty();
        is_clean &= part(|| counters(scale), |report| &report.violations).violations.is_empty();
        is_clean &= part(|| forgeries(scale), |report| &report.accepted).is_clean();
    }
    exit_code(is_clean)
}

fn exit_code(is_clean: bool) -> ExitCode {
    if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
