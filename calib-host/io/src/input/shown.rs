//! Tables as text.

use std::borrow::Cow;

use super::cell::TableCell;
use super::column_kind::ColumnKind;
use super::table::{ColumnContent, NamedColumn, Table};

impl Table {
    /// The columns that can be shown as text beside `rows` rows: lists and the like cannot, nor arrays of another
    /// length that happen to be in the same archive. [`Shown::left_out`] names those.
    pub fn shown(&self, rows: usize) -> Shown<'_> {
        let can_be_shown = |column: &&NamedColumn| column.content.len() == Some(rows);
        let (columns, left_out) = self.columns.iter().partition(can_be_shown);
        Shown { table: self, columns, left_out }
    }
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
        let found = self.table.find(name).ok();
        self.columns
            .iter()
            .position(|column| is_only || found.is_some_and(|found| std::ptr::eq(found, *column)))
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
    pub fn cell(&self, column: usize, row: usize) -> TableCell<&'t str> {
        Self::table_cell(self.table, self.columns[column], row)
    }

    /// The text of their cells in a row. Text is as it is in the file; a float has the digits that give it back.
    ///
    /// # Panics
    ///
    /// If there are not as many rows.
    pub fn record(&self, row: usize) -> impl Iterator<Item = Cow<'t, str>> {
        self.columns.iter().map(move |column| Self::table_cell(self.table, column, row).text())
    }

    fn table_cell(table: &'t Table, column: &'t NamedColumn, row: usize) -> TableCell<&'t str> {
        match &column.content {
            ColumnContent::Typed(values) => values.cell(row),
            ColumnContent::Cells(cells) => table.resolve(cells[row]),
            ColumnContent::Unusable(_) | ColumnContent::NotRead => {
                unreachable!("only columns with cells are shown")
            }
        }
    }
}
