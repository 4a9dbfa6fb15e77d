//! Places in files, as error messages name them.

use std::fmt;
use std::path::{Path, PathBuf};

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: PathBuf,
    /// The row.
    pub row: Option<Row>,
    /// The column, by name or number.
    pub column: Option<String>,
}

/// A row of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// A line of a text file, from 1 on, the header included: what an editor shows.
    Line(u64),
    /// A row of an array, from 0 on: what NumPy shows.
    Index(usize),
}

impl Location {
    /// A file as a whole.
    pub fn file(path: &Path) -> Self {
        Self { file: path.into(), row: None, column: None }
    }

    /// A row of it.
    #[must_use]
    pub fn row(mut self, row: Row) -> Self {
        self.row = Some(row);
        self
    }

    /// A column of it.
    #[must_use]
    pub fn column(mut self, column: impl ToString) -> Self {
        self.column = Some(column.to_string());
        self
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match self.row {
            Some(Row::Line(line)) => write!(f, ", line {line}")?,
            Some(Row::Index(index)) => write!(f, ", row {index}")?,
            None => {}
        }
        self.column.as_ref().map_or(Ok(()), |column| write!(f, ", column {column}"))
    }
}
