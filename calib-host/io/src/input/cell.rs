//! One cell of a table, and what it is as a number, a label, a bin or text.

use std::borrow::Cow;

use crate::files::{Problem, is_missing, may_be_missing};

/// A part of a table's text, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A cell of a table, with its text or the place of its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TableCell<S> {
    /// A null, or a field that a JSON object does not have.
    Missing,
    /// Text of which nothing is known: a field of a CSV table.
    Raw(S),
    /// A number with the digits that the file has.
    Number(S),
    /// Text that is known to be no number.
    Text(S),
    /// A boolean.
    Bool(bool),
    /// A float of 32 bits.
    F32(f32),
    /// A float of 64 bits.
    F64(f64),
    /// An integer with a sign, or of up to 32 bits without.
    Integer(i64),
    /// An integer of 64 bits without a sign.
    Unsigned(u64),
}

impl<S> TableCell<S> {
    pub(super) fn map_text<T>(self, map: impl FnOnce(S) -> T) -> TableCell<T> {
        match self {
            Self::Missing => TableCell::Missing,
            Self::Raw(text) => TableCell::Raw(map(text)),
            Self::Number(text) => TableCell::Number(map(text)),
            Self::Text(text) => TableCell::Text(map(text)),
            Self::Bool(value) => TableCell::Bool(value),
            Self::F32(value) => TableCell::F32(value),
            Self::F64(value) => TableCell::F64(value),
            Self::Integer(value) => TableCell::Integer(value),
            Self::Unsigned(value) => TableCell::Unsigned(value),
        }
    }
}

impl<'t> TableCell<&'t str> {
    pub(super) fn number(self) -> Result<f64, Problem> {
        match self {
            Self::Missing => Err(Problem::Missing),
            Self::Raw(text) | Self::Number(text) => {
                let number = parsed(text).ok_or_else(|| Problem::NotANumber(text.trim().into()))?;
                if is_lost(number, text) { Err(Problem::TooSmall(text.trim().into())) } else { Ok(number) }
            }
            Self::Text(text) => Err(Problem::Text(text.into())),
            Self::Bool(value) => Err(Problem::NotANumber(value.to_string())),
            Self::F32(value) => Ok(value.into()),
            Self::F64(value) => Ok(value),
            Self::Integer(value) => Ok(value as f64),
            Self::Unsigned(value) => Ok(value as f64),
        }
    }

    /// An empty field is no number and no mistake.
    pub(super) fn optional_number(self) -> Result<Option<f64>, Problem> {
        if self.is_empty() { Ok(None) } else { self.number().map(Some) }
    }

    /// A whole number, or a word for one of two classes, such as `True` or `no`.
    pub(super) fn label(self) -> Result<i64, Problem> {
        match self {
            Self::Raw(text) | Self::Text(text) => match word(text.trim()) {
                Some((_, label)) => Ok(label),
                // A text is the number that it spells, as in a table that tells no texts from numbers.
                None => Self::Raw(text).whole(),
            },
            _ => self.whole(),
        }
    }

    /// A whole number; one that was written as a decimal, such as `1.0`, too.
    fn whole(self) -> Result<i64, Problem> {
        match self {
            Self::Raw(text) | Self::Number(text) => {
                let text = text.trim();
                let parsed = text.parse().ok().or_else(|| text.parse().ok().and_then(whole));
                parsed.ok_or_else(|| match text {
                    "" => Problem::NotANumber(String::new()),
                    _ if is_huge(text) => Problem::Huge(text.into()),
                    _ => Problem::LabelNotInteger(text.into()),
                })
            }
            Self::Missing => Err(Problem::Missing),
            Self::Text(text) => Err(Problem::Text(text.into())),
            Self::Bool(value) => Ok(value.into()),
            Self::F32(value) => {
                whole(value.into()).ok_or_else(|| Problem::LabelNotInteger(value.to_string()))
            }
            Self::F64(value) => whole(value).ok_or_else(|| Problem::LabelNotInteger(value.to_string())),
            Self::Integer(value) => Ok(value),
            Self::Unsigned(value) => value.try_into().map_err(|_| Problem::Huge(value.to_string())),
        }
    }

    /// A whole number.
    pub(super) fn code(self) -> Result<i64, Problem> {
        self.whole().map_err(|problem| match problem {
            Problem::LabelNotInteger(text) => Problem::CodeNotInteger(text),
            other => other,
        })
    }

    /// A whole number from 0 on; an empty field, of an uncalibrated row, is bin 0.
    pub(super) fn bin(self) -> Result<u32, Problem> {
        if self.is_empty() {
            return Ok(0);
        }
        let bin = match self {
            Self::Text(text) => return Err(Problem::Text(text.into())),
            Self::Bool(_) => None,
            _ => self.whole().ok().and_then(|bin| u32::try_from(bin).ok()),
        };
        bin.ok_or_else(|| Problem::BinNumber(self.text().trim().into()))
    }

    /// Any text but one that stands for no value.
    pub(super) fn name(self) -> Result<String, Problem> {
        if self.is_missing() {
            return Err(Problem::Missing);
        }
        let name = self.text().trim().to_owned();
        if may_be_missing(&name) { Err(Problem::NotAName(name)) } else { Ok(name) }
    }

    /// The text of a label of any kind.
    pub(super) fn label_text(self) -> Result<Cow<'t, str>, Problem> {
        if self.is_missing() {
            return Err(Problem::NotANumber(String::new()));
        }
        Ok(match self.text() {
            Cow::Borrowed(text) => text.trim().into(),
            Cow::Owned(text) => text.into(),
        })
    }

    /// Whether there is no value, as pandas reads it.
    pub(super) fn is_missing(self) -> bool {
        match self {
            Self::Missing => true,
            Self::Raw(text) | Self::Text(text) => is_missing(text),
            Self::F32(value) => value.is_nan(),
            Self::F64(value) => value.is_nan(),
            Self::Number(_) | Self::Bool(_) | Self::Integer(_) | Self::Unsigned(_) => false,
        }
    }

    fn is_empty(self) -> bool {
        matches!(self, Self::Missing) || matches!(self, Self::Raw(text) if text.trim().is_empty())
    }

    /// The cell as a CSV table has it. A float is printed with the digits that give it back.
    pub(super) fn text(self) -> Cow<'t, str> {
        match self {
            Self::Missing => "".into(),
            Self::Raw(text) | Self::Number(text) | Self::Text(text) => text.into(),
            Self::Bool(value) => value.to_string().into(),
            Self::F32(value) => value.to_string().into(),
            Self::F64(value) => value.to_string().into(),
            Self::Integer(value) => value.to_string().into(),
            Self::Unsigned(value) => value.to_string().into(),
        }
    }
}

/// A word that pandas, R, databases and Excel, in English, German and French, have for a label of two classes, in any case: the words for both, and which
/// it is.
pub(super) fn word(text: &str) -> Option<([&'static str; 2], i64)> {
    const WORDS: [[&str; 2]; 8] = [
        ["false", "true"],
        ["no", "yes"],
        ["f", "t"],
        ["n", "y"],
        ["falsch", "wahr"],
        ["nein", "ja"],
        ["faux", "vrai"],
        ["non", "oui"],
    ];
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    // Nearly all labels are numbers.
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic());
    let place = |pair: [&'static str; 2]| Some((pair, pair.iter().position(|word| is(word))? as i64));
    WORDS.into_iter().filter(|_| is_word).find_map(place)
}

/// The number that a text is, with spaces around it or without.
pub(super) fn parsed(text: &str) -> Option<f64> {
    // The standard library decides about what fast-float refuses.
    fast_float2::parse(text).or_else(|_| text.trim().parse()).ok()
}

/// Whether a number was read as 0 that is written as another one.
pub(super) fn is_lost(number: f64, text: &str) -> bool {
    let mut mantissa = text.bytes().take_while(|byte| !matches!(byte, b'e' | b'E'));
    number == 0.0 && mantissa.any(|byte| (b'1'..=b'9').contains(&byte))
}

/// Whether a text is a whole number that no `i64` holds.
fn is_huge(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_one_is_the_label_one() {
        let ones = [
            TableCell::Raw(" 1"),
            TableCell::Raw("1.0"),
            TableCell::Number("1e0"),
            TableCell::Bool(true),
            TableCell::F32(1.0),
            TableCell::F64(1.0),
            TableCell::Integer(1),
            TableCell::Unsigned(1),
        ];
        for one in ones {
            assert_eq!(one.label(), Ok(1), "{one:?}");
        }
    }

    #[test]
    fn what_no_number_holds_is_told_as_it_is_written() {
        for huge in
            ["9223372036854775808", "18446744073709551615", "-9223372036854775809", "+9999999999999999999"]
        {
            assert_eq!(TableCell::Raw(huge).label(), Err(Problem::Huge(huge.into())));
        }
        let above = 1u64 << 63;
        assert_eq!(TableCell::Unsigned(above + 1).label(), Err(Problem::Huge("9223372036854775809".into())));
        assert_eq!(TableCell::Unsigned(above - 1).label(), Ok(i64::MAX));
        for lost in ["1e-999", "-0.001e-400", "0.5E-500"] {
            assert_eq!(TableCell::Raw(lost).number(), Err(Problem::TooSmall(lost.into())));
            assert_eq!(TableCell::Number(lost).number(), Err(Problem::TooSmall(lost.into())));
        }
        for kept in ["0e-999", "-0.000", "0", "1e-300", "5e-324"] {
            assert!(TableCell::Raw(kept).number().is_ok(), "{kept}");
        }
    }

    #[test]
    fn words_are_labels_and_no_codes() {
        for (text, label) in
            [("True", 1), ("FALSE", 0), (" yes", 1), ("no", 0), ("WAHR", 1), ("Faux", 0), ("n", 0)]
        {
            assert_eq!(TableCell::Raw(text).label(), Ok(label), "{text}");
            assert_eq!(TableCell::Text(text).label(), Ok(label), "{text}");
            assert!(TableCell::Raw(text).code().is_err() && TableCell::Raw(text).bin().is_err());
        }
        assert_eq!(TableCell::Raw("sick").label(), Err(Problem::LabelNotInteger("sick".into())));
    }

    #[test]
    fn a_gap_is_a_gap_and_not_zero() {
        for gap in [TableCell::Missing, TableCell::Raw(""), TableCell::Raw(" ")] {
            assert_eq!(gap.optional_number(), Ok(None));
            assert_eq!(gap.bin(), Ok(0));
            assert!(gap.number().is_err() && gap.label().is_err());
        }
    }
}
