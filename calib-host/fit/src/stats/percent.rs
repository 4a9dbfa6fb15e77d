//! Fractions for people.

use std::fmt::Display;

/// The number of decimals that a number is printed with, so that what is computed from it shows no more.
///
/// ```
/// assert_eq!((calib_fit::stats::decimals(0.05), calib_fit::stats::decimals(1)), (2, 0));
/// ```
pub fn decimals(number: impl Display) -> usize {
    number.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// A fraction in percent, without the digits that floats add: what it is printed as is what a person wrote.
///
/// ```
/// assert_eq!(calib_fit::stats::percent(0.07f32), "7");
/// ```
pub fn percent(fraction: impl Display) -> String {
    in_percent(fraction, |value| value)
}

/// `1 - alpha` in percent, with as many digits as alpha has.
///
/// ```
/// assert_eq!(calib_fit::stats::percent_of_success(0.001), "99.9");
/// ```
pub fn percent_of_success(alpha: impl Display) -> String {
    in_percent(alpha, |alpha| 1.0 - alpha)
}

fn in_percent(fraction: impl Display, of: fn(f64) -> f64) -> String {
    let written = fraction.to_string();
    let value: f64 = written.parse().expect("a printed number is a number");
    format!("{:.*}", decimals(written).saturating_sub(2), 100.0 * of(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_has_more_digits_than_alpha() {
        let cases = [
            ("0.1", "10", "90"),
            ("0.9", "90", "10"),
            ("0.07", "7", "93"),
            ("0.001", "0.1", "99.9"),
            ("0.25", "25", "75"),
            ("0.005", "0.5", "99.5"),
            // Never rounded to what is sure.
            ("0.000000001", "0.0000001", "99.9999999"),
        ];
        for (alpha, fails, holds) in cases {
            let (single, double): (f32, f64) = (alpha.parse().unwrap(), alpha.parse().unwrap());
            assert_eq!((percent(single), percent(double)), (fails.into(), fails.into()), "{alpha}");
            let both = (percent_of_success(single), percent_of_success(double));
            assert_eq!(both, (holds.into(), holds.into()), "{alpha}");
        }
    }
}
