//! JSON lines, piece by piece: read in order, taken apart on all processors.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::column_use::{ColumnUse, Columns};
use super::fields::number;
use super::text::{Apart, Piece, Splitter, TextPieces};
use crate::files::{FileError, Format, Place};
use crate::input::cell::TableCell;
use crate::input::json_lines::{Object, fill, without_mark};
use crate::input::rows::Rows;
use crate::input::table::{Reading, Table, Wanted};
use crate::input::values::Values;

/// What is wanted, and what the columns are called.
pub(super) struct Schema {
    place: Place,
    /// What is wanted for which end.
    wanted: Vec<(String, ColumnUse)>,
    reading: Reading,
    /// The columns of the first piece: one of these that a later piece lacks is missing in its rows.
    columns: Vec<String>,
}

impl TextPieces<Schema> {
    /// Reads the columns of the first piece of a file; `None` if it fits into a piece, if all columns are wanted, which only the whole
    /// file tells, or if the first piece has a fault, or not all columns by the names that were asked for.
    pub(super) fn open(
        path: &Path,
        mut file: File,
        (asked, reading): (&Columns, Reading),
        piece_len: usize,
    ) -> io::Result<Option<Self>> {
        let (Columns::Named(wanted) | Columns::Like(wanted)) = asked else { return Ok(None) };
        let mut start = Vec::new();
        Read::by_ref(&mut file).take(piece_len as u64).read_to_end(&mut start)?;
        let (done, end) = (start.len() as u64, border(&start));
        if start.len() < piece_len || end == 0 {
            return Ok(None);
        }
        let mark = start.len() - without_mark(&start).len();
        let mut table = Table::at(Place::file(path), Rows::From(0));
        let first = (&start[mark..end.max(mark)], 1);
        if fill(&mut table, &Place::file(path), first, Wanted::Only(&[]), &[]).is_err() {
            return Ok(None);
        }
        let start = start.split_off(mark);
        let columns: Vec<String> = table.names_of_columns().map(str::to_owned).collect();
        let is_there = |(name, _): &(String, ColumnUse)| columns.iter().any(|column| column.trim() == name);
        if matches!(asked, Columns::Like(_)) && !wanted.iter().all(is_there) {
            return Ok(None);
        }
        let schema = Schema { place: Place::file(path), wanted: wanted.clone(), reading, columns };
        let path = Place::file(path);
        let reader = Splitter {
            path,
            file,
            piece_len,
            border: Box::new(border),
            start,
            line: 1,
            is_over: false,
            done,
        };
        Ok(Some(Self::new(reader, schema)))
    }
}

/// Where the last whole line ends. No line feed is within a string.
fn border(bytes: &[u8]) -> usize {
    memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1)
}

impl Apart for Schema {
    const FORMAT: Format = Format::JsonLines;

    fn place(&self) -> &Place {
        &self.place
    }

    /// The columns of a piece: quickly, if nothing about it is unusual.
    fn table(&self, piece: &Piece) -> Result<Table, FileError> {
        if let Some(table) = self.plain(piece) {
            return Ok(table.read_as(self.reading.clone()));
        }
        let mut table = Table::at(self.place.clone(), Rows::From(0));
        let names: Vec<&str> = self.wanted.iter().map(|(name, _)| name.as_str()).collect();
        let bytes = (&piece.bytes[..], piece.line);
        fill(&mut table, &self.place, bytes, Wanted::Only(&names), &self.columns)?;
        Ok(table.read_as(self.reading.clone()))
    }
}

impl Schema {
    /// The columns that are wanted; `None` unless each line has each of them once, as a number of the kind that it is wanted as.
    fn plain(&self, piece: &Piece) -> Option<Table> {
        let text = std::str::from_utf8(&piece.bytes).ok()?;
        let mut columns: Vec<Values> =
            self.wanted.iter().map(|(_, used)| none(*used)).collect::<Option<_>>()?;
        let mut rows = 0;
        for line in text.split_terminator('\n') {
            let object: Object<'_> = serde_json::from_str(line).ok()?;
            for (name, value) in &object.0 {
                let is_wanted = |(wanted, _): &(String, ColumnUse)| wanted == name.trim();
                let Some(place) = self.wanted.iter().position(is_wanted) else { continue };
                let is_it = *name == self.wanted[place].0 && columns[place].len() == rows;
                if !is_it || !push(&mut columns[place], value.get()) {
                    return None;
                }
            }
            rows += 1;
            if columns.iter().any(|column| column.len() != rows) {
                return None;
            }
        }
        let mut table = Table::at(self.place.clone(), Rows::LinesFrom(piece.line));
        for ((name, _), values) in self.wanted.iter().zip(columns) {
            let column = table.add_column(name, true);
            table.extend(column, values);
        }
        Some(table)
    }
}

/// No values, of the type of what a column is wanted for; `None` if that is its text.
fn none(used: ColumnUse) -> Option<Values> {
    match used {
        ColumnUse::Numbers => Some(Values::F64(Vec::new())),
        ColumnUse::Labels => Some(Values::I64(Vec::new())),
        ColumnUse::Text => None,
    }
}

/// Adds a value; whether it is a number of the type.
fn push(values: &mut Values, text: &str) -> bool {
    if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return false;
    }
    match values {
        Values::F64(values) => number(text).map(|number| values.push(number)).is_some(),
        Values::I64(values) => TableCell::Number(text).label().ok().map(|label| values.push(label)).is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::input::pieces::text::tests::{columns, joined};
    use crate::input::source::Source;

    /// Lines of a first object with all columns, and others: with fields in any order, missing ones, and faults of rows. Those of columns
    /// are told from the whole.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let value = prop_oneof![
            8 => (0u32..1000).prop_map(|i| (f64::from(i) / 999.0).to_string()),
            8 => prop_oneof![Just("0"), Just("1"), Just("1e0"), Just("-0")].prop_map(str::to_owned),
            1 => prop_oneof![
                Just("null"), Just("true"), Just("\"0.5\""), Just("\"\\n{\""), Just("01"), Just("x"),
            ]
            .prop_map(str::to_owned),
        ];
        let name = prop_oneof![20 => Just("a"), 20 => Just("b"), 2 => Just("c"), 1 => Just("d")];
        let plain = (value.clone(), value.clone()).prop_map(|(a, b)| format!("{{\"a\": {a}, \"b\": {b}}}"));
        let other = proptest::collection::vec((name, value), 0..4).prop_map(|fields| {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            format!("{{{}}}", fields.join(","))
        });
        let line = prop_oneof![12 => plain, 1 => other, 1 => Just(String::new()), 1 => Just("[]".to_owned())];
        let end = prop_oneof![20 => Just("\n"), 3 => Just("\r\n"), 1 => Just("\n\n")];
        let lines = proptest::collection::vec((line, end), 1..30);
        let mark = prop_oneof![9 => Just(""), 1 => Just("\u{feff}")];
        (mark, lines, any::<bool>()).prop_map(|(mark, lines, ends)| {
            let lines: String = lines.into_iter().map(|(line, end)| line + end).collect();
            let text = format!("{mark}{{\"a\": 0.5, \"b\": 1, \"c\": 2}}\n{lines}");
            (if ends { &text[..] } else { text.trim_end() }).as_bytes().to_vec()
        })
    }

    proptest! {
        /// Wherever a text is cut into pieces, it has the values, the places and the faults that it has as a whole.
        #[test]
        fn pieces_are_the_whole(text in text(), piece_len in 32usize..200, as_text in any::<bool>()) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("t.jsonl");
            std::fs::write(&path, &text).unwrap();
            let whole = Source::from_bytes(&path, text)
                .and_then(|source| Table::read_wanted(&source, Wanted::Only(&["a", "b"])));
            // As a part: how many gaps there are is told of all rows.
            let whole = whole.map(|table| table.read_as(Reading::default()));
            let uses = if as_text { [ColumnUse::Text; 2] } else { [ColumnUse::Numbers, ColumnUse::Labels] };
            let wanted = Columns::Named(vec![("a".to_owned(), uses[0]), ("b".to_owned(), uses[1])]);
            let opened = (&wanted, Reading::default());
            let pieces = TextPieces::<Schema>::open(&path, File::open(&path).unwrap(), opened, piece_len).unwrap();
            // One that fits into a piece, or whose first piece has a fault, is not read in pieces.
            let Some(mut pieces) = pieces else { return Ok(()) };
            let mut read = [Ok(Vec::new()), Ok(Vec::new())];
            let fault = loop {
                match pieces.next() {
                    Ok(Some(table)) => {
                        let [a, b] = columns(&table);
                        let [before_a, before_b] = read;
                        read = [joined(before_a, a), joined(before_b, b)];
                    }
                    Ok(None) => break None,
                    Err(fault) => break Some(fault.to_string()),
                }
            };
            prop_assert_eq!(fault, whole.as_ref().err().map(ToString::to_string));
            if let Ok(whole) = whole {
                prop_assert_eq!(read, columns(&whole));
            }
        }
    }
}
