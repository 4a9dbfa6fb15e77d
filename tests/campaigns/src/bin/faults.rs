//! Runs the campaigns against slots and prints the counts; fails if anything was violated. `cargo xtask faults` builds and
//! calls it.

use std::fmt::Display;
use std::process::ExitCode;
use std::time::Instant;

use calib_campaigns::faults::{
    Scale, counters, cuts, forgeries, half_erased, numbers, pairs, rest, rotations, sequences, use_device,
    worn,
};
use calib_campaigns::lives::lives;
use calib_campaigns::start_c;

/// A part by name, and whether it runs if none is named: on calib-core's own store, and on that of the library for C.
type Part = (&'static str, [bool; 2], fn(Scale) -> bool);

const PARTS: [Part; 11] = [
    ("cuts", [true, true], |scale| part(|| cuts(scale), |report| &report.violations)),
    ("pairs", [true, true], |scale| part(|| pairs(scale), |report| &report.violations)),
    ("sequences", [true, true], all_sequences),
    ("half-erased", [true, true], |scale| part(|| half_erased(scale), |report| &report.violations)),
    ("rest", [true, true], |scale| part(|| rest(scale), |report| &report.violations)),
    ("worn", [true, false], |scale| part(|| worn(scale), |report| &report.violations)),
    ("counters", [true, false], |scale| part(|| counters(scale), |report| &report.violations)),
    ("rotations", [true, false], |scale| part(|| rotations(scale), |report| &report.violations)),
    ("forgeries", [true, false], |scale| {
        let mut is_clean = false;
        let judged = || forgeries(scale);
        part(judged, |report| {
            is_clean = report.is_clean();
            &report.accepted
        });
        is_clean
    }),
    ("numbers", [false, true], |scale| part(|| numbers(scale), |report| &report.violations)),
    ("lives", [false, false], all_lives),
];

/// How many draws of sequences a long run takes: more than two million sequences.
const DRAWS: u64 = 6;

fn main() -> ExitCode {
    let (mut scale, mut is_in_c, mut chosen) = (Scale::Full, false, Vec::new());
    for argument in std::env::args().skip(1) {
        match &*argument {
            "--long" => scale = Scale::Long,
            "--sample" => scale = Scale::Sample,
            "c" => is_in_c = true,
            name if PARTS.iter().any(|(part, ..)| *part == name) => chosen.push(argument),
            other => {
                let parts = PARTS.map(|(name, ..)| name).join(", ");
                eprintln!("error: {other} is unknown\n  hint: --long, --sample, c, {parts}, or nothing");
                return ExitCode::from(2);
            }
        }
    }
    if is_in_c {
        use_device(start_c);
        println!("the slots of the library for C");
    }
    let is_wanted = |name: &str, runs: [bool; 2]| match chosen.is_empty() {
        true => runs[usize::from(is_in_c)],
        false => chosen.iter().any(|chosen| chosen == name),
    };
    let wanted = PARTS.iter().filter(|(name, runs, _)| is_wanted(name, *runs));
    // All of them, also after one that fails.
    let is_clean = wanted.fold(true, |is_clean, (_, _, run)| run(scale) && is_clean);
    if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn all_sequences(scale: Scale) -> bool {
    let draws = if scale == Scale::Long { DRAWS } else { 1 };
    (0..draws).fold(true, |is_clean, draw| {
        print!("draw {draw} of ");
        part(|| sequences(scale, draw), |report| &report.violations) && is_clean
    })
}

fn all_lives(scale: Scale) -> bool {
    let start = Instant::now();
    let report = lives(scale);
    println!("{report}({:.0} s)", start.elapsed().as_secs_f64());
    let violations = report.violations();
    violations.iter().for_each(|violation| println!("  VIOLATION: {violation}"));
    violations.is_empty()
}

/// Does a part of the work, prints what came of it, and tells whether nothing was violated.
fn part<R: Display>(work: impl FnOnce() -> R, violations: impl FnOnce(&R) -> &[String]) -> bool {
    let start = Instant::now();
    let report = work();
    println!("{report} ({:.0} s)", start.elapsed().as_secs_f64());
    let violations = violations(&report);
    violations.iter().take(20).for_each(|violation| println!("  VIOLATION: {violation}"));
    violations.is_empty()
}
