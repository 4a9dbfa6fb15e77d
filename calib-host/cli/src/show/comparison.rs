//! A comparison as text.

use std::io::{self, Write};

use calib_fit::artifact::DeviceCost;
use calib_fit::compare::{Claim, ComparedMethod, MethodComparison, Split};

/// Prints a line for every method, the best first, and what to do.
pub(crate) fn comparison(out: &mut impl Write, comparison: &MethodComparison) -> io::Result<()> {
    let n = comparison.n;
    let judged = match comparison.claim {
        None => "",
        Some(Claim::AllClasses) => ", all classes judged",
        Some(Claim::TopLabel) => ", the predicted class judged",
    };
    let of_clusters =
        comparison.clusters.map_or(String::new(), |clusters| format!(" of {clusters} clusters"));
    match comparison.split {
        Split::CrossValidation { folds, repeats } => {
            writeln!(out, "{n} points{of_clusters}, {folds} folds, {repeats} times{judged}")?;
        }
        Split::Test { n: test } => writeln!(out, "{n} points{of_clusters}, {test} test points{judged}")?,
    }
    let names = comparison.methods.iter().map(|method| &method.name);
    let names = names.chain(comparison.failed.iter().map(|failed| &failed.name)).map(String::len);
    let width = names.max().unwrap_or(0).max("uncalibrated".len()) + 1;
    writeln!(
        out,
        "{:<width$} {:<30} {:<34} {:>10} {:>6}  instructions on {}; parameters",
        "method",
        comparison.score.figure(),
        "change",
        "epsilon",
        "bytes",
        SHOWN_CORES.join(", ")
    )?;
    writeln!(out, "{:<width$} {:<30}", "uncalibrated", format!("{:.5}", comparison.uncalibrated))?;
    for method in &comparison.methods {
        method_line(out, width, method)?;
    }
    for failed in &comparison.failed {
        writeln!(out, "{:<width$} not fitted: {}", failed.name, failed.reason)?;
    }
    let clipped =
        comparison.methods.iter().filter_map(|m| Some((&m.name, m.log_loss_clipped.filter(|&n| n > 0)?)));
    for (name, clipped) in clipped {
        writeln!(
            out,
            "{name}: {clipped} held-out predictions gave probability 0 to what happened, and count as 36.04 nats each by an \
             arbitrary clip"
        )?;
    }
    match &comparison.recommendation {
        Some(name) => {
            writeln!(out, "take {name}: {}", comparison.reason)?;
            let taken = comparison.methods.iter().find(|method| method.name == *name);
            if taken.is_some_and(|method| method.epsilon.is_some()) && comparison.candidates > 1 {
                writeln!(
                    out,
                    "fit it with --candidates {0}: these labels chose among {0} methods with a guarantee, each at alpha / {0}",
                    comparison.candidates
                )?;
            }
        }
        None if comparison.unmet.is_some() => writeln!(out, "{}", comparison.reason)?,
        None => writeln!(out, "leave it uncalibrated: {}", comparison.reason)?,
    }
    Ok(())
}

/// What is known of a method.
fn method_line(out: &mut dyn Write, width: usize, method: &ComparedMethod) -> io::Result<()> {
    // Every probability is within 1 of any other.
    let epsilon = method.epsilon.filter(|epsilon| *epsilon < 1.0);
    let epsilon = epsilon.map_or("none".into(), |epsilon| format!("{epsilon:.4}"));
    let mark = if method.meets_epsilon == Some(true) { "*" } else { "" };
    let uncalibrated = match method.uncalibrated_tables {
        0 => String::new(),
        tables => format!(", {tables} uncalibrated"),
    };
    let cost = method.cost.as_ref().map_or("not measured".into(), instructions);
    writeln!(
        out,
        "{:<width$} {:<30} {:<34} {:>10} {:>6}  {cost}{uncalibrated}; {}",
        method.name,
        format!("{:.5}", method.loss),
        format!("{:+.5}", method.change),
        format!("{epsilon}{mark}"),
        method.len_bytes,
        method.parameters
    )
}

/// The smallest core that was measured, and one with a floating-point unit.
const SHOWN_CORES: [&str; 2] = ["Cortex-M0", "Cortex-M4F"];

fn instructions(cost: &DeviceCost) -> String {
    let of = |core: &&str| cost.cores.iter().find(|cost| cost.core == *core);
    let shown = SHOWN_CORES.iter().filter_map(of).map(|cost| format!("{:.0}", cost.instructions));
    shown.collect::<Vec<_>>().join(", ")
}
