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
