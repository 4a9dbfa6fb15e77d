//! Text tables with named columns, piece by piece: read in order, taken apart on all processors.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ::csv::{ByteRecord, ReaderBuilder};

use super::column_use::Columns;
use super::fields::{Fields, HeaderColumn};
use super::text::{Apart, Piece, Splitter, TextPieces, line_feeds};
use crate::files::{FileError, Format, Place};
use crate::input::csv::fill;
use crate::input::other_kind::{check_text, other_kind};
use crate::input::rows::Rows;
use crate::input::table::{Reading, Table};
use crate::input::unusual::dialect::{self, Dialect, FirstLine, PLAIN};

/// What Excel writes before a text in UTF-8: no part of the first field.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What the header says, and what is wanted.
pub(super) struct Schema {
    place: Place,
    dialect: Dialect,
    reading: Reading,
    /// The header as it is in the file, in the dialect that is read; of a file without one a line of numbers.
    header: Vec<u8>,
    /// The names of all columns, and what each that is wanted is for.
    columns: Vec<HeaderColumn>,
    wanted: Columns,
}

impl TextPieces<Schema> {
    /// Reads the header of a file; `None` if it is not a CSV table for sure, or one that fits into a piece, or has a header that
    /// is wrong or does not fit.
    pub(super) fn open(
        path: &Path,
        mut file: File,
        (columns, mut reading): (&Columns, Reading),
        piece_len: usize,
    ) -> io::Result<Option<Self>> {
        let mut start = Vec::new();
        Read::by_ref(&mut file).take(piece_len as u64).read_to_end(&mut start)?;
        let format = Format::of(path, &start);
        let is_table =
            format == Format::Csv && other_kind(path, &start).is_none() && check_text(&start, format).is_ok();
        if !is_table || start.len() < piece_len || start.trim_ascii().is_empty() {
            return Ok(None);
        }
        let Some(dialect) = dialect::of_pieces(&start) else { return Ok(None) };
        let done = start.len() as u64;
        let first_line = if reading.options.guess { first_line(&start, dialect) } else { FirstLine::Names };
        let Some((header, rest, line)) = header_of(start, dialect, first_line) else { return Ok(None) };
        let mut header_reader = ReaderBuilder::new().from_reader(&header[..]);
        let Ok(names) = header_reader.headers() else { return Ok(None) };
        if let Some(note) = first_line.note(path) {
            reading.options.note(&note);
        }
        reading.begins_with(first_line);
        let schema = Schema {
            place: Place::file(path),
            columns: names.iter().map(|name| (name.to_owned(), columns.use_of(name))).collect(),
            wanted: columns.clone(),
            header,
            dialect,
            reading,
        };
        let separator = dialect.separator;
        let reader = Splitter {
            path: Place::file(path),
            file,
            piece_len,
            border: Box::new(move |bytes| border(bytes, separator)),
            start: rest,
            line,
            is_over: false,
            done,
        };
        Ok(Some(Self::new(reader, schema)))
    }
}

/// What the first line of a file is that starts so: as of the whole file, of which no more is looked at.
fn first_line(start: &[u8], dialect: Dialect) -> FirstLine {
    match dialect == PLAIN {
        true => FirstLine::of(start),
        false => dialect.rewritten(start, start).map_or(FirstLine::Names, |plain| FirstLine::of(&plain)),
    }
}

/// The header at the start of a file, in the dialect that is read, what follows it, and the line on which that begins. `None` if the header
/// is wrong or does not end there.
fn header_of(mut start: Vec<u8>, dialect: Dialect, first_line: FirstLine) -> Option<(Vec<u8>, Vec<u8>, u64)> {
    let mut header = ReaderBuilder::new().delimiter(dialect.separator).from_reader(&start[..]);
    header.byte_headers().ok()?;
    let mut end = header.position().byte() as usize;
    if start[..end.min(start.len())].ends_with(b"\r") && start.get(end) == Some(&b'\n') {
        end += 1;
    }
    if end >= start.len() {
        return None;
    }
    let plain = |bytes: &[u8]| match dialect == PLAIN {
        true => Some(bytes.to_vec()),
        false => dialect.rewritten(bytes, bytes),
    };
    let first = plain(&start[..end])?;
    if let Some(columns) = first_line.columns_without_names() {
        if start.starts_with(BYTE_ORDER_MARK) {
            start.drain(..BYTE_ORDER_MARK.len());
        }
        let numbers: Vec<String> = (0..columns).map(|number| number.to_string()).collect();
        return Some((format!("{}\n", numbers.join(",")).into_bytes(), start, 1));
    }
    let line = 1 + line_feeds(&start[..end]);
    let rest = start.split_off(end);
    Some((first, rest, line))
}

/// Where the last record that is there as a whole ends; 0 if there is none.
fn border(bytes: &[u8], separator: u8) -> usize {
    let last = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    if memchr::memchr(b'"', bytes).is_none() && last > 0 {
        return last;
    }
    // A line may end within quotes.
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(bytes);
    let mut record = ByteRecord::new();
    let (mut before, mut end) = (0, 0);
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        before = end;
        end = reader.position().byte() as usize;
    }
    if bytes[..before].ends_with(b"\r") && bytes.get(before) == Some(&b'\n') { before + 1 } else { before }
}

impl Apart for Schema {
    const FORMAT: Format = Format::Csv;

    fn place(&self) -> &Place {
        &self.place
    }

    /// The columns of a piece: quickly, if nothing about it is unusual.
    fn table(&self, piece: &Piece) -> Result<Table, FileError> {
        let rewritten = match self.dialect == PLAIN {
            true => None,
            false => self.dialect.rewritten(&piece.bytes, &piece.bytes),
        };
        let bytes = rewritten.as_deref().unwrap_or(&piece.bytes);
        let table = match Fields::plain(&self.columns, bytes) {
            Some(fields) => fields.table(&self.columns, self.place.clone(), piece.line),
            None => self.careful(bytes, piece.line)?,
        };
        Ok(table.read_as(self.reading.clone()))
    }
}

impl Schema {
    /// The columns of a piece, whatever is in it: quotes, blank lines, faults.
    fn careful(&self, piece: &[u8], first_line: u64) -> Result<Table, FileError> {
        let bytes = [&self.header[..], piece].concat();
        let above = 1 + line_feeds(&self.header);
        let mut table = Table::at(self.place.clone(), Rows::From(0));
        let line_of = |line: u64| line + first_line - above;
        self.wanted
            .wanted(|wanted| fill(&mut table, (self.place.clone(), &bytes), (None, wanted), line_of))?;
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::input::ColumnUse;
    use crate::input::pieces::text::tests::{columns, joined};
    use crate::input::source::Source;
    use crate::input::table::Wanted;

    /// Text of a header and lines, most of them records: with quotes, blank lines, any ends of lines, and faults.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let field = prop_oneof![
            6 => (0u32..1000).prop_map(|i| (f64::from(i) / 999.0).to_string()),
            4 => prop_oneof![Just("0"), Just("1"), Just(" 1"), Just("1.0"), Just("2")].prop_map(str::to_owned),
            1 => prop_oneof![
                Just(""), Just("\"0.5\""), Just("\"a,\"\"b\"\"\nc\""), Just("x\"y"), Just("nan"), Just("\"0.25\r\n\""), Just("é"),
            ]
            .prop_map(str::to_owned),
        ];
        let width = prop_oneof![30 => Just(3usize), 1 => 0usize..5];
        let end = prop_oneof![20 => Just("\n"), 8 => Just("\r\n"), 1 => Just("\r"), 1 => Just("\n\n")];
        let line = (width, proptest::collection::vec(field, 5), end)
            .prop_map(|(width, fields, end)| fields[..width].join(",") + end);
        let lines = proptest::collection::vec(line, 1..40);
        (lines, prop_oneof![40 => Just(None), 1 => (0usize..200).prop_map(Some)]).prop_map(|(lines, bad)| {
            let mut text = format!("a,b,c\n{}", lines.concat()).into_bytes();
            if let Some(at) = bad.filter(|&at| at >= 6 && at < text.len()) {
                text[at] = 0xFF;
            }
            text
        })
    }

    /// The text of all columns that were read, row by row.
    fn shown(table: &Table) -> Vec<Vec<String>> {
        let shown = table.shown(table.cells(0));
        let line = |row| shown.record(row).map(std::borrow::Cow::into_owned).collect();
        (0..table.cells(0)).map(line).collect()
    }

    proptest! {
        /// Wherever a text is cut into pieces, it has the values, the places and the faults that it has as a whole.
        #[test]
        fn pieces_are_the_whole(text in text(), piece_len in 6usize..90, as_text in any::<bool>(), all in any::<bool>()) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("t.csv");
            std::fs::write(&path, &text).unwrap();
            let whole_wanted = if all { Wanted::All } else { Wanted::Only(&["a", "b"]) };
            let whole =
                Source::from_bytes(&path, text).and_then(|source| Table::read_wanted(&source, whole_wanted));
            // As a part: how many gaps there are is told of all rows.
            let whole = whole.map(|table| table.read_as(Reading::default()));
            let uses = if as_text { [ColumnUse::Text; 2] } else { [ColumnUse::Numbers, ColumnUse::Labels] };
            let named = vec![("a".to_owned(), uses[0]), ("b".to_owned(), uses[1])];
            let wanted = if all { Columns::All } else { Columns::Named(named) };
            let opened = (&wanted, Reading::default());
            let pieces = TextPieces::<Schema>::open(&path, File::open(&path).unwrap(), opened, piece_len).unwrap();
            // One that fits into a piece is not read in pieces.
            let Some(mut pieces) = pieces else { return Ok(()) };
            let mut read = [Ok(Vec::new()), Ok(Vec::new())];
            let mut lines = Vec::new();
            let fault = loop {
                match pieces.next() {
                    Ok(Some(table)) => {
                        let [a, b] = columns(&table);
                        let [before_a, before_b] = read;
                        read = [joined(before_a, a), joined(before_b, b)];
                        lines.extend(shown(&table));
                    }
                    Ok(None) => break None,
                    Err(fault) => break Some(fault.to_string()),
                }
            };
            prop_assert_eq!(fault, whole.as_ref().err().map(ToString::to_string));
            if let Ok(whole) = whole {
                prop_assert_eq!(read, columns(&whole));
                if all || as_text {
                    prop_assert_eq!(lines, shown(&whole));
                }
            }
        }
    }
}
