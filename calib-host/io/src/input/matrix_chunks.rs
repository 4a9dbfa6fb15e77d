//! Matrices, chunk by chunk.

use std::path::Path;
use std::sync::Arc;

use calib_core::ScoreEncoding;
use calib_fit::data::{VectorKind, Vectors};

use super::chunk_reader::Input;
use super::guard::guarded;
use super::matrix::{MatrixRows, vectors_named};
use super::npy;
use super::sniff::options::TableOptions;
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
        if matches!(input, Input::File { format: Format::NPY, .. }) {
            let rows = guarded(&place, Format::NPY, || npy::Rows::open(&input))?;
            if rows.layout.shape.len() == 2 && rows.layout.is_by_rows() {
                return Ok(Self { place, kind, rows: Rows::Npy(rows), watch });
            }
        }
        let vectors = vectors_named(&input.into_memory(options, watch)?, kind, name)?;
        Ok(Self { place, kind, rows: Rows::Whole(Some(vectors)), watch })
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
        let next = guarded(&self.place, Format::NPY, || rows.next())?;
        let Some((first_row, array)) = next else { return Ok(None) };
        let (done, total) = (first_row as u64 + array.shape[0], rows.total);
        (self.watch)(Progress { path: &self.place.file, unit: Unit::Rows, done, total });
        let rows = MatrixRows::of_array(array.matrix()?, self.place.clone(), first_row);
        rows.checked(ScoreEncoding::F32, |values, classes| Vectors::new(values, classes, self.kind)).map(Some)
    }

    /// The file.
    pub fn place(&self) -> &Location {
        &self.place
    }
}
