//! The committed counts, over which none may grow.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::image::{Measured, OptLevel};
use xtask::{Board, root};

/// How much more than the baseline is tolerated.
const TOLERANCE: f64 = 0.02;
/// Counts are repeatable to this.
const RESOLUTION: f64 = 0.1;

fn path() -> PathBuf {
    root().join("firmware/bench/baseline.csv")
}

/// The counts of our own functions, by board, level and name; the C functions depend on the compiler that is installed.
fn ours(all: &[Measured]) -> BTreeMap<String, f64> {
    let of = |measured: &Measured| {
        let key = format!("{},{}", measured.board.name(), measured.opt_level.name());
        let ours = measured.costs.iter().filter(|(name, _)| !name.starts_with("c_"));
        ours.map(|(name, cost)| (format!("{key},{name}"), cost.instructions)).collect::<Vec<_>>()
    };
    all.iter().flat_map(of).collect()
}

/// Writes what was measured.
pub(super) fn write(all: &[Measured]) -> Result<()> {
    let mut text = String::from("board,opt_level,function,instructions\n");
    for (key, count) in ours(all) {
        writeln!(text, "{key},{count:.1}")?;
    }
    let estimates = root().join("calib-host/fit/src/artifact/cost.csv");
    for (path, text) in [(path(), text), (estimates, for_estimates(all))] {
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("wrote {}", path.display());
    }
    Ok(())
}

/// The counts that calib-host estimates costs from: those of code made for speed.
fn for_estimates(all: &[Measured]) -> String {
    let core = |name: &str| Board::ALL.iter().find(|board| board.name() == name).map(|board| board.core());
    let line = |(key, count): (String, f64)| match key.split(',').collect::<Vec<_>>()[..] {
        [board, level, function] if level == OptLevel::Speed.name() => {
            Some(format!("{board},{},{function},{count:.1}\n", core(board)?))
        }
        _ => None,
    };
    let lines = ours(all).into_iter().filter_map(line);
    std::iter::once("board,core,function,instructions\n".to_owned()).chain(lines).collect()
}

/// Fails if a count has grown by more than the tolerance, or has no baseline.
pub(super) fn check(all: &[Measured]) -> Result<()> {
    let text = fs::read_to_string(path()).with_context(|| format!("cannot read {}", path().display()))?;
    let mut baseline = BTreeMap::new();
    for line in text.lines().skip(1) {
        let (key, count) = line.rsplit_once(',').with_context(|| format!("`{line}` is no baseline"))?;
        baseline.insert(key.to_owned(), count.parse::<f64>()?);
    }
    let mut faults = String::new();
    let (mut compared, mut fewer) = (0, 0);
    for (key, count) in ours(all) {
        let Some(&before) = baseline.get(&key) else {
            writeln!(faults, "  {key}: {count:.1} instructions, not in the baseline")?;
            continue;
        };
        compared += 1;
        if count > before * (1.0 + TOLERANCE) + RESOLUTION {
            writeln!(faults, "  {key}: {before:.1} instructions before, {count:.1} now")?;
        } else if count < before * (1.0 - TOLERANCE) - RESOLUTION {
            fewer += 1;
        }
    }
    if !faults.is_empty() {
        bail!(
            "instruction counts have grown over firmware/bench/baseline.csv\n{faults}hint: if that is meant, run `cargo \
             xtask bench device --write-baseline` and commit the file"
        );
    }
    eprintln!(
        "{compared} instruction counts within {:.0} % of the baseline, {fewer} below",
        100.0 * TOLERANCE
    );
    Ok(())
}
