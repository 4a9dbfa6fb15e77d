//! A NumPy array that is read piece by piece.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::files::{FileError, Place, Problem};
use crate::input::limit::CHUNK_ROWS;
use crate::input::npy::{Elements, Layout, MAX_HEADER_LEN_BYTES, NpyArray};
use crate::input::rows::Rows;
use crate::input::table::{Reading, Table};

/// An array of one dimension that is alone in its file, as tables of some rows each.
pub(super) struct NpyPieces {
    layout: Layout,
    /// The number of columns, of which the last counts.
    columns: u64,
    reading: Reading,
    file: File,
    rows: u64,
    first_row: usize,
    /// The bytes of a piece.
    data: Vec<u8>,
}

impl NpyPieces {
    /// Checks the header of a file.
    ///
    /// # Errors
    ///
    /// As [`parse`](crate::input::npy::parse), or if the array has another shape.
    pub(super) fn open(path: &Path, mut file: File, reading: Reading) -> Result<Self, FileError> {
        let read_error = |source| FileError::Read { path: path.into(), source };
        let len_bytes = file.metadata().map_err(read_error)?.len();
        let mut start = Vec::new();
        file.rewind().map_err(read_error)?;
        Read::by_ref(&mut file).take(MAX_HEADER_LEN_BYTES).read_to_end(&mut start).map_err(read_error)?;
        let layout = Layout::parse(Place::file(path), &start, len_bytes)?;
        layout.check_type()?;
        let (rows, columns) = match layout.shape[..] {
            [rows] | [rows, 1] => (rows, 1),
            [rows, 2] if reading.options.guess => (rows, 2),
            _ => {
                let problem = Problem::Shape { got: layout.shape, expected: "(rows,)" };
                return Err(FileError::input(layout.place, problem));
            }
        };
        file.seek(SeekFrom::Start(layout.header_len as u64)).map_err(read_error)?;
        Ok(Self { layout, columns, reading, file, rows, first_row: 0, data: Vec::new() })
    }

    /// The number of rows of all tables.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads the next rows of one column after the other, as they are stored.
    fn read_columns(&mut self, rows: usize) -> io::Result<()> {
        let element_len = self.layout.element_len as u64;
        for (column, data) in self.data.chunks_mut(rows * self.layout.element_len).enumerate() {
            let at = self.rows * column as u64 + self.first_row as u64;
            self.file.seek(SeekFrom::Start(self.layout.header_len as u64 + at * element_len))?;
            self.file.read_exact(data)?;
        }
        Ok(())
    }

    /// The next table.
    pub(super) fn next(&mut self) -> Result<Option<Table>, FileError> {
        let left = self.rows - self.first_row as u64;
        let rows = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK_ROWS);
        if rows == 0 {
            return Ok(None);
        }
        self.data.resize(rows * self.columns as usize * self.layout.element_len, 0);
        let is_by_columns = self.columns == 2 && !self.layout.is_by_rows();
        let read = match is_by_columns {
            true => self.read_columns(rows),
            false => self.file.read_exact(&mut self.data),
        };
        let Layout { place, dtype, .. } = &self.layout;
        read.map_err(|source| FileError::Read { path: place.file.clone(), source })?;
        let mut elements = self.layout.elements(&self.data)?;
        if let Elements::Numbers(values) = &mut elements
            && is_by_columns
        {
            values.transpose(rows, 2);
        }
        let shape = match self.columns {
            1 => vec![rows as u64],
            columns => vec![rows as u64, columns],
        };
        let array = NpyArray { place: place.clone(), dtype: dtype.clone(), shape, elements };
        let table = Table::at(place.clone(), Rows::From(self.first_row));
        let mut table = table.read_as(self.reading.clone());
        array.fill_lone(&mut table)?;
        self.first_row += rows;
        Ok(Some(table))
    }
}
