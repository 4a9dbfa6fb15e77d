//! One line of a protocol, and what was measured.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line of a protocol: what it requires, what was measured, and whether it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Line {
    /// The key in the protocol, such as `accept.sensitivity`.
    pub line: String,
    /// The group of test rows that it is about; `None` for all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What is required, in words.
    pub required: String,
    /// What was measured.
    pub measured: Reading,
    /// Whether it is kept.
    pub kept: bool,
}

/// What was measured for a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Value")]
pub enum Reading {
    /// A number.
    Number(f64),
    /// Anything else, or why there is no number.
    Text(String),
}

impl Line {
    pub(super) fn new(
        line: &str,
        required: impl Into<String>,
        measured: impl Into<Reading>,
        kept: bool,
    ) -> Self {
        Self { line: line.into(), group: None, required: required.into(), measured: measured.into(), kept }
    }

    /// A line about a number that is at most another one; `Err` has why there is no number.
    pub(super) fn at_most(line: &str, limit: f64, measured: Result<f64, String>) -> Self {
        Self::of_number(line, format!("at most {limit}"), measured, |number| number <= limit)
    }

    /// The same of one that is at least another one.
    pub(super) fn at_least(line: &str, limit: f64, measured: Result<f64, String>) -> Self {
        Self::of_number(line, format!("at least {limit}"), measured, |number| number >= limit)
    }

    fn of_number(
        line: &str,
        required: String,
        measured: Result<f64, String>,
        is_kept: impl Fn(f64) -> bool,
    ) -> Self {
        match measured {
            Ok(number) if number.is_finite() => {
                Self::new(line, required, Reading::Number(number), is_kept(number))
            }
            Ok(number) => Self::new(line, required, number.to_string(), false),
            Err(why) => Self::new(line, required, why, false),
        }
    }

    pub(super) fn of_group(self, group: Option<&str>) -> Self {
        Self { group: group.map(str::to_owned), ..self }
    }
}

/// Numbers in buffers, as an untagged enum has them, are maps where a package turns on serde_json's `arbitrary_precision`.
impl TryFrom<Value> for Reading {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, &'static str> {
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Number(number) => number.as_f64().map(Self::Number).ok_or("the number is too large"),
            _ => Err("neither a number nor a text"),
        }
    }
}

impl From<String> for Reading {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Reading {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) if number.fract() == 0.0 => write!(f, "{number}"),
            // The exact number is in the log.
            Self::Number(number) => write!(f, "{number:.6}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Whether it is kept, which it is, what it requires, and what was measured.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, group, required, measured, kept } = self;
        write!(f, "{} {line}", if *kept { "kept   " } else { "broken " })?;
        if let Some(group) = group {
            write!(f, " of group {group:?}")?;
        }
        write!(f, ": {required}; measured: {measured}")
    }
}
