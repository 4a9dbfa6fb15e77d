//! `cargo xtask bench coverage`: how often guarantees fail, over many calibration sets from distributions of known truth.
//!
//! A guarantee that fails significantly more often than its alpha is a failure. So are exact intervals that hold far more often than
//! necessary where the truth is flat.

mod beside;
mod cell;
mod tables;
mod truths;

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Result, ensure};

use crate::cell::Cell;
use crate::truths::{Case, cases};

/// Both the usual failure probability and a large one, which shows what is wasted.
const ALPHAS: [f64; 2] = [0.1, 0.5];
const SIZES: [usize; 6] = [30, 100, 300, 1000, 5000, 20_000];
/// Above this many rows a fifth of the sets is enough.
const LARGE: usize = 1000;
const SEED: u64 = 1;

fn main() -> Result<ExitCode> {
    let flags = xflags::parse_or_exit! {
        /// How many calibration sets of each cell; 10,000 if not given, and a fifth of them above 1,000 rows.
        optional --sets n: u64
        /// Only distributions whose names contain this.
        optional --only words: String
    };
    ensure!(!cfg!(debug_assertions), "built without optimization, this would take hours");
    let sets = flags.sets.unwrap_or(10_000);
    let is_wanted =
        |case: &Case| flags.only.as_ref().is_none_or(|words| case.truth.name.contains(words.as_str()));
    println!(
        "guarantees that fail, in % of {sets} calibration sets (a fifth of them above {LARGE} rows), seed {SEED}"
    );
    println!(
        "* significantly above alpha; < significantly below a third of it where the truth is flat; – never stated"
    );
    let heading = SIZES.map(|n| format!("{n:>8}")).concat();
    let (mut findings, mut artifacts) = (Vec::new(), 0);
    for case in cases().iter().filter(|case| is_wanted(case)) {
        let cells: Vec<Cell> = SIZES
            .iter()
            .map(|&n| {
                if std::io::stderr().is_terminal() {
                    eprint!("\r{}, {n} rows\u{1b}[K", case.truth.name);
                }
                Cell::of(case, n, if n > LARGE { sets.div_ceil(5) } else { sets })
            })
            .collect::<Result<_>>()?;
        artifacts += cells.iter().map(|cell| cell.artifacts).sum::<usize>();
        for (at, alpha) in ALPHAS.into_iter().enumerate() {
            println!("\n{:<60}{heading}", format!("{}, alpha = {alpha}", case.truth.name));
            for (row, guarantee) in cell::guarantees().enumerate() {
                let tallies = cells.iter().map(|cell| &cell.tallies[at][row]);
                let shown: String = tallies
                    .clone()
                    .map(|tally| format!("{:>8}", tally.shown(alpha, case, &guarantee)))
                    .collect();
                println!("  {:<58}{shown}", guarantee.name);
                for (tally, n) in tallies.zip(SIZES) {
                    if let Some(finding) = tally.finding(alpha, case, &guarantee) {
                        findings.push(format!("{}, n = {n}, {}: {finding}", case.truth.name, guarantee.name));
                    }
                }
            }
        }
    }
    ensure!(artifacts > 0, "no artifact was compared");
    println!(
        "\n{artifacts} artifacts of {} methods hold the intervals and bands that are counted",
        beside::METHODS
    );
    for finding in &findings {
        println!("{finding}");
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
