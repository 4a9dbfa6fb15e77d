//! Matrices, piece by piece.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use calib_fit::data::{VectorKind, Vectors};

use crate::files::{FileError, Format, Place, Progress, Unit, Watch};
use crate::input::guard::guarded;
use crate::input::limit::CHUNK_ROWS;
use crate::input::matrix::{checked, vectors_named};
use crate::input::npy::{Layout, MAX_HEADER_LEN_BYTES, NpyArray};
use crate::input::source::Source;
use crate::input::unusual::options::TableOptions;

/// The rows of a matrix: a NumPy array that is stored row by row in pieces, anything else as a whole.
pub struct MatrixPieces<'w> {
    place: Place,
    kind: VectorKind,
    rows: Rows,
    watch: Watch<'w>,
}

enum Rows {
    Whole(Option<Vectors>),
    Npy { file: File, layout: Layout, classes: usize, done: u64, total: u64 },
}

impl<'w> MatrixPieces<'w> {
    /// Opens a matrix of logits or probabilities, as [`vectors_named`] finds it.
    ///
    /// # Errors
    ///
    /// As [`vectors_named`].
    pub fn open(
        path: &Path,
        kind: VectorKind,
        name: Option<&str>,
        watch: Watch<'w>,
    ) -> Result<Self, FileError> {
        Self::open_with(path, (kind, name), &Arc::default(), watch)
    }

    /// Opens a matrix as [`MatrixPieces::open`], whose tables are read so.
    ///
    /// # Errors
    ///
    /// As [`vectors_named`].
    pub fn open_with(
        path: &Path,
        (kind, name): (VectorKind, Option<&str>),
        options: &Arc<TableOptions>,
        watch: Watch<'w>,
    ) -> Result<Self, FileError> {
        let place = Place::file(path);
        if !options.leaves_out()
            && let Some(rows) = guarded(&place, Format::Npy, || open_rows(path))?
        {
            return Ok(Self { place, kind, rows, watch });
        }
        let sources = Source::read_all_with(&[path], options, watch)?;
        let source = sources.into_iter().next().expect("one was read");
        let rows = Rows::Whole(Some(vectors_named(&source, kind, name)?));
        Ok(Self { place: Place::file(source.path()), kind, rows, watch })
    }

    /// Reads the next rows, at least one; `None` at the end.
    ///
    /// # Errors
    ///
    /// If a row is not of the matrix's kind, or the file cannot be read.
    pub fn read_next(&mut self) -> Result<Option<Vectors>, FileError> {
        let Rows::Npy { file, layout, classes, done, total } = &mut self.rows else {
            let Rows::Whole(vectors) = &mut self.rows else { unreachable!("there are two") };
            return Ok(vectors.take());
        };
        let rows = (CHUNK_ROWS / *classes).clamp(1, CHUNK_ROWS);
        let rows = usize::try_from(*total - *done).unwrap_or(usize::MAX).min(rows);
        if rows == 0 {
            return Ok(None);
        }
        let first = *done;
        *done += rows as u64;
        (self.watch)(Progress { path: &self.place.file, unit: Unit::Rows, done: *done, total: *total });
        let mut data = vec![0; rows * *classes * layout.element_len];
        let read = file.read_exact(&mut data);
        read.map_err(|source| FileError::Read { path: self.place.file.clone(), source })?;
        let array = NpyArray {
            place: self.place.clone(),
            dtype: layout.dtype.clone(),
            shape: vec![rows as u64, *classes as u64],
            elements: guarded(&self.place, Format::Npy, || layout.elements(&data))?,
        };
        checked(array, self.kind, &self.place, first as usize).map(Some)
    }

    /// The file.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

/// The array of two dimensions that a file is, if its rows follow each other in it.
fn open_rows(path: &Path) -> Result<Option<Rows>, FileError> {
    let read_error = |source| FileError::Read { path: path.into(), source };
    if path == Path::new("-") {
        return Ok(None);
    }
    let mut file = File::open(path).map_err(read_error)?;
    let meta = file.metadata().map_err(read_error)?;
    if !meta.is_file() {
        return Ok(None);
    }
    let mut start = Vec::new();
    Read::by_ref(&mut file).take(MAX_HEADER_LEN_BYTES).read_to_end(&mut start).map_err(read_error)?;
    if Format::from_bytes(&start) != Some(Format::Npy) {
        return Ok(None);
    }
    let layout = Layout::parse(Place::file(path), &start, meta.len())?;
    let &[total, classes] = &layout.shape[..] else { return Ok(None) };
    if !layout.is_by_rows() {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(layout.header_len as u64)).map_err(read_error)?;
    Ok(Some(Rows::Npy { file, classes: classes as usize, layout, done: 0, total }))
}
