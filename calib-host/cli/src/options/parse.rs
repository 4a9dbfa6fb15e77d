//! Values that several options take.

use std::fmt::Debug;
use std::ops::RangeBounds;

use calib_core::ClassifierId;
use calib_fit::names::Named;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A number as people write it: with underscores between digits, with an exponent, or with a percent sign; `None` if it is none or
/// infinite.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let (digits, is_percentage) = match text.strip_suffix('%') {
        Some(digits) => (digits.trim_end(), true),
        None => (text, false),
    };
    if digits.split('_').any(str::is_empty) {
        return None;
    }
    let number: f64 = digits.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite())?;
    Some(if is_percentage { number / 100.0 } else { number })
}

/// A number. The caller checks its range.
pub(crate) fn any_number(text: &str) -> Result<f64, String> {
    let number = parse_number(text).or_else(|| text.parse().ok());
    number.ok_or_else(|| "a number is expected, such as 0.1 or 10%".to_owned())
}

/// A whole number in a range, such as 25000, `25_000` or 2.5e4.
///
/// Name its type: an option's parser does not know the option's own, and numbers alone would be `i32`.
pub(crate) fn count<T: TryFrom<u64> + PartialOrd>(
    range: impl RangeBounds<T> + Debug + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().or_else(|| whole(text)).ok_or_else(|| no_count(text))?;
        let count = T::try_from(number).map_err(|_| format!("{number} is too large"))?;
        if range.contains(&count) { Ok(count) } else { Err(format!("{number} is not in {range:?}")) }
    }
}

/// A whole number that is written as others are; a float holds all of them up to 2^53.
fn whole(text: &str) -> Option<u64> {
    let is_whole = |number: &f64| number.fract() == 0.0 && (0.0..=2f64.powi(53)).contains(number);
    parse_number(text).filter(is_whole).filter(|_| !text.contains('%')).map(|number| number as u64)
}

/// Why a text is no whole number; commas between thousands are named, because elsewhere they are decimal ones.
fn no_count(text: &str) -> String {
    let without = text.replace(',', "");
    let are_thousands = text.contains(',') && text.split(',').skip(1).all(|digits| digits.len() == 3);
    if are_thousands && parse_number(&without).is_some() {
        return format!("a whole number has no comma: {without}, if it parts thousands");
    }
    "a whole number is expected, such as 25000 or 2.5e4".to_owned()
}

pub(crate) fn parse_alpha(text: &str) -> Result<f64, String> {
    match parse_number(text) {
        Some(alpha) if alpha > 0.0 && alpha < 1.0 => Ok(alpha),
        _ => Err("alpha is a fraction between 0 and 1, such as 0.05".into()),
    }
}

pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    match parse_number(text) {
        Some(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("a share above 0 and below 1 is expected, such as 0.95".into()),
    }
}

/// A value by its name.
pub(crate) fn named<T: Named>() -> impl TypedValueParser<Value = T> {
    named_among(|_: T| true)
}

/// As [`named`], of some of the values.
pub(crate) fn named_among<T: Named>(is_taken: impl Fn(T) -> bool) -> impl TypedValueParser<Value = T> {
    let taken = T::NAMES.iter().filter(|(value, ..)| is_taken(*value));
    let names = taken.map(|(_, name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).try_map(|name| T::named(&name.to_ascii_lowercase()))
}

/// All values of an option, a line or two each, after a sentence.
pub(crate) fn listing<T: Named>(sentence: &str) -> String {
    let lines = T::NAMES.iter().map(|(_, name, help)| format!("\n- {name}: {help}."));
    std::iter::once(sentence.to_owned()).chain(lines).collect()
}

pub(crate) fn parse_classifier(text: &str) -> Result<ClassifierId, String> {
    let mut id = [0; 8];
    hex::decode_to_slice(text, &mut id).map_err(|_| "a classifier id has 16 hex digits".to_owned())?;
    Ok(ClassifierId(id))
}

/// Two names of columns.
pub(crate) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once(',').map(|(first, second)| (first.trim(), second.trim())) {
        Some((first, second)) if !first.is_empty() && !second.is_empty() && !second.contains(',') => {
            Ok((first.into(), second.into()))
        }
        _ => Err("two columns are expected, such as n,positives".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, number) in
            [("0.05", 0.05), ("5%", 0.05), ("5 %", 0.05), ("1e5", 1e5), ("25_000", 25e3), ("-1_0.5", -10.5)]
        {
            assert_eq!(parse_number(text), Some(number), "{text}");
        }
        for none in ["", "%", "_", "1_", "_1", "1__0", "inf", "nan", "1e999", "five", "5%%", "1,5"] {
            assert_eq!(parse_number(none), None, "{none}");
        }
        let count = count::<u64>(2..1 << 53);
        assert_eq!([count("1e5"), count("2_660"), count("2.5e4")], [Ok(100_000), Ok(2660), Ok(25_000)]);
        assert_eq!(count("1"), Err("1 is not in 2..9007199254740992".to_owned()));
        for none in ["2.5", "-3", "200%", "1e16", "x"] {
            assert!(count(none).is_err(), "{none}");
        }
        assert!(count("5,000").unwrap_err().contains("5000, if it parts thousands"));
        assert!(count("1,5").unwrap_err().contains("a whole number is expected"));
        assert_eq!(super::count(..)("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(super::count::<u16>(1..)("70_000"), Err("70000 is too large".to_owned()));
        assert_eq!((parse_alpha("10%"), parse_share("95%")), (Ok(0.1), Ok(0.95)));
        assert_eq!((any_number("10%"), any_number("inf")), (Ok(0.1), Ok(f64::INFINITY)));
        assert!(any_number("ten").is_err());
        assert!(parse_alpha("100%").is_err() && parse_alpha("0").is_err());
    }
}
