//! `cargo xtask bench monitor`: whether monitors keep what they guarantee, and how soon they notice.
//!
//! Every life has calibration scores of its own, a stream of predictions, and a seed of its own. A share of false alarms that is surely
//! above what was guaranteed is a failure.

mod calibrated;
mod change;
mod exact;
mod fleet;
mod friedman;
mod guarantee;
mod power;
mod quiet;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};

fn main() -> Result<ExitCode> {
    let flags = xflags::parse_or_exit! {
        /// How many lives of each kind; 1000 if not given.
        optional --lives n: u32
        /// How many streams of FriedmanDrift; 1000 if not given.
        optional --trials n: u32
        /// The Python with river and scikit-learn. Without it there is no FriedmanDrift.
        optional --python path: PathBuf
    };
    ensure!(!cfg!(debug_assertions), "built without optimization, this would take hours");
    let lives = flags.lives.unwrap_or(1000);
    let mut kept = quiet::shifts(lives);
    kept &= quiet::tables(lives);
    kept &= change::changes(lives);
    kept &= guarantee::guarantees(lives);
    kept &= fleet::fleets(lives);
    power::power(lives);
    if let Some(python) = flags.python {
        kept &= friedman::friedman(&python, flags.trials.unwrap_or(1000))?;
    }
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
