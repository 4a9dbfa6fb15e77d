//! Columns by name, whatever the format.

use std::borrow::Cow;

use super::cell::{Span, TableCell};
use super::column::{Column, row_at};
use super::source::Source;
use crate::files::{FileError, Place, Problem};

/// A table: columns with names, of numbers, labels or text.
///
/// An array that is alone in its file, as NPY or as the only member of an NPZ archive, is a table of one column that
/// answers to every name. It must have the right type for what it is asked for: floats for numbers, integers or
/// booleans for labels. The columns of all other tables are taken by their names, and by their values only.
#[derive(Clone, Debug)]
pub struct Table {
    file: Place,
    columns: Vec<NamedColumn>,
    /// What the spans of the cells point into.
    text: String,
    /// The line of each row in a text file; empty for others.
    lines: Vec<u64>,
    /// The number of the first row in a file that is read piece by piece.
    first_row: usize,
    /// The dtype of an array that is alone.
    lone_dtype: Option<String>,
}

#[derive(Clone, Debug)]
struct NamedColumn {
    name: String,
    kind: ColumnKind,
    content: ColumnContent,
}

/// What the cells of a column are, whatever rows are read: where the file says so, numbers or booleans; otherwise text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text, or cells of several kinds.
    Text,
    /// Booleans.
    Bool,
    /// Floats of 32 bits, or of 16, which are among them.
    F32,
    /// Floats of 64 bits.
    F64,
    /// Integers with a sign, or of up to 32 bits without.
    Integer,
    /// Integers of 64 bits without a sign.
    Unsigned,
}

/// A cell as it is in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShownCell<'t> {
    /// A null, or a field that a JSON object does not have.
    Missing,
    /// Text.
    Text(&'t str),
    /// A number, by the digits that the file has.
    Number(&'t str),
    /// A boolean.
    Bool(bool),
    /// A float of 32 bits.
    F32(f32),
    /// A float of 64 bits.
    F64(f64),
    /// An integer with a sign.
    Integer(i64),
    /// An integer without a sign.
    Unsigned(u64),
}

#[derive(Clone, Debug)]
enum ColumnContent {
    Cells(Vec<TableCell<Span>>),
    /// Nothing in it can be a number or text.
    Unusable(Problem),
    /// Nobody asked for it.
    NotRead,
}

/// The columns that are wanted.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'n> {
    All,
    Only(&'n [&'n str]),
}

impl Wanted<'_> {
    pub(super) fn includes(self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|wanted| *wanted == name.trim()),
        }
    }
}

impl Table {
    /// A column of numbers.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is not a number.
    ///
    /// # Panics
    ///
    /// If the column was left out by [`Table::read_only`], as for all columns below.
    pub fn numbers(&self, name: &str) -> Result<Column<f64>, FileError> {
        self.check_lone(Problem::FLOATS, |cell| matches!(cell, TableCell::F32(_) | TableCell::F64(_)))?;
        self.column(name, TableCell::number)
    }

    /// A column of numbers with gaps: an empty or missing cell is `None`.
    ///
    /// # Errors
    ///
    /// As [`Table::numbers`].
    pub fn optional_numbers(&self, name: &str) -> Result<Column<Option<f64>>, FileError> {
        self.check_lone(Problem::FLOATS, |cell| matches!(cell, TableCell::F32(_) | TableCell::F64(_)))?;
        self.column(name, TableCell::optional_number)
    }

    /// A column of class indices: integers, booleans, or whole numbers written as decimals, such as `1.0`.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is not a whole number.
    pub fn labels(&self, name: &str) -> Result<Column<i64>, FileError> {
        self.check_lone("integers or booleans", is_integer)?;
        self.column(name, TableCell::label)
    }

    /// A column of integer codes of scores.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is not a whole number.
    pub fn codes(&self, name: &str) -> Result<Column<i64>, FileError> {
        self.check_lone(Problem::CODES, is_integer)?;
        self.column(name, TableCell::code)
    }

    /// A column of bin indices; an empty or missing cell, of an uncalibrated row, is bin 0.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is not a whole number from 0 on.
    pub fn bins(&self, name: &str) -> Result<Column<u32>, FileError> {
        self.check_lone("integers", is_integer)?;
        self.column(name, TableCell::bin)
    }

    /// A column of names, as their text without spaces around it.
    ///
    /// # Errors
    ///
    /// If the column is missing or ambiguous, or a cell is empty.
    pub fn names(&self, name: &str) -> Result<Column<String>, FileError> {
        self.check_lone("integers", is_integer)?;
        self.column(name, TableCell::name)
    }

    /// Whether this is an array that is alone in its file, so that nothing else can be in it.
    pub fn is_lone_array(&self) -> bool {
        self.lone_dtype.is_some()
    }

    /// Refuses columns that an output would repeat.
    ///
    /// # Errors
    ///
    /// The first of `names` that exists.
    pub fn check_absent(&self, names: &[&str]) -> Result<(), FileError> {
        match names.iter().find(|name| self.columns.iter().any(|there| there.name.trim() == **name)) {
            None => Ok(()),
            Some(name) => Err(FileError::input(self.file.clone().column(name), Problem::ColumnExists)),
        }
    }

    /// The columns that can be shown as text beside `rows` rows: lists and the like cannot, nor arrays of another
    /// length that happen to be in the same archive. [`Shown::left_out`] names those.
    pub fn shown(&self, rows: usize) -> Shown<'_> {
        let can_be_shown = |column: &&NamedColumn| matches!(&column.content, ColumnContent::Cells(cells) if cells.len() == rows);
        let (columns, left_out) = self.columns.iter().partition(can_be_shown);
        Shown { table: self, columns, left_out }
    }

    fn column<'t, T>(
        &'t self,
        name: &str,
        convert: fn(TableCell<&'t str>) -> Result<T, Problem>,
    ) -> Result<Column<T>, FileError> {
        let (place, column) = match &self.columns[..] {
            [column] if self.is_lone_array() => (self.file.clone(), column),
            _ => (self.file.clone().column(name), self.find(name)?),
        };
        let cells = match &column.content {
            ColumnContent::Cells(cells) => cells,
            ColumnContent::Unusable(problem) => return Err(FileError::input(place, problem.clone())),
            ColumnContent::NotRead => panic!("the column {name} was not asked for when the table was read"),
        };
        let mut values = Vec::with_capacity(cells.len());
        for (row, &cell) in cells.iter().enumerate() {
            values.push(convert(self.resolve(cell)).map_err(|problem| {
                let row = row_at(row, self.first_row, &self.lines);
                FileError::input(place.clone().row(row), problem)
            })?);
        }
        Ok(Column { values, place, first_row: self.first_row, lines: self.lines.clone() })
    }

    fn find(&self, name: &str) -> Result<&NamedColumn, FileError> {
        let fail = |problem| FileError::input(self.file.clone().column(name), problem);
        let mut named = self.columns.iter().filter(|there| there.name.trim() == name);
        match (named.next(), named.next()) {
            (Some(column), None) => Ok(column),
            (Some(_), Some(_)) => Err(fail(Problem::ColumnTwice)),
            (None, _) => {
                let there = self.columns.iter().map(|column| column.name.trim().to_owned()).collect();
                Err(fail(Problem::MissingColumn(there)))
            }
        }
    }

    fn check_lone(
        &self,
        expected: &'static str,
        is_expected: fn(TableCell<Span>) -> bool,
    ) -> Result<(), FileError> {
        let Some(dtype) = &self.lone_dtype else { return Ok(()) };
        let [NamedColumn { content: ColumnContent::Cells(cells), .. }] = &self.columns[..] else {
            return Ok(());
        };
        match cells.first() {
            Some(&cell) if !is_expected(cell) => {
                Err(FileError::input(self.file.clone(), Problem::Dtype { got: dtype.clone(), expected }))
            }
            _ => Ok(()),
        }
    }

    fn resolve(&self, cell: TableCell<Span>) -> TableCell<&str> {
        cell.map_text(|span| &self.text[span.start..span.end])
    }
}

fn is_integer(cell: TableCell<Span>) -> bool {
    matches!(cell, TableCell::Integer(_) | TableCell::Unsigned(_) | TableCell::Bool(_))
}

/// The columns of a table that can be shown as text.
#[derive(Clone, Debug)]
pub struct Shown<'t> {
    table: &'t Table,
    columns: Vec<&'t NamedColumn>,
    left_out: Vec<&'t NamedColumn>,
}

impl<'t> Shown<'t> {
    /// Their names.
    pub fn header(&self) -> impl Iterator<Item = &'t str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The names of the columns that are not among them.
    pub fn left_out(&self) -> impl Iterator<Item = &'t str> {
        self.left_out.iter().map(|column| column.name.as_str())
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The place of the column that [`Table::numbers`] finds under this name.
    pub fn place(&self, name: &str) -> Option<usize> {
        let is_only = self.table.is_lone_array();
        self.columns.iter().position(|column| is_only || column.name.trim() == name)
    }

    /// What the cells of a column are.
    pub fn kind(&self, column: usize) -> ColumnKind {
        self.columns[column].kind
    }

    /// A cell as it is in the file.
    ///
    /// # Panics
    ///
    /// If there are not as many columns or rows.
    pub fn cell(&self, column: usize, row: usize) -> ShownCell<'t> {
        let ColumnContent::Cells(cells) = &self.columns[column].content else {
            unreachable!("only columns with cells are shown")
        };
        match self.table.resolve(cells[row]) {
            TableCell::Missing => ShownCell::Missing,
            TableCell::Raw(text) | TableCell::Text(text) => ShownCell::Text(text),
            TableCell::Number(text) => ShownCell::Number(text),
            TableCell::Bool(value) => ShownCell::Bool(value),
            TableCell::F32(value) => ShownCell::F32(value),
            TableCell::F64(value) => ShownCell::F64(value),
            TableCell::Integer(value) => ShownCell::Integer(value),
            TableCell::Unsigned(value) => ShownCell::Unsigned(value),
        }
    }

    /// The text of their cells in a row. Text is as it is in the file; a float has the digits that give it back.
    ///
    /// # Panics
    ///
    /// If there are not as many rows.
    pub fn record(&self, row: usize) -> impl Iterator<Item = Cow<'t, str>> {
        self.columns.iter().map(move |column| match &column.content {
            ColumnContent::Cells(cells) => self.table.resolve(cells[row]).text(),
            ColumnContent::Unusable(_) | ColumnContent::NotRead => {
                unreachable!("only columns with cells are shown")
            }
        })
    }
}

/// What the readers of the formats fill a table with.
impl Table {
    pub(super) fn new(source: &Source) -> Self {
        Self::at(Place::file(source.path()), 0)
    }

    /// The rows of a file from this one on.
    pub(super) fn at(file: Place, first_row: usize) -> Self {
        Self {
            file,
            columns: Vec::new(),
            text: String::new(),
            lines: Vec::new(),
            first_row,
            lone_dtype: None,
        }
    }

    /// Adds a column to be filled; `wanted` or not.
    pub(super) fn add_column(&mut self, name: &str, wanted: bool) -> usize {
        let content = if wanted { ColumnContent::Cells(Vec::new()) } else { ColumnContent::NotRead };
        self.columns.push(NamedColumn { name: name.into(), kind: ColumnKind::Text, content });
        self.columns.len() - 1
    }

    pub(super) fn add_unusable(&mut self, name: &str, problem: Problem) {
        let content = ColumnContent::Unusable(problem);
        self.columns.push(NamedColumn { name: name.into(), kind: ColumnKind::Text, content });
    }

    /// Says what the cells of a column are.
    pub(super) fn set_kind(&mut self, column: usize, kind: ColumnKind) {
        self.columns[column].kind = kind;
    }

    /// Turns a column, once and for all, into one that cannot be used.
    pub(super) fn spoil(&mut self, column: usize, problem: Problem) {
        self.columns[column].content = ColumnContent::Unusable(problem);
    }

    /// Appends a cell to a column; nothing happens if nobody wants it.
    pub(super) fn push(&mut self, column: usize, cell: TableCell<&str>) {
        if let ColumnContent::Cells(cells) = &mut self.columns[column].content {
            cells.push(cell.map_text(|text| {
                let start = self.text.len();
                self.text.push_str(text);
                Span { start, end: self.text.len() }
            }));
        }
    }

    /// Whether there are no columns, or one that was read has no cells.
    pub(super) fn has_no_rows(&self) -> bool {
        let empty =
            |column: &NamedColumn| matches!(&column.content, ColumnContent::Cells(cells) if cells.is_empty());
        self.columns.iter().any(empty) || self.columns.is_empty()
    }

    pub(super) fn push_line(&mut self, line: u64) {
        self.lines.push(line);
    }

    pub(super) fn set_lone(&mut self, dtype: String) {
        self.lone_dtype = Some(dtype);
    }

    /// The number of columns, wanted or not.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn is_wanted(&self, column: usize) -> bool {
        matches!(self.columns[column].content, ColumnContent::Cells(_))
    }
}

/// What only record batches need.
#[cfg(feature = "arrow")]
impl Table {
    /// Appends a cell whose text the table has already.
    pub(super) fn push_again(&mut self, column: usize, cell: TableCell<Span>) {
        if let ColumnContent::Cells(cells) = &mut self.columns[column].content {
            cells.push(cell);
        }
    }

    /// Takes the cells of a column from number `from` on away.
    pub(super) fn take_from(&mut self, column: usize, from: usize) -> Vec<TableCell<Span>> {
        match &mut self.columns[column].content {
            ColumnContent::Cells(cells) => cells.split_off(from.min(cells.len())),
            ColumnContent::Unusable(_) | ColumnContent::NotRead => Vec::new(),
        }
    }

    /// The number of cells in a column.
    pub(super) fn cells(&self, column: usize) -> usize {
        match &self.columns[column].content {
            ColumnContent::Cells(cells) => cells.len(),
            ColumnContent::Unusable(_) | ColumnContent::NotRead => 0,
        }
    }

    pub(super) fn text_len(&self) -> usize {
        self.text.len()
    }
}
