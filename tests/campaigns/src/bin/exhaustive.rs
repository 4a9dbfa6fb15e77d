//! All 2^32 patterns; `cargo xtask exhaustive` builds and calls it.

use std::process::ExitCode;
use std::time::Instant;

use calib_campaigns::exhaustive::{CHUNK, Counts, cases, check, margin_cases};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

fn main() -> ExitCode {
    let start = Instant::now();
    let (cases, margin_cases) = (cases(), margin_cases());
    let chunks = (1u64 << 32) / CHUNK;
    let style = ProgressStyle::with_template("{bar:40} {percent} % of 2^32, {eta} left");
    let bar = ProgressBar::new(chunks);
    let bar = style.map_or(bar.clone(), |style| bar.with_style(style));
    let chunk = |chunk| {
        let counts = [check(&cases, chunk * CHUNK, 1), check(&margin_cases, chunk * CHUNK, 1)];
        bar.inc(1);
        counts
    };
    let both =
        |[scores, margins]: [Counts; 2], [more, others]: [Counts; 2]| [scores.and(more), margins.and(others)];
    let [counts, margins] = (0..chunks).into_par_iter().map(chunk).reduce(Default::default, both);
    bar.finish();
    let names = cases.iter().map(|case| &case.name).chain(margin_cases.iter().map(|case| &case.name));
    names.for_each(|name| println!("  {name}"));
    println!(
        "{} patterns, {} of them scores and {} margins, all others refused; {} lookups in {} tables like a linear scan \
         ({:.0} s, {} threads)",
        counts.patterns,
        counts.scores,
        margins.scores,
        counts.lookups + margins.lookups,
        cases.len() + margin_cases.len(),
        start.elapsed().as_secs_f64(),
        rayon::current_num_threads()
    );
    let faults = [counts.faults, margins.faults].concat();
    for fault in faults.iter().take(20) {
        println!("  FAULT: {fault}");
    }
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
