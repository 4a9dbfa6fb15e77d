//! All 2^32 patterns; `cargo xtask exhaustive` builds and calls it.

use std::process::ExitCode;
use std::time::Instant;

use calib_exhaustive::{CHUNK, Counts, cases, check};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

fn main() -> ExitCode {
    let start = Instant::now();
    let cases = cases();
    let chunks = (1u64 << 32) / CHUNK;
    let style = ProgressStyle::with_template("{bar:40} {percent} % of 2^32, {eta} left");
    let bar = ProgressBar::new(chunks);
    let bar = style.map_or(bar.clone(), |style| bar.with_style(style));
    let chunk = |chunk| {
        let counts = check(&cases, chunk * CHUNK, 1);
        bar.inc(1);
        counts
    };
    let counts = (0..chunks).into_par_iter().map(chunk).reduce(Counts::default, Counts::and);
    bar.finish();
    for case in &cases {
        println!("  {}", case.name);
    }
    println!(
        "{} patterns, {} of them scores, all others refused; {} lookups in {} tables like a linear scan ({:.0} s, {} \
         threads)",
        counts.patterns,
        counts.scores,
        counts.lookups,
        cases.len(),
        start.elapsed().as_secs_f64(),
        rayon::current_num_threads()
    );
    for fault in counts.faults.iter().take(20) {
        println!("  FAULT: {fault}");
    }
    if counts.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
