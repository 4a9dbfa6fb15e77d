//! Numbers as text.

use calib_fit::assess::{EstimateWithInterval, Figure};
use calib_fit::stats::shown;
use serde::Serialize;

/// A cell of a table, and the claim whose figure it shows.
#[derive(Serialize)]
pub(super) struct Cell {
    claim: String,
    text: String,
}

impl Cell {
    /// A cell of the figure that has this place in the JSON form.
    pub(super) fn new(claim: impl Into<String>, text: impl Into<String>) -> Self {
        Self { claim: claim.into(), text: text.into() }
    }
}

/// The number with four decimals.
pub(super) fn number(value: f64) -> String {
    if value.is_infinite() { "∞".into() } else { shown(4, value) }
}

/// Both ends of a range, with four decimals.
pub(super) fn range(lo: f64, hi: f64) -> String {
    format!("{} to {}", number(lo), number(hi))
}

/// Each count as a percentage of all.
pub(super) fn percentages(counts: &[u64]) -> Vec<f64> {
    let all: u64 = counts.iter().sum();
    counts.iter().map(|&count| 100.0 * count as f64 / all.max(1) as f64).collect()
}

/// A little more than the largest of some percentages.
pub(super) fn top(percentages: impl IntoIterator<Item = f64>) -> f64 {
    1.05 * percentages.into_iter().fold(0.0, f64::max)
}

/// A figure with its interval below it.
pub(crate) fn two_lines(figure: &Figure) -> String {
    match figure {
        Figure::Defined(EstimateWithInterval { value, interval: Some(i) }) => {
            format!("{}\n[{}, {}]", number(*value), number(i.lo), number(i.hi))
        }
        Figure::Defined(estimate) => number(estimate.value),
        Figure::Undefined { undefined } => format!("undefined: {undefined}"),
    }
}
