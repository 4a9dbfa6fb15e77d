//! How accurate a decision rule is at each of its thresholds.

use calib_fit::assess::{DiagnosticAccuracy, OperatingAccuracy};
use calib_fit::decide::ThresholdAccuracy;
use minijinja::{Value, context};

use super::words::{Cell, two_lines};

/// What a page says of a threshold of a decision rule.
pub(super) fn threshold_text((at, found): (usize, &ThresholdAccuracy)) -> Value {
    let alarm = if found.is_alarm { ": the alarm" } else { "" };
    let title = format!("above {}", found.threshold);
    row(&title, &(found.actions.join(", ") + alarm), &format!("decision.thresholds.{at}"), &found.accuracy)
}

/// What a page says of an operating point.
pub(super) fn operating_text((at, found): (usize, &OperatingAccuracy)) -> Value {
    row(&found.to_string(), "", &format!("operating_points.{at}"), &found.accuracy)
}

fn row(title: &str, meaning: &str, place: &str, accuracy: &DiagnosticAccuracy) -> Value {
    let figures = [
        ("sensitivity", accuracy.sensitivity),
        ("specificity", accuracy.specificity),
        ("ppv", accuracy.ppv),
        ("npv", accuracy.npv),
        ("lr_positive", accuracy.lr_positive),
        ("lr_negative", accuracy.lr_negative),
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
        figures => figures.map(|(key, figure)| Cell::new(format!("{place}.{key}"), two_lines(&figure))),
    }
}
