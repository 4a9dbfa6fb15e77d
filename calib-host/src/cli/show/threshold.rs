//! How accurate a decision rule is at each of its thresholds, as text.

use std::io::{self, Write};

use calib_host::assess::{DiagnosticAccuracy, EstimateWithInterval, Figure};
use calib_host::report::ThresholdAccuracy;
use calib_host::stats::percent_of_success;

/// Prints the accuracy at every threshold; `alpha` is one minus the coverage of the intervals.
pub(crate) fn at_thresholds(out: &mut dyn Write, found: &[ThresholdAccuracy], alpha: f64) -> io::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let percent = percent_of_success(alpha);
    writeln!(
        out,
        "at the thresholds of the decision rule, with exact {percent} % intervals (Clopper-Pearson):"
    )?;
    for ThresholdAccuracy { threshold, actions, is_alarm, accuracy } in found {
        let alarm = if *is_alarm { ", the alarm" } else { "" };
        let DiagnosticAccuracy { true_positives, false_positives, false_negatives, true_negatives, .. } =
            accuracy;
        writeln!(
            out,
            "  above {threshold}: {}{alarm}; {true_positives} true and {false_positives} false positives, {false_negatives} false and \
             {true_negatives} true negatives",
            actions.join(", ")
        )?;
        let shares = [
            ("sensitivity", &accuracy.sensitivity),
            ("specificity", &accuracy.specificity),
            ("PPV", &accuracy.ppv),
            ("NPV", &accuracy.npv),
            ("LR+", &accuracy.lr_positive),
            ("LR-", &accuracy.lr_negative),
        ];
        shares
            .into_iter()
            .try_for_each(|(name, figure)| writeln!(out, "    {name:<12} {}", shown(figure)))?;
    }
    writeln!(
        out,
        "  PPV and NPV are at the prevalence of these rows; LR by the union of two Clopper-Pearson intervals"
    )
}

fn shown(figure: &Figure) -> String {
    let number = |value: f64| if value.is_infinite() { "infinite".to_owned() } else { format!("{value:.4}") };
    match figure.get() {
        Ok(EstimateWithInterval { value, interval: Some(i) }) => {
            format!("{} [{}, {}]", number(*value), number(i.lo), number(i.hi))
        }
        Ok(estimate) => number(estimate.value),
        Err(why) => format!("undefined: {why}"),
    }
}
