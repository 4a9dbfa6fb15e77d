//! The fields of plain text: no quotes, no blank lines, as many fields on each line as the header has.

use std::sync::{Mutex, PoisonError};

use super::cell::{TableCell, is_lost, parsed, word};
use super::projection::ColumnType;
use super::rows::Rows;
use super::sniff::points::{ColumnPoints, Points};
use super::table::Table;
use super::values::Values;
use crate::files::Location;

/// The name of a column, and what it is wanted for.
pub(super) type HeaderColumn = (String, Option<ColumnType>);

/// Where the fields of a text are in it.
pub(super) struct Fields<'p> {
    text: &'p str,
    /// The fields of each column that is wanted.
    columns: Vec<Column>,
}

struct Column {
    /// Its number in the header.
    number: usize,
    used: ColumnType,
    /// Where each field starts and ends.
    spans: Vec<[u32; 2]>,
}

impl<'p> Fields<'p> {
    /// Finds the fields of whole lines; `None` if there is anything in it that is not plain.
    pub(super) fn plain(header: &[HeaderColumn], bytes: &'p [u8]) -> Option<Self> {
        if u32::try_from(bytes.len()).is_err() || memchr::memchr(b'"', bytes).is_some() {
            return None;
        }
        let text = std::str::from_utf8(bytes).ok()?;
        let returns = memchr::memchr_iter(b'\r', bytes).count();
        let width = header.len();
        let wanted = header.iter().enumerate();
        let mut columns: Vec<Column> = wanted
            .filter_map(|(number, (_, used))| Some(Column { number, used: (*used)?, spans: Vec::new() }))
            .collect();
        // For each column of the header, the place among those wanted.
        let mut slots = vec![usize::MAX; width];
        for (slot, column) in columns.iter().enumerate() {
            slots[column.number] = slot;
        }
        let (mut number, mut start, mut stripped) = (0, 0, 0);
        let ends =
            memchr::memchr2_iter(b',', b'\n', bytes).chain((!bytes.ends_with(b"\n")).then_some(bytes.len()));
        for at in ends {
            let ends_line = bytes.get(at) != Some(&b',');
            let mut end = at;
            if ends_line {
                if end > start && bytes[end - 1] == b'\r' {
                    end -= 1;
                    stripped += 1;
                }
                // A blank line is no record.
                if number + 1 != width || number == 0 && start == end {
                    return None;
                }
            }
            if let Some(column) = columns.get_mut(*slots.get(number)?) {
                column.spans.push([start as u32, end as u32]);
            }
            number = if ends_line { 0 } else { number + 1 };
            start = at + 1;
        }
        // A line may end with a carriage return alone.
        (returns == stripped).then_some(Self { text, columns })
    }

    /// The columns as what they are wanted for, or as text if a field is not.
    pub(super) fn table(
        &self,
        header: &[HeaderColumn],
        file: Location,
        first_line: u64,
        points: &Mutex<Points>,
    ) -> Table {
        let rows = Rows::LinesFrom(first_line);
        let mut table = Table::at(file, rows.clone());
        for (name, used) in header {
            table.add_column(name, used.is_some());
        }
        for column in &self.columns {
            let fields = || column.spans.iter().map(|&[start, end]| &self.text[start as usize..end as usize]);
            if column.used == ColumnType::Numbers {
                let mut seen = ColumnPoints::default();
                seen.see(fields().enumerate().map(|(row, field)| (rows.at(row), field)));
                points.lock().unwrap_or_else(PoisonError::into_inner).add(&header[column.number].0, seen);
            }
            let values = match column.used {
                ColumnType::Numbers => fields().map(number).collect::<Option<_>>().map(Values::F64),
                ColumnType::Labels => fields().map(label).collect::<Option<_>>().map(Values::I64),
                ColumnType::Text => None,
            };
            match values {
                Some(values) => table.extend(column.number, values),
                None => table.push_texts(column.number, fields()),
            }
        }
        table
    }
}

/// The number that [`TableCell::number`] makes of a field.
pub(super) fn number(field: &str) -> Option<f64> {
    parsed(field).filter(|&number| !is_lost(number, field))
}

/// The label that [`TableCell::label`] makes of a field; none of a word, which has to be reported.
fn label(field: &str) -> Option<i64> {
    match field {
        "0" => Some(0),
        "1" => Some(1),
        _ => TableCell::Raw(field).label().ok().filter(|_| word(field.trim()).is_none()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// To the bit, as the standard library reads it, whatever the text.
        #[test]
        fn a_field_is_the_number_of_its_cell(
            text in prop_oneof![
                any::<f64>().prop_map(|number| number.to_string()),
                any::<f32>().prop_map(|number| format!("{number:e}")),
                (any::<u64>(), -30i32..30).prop_map(|(digits, exponent)| format!("{digits}e{exponent}")),
                "[-+ ]{0,2}[0-9]{0,25}[.]?[0-9]{0,25}([eE][-+]?[0-9]{0,3})?[ ]?",
                "[-+]?(nan|NaN|inf|Infinity|infinit|INF)[0-9]?",
                "[ -~]{0,6}",
            ],
        ) {
            let bits = |number: Option<f64>| number.map(f64::to_bits);
            let standard = text.trim().parse().ok().filter(|&number| !is_lost(number, &text));
            prop_assert_eq!(bits(number(&text)), bits(standard), "{}", text);
            prop_assert_eq!(bits(TableCell::Raw(&*text).number().ok()), bits(standard), "{}", text);
            prop_assert_eq!(label(&text), TableCell::Raw(&*text).label().ok().filter(|_| word(text.trim()).is_none()), "{}", text);
        }
    }
}
