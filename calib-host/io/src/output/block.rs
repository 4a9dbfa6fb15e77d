//! Rows of a table, column by column.

use std::borrow::Cow;
use std::ops::Range;

use crate::input::{ColumnKind, ReadNumbers, Shown, TableCell};

/// Rows that are written together: columns of a table that was read, then new ones.
pub struct Block<'t> {
    pub(super) rows: usize,
    pub(super) columns: Vec<Column<'t>>,
}

/// A column that is added to what was read.
#[derive(Clone, Debug)]
pub struct NewColumn {
    name: String,
    is_prob: bool,
    values: Values,
}

/// The values of a new column, one a row.
#[derive(Clone, Debug)]
pub enum Values {
    /// Floats of the device.
    F32(Vec<Option<f32>>),
    /// Whole numbers.
    U32(Vec<Option<u32>>),
    /// Words.
    Text(Vec<Cow<'static, str>>),
}

/// A column of a block.
pub(super) struct Column<'t> {
    pub(super) name: Cow<'t, str>,
    /// Whether it is one of the probabilities that an array holds.
    pub(super) is_prob: bool,
    cells: Cells<'t>,
}

enum Cells<'t> {
    Shown { shown: &'t Shown<'t>, column: usize, first_row: usize },
    Numbers { shown: &'t Shown<'t>, column: usize, first_row: usize, numbers: &'t ReadNumbers },
    New(Values),
}

impl NewColumn {
    /// A column of anything but probabilities.
    pub fn new(name: impl Into<String>, values: Values) -> Self {
        Self { name: name.into(), is_prob: false, values }
    }

    /// A column of probabilities, which are all that a NumPy array holds.
    pub fn probs(name: impl Into<String>, probs: Vec<Option<f32>>) -> Self {
        Self { name: name.into(), is_prob: true, values: Values::F32(probs) }
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }
}

impl<'t> Block<'t> {
    /// Rows of new columns, which are of one length.
    ///
    /// # Panics
    ///
    /// If there is no column, or they are of different lengths.
    pub fn new(added: Vec<NewColumn>) -> Self {
        let rows = added.first().map(|column| column.values.len()).expect("a column at least");
        Self { rows, columns: Vec::new() }.with(added)
    }

    /// Rows of a table, and new columns beside them. `scores` are the numbers of all the table's rows in one of its columns, for
    /// formats in which text is no number.
    ///
    /// # Panics
    ///
    /// If a column has another number of rows.
    pub fn beside(
        shown: &'t Shown<'t>,
        rows: Range<usize>,
        scores: Option<(usize, &'t ReadNumbers)>,
        added: Vec<NewColumn>,
    ) -> Self {
        let first_row = rows.start;
        let column = |(column, name): (usize, &'t str)| {
            let numbers =
                scores.filter(|scores| scores.0 == column && shown.kind(column) == ColumnKind::Text);
            let cells = match numbers {
                Some((_, numbers)) => Cells::Numbers { shown, column, first_row, numbers },
                None => Cells::Shown { shown, column, first_row },
            };
            Column { name: name.into(), is_prob: false, cells }
        };
        let columns = shown.header().enumerate().map(column).collect();
        Self { rows: rows.len(), columns }.with(added)
    }

    fn with(mut self, added: Vec<NewColumn>) -> Self {
        for NewColumn { name, is_prob, values } in added {
            assert_eq!(values.len(), self.rows, "a value of {name} for every row");
            self.columns.push(Column { name: name.into(), is_prob, cells: Cells::New(values) });
        }
        self
    }
}

impl Column<'_> {
    /// What the cells are, whatever rows the block has.
    #[cfg(feature = "arrow")]
    pub(super) fn kind(&self) -> ColumnKind {
        match &self.cells {
            Cells::Shown { shown, column, .. } => shown.kind(*column),
            Cells::Numbers { numbers: ReadNumbers::F64(_), .. } => ColumnKind::F64,
            Cells::Numbers { numbers: ReadNumbers::Integers(_), .. } => ColumnKind::Integer,
            Cells::New(Values::F32(_)) => ColumnKind::F32,
            Cells::New(Values::U32(_)) => ColumnKind::Integer,
            Cells::New(Values::Text(_)) => ColumnKind::Text,
        }
    }

    /// A cell; of scores the number.
    pub(super) fn cell(&self, row: usize) -> TableCell<&str> {
        match &self.cells {
            Cells::Numbers { numbers: ReadNumbers::F64(numbers), first_row, .. } => {
                TableCell::F64(numbers[first_row + row])
            }
            Cells::Numbers { numbers: ReadNumbers::Integers(numbers), first_row, .. } => {
                TableCell::Integer(numbers[first_row + row])
            }
            _ => self.cell_as_read(row),
        }
    }

    /// A cell; of scores what the file has.
    pub(super) fn cell_as_read(&self, row: usize) -> TableCell<&str> {
        match &self.cells {
            Cells::Shown { shown, column, first_row } | Cells::Numbers { shown, column, first_row, .. } => {
                shown.cell(*column, first_row + row)
            }
            Cells::New(Values::F32(values)) => values[row].map_or(TableCell::Missing, TableCell::F32),
            Cells::New(Values::U32(values)) => {
                values[row].map_or(TableCell::Missing, |value| TableCell::Unsigned(value.into()))
            }
            Cells::New(Values::Text(values)) => TableCell::Text(&values[row]),
        }
    }

    /// A probability; `None` where there is none, or in a column of something else.
    pub(super) fn prob(&self, row: usize) -> Option<f32> {
        match &self.cells {
            Cells::New(Values::F32(values)) => values[row],
            _ => None,
        }
    }
}
