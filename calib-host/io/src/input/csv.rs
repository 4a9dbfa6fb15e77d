//! Text tables with named columns.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::csv::{ByteRecord, ErrorKind, ReaderBuilder, StringRecord};

use super::cell::TableCell;
use super::chunk_reader::{ChunkReader, Input};
use super::fields::{Fields, HeaderColumn};
use super::limit::MAX_COLUMNS;
use super::projection::Projection;
use super::quotes::{self, QuoteFault};
use super::rows::Rows;
use super::sniff::dialect::{BYTE_ORDER_MARK, Dialect, FirstLine, PLAIN};
use super::sniff::options::{TableOptions, TableRemark};
use super::sniff::points::{ColumnPoints, Points};
use super::table::{Reading, Table};
use super::text::{CHUNK_LEN_BYTES, Chunk, ParseChunk, Splitter, TextChunks, line_feeds};
use crate::files::{FileError, Location, Problem, Row};

/// What the start of a file says, and what is read.
struct Schema {
    place: Location,
    dialect: Dialect,
    /// The header in the plain dialect; for a file without a header a line of numbers.
    header: Vec<u8>,
    /// The names of all columns, and what each column that is read is for.
    columns: Vec<HeaderColumn>,
    projection: Projection,
    /// What is known at the end only.
    seen: Mutex<Seen>,
    points: Arc<Mutex<Points>>,
}

/// What was seen of all chunks.
#[derive(Default)]
struct Seen {
    /// Numbers with a comma, by column, where another separator divides the fields.
    commas: BTreeMap<usize, ColumnPoints>,
    /// Numbers with a point, by column, where others have decimal commas.
    points: BTreeMap<usize, ColumnPoints>,
    /// The first and the last line of the first field in quotes that may have swallowed rows.
    long_field: Option<[u64; 2]>,
}

/// Reads the header of a file.
///
/// # Errors
///
/// If the header is damaged.
pub(super) fn open(
    input: &Input,
    projection: &Projection,
    reading: Reading,
) -> Result<Box<dyn ChunkReader>, FileError> {
    open_chunks(input, projection, reading, CHUNK_LEN_BYTES)
        .map(|chunks| Box::new(chunks) as Box<dyn ChunkReader>)
}

fn open_chunks(
    input: &Input,
    projection: &Projection,
    mut reading: Reading,
    chunk_len: usize,
) -> Result<TextChunks<Schema>, FileError> {
    let place = input.place();
    let mut splitter = Splitter::new(input, chunk_len, |_| 0)?;
    let (dialect, skipped) = Dialect::sniff(&splitter.start);
    splitter.line += line_feeds(&splitter.start[..skipped]);
    splitter.start.drain(..skipped);
    let first_line = match reading.options.guess {
        true => first_line(&splitter.start, dialect),
        false => FirstLine::Names,
    };
    let header = match first_line.columns_without_names() {
        Some(columns) => {
            if splitter.start.starts_with(BYTE_ORDER_MARK) {
                splitter.start.drain(..BYTE_ORDER_MARK.len());
            }
            let numbers: Vec<String> = (0..columns).map(|number| number.to_string()).collect();
            format!("{}\n", numbers.join(",")).into_bytes()
        }
        None => {
            let mut end = header_end(&splitter.start, dialect);
            while end >= splitter.start.len() && !splitter.is_over {
                check_columns(&place, &splitter.start, dialect)?;
                splitter.read_more()?;
                end = header_end(&splitter.start, dialect);
            }
            check_columns(&place, &splitter.start[..end.min(splitter.start.len())], dialect)?;
            let rest = splitter.start.split_off(end.min(splitter.start.len()));
            let header = std::mem::replace(&mut splitter.start, rest);
            let above = splitter.line;
            splitter.line += line_feeds(&header);
            let names = header.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&header);
            if let Some(fault) = quotes::fault(names, dialect.separator, |_, _| ()) {
                return Err(quote_error(&place, names, fault, above));
            }
            let header =
                if dialect == PLAIN { header } else { dialect.rewritten(&header, true, |_, _, _| ()) };
            let mut reader = ReaderBuilder::new().from_reader(&header[..]);
            reader
                .headers()
                .map_err(|cause| place_error(&place, &header, &cause, |line| line + above - 1))?;
            header
        }
    };
    let mut reader = ReaderBuilder::new().from_reader(&header[..]);
    let names = reader.headers().expect("they were read before or are numbers");
    let columns = names.iter().map(|name| (name.to_owned(), projection.type_of(name))).collect();
    for remark in dialect.remarks().chain(first_line.remark()) {
        reading.options.note(&place, remark);
    }
    reading.begins_with(first_line);
    let points = reading.points.clone();
    let (projection, seen) = (projection.clone(), Mutex::default());
    let schema = Schema { place, dialect, header, columns, projection, seen, points };
    let splitter = splitter.with_record_end(move |bytes| record_end(bytes, dialect.separator));
    Ok(TextChunks::new(splitter, schema, reading))
}

/// Refuses a header of more names than any table has.
fn check_columns(place: &Location, header: &[u8], dialect: Dialect) -> Result<(), FileError> {
    match memchr::memchr_iter(dialect.separator, header).count() < MAX_COLUMNS {
        true => Ok(()),
        false => Err(FileError::input(place.clone(), Problem::TooManyColumns { max: MAX_COLUMNS })),
    }
}

/// What the first line of a file is, by the records at its start.
fn first_line(start: &[u8], dialect: Dialect) -> FirstLine {
    match dialect == PLAIN {
        true => FirstLine::of(start),
        false => FirstLine::of(&dialect.rewritten(start, true, |_, _, _| ())),
    }
}

/// The end of the header at the start of a file.
fn header_end(start: &[u8], dialect: Dialect) -> usize {
    let mut header = ReaderBuilder::new().delimiter(dialect.separator).from_reader(start);
    // What is in memory can be read, and any bytes are a header.
    let _ = header.byte_headers();
    let end = header.position().byte() as usize;
    let is_between = start[..end.min(start.len())].ends_with(b"\r") && start.get(end) == Some(&b'\n');
    if is_between { end + 1 } else { end }
}

/// The end of the last whole record; 0 if there is none.
fn record_end(bytes: &[u8], separator: u8) -> usize {
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

impl ParseChunk for Schema {
    /// The columns of a chunk: quickly, if nothing about it is unusual.
    fn table(&self, chunk: &Chunk) -> Result<Option<Table>, FileError> {
        let fault = self.check_quotes(chunk);
        let sound = &chunk.bytes[..fault.map_or(chunk.bytes.len(), |fault| fault.record)];
        let rewritten = (self.dialect != PLAIN).then(|| self.rewritten(sound, chunk.line));
        let bytes = rewritten.as_deref().unwrap_or(sound);
        let table = match Fields::plain(&self.columns, bytes) {
            Some(fields) => Some(fields.table(&self.columns, self.place.clone(), chunk.line, &self.points)),
            None => self.careful(bytes, chunk.line)?,
        };
        match fault {
            None => Ok(table),
            Some(fault) => Err(quote_error(&self.place, &chunk.bytes, fault, chunk.line)),
        }
    }

    fn finish(&self, options: &TableOptions) -> Result<(), FileError> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = seen.long_field {
            options.note(&self.place, TableRemark::LongField(lines));
        }
        let is_read = |column: &usize| self.columns.get(*column).is_some_and(|(_, used)| used.is_some());
        let read = || seen.commas.iter().filter(|(column, _)| is_read(column));
        if let Some((&column, (row, text))) =
            read().find_map(|(column, numbers)| Some((column, numbers.doubtful()?)))
        {
            let place = self.place.clone().row(*row).column(self.columns[column].0.trim());
            return Err(FileError::input(place, Problem::Thousands(text.clone())));
        }
        if read().any(|(_, numbers)| numbers.is_decimal()) {
            options.note(&self.place, TableRemark::DecimalCommas);
        }
        let mut points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.commas.values().any(ColumnPoints::is_decimal) {
            for (&column, numbers) in &seen.points {
                points.beside_commas(&self.columns[column].0, numbers);
            }
        }
        points.check_all(&self.place, options)
    }
}

impl Schema {
    /// The first fault of the quotes of a chunk; a field in quotes that may have swallowed rows is remembered.
    fn check_quotes(&self, chunk: &Chunk) -> Option<QuoteFault> {
        memchr::memchr(b'"', &chunk.bytes)?;
        let (bytes, separator) = (&chunk.bytes, self.dialect.separator);
        let mut long_field = None;
        let fault = quotes::fault(bytes, separator, |opens, end| {
            let field = &bytes[opens..end];
            if long_field.is_none() && quotes::swallows_rows(field, separator, self.columns.len()) {
                let first = chunk.line + line_feeds(&bytes[..opens]);
                long_field = Some([first, first + line_feeds(field)]);
            }
        });
        if long_field.is_some() {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.long_field = seen.long_field.into_iter().chain(long_field).min();
        }
        fault
    }

    /// Records in the dialect that is read; what commas and points in numbers mean is remembered.
    fn rewritten(&self, bytes: &[u8], first_line: u64) -> Vec<u8> {
        let (mut commas, mut points) = (BTreeMap::new(), BTreeMap::new());
        let rewritten = self.dialect.rewritten(bytes, false, |column, field, line| {
            let row = Row::Line(first_line + line);
            match std::str::from_utf8(field) {
                Ok(number) if number.contains('.') => {
                    points.entry(column).or_insert_with(ColumnPoints::default).see([(row, number)]);
                }
                _ => commas.entry(column).or_insert_with(ColumnPoints::default).see_comma(row, field),
            }
        });
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Seen { commas: all_commas, points: all_points, .. } = &mut *seen;
        for (all, new) in [(all_commas, commas), (all_points, points)] {
            new.into_iter().for_each(|(column, numbers)| all.entry(column).or_default().join(numbers));
        }
        rewritten
    }

    /// The columns of a chunk with quotes, blank lines or faults; `None` if it has no records.
    fn careful(&self, chunk: &[u8], first_line: u64) -> Result<Option<Table>, FileError> {
        let bytes = [&self.header[..], chunk].concat();
        let above = 1 + line_feeds(&self.header);
        let line_of = |line: u64| line + first_line - above;
        let fail = |cause| place_error(&self.place, &bytes, &cause, line_of);
        let mut table = Table::at(self.place.clone(), Rows::From(0));
        let mut reader = ReaderBuilder::new().from_reader(&bytes[..]);
        for name in reader.headers().map_err(fail)? {
            table.add_column(name, self.projection.includes(name));
        }
        let mut record = StringRecord::new();
        let mut has_records = false;
        loop {
            match reader.read_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(cause) if is_blank(&cause, &record) => continue,
                // Of text that is not UTF-8 no field is kept.
                Err(cause)
                    if record.is_empty() && matches!(cause.kind(), ErrorKind::UnequalLengths { .. }) =>
                {
                    let at = cause.position().map_or(0, |at| line_of(line(at, &bytes)));
                    return Err(FileError::input(self.place.clone().row(Row::Line(at)), Problem::NotUtf8));
                }
                Err(cause) => return Err(fail(cause)),
            }
            has_records = true;
            table.push_line(record.position().map_or(0, |at| line_of(line(at, &bytes))));
            for (column, field) in record.iter().enumerate() {
                table.push(column, TableCell::Raw(field));
            }
        }
        Ok(has_records.then_some(table))
    }
}

/// Whether a line has one field too few because there is nothing on it but spaces.
fn is_blank(cause: &::csv::Error, record: &StringRecord) -> bool {
    matches!(cause.kind(), ErrorKind::UnequalLengths { len: 1, .. })
        && !record.is_empty()
        && record.iter().all(|field| field.trim().is_empty())
}

/// The line on which a record begins. Its position is the end of the record before it, ahead of the `\n` of a
/// `\r\n` and of blank lines.
fn line(position: &::csv::Position, bytes: &[u8]) -> u64 {
    let rest = usize::try_from(position.byte()).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
    let breaks = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + breaks.filter(|&&byte| byte == b'\n').count() as u64
}

fn place_error(
    file: &Location,
    bytes: &[u8],
    cause: &::csv::Error,
    line_of: impl Fn(u64) -> u64,
) -> FileError {
    let line = cause.position().map(|position| Row::Line(line_of(line(position, bytes))));
    let place = line.map_or_else(|| file.clone(), |line| file.clone().row(line));
    let problem = match cause.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            Problem::Ragged { expected: *expected_len, got: *len }
        }
        ErrorKind::Utf8 { .. } => Problem::NotUtf8,
        _ => Problem::Format(cause.to_string()),
    };
    FileError::input(place, problem)
}

/// What is wrong with a field in quotes, on the line on which it opens; the bytes begin on `first_line`.
fn quote_error(file: &Location, bytes: &[u8], fault: QuoteFault, first_line: u64) -> FileError {
    let line = |at: usize| first_line + line_feeds(&bytes[..at]);
    let problem = match fault.goes_on {
        None => Problem::OpenQuote,
        Some(at) => Problem::TextAfterQuote { line: line(at) },
    };
    FileError::input(file.clone().row(Row::Line(line(fault.opens))), problem)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::input::ColumnType;
    use crate::input::source::Source;
    use crate::input::text::tests::{columns, joined};

    /// Text of a header and lines, most of them records: with quotes, blank lines, any ends of lines, and faults.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let field = prop_oneof![
            6 => (0u32..1000).prop_map(|i| (f64::from(i) / 999.0).to_string()),
            4 => prop_oneof![Just("0"), Just("1"), Just(" 1"), Just("1.0"), Just("2")].prop_map(str::to_owned),
            1 => prop_oneof![
                Just(""), Just("\"0.5\""), Just("\"a,\"\"b\"\"\nc\""), Just("x\"y"), Just("nan"), Just("\"0.25\r\n\""), Just("é"),
                Just("\""), Just("\"x\"y"), Just("\"0.5"), Just("0.5\""),
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
        /// Wherever a text is cut into chunks, it has the values, the places and the faults that it has as one chunk.
        #[test]
        fn chunks_are_the_whole(text in text(), chunk_len in 6usize..90, as_text in any::<bool>(), all in any::<bool>()) {
            let source = Source::from_bytes("t.csv", text).unwrap();
            let whole_projection = match all {
                true => Projection::All,
                false => Projection::texts(&["a", "b"], source.options()),
            };
            let whole = Table::read_projected(&source, &whole_projection);
            // As a part: how many gaps there are is told of all rows.
            let whole = whole.map(|table| table.read_as(Reading::default()));
            let uses = if as_text { [ColumnType::Text; 2] } else { [ColumnType::Numbers, ColumnType::Labels] };
            let named = [("a", uses[0]), ("b", uses[1])];
            let projection = if all { Projection::All } else { Projection::of(&named, source.options()) };
            let opened = open_chunks(&Input::Memory(source), &projection, Reading::default(), chunk_len);
            let (mut chunks, fault) = match opened {
                Ok(chunks) => (Some(chunks), None),
                Err(fault) => (None, Some(fault.to_string())),
            };
            let mut read = [Ok(Vec::new()), Ok(Vec::new())];
            let mut lines = Vec::new();
            let fault = loop {
                let Some(chunks) = &mut chunks else { break fault };
                match chunks.next().map(|table| table.map(|table| table.read_as(Reading::default()))) {
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
