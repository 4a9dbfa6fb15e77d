//! How accurate a decision rule is at each of its thresholds.

use calib_fit::assess::{DiagnosticAccuracy, OperatingAccuracy};
use calib_fit::decide::ThresholdAccuracy;
use minijinja::{Value, context};

use super::words::two_lines;

/// What a page says of a threshold of a decision rule.
pub(super) fn threshold_text(found: &ThresholdAccuracy) -> Value {
    let alarm = if found.is_alarm { ": the alarm" } else { "" };
    let title = format!("above {}", found.threshold);
    row(&title, &(found.actions.join(", ") + alarm), &found.accuracy)
}

/// What a page says of an operating point.
pub(super) fn operating_text(found: &OperatingAccuracy) -> Value {
    row(&found.to_string(), "", &found.accuracy)
}

fn row(title: &str, meaning: &str, accuracy: &DiagnosticAccuracy) -> Value {
    let figures = [
        accuracy.sensitivity,
        accuracy.specificity,
        accuracy.ppv,
        accuracy.npv,
        accuracy.lr_positive,
        accuracy.lr_negative,
    ];
    let counts = [
        accuracy.true_positives,
        accuracy.false_positives,
        accuracy.false_negatives,
        accuracy.true_negatives,
    ];
    context! {title => title,
        meaning => meaning,
        counts => counts,
        figures => figures.iter().map(two_lines).collect::<Vec<_>>(),
    }
}
