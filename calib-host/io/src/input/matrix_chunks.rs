//! Matrices, chunk by chunk.

use std::path::Path;
use std::sync::Arc;

use calib_fit::data::{VectorKind, Vectors};

use super::chunk_reader::Input;
use super::guard::guarded;
use super::matrix::{checked, vectors_named};
use super::npy;
use super::sniff::options::TableOptions;
use super::source::Source;
use crate::files::{FileError, Format, Location, Progress, Unit, Watch};

/// The rows of a matrix: a NumPy array that is stored row by row in chunks, anything else as a whole.
pub struct MatrixChunks<'w> {
    place: Location,
    kind: VectorKind,
    rows: Rows,
    watch: Watch<'w>,
}

enum Rows {
    Whole(Option<Vectors>),
    Npy(npy::Rows),
}

impl<'w> MatrixChunks<'w> {
    /// Opens a matrix of logits or probabilities, as [`vectors_named`] finds it, whose tables are read with these options.
    ///
    /// # Errors
    ///
    /// As [`vectors_named`].
    pub fn open(
        path: &Path,
        (kind, name): (VectorKind, Option<&str>),
        options: &Arc<TableOptions>,
        watch: Watch<'w>,
    ) -> Result<Self, FileError> {
        let input = Input::of(path, options, watch)?;
        let place = input.place();
        let rows = match input {
            Input::Memory(source) => Rows::Whole(Some(vectors_named(&source, kind, name)?)),
            Input::File { format: Format::Npy, .. } => {
                let rows = guarded(&place, Format::Npy, || npy::Rows::open(&input))?;
                match rows.layout.shape.len() == 2 && rows.layout.is_by_rows() {
                    true => Rows::Npy(rows),
                    false => Self::whole(path, (kind, name), options, watch)?,
                }
            }
            Input::File { .. } => Self::whole(path, (kind, name), options, watch)?,
        };
        Ok(Self { place, kind, rows, watch })
    }

    /// Reads a file into memory.
    fn whole(
        path: &Path,
        (kind, name): (VectorKind, Option<&str>),
        options: &Arc<TableOptions>,
        watch: Watch<'w>,
    ) -> Result<Rows, FileError> {
        let source = Source::read(path, watch)?.with_options(options);
        Ok(Rows::Whole(Some(vectors_named(&source, kind, name)?)))
    }

    /// Reads the next rows, at least one; `None` at the end.
    ///
    /// # Errors
    ///
    /// If a row is not of the matrix's kind, or the file cannot be read.
    pub fn read_next(&mut self) -> Result<Option<Vectors>, FileError> {
        let rows = match &mut self.rows {
            Rows::Whole(vectors) => return Ok(vectors.take()),
            Rows::Npy(rows) => rows,
        };
        let next = guarded(&self.place, Format::Npy, || rows.next())?;
        let Some((first_row, array)) = next else { return Ok(None) };
        let (done, total) = (first_row as u64 + array.shape[0], rows.total);
        (self.watch)(Progress { path: &self.place.file, unit: Unit::Rows, done, total });
        checked(array, self.kind, &self.place, first_row).map(Some)
    }

    /// The file.
    pub fn place(&self) -> &Location {
        &self.place
    }
}
