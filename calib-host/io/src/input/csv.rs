//! Text tables with named columns.

use ::csv::{ErrorKind, ReaderBuilder, StringRecord};

use super::cell::TableCell;
use super::source::Source;
use super::table::{Table, Wanted};
use super::unusual::dialect::FirstLine;
use crate::files::{FileError, Place, Problem, Row};

/// Reads a header and records of the same length.
pub(super) fn read(source: &Source, wanted: Wanted<'_>) -> Result<Table, FileError> {
    let mut table = Table::new(source);
    let bytes = source.bytes();
    let first_line = if source.options().guess { FirstLine::of(bytes) } else { FirstLine::Names };
    if let Some(note) = first_line.note(source.path()) {
        source.options().note(&note);
    }
    table.begins_with(first_line);
    let columns = first_line.columns_without_names();
    match fill(&mut table, (Place::file(source.path()), bytes), (columns, wanted), |line| line)? {
        0 => Err(FileError::input(Place::file(source.path()), Problem::Empty)),
        _ => Ok(table),
    }
}

/// Reads a header, unless there is none but so many columns, and records of the same length, of which a line of `bytes` is the line
/// `line_of` of the file. Returns the number of records.
pub(super) fn fill(
    table: &mut Table,
    (file, bytes): (Place, &[u8]),
    (without_header, wanted): (Option<usize>, Wanted<'_>),
    line_of: impl Fn(u64) -> u64,
) -> Result<u64, FileError> {
    let fail = |cause| place_error(&file, bytes, &cause, &line_of);
    let mut reader = ReaderBuilder::new().has_headers(without_header.is_none()).from_reader(bytes);
    match without_header {
        Some(columns) => {
            for number in 0..columns {
                let name = number.to_string();
                table.add_column(&name, wanted.includes(&name));
            }
        }
        None => {
            for name in reader.headers().map_err(fail)? {
                table.add_column(name, wanted.includes(name));
            }
        }
    }
    let mut record = StringRecord::new();
    let mut records = 0;
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(cause) if is_blank(&cause, &record) => continue,
            Err(cause) => return Err(fail(cause)),
        }
        records += 1;
        table.push_line(record.position().map_or(0, |at| line_of(line(at, bytes))));
        for (column, field) in record.iter().enumerate() {
            table.push(column, TableCell::Raw(field));
        }
    }
    Ok(records)
}

/// Whether a line has one field too few because there is nothing on it but spaces.
fn is_blank(cause: &::csv::Error, record: &StringRecord) -> bool {
    matches!(cause.kind(), ErrorKind::UnequalLengths { len: 1, .. })
        && record.iter().all(|field| field.trim().is_empty())
}

/// The line on which a record begins. Its position is the end of the record before it, ahead of the `\n` of a
/// `\r\n` and of blank lines.
fn line(position: &::csv::Position, bytes: &[u8]) -> u64 {
    let rest = usize::try_from(position.byte()).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
    let breaks = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + breaks.filter(|&&byte| byte == b'\n').count() as u64
}

fn place_error(file: &Place, bytes: &[u8], cause: &::csv::Error, line_of: impl Fn(u64) -> u64) -> FileError {
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
