//! Numbers as text.

/// The coverage of an interval in percent, without the digits that subtracting adds.
pub(super) fn percent(alpha: f64) -> f64 {
    (1e8 * (1.0 - alpha)).round() / 1e6
}

/// The number with four decimals.
pub(super) fn number(value: f64) -> String {
    format!("{value:.4}")
}
