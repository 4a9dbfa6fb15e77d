//! One JSON object a line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::cell::TableCell;
use super::chunk_reader::{ChunkReader, Input};
use super::fields::number;
use super::limit::{MAX_CELLS, MAX_UNPACKED_BYTES};
use super::projection::{ColumnType, Projection};
use super::rows::Rows;
use super::table::{Reading, Table};
use super::text::{CHUNK_LEN_BYTES, Chunk, ParseChunk, Splitter, TextChunks};
use super::values::Values;
use crate::files::{FileError, Location, Problem, Row, json_words};

/// After so many rows it is seen that the cells are not too large.
const CHECKED_ROWS: usize = 1 << 16;

/// What is read, and what the columns are called.
struct Schema {
    place: Location,
    projection: Projection,
    /// The columns of the first chunk. If a later chunk lacks one of these, the column is missing in its rows.
    columns: Vec<String>,
}

/// Reads one object a line. Its fields are the columns, in the order in which they first appear; a field that an
/// object does not have is missing in its row. Blank lines are skipped.
///
/// # Errors
///
/// If the file cannot be read.
pub(super) fn open(
    input: &Input,
    projection: &Projection,
    reading: Reading,
) -> Result<Box<dyn ChunkReader>, FileError> {
    open_chunks(input, projection, reading, CHUNK_LEN_BYTES)
        .map(|chunks| Box::new(chunks) as Box<dyn ChunkReader>)
}

/// A file is one chunk if all columns are read, or if the first chunk lacks a column that is read or has a fault: only all lines tell
/// which columns there are.
fn open_chunks(
    input: &Input,
    projection: &Projection,
    reading: Reading,
    chunk_len: usize,
) -> Result<TextChunks<Schema>, FileError> {
    let mut splitter = Splitter::new(input, chunk_len, line_end)?;
    if splitter.start.starts_with(b"\xef\xbb\xbf") {
        splitter.start.drain(..3);
    }
    let mut schema = Schema { place: input.place(), projection: projection.clone(), columns: Vec::new() };
    match schema.columns_of(&splitter.start[..line_end(&splitter.start)]) {
        Some(columns) if !splitter.is_over => schema.columns = columns,
        _ => splitter = splitter.in_one_chunk()?,
    }
    Ok(TextChunks::new(splitter, schema, reading))
}

/// The end of the last whole line. No line feed is within a string.
fn line_end(bytes: &[u8]) -> usize {
    memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1)
}

impl ParseChunk for Schema {
    /// The columns of a chunk: quickly, if nothing about it is unusual.
    fn table(&self, chunk: &Chunk) -> Result<Option<Table>, FileError> {
        let table = match self.plain(chunk) {
            Some(table) => table,
            None => self.careful(&chunk.bytes, chunk.line, &self.projection)?,
        };
        Ok((!table.has_no_rows()).then_some(table))
    }
}

impl Schema {
    /// The columns of the first lines, if they have all that are read.
    fn columns_of(&self, lines: &[u8]) -> Option<Vec<String>> {
        let Projection::Named { columns: read, .. } = &self.projection else { return None };
        let table = self.careful(lines, 1, &Projection::NONE).ok()?;
        let columns: Vec<String> = table.column_names().map(str::to_owned).collect();
        let is_there = |(name, _): &(String, ColumnType)| columns.iter().any(|column| column.trim() == name);
        read.iter().all(is_there).then_some(columns)
    }

    /// The columns that are read; `None` unless each line has each of them once, as a number of the kind that it is read as.
    fn plain(&self, chunk: &Chunk) -> Option<Table> {
        let Projection::Named { columns: read, .. } = &self.projection else { return None };
        if read.is_empty() || self.columns.is_empty() {
            return None;
        }
        let text = std::str::from_utf8(&chunk.bytes).ok()?;
        let mut columns: Vec<Values> = read.iter().map(|(_, used)| none(*used)).collect::<Option<_>>()?;
        let mut rows = 0;
        for line in text.split_terminator('\n') {
            let object: Object<'_> = serde_json::from_str(line).ok()?;
            for (name, value) in &object.0 {
                let is_read = |(wanted, _): &(String, ColumnType)| wanted == name.trim();
                let Some(place) = read.iter().position(is_read) else { continue };
                let is_it = *name == read[place].0 && columns[place].len() == rows;
                if !is_it || !push_number(&mut columns[place], value.get()) {
                    return None;
                }
            }
            rows += 1;
            if columns.iter().any(|column| column.len() != rows) {
                return None;
            }
        }
        let mut table = Table::at(self.place.clone(), Rows::LinesFrom(chunk.line));
        for ((name, _), values) in read.iter().zip(columns) {
            let column = table.add_column(name, true);
            table.extend(column, values);
        }
        Some(table)
    }

    /// The columns of lines with anything in them.
    fn careful(&self, bytes: &[u8], first_line: u64, projection: &Projection) -> Result<Table, FileError> {
        let mut table = Table::at(self.place.clone(), Rows::From(0));
        let mut columns: HashMap<String, usize> = HashMap::new();
        for name in &self.columns {
            columns.insert(name.clone(), table.add_column(name, projection.includes(name)));
        }
        // The row in which a column was last seen, from 1 on.
        let mut seen: Vec<usize> = vec![0; columns.len()];
        let mut rows = 0;
        for (line, number) in bytes.split(|&b| b == b'\n').zip(first_line..) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let fail = |problem| FileError::input(self.place.clone().row(Row::Line(number)), problem);
            let text = std::str::from_utf8(line).map_err(|_| fail(Problem::NotUtf8))?;
            let fixed;
            let object: Object<'_> = match serde_json::from_str(text) {
                Ok(object) => object,
                Err(cause) => {
                    fixed = of_python(text).ok_or_else(|| fail(not_json(&cause)))?;
                    serde_json::from_str(&fixed).map_err(|_| fail(not_json(&cause)))?
                }
            };
            if !object.0.is_empty() && object.0.iter().all(|(_, value)| is_nested(value.get())) {
                return Err(fail(Problem::NestedRow));
            }
            table.push_line(number);
            for (name, value) in &object.0 {
                let column = match columns.get(name.as_ref()) {
                    Some(&column) => column,
                    None => {
                        let column = table.add_column(name, projection.includes(name));
                        columns.insert(name.clone().into_owned(), column);
                        seen.push(0);
                        (0..rows).for_each(|_| table.push(column, TableCell::Missing));
                        column
                    }
                };
                if seen[column] == rows + 1 {
                    let place = self.place.clone().row(Row::Line(number)).column(name);
                    return Err(FileError::input(place, Problem::ColumnTwice));
                }
                seen[column] = rows + 1;
                push(&mut table, column, value.get()).map_err(|cause| fail(not_json(&cause)))?;
            }
            rows += 1;
            for (column, last) in seen.iter().enumerate() {
                if *last != rows {
                    table.push(column, TableCell::Missing);
                }
            }
            // A file of which all columns are read is one chunk.
            if rows % CHECKED_ROWS == 0 && table.len_bytes() > MAX_UNPACKED_BYTES {
                let problem = Problem::TableTooLarge { max: MAX_UNPACKED_BYTES };
                return Err(FileError::input(self.place.clone(), problem));
            }
            // Objects that have no field in common make more cells than the file has bytes.
            let cells = (rows as u64).saturating_mul(table.width() as u64);
            if cells > MAX_CELLS.max(bytes.len() as u64) {
                return Err(FileError::input(
                    self.place.clone(),
                    Problem::TooLarge { max: MAX_UNPACKED_BYTES },
                ));
            }
        }
        Ok(table)
    }
}

/// No values, of the type of what a column is wanted for; `None` if that is its text.
fn none(used: ColumnType) -> Option<Values> {
    match used {
        ColumnType::Numbers => Some(Values::F64(Vec::new())),
        ColumnType::Labels => Some(Values::I64(Vec::new())),
        ColumnType::Text => None,
    }
}

/// Adds a value; whether it is a number of the type.
fn push_number(values: &mut Values, text: &str) -> bool {
    if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return false;
    }
    match values {
        Values::F64(values) => number(text).map(|number| values.push(number)).is_some(),
        Values::I64(values) => TableCell::Number(text).label().ok().map(|label| values.push(label)).is_some(),
        _ => false,
    }
}

/// Whether a value is a list or an object.
fn is_nested(value: &str) -> bool {
    value.starts_with(['[', '{'])
}

fn push(table: &mut Table, column: usize, value: &str) -> serde_json::Result<()> {
    match value.as_bytes().first() {
        Some(b'n') => table.push(column, TableCell::Missing),
        Some(b't') => table.push(column, TableCell::Bool(true)),
        Some(b'f') => table.push(column, TableCell::Bool(false)),
        Some(b'"') => table.push(column, TableCell::Text(&serde_json::from_str::<String>(value)?)),
        Some(&open @ (b'[' | b'{')) => {
            if table.is_wanted(column) {
                let held = if open == b'[' { "lists" } else { "objects" };
                table.spoil(column, Problem::NotScalar(held.into()));
            }
        }
        _ => table.push(column, TableCell::Number(value)),
    }
    Ok(())
}

/// A line in which Python wrote floats that JSON does not have: NaN becomes null, and Infinity a number that is as large; `None` if there
/// are none.
fn of_python(line: &str) -> Option<String> {
    let mut out = String::with_capacity(line.len());
    let (mut is_text, mut is_escaped, mut is_fixed) = (false, false, false);
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let words = [("NaN", "null"), ("Infinity", "1e999")];
        if let Some((word, other)) = words.into_iter().find(|(word, _)| !is_text && rest.starts_with(word)) {
            out.push_str(other);
            (rest, is_fixed) = (&rest[word.len()..], true);
            continue;
        }
        is_text ^= c == '"' && !is_escaped;
        is_escaped = is_text && c == '\\' && !is_escaped;
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    is_fixed.then_some(out)
}

/// What the parser says, without its line, which is always the first.
fn not_json(cause: &serde_json::Error) -> Problem {
    // serde_json's words for the kind of value depend on how others build it.
    let why = if cause.is_data() { "it is another kind of value".into() } else { json_words(cause) };
    Problem::NotJson(match cause.column() {
        0 => why,
        column => format!("{why} at character {column}"),
    })
}

/// The fields of an object, in their order; a name may be there twice.
struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::input::source::Source;
    use crate::input::text::tests::{columns, joined};

    /// Lines of a first object with all columns, and others: with fields in any order, missing ones, and faults of rows. Faults of columns
    /// are reported from the whole.
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
        /// Wherever a text is cut into chunks, it has the values, the places and the faults that it has as one chunk.
        #[test]
        fn chunks_are_the_whole(text in text(), chunk_len in 32usize..200, as_text in any::<bool>()) {
            let source = Source::from_bytes("t.jsonl", text).unwrap();
            let whole = Table::read_only(&source, &["a", "b"]);
            // As a part: how many gaps there are is told of all rows.
            let whole = whole.map(|table| table.read_as(Reading::default()));
            let uses = if as_text { [ColumnType::Text; 2] } else { [ColumnType::Numbers, ColumnType::Labels] };
            let projection = Projection::of(&[("a", uses[0]), ("b", uses[1])], source.options());
            let input = Input::Memory(source);
            let mut chunks = open_chunks(&input, &projection, Reading::default(), chunk_len).unwrap();
            let mut read = [Ok(Vec::new()), Ok(Vec::new())];
            let fault = loop {
                match chunks.next().map(|table| table.map(|table| table.read_as(Reading::default()))) {
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
