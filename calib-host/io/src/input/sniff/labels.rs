//! Labels of which someone said which one is class 1.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::files::{FileError, Problem};
use crate::input::column::Column;

/// The labels of two kinds as numbers, of which this one is 1.
pub(in crate::input) fn labels_of_two(
    texts: Column<Cow<'_, str>>,
    positive: &str,
    other: &OnceLock<String>,
) -> Result<Column<i64>, FileError> {
    let mut values = Vec::with_capacity(texts.len());
    for (row, text) in texts.values.iter().enumerate() {
        let is_positive = is_same_label(text, positive);
        if !is_positive {
            let other = other.get_or_init(|| text.clone().into_owned());
            if !is_same_label(text, other) {
                if !texts.values.iter().any(|text| is_same_label(text, positive)) {
                    return Err(FileError::input(texts.place.clone(), no_positive(&texts.values, positive)));
                }
                let labels = [positive, other].map(str::to_owned);
                return Err(FileError::input(
                    texts.at(row),
                    Problem::ThirdLabel { label: text.to_string(), labels },
                ));
            }
        }
        values.push(is_positive.into());
    }
    Ok(texts.with_values(values))
}

/// What is wrong with labels of which none is the one that was set as class 1.
fn no_positive(texts: &[Cow<'_, str>], positive: &str) -> Problem {
    /// The number of labels that are kept: one more than are reported.
    const KEPT: usize = 7;
    let mut labels: Vec<String> = Vec::new();
    for text in texts {
        if labels.len() < KEPT && !labels.iter().any(|label| is_same_label(text, label)) {
            labels.push(text.clone().into_owned());
        }
    }
    labels.sort_unstable();
    Problem::NoPositive { positive: positive.to_owned(), labels }
}

/// Whether two texts are the same label: the same text, the same number, or the same boolean.
fn is_same_label(text: &str, other: &str) -> bool {
    // Beyond 2^53 a float stands for several whole numbers.
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.abs() < 2f64.powi(53));
    let is_bool = |text: &str| ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word));
    text == other
        || number(text).is_some_and(|value| number(other) == Some(value))
        || is_bool(text) && text.eq_ignore_ascii_case(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_the_same_however_it_is_written() {
        for (text, other) in [("case", "case"), ("2", "2.0"), ("-1", "-1e0"), ("True", "true")] {
            assert!(is_same_label(text, other) && is_same_label(other, text), "{text} {other}");
        }
        for (text, other) in [
            ("case", "Case"),
            ("1", "2"),
            ("nan", "NaN"),
            ("true", "false"),
            ("1", "true"),
            ("9223372036854775808", "9223372036854775809"),
        ] {
            assert!(!is_same_label(text, other) && !is_same_label(other, text), "{text} {other}");
        }
    }
}
