//! Where the rows of a table are in its file.

use std::sync::Arc;

use crate::files::Row;

/// Where the rows of a table are in its file.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    /// They follow each other from this row of an array on.
    From(usize),
    /// They are lines that follow each other from this one on.
    LinesFrom(u64),
    /// Each is on the line that its number in the list says.
    Lines(Arc<Vec<u64>>),
    /// They were picked, and each is here.
    Picked(Arc<Vec<Row>>),
}

impl Rows {
    /// The place of a row.
    pub(super) fn at(&self, row: usize) -> Row {
        match self {
            Self::From(first) => Row::Index(first + row),
            Self::LinesFrom(first) => Row::Line(first + row as u64),
            Self::Lines(lines) => Row::Line(lines[row]),
            Self::Picked(rows) => rows[row],
        }
    }

    /// Some of the rows, in the order in which they are given.
    pub(super) fn part(&self, rows: &[usize]) -> Self {
        Self::Picked(Arc::new(rows.iter().map(|&row| self.at(row)).collect()))
    }

    /// Adds the line of the next row.
    pub(super) fn push_line(&mut self, line: u64) {
        match self {
            Self::Lines(lines) => Arc::make_mut(lines).push(line),
            _ => *self = Self::Lines(Arc::new(vec![line])),
        }
    }

    /// Adds rows behind the first `len` ones, which are all that there are.
    pub(super) fn append(&mut self, len: usize, next: &Self, next_len: usize) {
        let follows = match (&*self, next) {
            (Self::From(first), Self::From(next)) => first + len == *next,
            (Self::LinesFrom(first), Self::LinesFrom(next)) => first + len as u64 == *next,
            _ => false,
        };
        if follows {
            return;
        }
        if !matches!(self, Self::Lines(_)) {
            *self = Self::Lines(Arc::new((0..len).map(|row| self.line(row)).collect()));
        }
        if let Self::Lines(lines) = self {
            Arc::make_mut(lines).extend((0..next_len).map(|row| next.line(row)));
        }
    }

    /// The line of a row of text.
    fn line(&self, row: usize) -> u64 {
        match self.at(row) {
            Row::Line(line) => line,
            Row::Index(index) => index as u64,
        }
    }
}
