//! Numbers as text.

use calib_fit::assess::{EstimateWithInterval, Figure};
use calib_fit::stats::shown;

/// The number with four decimals.
pub(super) fn number(value: f64) -> String {
    if value.is_infinite() { "∞".into() } else { shown(4, value) }
}

/// A figure with its interval below it.
pub(super) fn two_lines(figure: &Figure) -> String {
    match figure {
        Figure::Defined(EstimateWithInterval { value, interval: Some(i) }) => {
            format!("{}\n[{}, {}]", number(*value), number(i.lo), number(i.hi))
        }
        Figure::Defined(estimate) => number(estimate.value),
        Figure::Undefined { undefined } => format!("undefined: {undefined}"),
    }
}
