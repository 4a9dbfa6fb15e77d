//! One JSON object a line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::cell::TableCell;
use super::limit::{MAX_CELLS, MAX_UNPACKED_BYTES};
use super::source::Source;
use super::table::{Table, Wanted};
use crate::files::{FileError, Place, Problem, Row};

/// Reads one object a line. Its fields are the columns, in the order in which they first appear; a field that an
/// object does not have is missing in its row. Blank lines are skipped.
pub(super) fn read(source: &Source, wanted: Wanted<'_>) -> Result<Table, FileError> {
    let mut table = Table::new(source);
    let bytes = source.bytes();
    fill(&mut table, &Place::file(source.path()), (without_mark(bytes), 1), wanted, &[])?;
    Ok(table)
}

/// A text without its byte order mark.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Adds the rows of a text, which begins on a line of its file, to an empty table. Columns that were seen before are there even if no
/// row has them.
pub(super) fn fill(
    table: &mut Table,
    file: &Place,
    (bytes, first_line): (&[u8], u64),
    wanted: Wanted<'_>,
    seen_before: &[String],
) -> Result<(), FileError> {
    let mut columns: HashMap<String, usize> = HashMap::new();
    for name in seen_before {
        columns.insert(name.clone(), table.add_column(name, wanted.includes(name)));
    }
    // The row in which a column was last seen, from 1 on.
    let mut seen: Vec<usize> = vec![0; columns.len()];
    let mut rows = 0;
    for (line, number) in bytes.split(|&b| b == b'\n').zip(first_line..) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let fail = |problem| FileError::input(file.clone().row(Row::Line(number)), problem);
        let text = std::str::from_utf8(line).map_err(|_| fail(Problem::NotUtf8))?;
        let object: Object<'_> = serde_json::from_str(text).map_err(|cause| fail(not_json(&cause)))?;
        table.push_line(number);
        for (name, value) in &object.0 {
            let column = match columns.get(name.as_ref()) {
                Some(&column) => column,
                None => {
                    let column = table.add_column(name, wanted.includes(name));
                    columns.insert(name.clone().into_owned(), column);
                    seen.push(0);
                    (0..rows).for_each(|_| table.push(column, TableCell::Missing));
                    column
                }
            };
            if seen[column] == rows + 1 {
                let place = file.clone().row(Row::Line(number)).column(name);
                return Err(FileError::input(place, Problem::ColumnTwice));
            }
            seen[column] = rows + 1;
            push(table, column, value.get()).map_err(|cause| fail(not_json(&cause)))?;
        }
        rows += 1;
        for (column, last) in seen.iter().enumerate() {
            if *last != rows {
                table.push(column, TableCell::Missing);
            }
        }
        // Objects that have no field in common make more cells than the file has bytes.
        let cells = (rows as u64).saturating_mul(table.width() as u64);
        if cells > MAX_CELLS.max(bytes.len() as u64) {
            return Err(FileError::input(file.clone(), Problem::TooLarge { max: MAX_UNPACKED_BYTES }));
        }
    }
    Ok(())
}

fn push(table: &mut Table, column: usize, value: &str) -> serde_json::Result<()> {
    match value.as_bytes().first() {
        Some(b'n') => table.push(column, TableCell::Missing),
        Some(b't') => table.push(column, TableCell::Bool(true)),
        Some(b'f') => table.push(column, TableCell::Bool(false)),
        Some(b'"') => table.push(column, TableCell::Text(&serde_json::from_str::<String>(value)?)),
        Some(b'[' | b'{') => {
            if table.is_wanted(column) {
                table.spoil(column, Problem::NotScalar("lists or objects".into()));
            }
        }
        _ => table.push(column, TableCell::Number(value)),
    }
    Ok(())
}

/// What the parser says, without its line, which is always the first.
fn not_json(cause: &serde_json::Error) -> Problem {
    let text = cause.to_string();
    let why = text.split(" at line ").next().unwrap_or_default();
    // serde_json's words for the kind of value depend on how others build it.
    let why = if cause.is_data() { "it is another kind of value" } else { why };
    Problem::NotJson(match cause.column() {
        0 => why.into(),
        column => format!("{why} at character {column}"),
    })
}

/// The fields of an object, in their order; a name may be there twice.
pub(super) struct Object<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

/// A name, borrowed unless it has escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Name(name), value)) = map.next_entry()? {
                    fields.push((name, value));
                }
                Ok(Object(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}
