//! A column of numbers in the type that its file has.

use calib_core::Margin;
use calib_fit::data::ScoreKind;

use super::cell::TableCell;
use super::column_kind::ColumnKind;

/// So many values are checked at a time: few enough to stay in a cache.
const BLOCK_LEN: usize = 1 << 12;

/// Numbers or booleans of one type, none missing.
///
/// Whole blocks are checked and converted by loops without branches. Where such a check fails, the column is looked at cell
/// by cell, which finds the place and the words.
#[derive(Clone, Debug)]
pub(super) enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Integers with a sign, or of up to 32 bits without.
    I64(Vec<i64>),
    U64(Vec<u64>),
    Bool(Vec<bool>),
}

/// Does the same with the vector of any type.
macro_rules! each {
    ($values:expr, $vector:ident => $do:expr) => {
        match $values {
            Values::F32($vector) => $do,
            Values::F64($vector) => $do,
            Values::I64($vector) => $do,
            Values::U64($vector) => $do,
            Values::Bool($vector) => $do,
        }
    };
}

/// A value of a typed column.
trait Value: Copy + PartialEq + From<bool> {
    /// The value as a cell.
    fn cell<S>(self) -> TableCell<S>;

    /// The value as a number.
    fn number(self) -> f64;

    /// Whether the value is the label 1.
    fn is_one(self) -> bool {
        self == Self::from(true)
    }

    /// Whether the value is the label 0 or 1.
    fn is_binary(self) -> bool {
        self == Self::from(false) || self.is_one()
    }
}

macro_rules! number {
    ($($type:ident $cell:ident)*) => {$(
        impl Value for $type {
            fn cell<S>(self) -> TableCell<S> {
                TableCell::$cell(self)
            }

            fn number(self) -> f64 {
                self as f64
            }
        }
    )*};
}

number!(f32 F32 f64 F64 i64 Integer u64 Unsigned);

impl Value for bool {
    fn cell<S>(self) -> TableCell<S> {
        TableCell::Bool(self)
    }

    /// Nobody asks: a cell that is true or false is no number.
    fn number(self) -> f64 {
        self.into()
    }
}

impl Values {
    pub(super) fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    pub(super) fn kind(&self) -> ColumnKind {
        match self {
            Self::F32(_) => ColumnKind::F32,
            Self::F64(_) => ColumnKind::F64,
            Self::I64(_) => ColumnKind::Integer,
            Self::U64(_) => ColumnKind::Unsigned,
            Self::Bool(_) => ColumnKind::Bool,
        }
    }

    pub(super) fn is_float(&self) -> bool {
        matches!(self, Self::F32(_) | Self::F64(_))
    }

    /// Whether all values are whole numbers or booleans, except for those that are NaN.
    pub(super) fn are_whole(&self) -> bool {
        match self {
            Self::F32(values) => all(values, |value| value.is_nan() | (value.fract() == 0.0)),
            Self::F64(values) => all(values, |value| value.is_nan() | (value.fract() == 0.0)),
            _ => true,
        }
    }

    pub(super) fn cell<S>(&self, row: usize) -> TableCell<S> {
        each!(self, values => values[row].cell())
    }

    /// Appends values of the same type; gives others back.
    pub(super) fn append(&mut self, other: Self) -> Result<(), Self> {
        match (self, other) {
            (Self::F32(values), Self::F32(others)) => values.extend(others),
            (Self::F64(values), Self::F64(others)) => values.extend(others),
            (Self::I64(values), Self::I64(others)) => values.extend(others),
            (Self::U64(values), Self::U64(others)) => values.extend(others),
            (Self::Bool(values), Self::Bool(others)) => values.extend(others),
            (_, other) => return Err(other),
        }
        Ok(())
    }

    /// Makes the values of a matrix that is stored column by column row-major.
    pub(super) fn transpose(&mut self, rows: usize, columns: usize) {
        each!(self, values => *values = transposed(values, rows, columns));
    }

    /// Some of the values, in the order in which they are given.
    pub(super) fn part(&self, rows: &[usize]) -> Self {
        macro_rules! part {
            ($($variant:ident)*) => {
                match self {
                    $(Self::$variant(values) => Self::$variant(rows.iter().map(|&row| values[row]).collect()),)*
                }
            };
        }
        part!(F32 F64 I64 U64 Bool)
    }

    /// The second of every two values, if both are always floats in `[0, 1]`, except for rounding, that sum to one, or no numbers.
    pub(super) fn second_of_two_probs(&self) -> Option<Self> {
        /// As far as half-precision floats round.
        const TOLERANCE: f64 = 2e-3;
        if !self.is_float() {
            return None;
        }
        let are_probs = |row: usize| {
            let [first, second] = [2 * row, 2 * row + 1].map(|place| self.number(place));
            // Rounding may take one out of [0, 1], which is told of the score.
            let is_prob = |value: f64| (-1e-6..=1.000_001).contains(&value);
            first.is_nan() && second.is_nan()
                || is_prob(first) && is_prob(second) && (first + second - 1.0).abs() <= TOLERANCE
        };
        let rows = self.len() / 2;
        (0..rows).all(are_probs).then(|| self.part(&(0..rows).map(|row| 2 * row + 1).collect::<Vec<_>>()))
    }

    fn number(&self, row: usize) -> f64 {
        each!(self, values => values[row].number())
    }

    /// The values as numbers; `None` of booleans, which are none.
    pub(super) fn numbers(&self) -> Option<Vec<f64>> {
        match self {
            Self::Bool(_) => None,
            Self::F64(values) => Some(values.clone()),
            other => Some(each!(other, values => values.iter().map(|value| value.number()).collect())),
        }
    }

    /// The values as whole numbers; `None` of floats, which may be none, and where one is too large.
    pub(super) fn integers(&self) -> Option<Vec<i64>> {
        Some(match self {
            Self::F32(_) | Self::F64(_) => return None,
            Self::I64(values) => values.clone(),
            Self::U64(values) => values.iter().map(|&value| value.try_into().ok()).collect::<Option<_>>()?,
            Self::Bool(values) => values.iter().map(|&value| value.into()).collect(),
        })
    }

    /// The values as the device sees scores of this kind; `None` if one is no such score.
    pub(super) fn device_scores(&self, kind: ScoreKind) -> Option<Vec<f32>> {
        match (self, kind) {
            (Self::Bool(_), _) => None,
            (Self::F32(values), ScoreKind::Probability) => {
                // The negative zero is the score 0.
                all(values, |value| (0.0..=1.0).contains(&value))
                    .then(|| values.iter().map(|value| value + 0.0).collect())
            }
            (other, ScoreKind::Probability) => each!(other, values => {
                let are_scores = all(values, |value| (0.0..=1.0).contains(&value.number()));
                are_scores.then(|| values.iter().map(|value| value.number() as f32 + 0.0).collect())
            }),
            (other, ScoreKind::Margin) => each!(other, values => {
                let margin = |value: f64| Margin::new(value as f32).ok().map(Margin::get);
                values.iter().map(|value| margin(value.number())).collect()
            }),
        }
    }

    /// The values as labels of two classes; `None` if one is neither 0 nor 1.
    pub(super) fn binary_labels(&self) -> Option<Vec<bool>> {
        each!(self, values => {
            all(values, Value::is_binary).then(|| values.iter().map(|value| value.is_one()).collect())
        })
    }
}

fn transposed<T: Copy>(stored: &[T], rows: usize, columns: usize) -> Vec<T> {
    (0..rows * columns).map(|i| stored[i % columns * rows + i / columns]).collect()
}

/// Whether all values are scores.
pub(super) fn are_scores(values: &[f64]) -> bool {
    all(values, |value| (0.0..=1.0).contains(&value))
}

/// Whether all values are right, told by block and not by value.
fn all<T: Copy>(values: &[T], is_right: impl Fn(T) -> bool) -> bool {
    values.chunks(BLOCK_LEN).all(|block| block.iter().fold(true, |right, &value| right & is_right(value)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::files::Problem;

    /// Numbers at and beside the ends of what a score and a label may be.
    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            0.0f64..=1.0,
            prop_oneof![
                Just(0.0),
                Just(-0.0),
                Just(1.0),
                Just(1.0f64.next_up()),
                Just(-1e-300),
                Just(f64::NAN),
                Just(f64::INFINITY),
                Just(1e39),
                Just(2.0),
                Just(0.5),
            ],
        ]
    }

    fn of_type(choice: usize, numbers: &[f64]) -> Values {
        let integers = || numbers.iter().map(|&number| number as i64);
        match choice {
            0 => Values::F32(numbers.iter().map(|&number| number as f32).collect()),
            1 => Values::F64(numbers.to_vec()),
            2 => Values::I64(integers().collect()),
            3 => Values::U64(integers().map(|value| value as u64).collect()),
            _ => Values::Bool(numbers.iter().map(|&number| number > 0.5).collect()),
        }
    }

    fn cells(values: &Values) -> Vec<TableCell<&'static str>> {
        (0..values.len()).map(|row| values.cell(row)).collect()
    }

    proptest! {
        /// A whole column is what its cells are one by one; where a cell is refused, so is the column.
        #[test]
        fn a_column_is_its_cells(
            choice in 0usize..5, numbers in proptest::collection::vec(number(), 1..20),
        ) {
            let values = of_type(choice, &numbers);
            let cells = cells(&values);
            let by_cell: Result<Vec<f64>, Problem> = cells.iter().map(|cell| cell.number()).collect();
            let bits = |numbers: Vec<f64>| numbers.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            prop_assert_eq!(values.numbers().map(bits), by_cell.clone().ok().map(bits));
            let labels: Result<Vec<i64>, Problem> = cells.iter().map(|cell| cell.label()).collect();
            if let Some(integers) = values.integers() {
                prop_assert_eq!(Ok(integers), labels.clone());
            }
            let binary = labels.ok().filter(|labels| labels.iter().all(|label| (0..2).contains(label)));
            let binary = binary.map(|labels| labels.into_iter().map(|label| label == 1).collect::<Vec<_>>());
            prop_assert_eq!(values.binary_labels(), binary);
            let scores = |of: fn(f64) -> Option<f32>| {
                by_cell.clone().ok().and_then(|numbers| numbers.into_iter().map(of).collect::<Option<Vec<f32>>>())
            };
            let bits = |scores: Option<Vec<f32>>| scores.map(|s| s.into_iter().map(f32::to_bits).collect::<Vec<_>>());
            prop_assert_eq!(
                bits(values.device_scores(ScoreKind::Probability)),
                bits(scores(|number| calib_core::Score::try_from(number).ok().map(calib_core::Score::get)))
            );
            prop_assert_eq!(
                bits(values.device_scores(ScoreKind::Margin)),
                bits(scores(|number| Margin::new(number as f32).ok().map(Margin::get)))
            );
        }
    }
}
