//! Numbers with as many decimals as they need to say anything.

use std::fmt;

/// The number of decimals of numbers that are shown together: `least`, or as many as give the largest of them two digits, if
/// `least` would show it as 0.
///
/// ```
/// use calib_fit::stats::places;
///
/// assert_eq!((places(4, &[0.25, 1e-6]), places(4, &[-1.65e-6]), places(4, &[0.0])), (4, 7, 4));
/// ```
pub fn places(least: usize, numbers: &[f64]) -> usize {
    /// What is below is what rounding to an `f32` left.
    const NOTHING: f64 = 1e-7;
    let sizes = numbers.iter().map(|number| number.abs()).filter(|size| size.is_finite());
    let largest = sizes.fold(0.0, f64::max);
    if largest < NOTHING || largest >= 10f64.powi(-(least as i32)) {
        return least;
    }
    (1.0 - largest.log10().floor()) as usize
}

/// The number of decimals of the ends of an interval: [`places`], or more if these would show different ends as the same.
///
/// ```
/// use calib_fit::stats::places_between;
///
/// assert_eq!((places_between(4, 0.25, 0.5), places_between(4, 0.00026, 0.00031), places_between(4, 0.5, 0.5)), (4, 6, 4));
/// ```
pub fn places_between(least: usize, lo: f64, hi: f64) -> usize {
    places(least, &[lo, hi]).max(places(least, &[hi - lo]))
}

/// A number with at least so many decimals, and with more if it would be shown as 0.
///
/// ```
/// use calib_fit::stats::shown;
///
/// assert_eq!((shown(4, 0.25), shown(4, 0.0), shown(1, 0.026)), ("0.2500".into(), "0.0000".into(), "0.026".into()));
/// ```
pub fn shown(least: usize, number: f64) -> String {
    let places = places(least, &[number]);
    format!("{:.places$}", without_zero_sign(number, places))
}

/// The same for a bound: the number shown is not below this one, so that what is guaranteed of it holds of what is shown.
///
/// ```
/// use calib_fit::stats::shown_bound;
///
/// assert_eq!((shown_bound(4, 0.09654), shown_bound(4, 0.1), shown_bound(4, 0.1f32.into())), ("0.0966".into(), "0.1000".into(), "0.1000".into()));
/// ```
pub fn shown_bound(least: usize, bound: f64) -> String {
    /// What storing it as an `f32` may have added.
    const OF_F32: f64 = 1.0 + f32::EPSILON as f64;
    let places = places(least, &[bound]);
    let shown = format!("{bound:.places$}");
    match shown.parse::<f64>() {
        Ok(rounded) if rounded * OF_F32 < bound => {
            format!("{:.places$}", rounded + 10f64.powi(-(places as i32)))
        }
        _ => shown,
    }
}

/// A whole number with commas between its thousands.
///
/// ```
/// use calib_fit::stats::thousands;
///
/// assert_eq!([0, 999, 1000, 1_234_567_u64].map(thousands), ["0", "999", "1,000", "1,234,567"]);
/// ```
pub fn thousands(count: impl TryInto<u64>) -> String {
    // No count on any computer is larger.
    let digits = count.try_into().unwrap_or(u64::MAX).to_string();
    let comma = |at: usize| if at > 0 && (digits.len() - at).is_multiple_of(3) { "," } else { "" };
    digits.char_indices().map(|(at, digit)| format!("{}{digit}", comma(at))).collect()
}

/// The number, or 0 for one that so many decimals show as -0.
fn without_zero_sign(number: f64, places: usize) -> f64 {
    if number.abs() < 0.5 * 10f64.powi(-(places as i32)) { 0.0 } else { number }
}

/// Writes a number of a group with the digits of all, and with the sign that is asked for.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, number: f64, places: Option<usize>) -> fmt::Result {
    match (places, f.sign_plus()) {
        (None, false) => write!(f, "{number}"),
        (None, true) => write!(f, "{number:+}"),
        (Some(places), false) => write!(f, "{:.places$}", without_zero_sign(number, places)),
        (Some(places), true) => write!(f, "{:+.places$}", without_zero_sign(number, places)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    #[test]
    fn small_numbers_are_not_shown_as_nothing() {
        for (number, least, expected) in [
            (0.00026144, 4, "0.0003"),
            (-1.65e-6, 4, "-0.0000017"),
            (9.99e-5, 4, "0.000100"),
            (1e-4, 4, "0.0001"),
            (1.2e-7, 4, "0.00000012"),
            (6e-8, 4, "0.0000"),
            (0.0, 4, "0.0000"),
            (f64::NAN, 4, "NaN"),
            (f64::INFINITY, 1, "inf"),
            (2.2e-16, 4, "0.0000"),
            (-6e-8, 4, "0.0000"),
            (-0.0, 4, "0.0000"),
            (12.34, 1, "12.3"),
            (0.05, 1, "0.050"),
        ] {
            assert_eq!(shown(least, number), expected, "{number}");
        }
    }

    #[test]
    fn no_bound_is_shown_below_itself() {
        for (bound, least, expected) in [
            (0.09654, 4, "0.0966"),
            (0.0965, 4, "0.0965"),
            (0.96001, 2, "0.97"),
            (0.999_96, 4, "1.0000"),
            (0.00026144, 4, "0.0003"),
            (1.21e-5, 4, "0.000013"),
            (0.0, 4, "0.0000"),
            (f64::NAN, 4, "NaN"),
        ] {
            assert_eq!(shown_bound(least, bound), expected, "{bound}");
        }
        for i in 10..10_000 {
            let bound = f64::from(i) / 10_000.0;
            assert_eq!(shown_bound(4, bound), format!("{bound:.4}"));
            assert_eq!(shown_bound(4, f64::from(bound as f32)), format!("{bound:.4}"));
            let above = bound * (1.0 + 1e-6);
            assert!(shown_bound(4, above).parse::<f64>().unwrap() > above, "{above}");
        }
    }

    #[test]
    fn the_largest_of_a_group_decides() {
        let interval = Interval { lo: -2.4e-6, hi: -0.9e-6 };
        assert_eq!(format!("{interval:+.4}"), "[-0.0000024, -0.0000009]");
        assert_eq!(format!("{:.4}", Interval { lo: 0.0, hi: 3.7e-5 }), "[0.000000, 0.000037]");
        assert_eq!(format!("{:.4}", Interval { lo: 1e-9, hi: 0.5 }), "[0.0000, 0.5000]");
        assert_eq!(format!("{:.4}", Interval { lo: 0.00026, hi: 0.00031 }), "[0.000260, 0.000310]");
        assert_eq!(format!("{:+.4}", Interval { lo: -6e-8, hi: 0.5 }), "[+0.0000, +0.5000]");
    }
}
