//! A number of a claim, digit for digit.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

/// A finite number as JSON has it: what is compared is its text, so that no reader rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure(String);

/// The interval of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureInterval {
    /// The lower end.
    pub lo: Figure,
    /// The upper end.
    pub hi: Figure,
}

impl Figure {
    /// The number in a value; `None` if it is none.
    pub(super) fn of(value: &serde_json::Value) -> Option<Self> {
        value.as_number().map(|number| Self(number.to_string()))
    }

    /// The nearest 64-bit float.
    pub fn number(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Whether it is a whole number, without a decimal point.
    pub(super) fn is_whole(&self) -> bool {
        !self.0.contains(['.', 'e', 'E'])
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.0.clone()).map_err(ser::Error::custom)?;
        raw.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(from)?;
        // What JSON allows as a value and a float can be parsed from is a number.
        match raw.get().parse::<f64>().is_ok_and(f64::is_finite) {
            true => Ok(Self(raw.get().into())),
            false => Err(de::Error::custom(format_args!("{} is not a number", raw.get()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_digits_and_nothing_else_is_one() {
        for text in ["0.1000000000000000055511151231257827", "3", "-1e-300"] {
            let figure: Figure = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&figure).unwrap(), text);
        }
        for text in ["\"3\"", "null", "true", "[1]", "1e999", "{}"] {
            assert!(serde_json::from_str::<Figure>(text).is_err(), "{text}");
        }
    }
}
