//! How accurate decisions and operating points are at each of their thresholds, as text.

use std::io::{self, Write};

use calib_fit::assess::{DiagnosticAccuracy, EstimateWithInterval, Figure, OperatingAccuracy};
use calib_fit::decide::ThresholdAccuracy;
use calib_fit::stats::{self, percent_of_success};

/// Prints the accuracy at every threshold of a decision rule; `alpha` is one minus the coverage of the intervals.
pub(crate) fn at_thresholds(out: &mut dyn Write, found: &[ThresholdAccuracy], alpha: f64) -> io::Result<()> {
    let title = |found: &ThresholdAccuracy| {
        let alarm = if found.is_alarm { ", the alarm" } else { "" };
        format!("above {}: {}{alarm}", found.threshold, found.actions.join(", "))
    };
    let each = found.iter().map(|found| (title(found), &found.accuracy));
    all(out, "the thresholds of the decision rule", each, alpha)
}

/// Prints the accuracy of an artifact's operating points, likewise.
pub(crate) fn at_operating_points(
    out: &mut dyn Write,
    found: &[OperatingAccuracy],
    alpha: f64,
) -> io::Result<()> {
    let each = found.iter().map(|found| (found.to_string(), &found.accuracy));
    all(out, "the thresholds of the score", each, alpha)
}

fn all<'a>(
    out: &mut dyn Write,
    what: &str,
    each: impl Iterator<Item = (String, &'a DiagnosticAccuracy)>,
    alpha: f64,
) -> io::Result<()> {
    let mut each = each.peekable();
    if each.peek().is_none() {
        return Ok(());
    }
    let percent = percent_of_success(alpha);
    writeln!(out, "at {what}, with exact {percent}% intervals (Clopper-Pearson):")?;
    for (title, accuracy) in each {
        one(out, &title, accuracy)?;
    }
    writeln!(
        out,
        "  PPV and NPV are at the prevalence of these rows; LR by the union of two Clopper-Pearson intervals"
    )
}

fn one(out: &mut dyn Write, title: &str, accuracy: &DiagnosticAccuracy) -> io::Result<()> {
    let DiagnosticAccuracy { true_positives, false_positives, false_negatives, true_negatives, .. } =
        accuracy;
    writeln!(
        out,
        "  {title}; {true_positives} true and {false_positives} false positives, {false_negatives} false and {true_negatives} true \
         negatives"
    )?;
    let shares = [
        ("sensitivity", &accuracy.sensitivity),
        ("specificity", &accuracy.specificity),
        ("PPV", &accuracy.ppv),
        ("NPV", &accuracy.npv),
        ("LR+", &accuracy.lr_positive),
        ("LR-", &accuracy.lr_negative),
    ];
    shares.into_iter().try_for_each(|(name, figure)| writeln!(out, "    {name:<12} {}", shown(figure)))
}

fn shown(figure: &Figure) -> String {
    let number =
        |value: f64| if value.is_infinite() { "infinite".to_owned() } else { stats::shown(4, value) };
    match figure.get() {
        Ok(EstimateWithInterval { value, interval: Some(i) }) => {
            format!("{} [{}, {}]", number(*value), number(i.lo), number(i.hi))
        }
        Ok(estimate) => number(estimate.value),
        Err(why) => format!("undefined: {why}"),
    }
}
