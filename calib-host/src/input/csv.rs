//! Text tables with named columns.

use ::csv::{ErrorKind, ReaderBuilder, StringRecord};

use super::cell::TableCell;
use super::source::Source;
use super::table::{Table, Wanted};
use crate::files::{FileError, Place, Problem, Row};

/// Reads a header and records of the same length.
pub(super) fn read(source: &Source, wanted: Wanted<'_>) -> Result<Table, FileError> {
    let file = Place::file(source.path());
    let bytes = source.bytes();
    let fail = |cause| place_error(&file, bytes, &cause);
    let mut reader = ReaderBuilder::new().from_reader(bytes);
    let mut table = Table::new(source);
    for name in reader.headers().map_err(fail)? {
        table.add_column(name, wanted.includes(name));
    }
    let mut record = StringRecord::new();
    let mut empty = true;
    while reader.read_record(&mut record).map_err(fail)? {
        empty = false;
        table.push_line(record.position().map_or(0, |at| line(at, bytes)));
        for (column, field) in record.iter().enumerate() {
            table.push(column, TableCell::Raw(field));
        }
    }
    if empty { Err(FileError::input(file, Problem::Empty)) } else { Ok(table) }
}

/// The line on which a record begins. Its position is the end of the record before it, ahead of the `\n` of a
/// `\r\n` and of blank lines.
fn line(position: &::csv::Position, bytes: &[u8]) -> u64 {
    let rest = usize::try_from(position.byte()).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
    let breaks = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + breaks.filter(|&&byte| byte == b'\n').count() as u64
}

fn place_error(file: &Place, bytes: &[u8], cause: &::csv::Error) -> FileError {
    let line = cause.position().map(|position| Row::Line(line(position, bytes)));
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
