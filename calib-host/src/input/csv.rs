//! Text tables with named columns.

use ::csv::{ErrorKind, ReaderBuilder, StringRecord};

use super::{Column, Source};
use crate::error::{Error, Place, Problem, Row};

/// A text table: a header and records of the same length.
#[derive(Clone, Debug)]
pub struct CsvTable {
    file: Place,
    header: StringRecord,
    records: Vec<StringRecord>,
    /// The line on which each record begins.
    lines: Vec<u64>,
}

impl CsvTable {
    /// Reads a table.
    ///
    /// # Errors
    ///
    /// No rows, a row of another length than the header, or text that is not UTF-8.
    pub fn parse(source: &Source) -> Result<Self, Error> {
        let file = Place::file(source.path());
        let bytes = source.bytes();
        if bytes.is_empty() {
            return Err(Error::input(file, Problem::EmptyFile));
        }
        let fail = |cause| place_error(&file, bytes, &cause);
        let mut reader = ReaderBuilder::new().from_reader(bytes);
        let header = reader.headers().map_err(fail)?.clone();
        let records = reader.into_records().collect::<Result<Vec<_>, _>>().map_err(fail)?;
        if records.is_empty() {
            return Err(Error::input(file, Problem::Empty));
        }
        let lines = records.iter().map(|record| record.position().map_or(0, |at| line(at, bytes))).collect();
        Ok(Self { file, header, records, lines })
    }

    /// The names of the columns.
    pub fn header(&self) -> &StringRecord {
        &self.header
    }

    /// The rows.
    pub fn records(&self) -> &[StringRecord] {
        &self.records
    }

    /// A column of numbers.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a field is not a number.
    pub fn numbers(&self, name: &str) -> Result<Column<f64>, Error> {
        self.column(name, |text| text.parse().map_err(|_| Problem::NotANumber(text.into())))
    }

    /// A column of numbers with gaps: an empty field is `None`.
    ///
    /// # Errors
    ///
    /// As [`CsvTable::numbers`].
    pub fn optional_numbers(&self, name: &str) -> Result<Column<Option<f64>>, Error> {
        self.column(name, |text| match text {
            "" => Ok(None),
            _ => text.parse().map(Some).map_err(|_| Problem::NotANumber(text.into())),
        })
    }

    /// A column of class indices. Whole numbers written as decimals, such as `1.0`, are accepted.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a field is not a whole number.
    pub fn labels(&self, name: &str) -> Result<Column<i64>, Error> {
        self.column(name, |text| {
            let whole = |value: f64| (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i64);
            let parsed = text.parse().ok().or_else(|| text.parse().ok().and_then(whole));
            parsed.ok_or_else(|| match text {
                "" => Problem::NotANumber(String::new()),
                _ => Problem::LabelNotInteger(text.into()),
            })
        })
    }

    /// A column of bin indices; an empty field, of an uncalibrated row, is bin 0.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a field is not a whole number from 0 on.
    pub fn bins(&self, name: &str) -> Result<Column<u32>, Error> {
        self.column(name, |text| match text {
            "" => Ok(0),
            _ => text.parse().map_err(|_| Problem::BinNumber(text.into())),
        })
    }

    /// Refuses columns that an output would repeat.
    ///
    /// # Errors
    ///
    /// The first of `names` that exists.
    pub fn check_absent(&self, names: &[&str]) -> Result<(), Error> {
        match names.iter().find(|name| self.header.iter().any(|there| there.trim() == **name)) {
            None => Ok(()),
            Some(name) => Err(Error::input(self.file.clone().column(name), Problem::ColumnExists)),
        }
    }

    fn column<T>(&self, name: &str, parse: impl Fn(&str) -> Result<T, Problem>) -> Result<Column<T>, Error> {
        let place = self.file.clone().column(name);
        let mut named = self.header.iter().enumerate().filter(|(_, there)| there.trim() == name);
        let Some((index, _)) = named.next() else {
            let there = self.header.iter().map(|s| s.trim().to_owned()).collect();
            return Err(Error::input(place, Problem::MissingColumn(there)));
        };
        if named.next().is_some() {
            return Err(Error::input(place, Problem::ColumnTwice));
        }
        let mut values = Vec::with_capacity(self.records.len());
        for (record, &line) in self.records.iter().zip(&self.lines) {
            let text = record.get(index).unwrap_or_default().trim();
            values.push(
                parse(text).map_err(|problem| Error::input(place.clone().row(Row::Line(line)), problem))?,
            );
        }
        Ok(Column { values, place, lines: self.lines.clone() })
    }
}

/// The line on which a record begins. Its position is the end of the record before it, ahead of the `\n` of a
/// `\r\n` and of blank lines.
fn line(position: &::csv::Position, bytes: &[u8]) -> u64 {
    let rest = usize::try_from(position.byte()).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
    let breaks = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + breaks.filter(|&&byte| byte == b'\n').count() as u64
}

fn place_error(file: &Place, bytes: &[u8], cause: &::csv::Error) -> Error {
    let line = cause.position().map(|position| Row::Line(line(position, bytes)));
    let place = line.map_or_else(|| file.clone(), |line| file.clone().row(line));
    let problem = match cause.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            Problem::Ragged { expected: *expected_len, got: *len }
        }
        ErrorKind::Utf8 { .. } => Problem::NotUtf8,
        _ => Problem::Format(cause.to_string()),
    };
    Error::input(place, problem)
}
