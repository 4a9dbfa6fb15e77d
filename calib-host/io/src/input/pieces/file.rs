//! Tables, piece by piece.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;

use super::column_use::{ColumnUse, Columns};
use super::hash::Content;
use super::npy::NpyPieces;
use super::text::{PIECE_LEN_BYTES, TextPieces};
use super::{csv, json_lines};
use crate::files::{FileError, Format, Place, Progress, Unit, Watch};
#[cfg(feature = "arrow")]
use crate::input::arrow::parquet::ParquetPieces;
use crate::input::guard::guarded;
use crate::input::limit::CHUNK_ROWS;
use crate::input::source::Source;
use crate::input::table::{Reading, Table};
use crate::input::unusual::options::TableOptions;

/// A text of so many bytes is read again, all at once, to find out which of its faults to tell.
const LONGEST_READ_AGAIN: u64 = 64 << 20;

/// The columns of a file, piece by piece: of a NumPy array, of Parquet, of CSV and of JSON lines some rows at a time, of anything else
/// all at once, as of standard input and of what is compressed. JSON lines are read in pieces if some columns are wanted by name.
///
/// ```
/// use calib_fit::ScoreKind;
/// use calib_io::input::{ColumnUse, Pieces};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("held_out.csv");
/// std::fs::write(&path, "score,label\n0.25,0\n0.875,1\n")?;
/// let mut pieces = Pieces::open(&path, &[("score", ColumnUse::Numbers)], &|_| ())?;
/// for _ in 0..2 {
///     let mut sum = 0.0;
///     while let Some(table) = pieces.read_next()? {
///         sum += table.device_scores("score", ScoreKind::Probability)?.values.iter().sum::<f32>();
///     }
///     assert_eq!(sum, 1.125);
///     pieces.rewind()?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pieces<'w> {
    content: Content,
    columns: Columns,
    reading: Reading,
    tables: Tables,
    /// How much there is to read, if the file is read in pieces.
    total: Option<(Unit, u64)>,
    /// How many rows were read in pieces.
    done: u64,
    watch: Watch<'w>,
}

enum Tables {
    Whole(Option<Table>),
    Npy(NpyPieces),
    Csv(Box<TextPieces<csv::Schema>>),
    JsonLines(Box<TextPieces<json_lines::Schema>>),
    #[cfg(feature = "arrow")]
    Parquet(ParquetPieces),
}

impl<'w> Pieces<'w> {
    /// Opens a file, or standard input if the path is `-`, of which these columns are wanted; `watch` is told how far reading
    /// is.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or its start says that it is damaged; a file that is read all at once, also for what
    /// [`Table::read_only`] refuses.
    pub fn open(path: &Path, columns: &[(&str, ColumnUse)], watch: Watch<'w>) -> Result<Self, FileError> {
        Self::open_with(path, columns, &Arc::default(), watch)
    }

    /// Opens a file as [`Pieces::open`], as a table that is read so. Where rows that lack a value are left out, it is read as a whole.
    ///
    /// # Errors
    ///
    /// As [`Pieces::open`].
    pub fn open_with(
        path: &Path,
        columns: &[(&str, ColumnUse)],
        options: &Arc<TableOptions>,
        watch: Watch<'w>,
    ) -> Result<Self, FileError> {
        Self::open_columns(path, (Columns::of(columns, options), options), watch)
    }

    /// Opens a file as [`Pieces::open`], of which all columns are wanted, for anything.
    ///
    /// # Errors
    ///
    /// As [`Pieces::open`].
    pub fn open_all(path: &Path, watch: Watch<'w>) -> Result<Self, FileError> {
        Self::open_all_with(path, &Arc::default(), watch)
    }

    /// Opens a file as [`Pieces::open_all`], as a table that is read so.
    ///
    /// # Errors
    ///
    /// As [`Pieces::open`].
    pub fn open_all_with(
        path: &Path,
        options: &Arc<TableOptions>,
        watch: Watch<'w>,
    ) -> Result<Self, FileError> {
        Self::open_columns(path, (Columns::All, options), watch)
    }

    fn open_columns(
        path: &Path,
        (columns, options): (Columns, &Arc<TableOptions>),
        watch: Watch<'w>,
    ) -> Result<Self, FileError> {
        let reading = Reading::new(options, false);
        if !options.leaves_out()
            && let Some((tables, unit, total)) = Tables::in_pieces(path, (&columns, &reading))?
        {
            let content = Content::File(path.into());
            let total = Some((unit, total));
            return Ok(Self { content, columns, reading, tables, total, done: 0, watch });
        }
        Self::whole(path, (columns, options), watch)
    }

    /// Reads a file all at once.
    fn whole(
        path: &Path,
        (columns, options): (Columns, &Arc<TableOptions>),
        watch: Watch<'w>,
    ) -> Result<Self, FileError> {
        let sources = Source::read_all_with(&[path], options, watch)?;
        let source = sources.into_iter().next().expect("one was read");
        Self::of(source, columns, watch)
    }

    /// The table that is a file's content.
    pub(super) fn of(source: Source, columns: Columns, watch: Watch<'w>) -> Result<Self, FileError> {
        let tables = Tables::whole(&source, &columns)?;
        let reading = Reading::new(source.options(), true);
        let content = Content::Memory(source.into());
        Ok(Self { content, columns, reading, tables, total: None, done: 0, watch })
    }

    /// The next table, with at least one row, whose rows follow those of the one before; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the file cannot be read on, or is damaged.
    pub fn read_next(&mut self) -> Result<Option<Table>, FileError> {
        let place = self.place();
        let next = match &mut self.tables {
            Tables::Whole(table) => Ok(table.take()),
            Tables::Csv(pieces) => pieces.next(),
            Tables::JsonLines(pieces) => pieces.next(),
            Tables::Npy(pieces) => guarded(&place, Format::Npy, || pieces.next()),
            #[cfg(feature = "arrow")]
            Tables::Parquet(pieces) => {
                let table = pieces.next();
                table.map(|table| table.map(|table| table.read_as(self.reading.clone())))
            }
        };
        self.tell(matches!(next, Ok(Some(_))));
        next
    }

    /// Begins again, for another pass. A file whose content was replaced may then have other rows.
    ///
    /// # Errors
    ///
    /// As [`Pieces::open`].
    pub fn rewind(&mut self) -> Result<(), FileError> {
        self.tables = match &self.content {
            Content::Memory(source) => Tables::whole(source, &self.columns)?,
            Content::File(path) => match Tables::in_pieces(path, (&self.columns, &self.reading))? {
                Some((tables, unit, total)) => {
                    (self.total, self.done) = (Some((unit, total)), 0);
                    tables
                }
                None => {
                    let source = Source::read(path, self.watch)?.with_options(&self.reading.options);
                    Tables::whole(&source, &self.columns)?
                }
            },
        };
        Ok(())
    }

    /// The number of rows of all tables, where the file's start says it.
    pub fn rows(&self) -> Option<u64> {
        self.total.and_then(|(unit, total)| (unit == Unit::Rows).then_some(total))
    }

    /// The file.
    pub fn place(&self) -> Place {
        Place::file(match &self.content {
            Content::File(path) => path,
            Content::Memory(source) => source.path(),
        })
    }

    pub(super) fn content(&self) -> Content {
        self.content.clone()
    }

    /// Tells how far reading is: a piece further, or at the end, which is the last row or a fault.
    fn tell(&mut self, goes_on: bool) {
        if let (Some((unit, total)), Content::File(path)) = (self.total, &self.content) {
            self.done = match &self.tables {
                _ if !goes_on => total,
                Tables::Csv(pieces) => pieces.done().min(total.saturating_sub(1)),
                Tables::JsonLines(pieces) => pieces.done().min(total.saturating_sub(1)),
                _ => (self.done + CHUNK_ROWS as u64).min(total),
            };
            (self.watch)(Progress { path, unit, done: self.done, total });
        }
    }

    /// The fault to tell of a text that has one in `fault` or before: the one that `look` finds in the whole, which is read for one
    /// kind of fault after the other. Of a text that is too long for that, and of anything else, it is the fault itself.
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

    /// Whether all rows are in one table.
    pub(super) fn is_whole(&self) -> bool {
        self.reading.is_whole
    }

    /// Whether this is a text that is read in pieces, and not too long to be read again all at once.
    pub(super) fn is_short_text(&self) -> bool {
        matches!(self.total, Some((Unit::Bytes, total)) if total <= LONGEST_READ_AGAIN)
    }

    /// The same file from its start, all at once.
    pub(super) fn as_a_whole<'n>(&self) -> Result<Pieces<'n>, FileError> {
        Pieces::whole(&self.place().file, (self.columns.clone(), &self.reading.options), &|_| ())
    }

    /// The same file from its start.
    pub(super) fn again<'n>(&self) -> Result<Pieces<'n>, FileError> {
        let (content, columns) = (self.content.clone(), self.columns.clone());
        let (total, watch) = (self.total, &|_: Progress<'_>| ());
        let reading = Reading::new(&self.reading.options, self.reading.is_whole);
        let mut pieces =
            Pieces { content, columns, reading, tables: Tables::Whole(None), total, done: 0, watch };
        pieces.rewind()?;
        Ok(pieces)
    }
}

impl Tables {
    fn whole(source: &Source, columns: &Columns) -> Result<Self, FileError> {
        Ok(Self::Whole(Some(columns.wanted(|wanted| Table::read_wanted(source, wanted))?)))
    }

    /// The tables of a file that can be read in pieces, and how much there is of it.
    fn in_pieces(
        path: &Path,
        (columns, reading): (&Columns, &Reading),
    ) -> Result<Option<(Self, Unit, u64)>, FileError> {
        if path == Path::new("-") {
            return Ok(None);
        }
        let read_error = |source| FileError::Read { path: path.into(), source };
        let mut file = File::open(path).map_err(read_error)?;
        let metadata = file.metadata().map_err(read_error)?;
        if !metadata.is_file() {
            return Ok(None);
        }
        let mut start = Vec::new();
        Read::by_ref(&mut file).take(Format::MAGIC_LEN).read_to_end(&mut start).map_err(read_error)?;
        Ok(match Format::from_bytes(&start) {
            Some(Format::Npy) => {
                let pieces = guarded(&Place::file(path), Format::Npy, || {
                    NpyPieces::open(path, file, reading.clone())
                })?;
                let rows = pieces.rows();
                Some((Self::Npy(pieces), Unit::Rows, rows))
            }
            #[cfg(feature = "arrow")]
            Some(Format::Parquet) => {
                let pieces = columns.wanted(|wanted| ParquetPieces::open(path, file, wanted))?;
                let rows = pieces.rows();
                Some((Self::Parquet(pieces), Unit::Rows, rows))
            }
            Some(Format::JsonLines) => {
                file.rewind().map_err(read_error)?;
                let opened = (columns, reading.clone());
                let pieces = TextPieces::<json_lines::Schema>::open(path, file, opened, PIECE_LEN_BYTES);
                let pieces = pieces.map_err(read_error)?;
                pieces.map(|pieces| (Self::JsonLines(pieces.into()), Unit::Bytes, metadata.len()))
            }
            None => {
                file.rewind().map_err(read_error)?;
                let opened = (columns, reading.clone());
                let pieces = TextPieces::<csv::Schema>::open(path, file, opened, PIECE_LEN_BYTES);
                let pieces = pieces.map_err(read_error)?;
                pieces.map(|pieces| (Self::Csv(pieces.into()), Unit::Bytes, metadata.len()))
            }
            _ => None,
        })
    }
}
