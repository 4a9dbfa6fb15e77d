//! A comparison as text.

use std::io::{self, Write};

use calib_fit::artifact::{DeviceCost, number_of};
use calib_fit::compare::{Claim, ComparedMethod, MethodComparison, Split};
use calib_fit::stats::{shown, shown_bound, thousands};

use crate::out::{COLUMNS, wrapped};

/// Prints what to do, and a line for every method, the best first.
pub(crate) fn comparison(out: &mut impl Write, comparison: &MethodComparison) -> io::Result<()> {
    recommendation(out, comparison)?;
    writeln!(out)?;
    let n = number_of(comparison.n as u64, "observation");
    let judged = match comparison.claim {
        None => "",
        Some(Claim::AllClasses) => ", all classes evaluated",
        Some(Claim::TopLabel) => ", the predicted class evaluated",
    };
    let of_clusters = comparison
        .clusters
        .map_or(String::new(), |clusters| format!(" of {}", number_of(clusters as u64, "cluster")));
    match comparison.split {
        Split::CrossValidation { folds, repeats } => {
            writeln!(out, "{n}{of_clusters}, {folds} folds, {repeats} times{judged}")?;
        }
        Split::Test { n: test } => {
            writeln!(out, "{n}{of_clusters}, {} test observations{judged}", thousands(test))?
        }
    }
    let names = comparison.methods.iter().map(|method| &method.name);
    let names = names.chain(comparison.failed.iter().map(|failed| &failed.name)).map(String::len);
    let width = names.max().unwrap_or(0).max("uncalibrated".len()) + 1;
    let [first, second] = SHOWN_CORES;
    writeln!(
        out,
        "{:<width$} {:<8} {:<31} {:>7} {:>6} {first:>10} {second:>10}",
        "method",
        comparison.score.figure(),
        "change [95% interval]",
        "epsilon",
        "bytes",
    )?;
    writeln!(out, "{:<width$} {}", "uncalibrated", shown(5, comparison.uncalibrated.value))?;
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
    writeln!(out, "{first} and {second}: instructions of a look-up. Intervals and parameters: --json")
}

/// What to do, and why, with what it costs on the device.
fn recommendation(out: &mut impl Write, comparison: &MethodComparison) -> io::Result<()> {
    let MethodComparison { reason, methods, candidates, .. } = comparison;
    let mut text = match &comparison.recommendation {
        Some(name) => format!("Take {name}: {reason}."),
        None if comparison.unmet.is_some() => format!("{reason}."),
        None => format!("Leave it uncalibrated: {reason}."),
    };
    let taken = comparison
        .recommendation
        .as_ref()
        .and_then(|name| methods.iter().find(|method| method.name == *name));
    if let Some(taken) = taken {
        let cost = taken.cost.as_ref().map_or(String::new(), |cost| {
            let [first, second] = instructions(cost);
            let [on_first, on_second] = SHOWN_CORES;
            format!(", takes {first} instructions on a {on_first} and {second} on a {on_second}")
        });
        let guarantee = guaranteed(taken)
            .map_or("no guarantee of the probability".into(), |epsilon| format!("epsilon {epsilon}"));
        text += &format!(" It has {} bytes{cost}, and has {guarantee}.", thousands(taken.len_bytes));
        if taken.epsilon.is_some() && *candidates > 1 {
            text += &format!(
                " Fit it with --candidates {candidates}: these labels chose among {candidates} methods with a guarantee, each at alpha / {candidates}."
            );
        }
    }
    wrapped(&text, COLUMNS).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// The guarantee of a method; `None` if it says nothing, since every probability is within 1 of any other.
fn guaranteed(method: &ComparedMethod) -> Option<String> {
    method.epsilon.filter(|epsilon| *epsilon < 1.0).map(|epsilon| shown_bound(4, epsilon))
}

/// What is known of a method.
fn method_line(out: &mut dyn Write, width: usize, method: &ComparedMethod) -> io::Result<()> {
    let epsilon = guaranteed(method).unwrap_or_else(|| "none".into());
    let mark = if method.meets_epsilon == Some(true) { "*" } else { "" };
    let uncalibrated = match method.uncalibrated_tables {
        0 => String::new(),
        tables => format!(", {tables} uncalibrated"),
    };
    let [first, second] = method.cost.as_ref().map_or(["-".into(), "-".into()], instructions);
    writeln!(
        out,
        "{:<width$} {:<8} {:<31} {:>7} {:>6} {first:>10} {second:>10}{uncalibrated}",
        method.name,
        shown(5, method.loss.value),
        format!("{:+.5}", method.change),
        format!("{epsilon}{mark}"),
        method.len_bytes,
    )
}

/// The smallest core that was measured, and one with a floating-point unit.
const SHOWN_CORES: [&str; 2] = ["Cortex-M0", "Cortex-M4F"];

fn instructions(cost: &DeviceCost) -> [String; 2] {
    let of = |core: &str| cost.cores.iter().find(|cost| cost.core == core);
    SHOWN_CORES.map(|core| of(core).map_or("-".into(), |cost| thousands(cost.instructions.round() as u64)))
}
