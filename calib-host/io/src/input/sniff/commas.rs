//! Commas in numbers where another separator divides the fields: decimal commas, or thousands.

/// Where columns have numbers with a comma.
#[derive(Clone, Debug, Default)]
pub(in crate::input) struct Commas(Vec<Numbers>);

/// The first numbers with a comma of a column.
#[derive(Clone, Debug, Default)]
struct Numbers {
    /// One that may be thousands, such as `1,910`, and its line.
    thousands: Option<(u64, String)>,
    /// Whether there is one that has a decimal comma for certain.
    is_decimal: bool,
}

impl Commas {
    /// Takes notice of a number with a comma.
    pub(in crate::input) fn see(&mut self, column: usize, number: &[u8], line: u64) {
        if self.0.len() <= column {
            self.0.resize_with(column + 1, Numbers::default);
        }
        let numbers = &mut self.0[column];
        if numbers.is_decimal {
            return;
        }
        let text = String::from_utf8_lossy(number.trim_ascii());
        match are_thousands(&text) {
            false => numbers.is_decimal = true,
            true if numbers.thousands.is_none() => numbers.thousands = Some((line, text.into_owned())),
            true => {}
        }
    }

    /// Adds what another part of the same table has.
    pub(in crate::input) fn join(&mut self, other: Self) {
        if self.0.len() < other.0.len() {
            self.0.resize_with(other.0.len(), Numbers::default);
        }
        for (numbers, other) in self.0.iter_mut().zip(other.0) {
            numbers.is_decimal |= other.is_decimal;
            numbers.thousands = numbers.thousands.take().into_iter().chain(other.thousands).min();
        }
    }

    /// The first number of one of these columns that may be thousands, if no other one of its column has a decimal comma for certain.
    pub(in crate::input) fn doubtful(&self, is_read: impl Fn(usize) -> bool) -> Option<(usize, u64, &str)> {
        let columns = self.0.iter().enumerate();
        let mut doubtful = columns.filter(|(column, numbers)| is_read(*column) && !numbers.is_decimal);
        doubtful.find_map(|(column, numbers)| {
            numbers.thousands.as_ref().map(|(line, text)| (column, *line, text.as_str()))
        })
    }

    /// Whether one of these columns has decimal commas.
    pub(in crate::input) fn are_decimal(&self, is_read: impl Fn(usize) -> bool) -> bool {
        self.0.iter().enumerate().any(|(column, numbers)| is_read(column) && numbers.is_decimal)
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
