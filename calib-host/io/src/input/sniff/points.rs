//! Points and commas in numbers: decimal ones, or thousands.

use std::collections::BTreeMap;

use crate::files::{FileError, Location, Problem, Row};
use crate::input::sniff::options::{TableOptions, TableRemark};

/// A whole number of this size beside `1.910` has as many digits as a group of thousands.
const GROUP: u16 = 100;

/// Every column of a file of which numbers are read, and what it says of its points.
#[derive(Debug, Default)]
pub(in crate::input) struct Points {
    columns: BTreeMap<String, ColumnPoints>,
    /// The first number of a column that may have thousands, as the file has it, if none has a decimal point for certain.
    beside_commas: BTreeMap<String, (Row, String)>,
}

/// What the numbers of a column say of their points.
///
/// ```text
/// 1.910  809  -122    thousands: nobody writes decimals so
/// 1.910  0.731        decimals
/// 1.333  2.667  1     probably decimals
/// ```
#[derive(Clone, Debug, Default)]
pub(in crate::input) struct ColumnPoints {
    /// The first number that may have thousands, such as `1.910`.
    thousands: Option<(Row, String)>,
    /// Whether one of the numbers has a decimal point for certain, or thousands without a point.
    is_decimal: bool,
    /// Whether one that may have thousands ends in 0: such a table has whole decimals as `809.000`.
    ends_in_zero: bool,
    /// The largest whole number other than 0, without its sign.
    whole: Option<u16>,
}

/// How a number with a point is read.
enum Form {
    Thousands,
    Decimal,
    Whole(u16),
    Other,
}

impl Form {
    fn of(number: &str) -> Self {
        let digits = number.trim_start_matches(['-', '+']);
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        match digits.split_once('.') {
            Some((whole, rest)) => {
                let is_group = (1..=3).contains(&whole.len()) && are_digits(whole) && !whole.starts_with('0');
                match is_group && rest.len() == 3 && are_digits(rest) {
                    true => Self::Thousands,
                    false => Self::Decimal,
                }
            }
            None if !digits.starts_with(|first: char| first.is_ascii_digit()) => Self::Other,
            None if digits.len() > 3 => Self::Decimal,
            None => digits.parse().map_or(Self::Decimal, Self::Whole),
        }
    }
}

impl ColumnPoints {
    /// Takes notice of numbers and their rows.
    pub(in crate::input) fn see<'t>(&mut self, numbers: impl IntoIterator<Item = (Row, &'t str)>) {
        for (row, number) in numbers {
            if self.is_decimal {
                return;
            }
            let number = number.trim();
            match Form::of(number) {
                Form::Decimal => self.is_decimal = true,
                Form::Whole(0) | Form::Other => {}
                Form::Whole(whole) => self.whole = self.whole.max(Some(whole)),
                Form::Thousands => {
                    self.ends_in_zero |= number.ends_with('0');
                    if self.thousands.is_none() {
                        self.thousands = Some((row, number.to_owned()));
                    }
                }
            }
        }
    }

    /// Takes notice of a number with a comma, where another separator divides the fields.
    pub(in crate::input) fn see_comma(&mut self, row: Row, number: &[u8]) {
        if self.is_decimal {
            return;
        }
        let text = String::from_utf8_lossy(number.trim_ascii());
        match are_thousands(&text) {
            true => _ = self.thousands.get_or_insert_with(|| (row, text.into_owned())),
            false => self.is_decimal = true,
        }
    }

    /// Whether one of the numbers is a decimal for certain.
    pub(in crate::input) fn is_decimal(&self) -> bool {
        self.is_decimal
    }

    /// The first number that may have thousands, unless another one is a decimal for certain.
    pub(in crate::input) fn doubtful(&self) -> Option<&(Row, String)> {
        self.thousands.as_ref().filter(|_| !self.is_decimal)
    }

    /// Adds what other rows of the same column say.
    pub(in crate::input) fn join(&mut self, other: Self) {
        self.thousands = self.thousands.take().into_iter().chain(other.thousands).min();
        self.is_decimal |= other.is_decimal;
        self.ends_in_zero |= other.ends_in_zero;
        self.whole = self.whole.max(other.whole);
    }
}

impl Points {
    /// Adds what some rows of a column say.
    pub(in crate::input) fn add(&mut self, column: &str, points: ColumnPoints) {
        self.columns.entry(column.trim().to_owned()).or_default().join(points);
    }

    /// Says that other numbers of the file have decimal commas, and that these of the column have a point.
    pub(in crate::input) fn beside_commas(&mut self, column: &str, numbers: &ColumnPoints) {
        if let Some(first) = numbers.doubtful() {
            self.beside_commas.insert(column.trim().to_owned(), first.clone());
        }
    }

    /// Refuses a column whose points separate thousands by all that its numbers say, and tells of one where that is less likely.
    ///
    /// # Errors
    ///
    /// The first number of the column that may have thousands.
    pub(in crate::input) fn check(
        &self,
        file: &Location,
        column: &str,
        options: &TableOptions,
    ) -> Result<(), FileError> {
        let column = column.trim();
        let refused = |(row, text): &(Row, String)| {
            let place = file.clone().column(column).row(*row);
            Err(FileError::input(place, Problem::Thousands(text.clone())))
        };
        if let Some(number) = self.beside_commas.get(column) {
            return refused(number);
        }
        match self.columns.get(column) {
            Some(ColumnPoints {
                thousands: Some(number),
                is_decimal: false,
                ends_in_zero,
                whole: Some(whole),
            }) => {
                if *ends_in_zero || *whole >= GROUP {
                    return refused(number);
                }
                let place = Location::file(&file.file).column(column);
                options.note(&place, TableRemark::Points(number.1.clone()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Checks all columns of which numbers were read.
    ///
    /// # Errors
    ///
    /// As [`Points::check`].
    pub(in crate::input) fn check_all(
        &self,
        file: &Location,
        options: &TableOptions,
    ) -> Result<(), FileError> {
        self.columns.keys().try_for_each(|column| self.check(file, column, options))
    }
}

/// Whether a number is written as thousands are, with three digits behind every comma.
///
/// ```
/// use calib_io::input::are_thousands;
///
/// assert!(["1,910", "-12,000", "1,234,567.5"].into_iter().all(are_thousands));
/// assert!(!["0,910", "1,91", "1910", "1234,567", "1.910,5"].into_iter().any(are_thousands));
/// ```
pub fn are_thousands(number: &str) -> bool {
    let whole = number.trim().trim_start_matches(['-', '+']);
    let (whole, decimals) = whole.split_once('.').unwrap_or((whole, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(',');
    let is_first =
        |group: &str| (1..=3).contains(&group.len()) && are_digits(group) && !group.starts_with('0');
    groups.next().is_some_and(is_first)
        && groups.clone().count() > 0
        && groups.all(|group| group.len() == 3 && are_digits(group))
        && are_digits(decimals)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::input::sniff::options::Tell;

    /// Whether the numbers are refused, and how many notes there are.
    fn judged<T: AsRef<str>>(numbers: &[T]) -> (bool, usize) {
        let mut seen = ColumnPoints::default();
        seen.see(numbers.iter().enumerate().map(|(row, number)| (Row::Index(row), number.as_ref())));
        let mut points = Points::default();
        points.add("score", seen);
        let notes = std::sync::Arc::new(std::sync::Mutex::new(0));
        let counted = notes.clone();
        let tell = Some(Tell::new(move |_| *counted.lock().unwrap() += 1));
        let options = TableOptions { tell, ..TableOptions::default() };
        let is_refused = points.check_all(&Location::file(Path::new("t.csv")), &options).is_err();
        let notes = *notes.lock().unwrap();
        (is_refused, notes)
    }

    #[test]
    fn points_of_thousands_are_told_from_decimal_points() {
        for refused in [
            &["1.910", "809"][..],
            &["122", "-1.911", "15"],
            &["1", "+2.500", "12"],
            &["0", "12.345", "899.210", "7"],
            &["1.911", "", "nan", "809"],
        ] {
            assert_eq!(judged(refused), (true, 0), "{refused:?}");
        }
        for taken in [
            &["1.250", "0.731", "3"][..],
            &["-0.125", "809", "1.910"],
            &["1.910", "2.345", "-1.220"],
            &["1.910", "809.000"],
            &["1.91", "809", "1.910"],
            &["1910", "809", "1.911"],
            &["1.911", "809", "1e3"],
            &["0", "1.910", "0"],
            &["809", "122"],
            &["1.911", "809.", "122"],
            &["1.911", ".500", "122"],
            &[],
        ] {
            assert_eq!(judged(taken), (false, 0), "{taken:?}");
        }
        // Weights of two groups, or a few thousands: both are possible.
        assert_eq!(judged(&["1", "1.333", "1", "2.667"]), (false, 1));
    }

    proptest! {
        /// Decimals as programs write them: as short as they can be, or all with as many digits.
        #[test]
        fn decimals_are_no_thousands(
            numbers in proptest::collection::vec(-3000i32..3000, 1..200),
            digits in 0usize..6,
            is_short in any::<bool>(),
        ) {
            let numbers: Vec<f64> = numbers.into_iter().map(f64::from).collect();
            let texts: Vec<String> = match is_short {
                // A hundredth among them has two digits.
                true => numbers.iter().map(|number| number / 1000.0).chain([2.25]).map(|number| number.to_string()).collect(),
                false => numbers.iter().map(|number| format!("{:.digits$}", number / 7.0)).collect(),
            };
            prop_assert_eq!(judged(&texts), (false, 0), "{:?}", texts);
        }

        /// Whole numbers with thousands, among them one below a thousand with three digits.
        #[test]
        fn thousands_are_no_decimals(numbers in proptest::collection::vec(1000i32..999_999, 1..50), below in 100i32..1000) {
            let with_points = |number: i32| format!("{}.{:03}", number / 1000, number % 1000);
            let texts: Vec<String> = numbers.into_iter().map(with_points).chain([below.to_string()]).collect();
            prop_assert_eq!(judged(&texts), (true, 0), "{:?}", texts);
        }
    }
}
