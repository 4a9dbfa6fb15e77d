//! Numbers as text.

/// The number with four decimals.
pub(super) fn number(value: f64) -> String {
    format!("{value:.4}")
}
