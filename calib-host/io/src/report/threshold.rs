//! How accurate a decision rule is at each of its thresholds.

use calib_fit::assess::{DiagnosticAccuracy, EstimateWithInterval, Figure, OperatingAccuracy};
use minijinja::{Value, context};
use serde::Serialize;

use super::words::number;

/// A threshold of a decision rule, as a test that is positive above it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThresholdAccuracy {
    /// The test is positive for probabilities above this one.
    pub threshold: f32,
    /// The actions that are decided there, from low probabilities to high ones.
    pub actions: Vec<String>,
    /// Whether every one of them raises the device's alarm, and no other action does.
    pub is_alarm: bool,
    /// The counts, and what follows from them.
    #[serde(flatten)]
    pub accuracy: DiagnosticAccuracy,
}

impl ThresholdAccuracy {
    /// What a page says of it.
    pub(super) fn text(&self) -> Value {
        let alarm = if self.is_alarm { ": the alarm" } else { "" };
        let title = format!("above {}", self.threshold);
        row(&title, &(self.actions.join(", ") + alarm), &self.accuracy)
    }
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
        figures => figures.iter().map(shown).collect::<Vec<_>>(),
    }
}

fn shown(figure: &Figure) -> String {
    let number = |value: f64| if value.is_infinite() { "∞".to_owned() } else { number(value) };
    match figure.get() {
        Ok(EstimateWithInterval { value, interval: Some(i) }) => {
            format!("{}\n[{}, {}]", number(*value), number(i.lo), number(i.hi))
        }
        Ok(estimate) => number(estimate.value),
        Err(why) => format!("undefined: {why}"),
    }
}
