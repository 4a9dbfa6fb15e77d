//! The columns of a file, chunk by chunk.

use std::path::Path;
use std::sync::Arc;

use super::chunk_reader::{ChunkReader, Input, Once};
use super::projection::{ColumnType, Projection};
use super::sniff::options::TableOptions;
use super::source::Source;
use super::table::{Reading, Table};
use crate::files::{FileError, Location, Progress, Unit, Watch};

/// A text of up to this many bytes is read again, all at once, to find out which of its faults to report.
const LONGEST_READ_AGAIN: u64 = 64 << 20;

/// The columns of a file, chunk by chunk. A chunk of text has about 256 KiB, and a chunk of an array or of Parquet 65,536 rows. Archives, Arrow
/// files and JSON lines of which all columns are read are one chunk.
///
/// ```
/// use std::sync::Arc;
/// use calib_fit::ScoreKind;
/// use calib_io::input::{Chunks, ColumnType};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("held_out.csv");
/// std::fs::write(&path, "score,label\n0.25,0\n0.875,1\n")?;
/// let mut chunks = Chunks::open(&path, &[("score", ColumnType::Numbers)], &Arc::default(), &|_| ())?;
/// for _ in 0..2 {
///     let mut sum = 0.0;
///     while let Some(table) = chunks.read_next()? {
///         sum += table.device_scores("score", ScoreKind::Probability)?.values.iter().sum::<f32>();
///     }
///     assert_eq!(sum, 1.125);
///     chunks.rewind()?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Chunks<'w> {
    input: Input,
    projection: Projection,
    options: Arc<TableOptions>,
    reader: Box<dyn ChunkReader>,
    watch: Watch<'w>,
}

impl<'w> Chunks<'w> {
    /// Opens a file, or standard input if the path is `-`, to read these columns with these options; `watch` receives the progress.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or its start is damaged.
    pub fn open(
        path: &Path,
        columns: &[(&str, ColumnType)],
        options: &Arc<TableOptions>,
        watch: Watch<'w>,
    ) -> Result<Self, FileError> {
        Self::open_projected(path, Projection::of(columns, options), options, watch)
    }

    /// Opens a file as [`Chunks::open`] to read all its columns, for anything.
    ///
    /// # Errors
    ///
    /// As [`Chunks::open`].
    pub fn open_all(path: &Path, options: &Arc<TableOptions>, watch: Watch<'w>) -> Result<Self, FileError> {
        Self::open_projected(path, Projection::All, options, watch)
    }

    /// Reads these columns of a file that is in memory, with the options that it has.
    ///
    /// ```
    /// use calib_io::input::{Chunks, ColumnType, Source};
    ///
    /// let csv = Source::from_bytes("scores.csv", b"score,label\n0.25,0\n".to_vec())?;
    /// let mut chunks = Chunks::of_source(&csv, &[("score", ColumnType::Numbers)])?;
    /// assert_eq!(chunks.read_next()?.unwrap().numbers("score")?.values, [0.25]);
    /// # Ok::<(), calib_io::files::FileError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Chunks::open`].
    pub fn of_source(source: &Source, columns: &[(&str, ColumnType)]) -> Result<Self, FileError> {
        let options = source.options();
        Self::of(Input::Memory(source.clone()), Projection::of(columns, options), options, &|_| ())
    }

    fn open_projected(
        path: &Path,
        projection: Projection,
        options: &Arc<TableOptions>,
        watch: Watch<'w>,
    ) -> Result<Self, FileError> {
        let input = Input::of(path, options, watch)?;
        Self::of(input, projection, options, watch)
    }

    /// The columns of an input.
    pub(super) fn of(
        input: Input,
        projection: Projection,
        options: &Arc<TableOptions>,
        watch: Watch<'w>,
    ) -> Result<Self, FileError> {
        let reader = input.chunks(&projection, &Reading::new(options))?;
        Ok(Self { input, projection, options: options.clone(), reader, watch })
    }

    /// The next table, with at least one row, whose rows follow those of the one before; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the file cannot be read on, or is damaged.
    pub fn read_next(&mut self) -> Result<Option<Table>, FileError> {
        let next = self.reader.next();
        if let (Some((unit, done, total)), Input::File { path, .. }) = (self.reader.progress(), &self.input) {
            // Reading is over at the end or at a fault, and not before.
            let done = match (&next, unit) {
                (Ok(Some(_)), Unit::Bytes) => done.min(total.saturating_sub(1)),
                (Ok(Some(_)), Unit::Rows) => done,
                _ => total,
            };
            (self.watch)(Progress { path, unit, done, total });
        }
        next
    }

    /// Begins again, for another pass. A file whose content was replaced may then have other rows.
    ///
    /// # Errors
    ///
    /// As [`Chunks::open`].
    pub fn rewind(&mut self) -> Result<(), FileError> {
        self.reader = self.input.chunks(&self.projection, &Reading::new(&self.options))?;
        Ok(())
    }

    /// The file.
    pub fn place(&self) -> Location {
        self.input.place()
    }

    pub(super) fn input(&self) -> &Input {
        &self.input
    }

    /// The fault to report of a text that has one in `fault` or before: the one that `look` finds in the whole, which is read for one
    /// kind of fault after the other. For a text that is too long for that, and for anything else, it is the fault itself.
    pub fn first_fault<E: From<FileError>>(&self, fault: E, look: impl FnOnce(Table) -> Result<(), E>) -> E {
        if !self.is_short_text() {
            return fault;
        }
        let read = || {
            let table = self.as_a_whole()?.read_next()?;
            table.map_or(Ok(()), look)
        };
        read().err().unwrap_or(fault)
    }

    /// Whether this is a text that is not too long to be read again all at once.
    pub(super) fn is_short_text(&self) -> bool {
        matches!(self.reader.progress(), Some((Unit::Bytes, _, total)) if total <= LONGEST_READ_AGAIN)
    }

    /// The same file from its start, all at once.
    pub(super) fn as_a_whole<'n>(&self) -> Result<Chunks<'n>, FileError> {
        let source = self.input.clone().into_memory(&self.options, &|_| ())?;
        let table = Table::read_projected(&source, &self.projection)?;
        let (projection, options) = (self.projection.clone(), self.options.clone());
        let reader = Box::new(Once(Some(table)));
        Ok(Chunks { input: Input::Memory(source), projection, options, reader, watch: &|_| () })
    }

    /// The same file from its start.
    pub(super) fn again<'n>(&self) -> Result<Chunks<'n>, FileError> {
        Chunks::of(self.input.clone(), self.projection.clone(), &self.options, &|_| ())
    }
}
