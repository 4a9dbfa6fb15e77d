//! What is read, and what reads it chunk by chunk.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::sniff::detect::{check_text, other_kind};
use super::sniff::dialect;
use super::sniff::options::TableOptions;
use super::source::Source;
use super::table::{Reading, Table};
use super::text::CHUNK_LEN_BYTES;
use crate::files::{FileError, Format, Location, Problem, Unit, Watch};

/// Reads a file as tables of some rows each.
pub(super) trait ChunkReader: Send {
    /// The next table, with at least one row, whose rows follow those of the one before; `None` at the end.
    fn next(&mut self) -> Result<Option<Table>, FileError>;

    /// How much of the file was read, and how much there is; `None` if the file is read as a whole.
    fn progress(&self) -> Option<(Unit, u64, u64)>;
}

/// What is read: a file on the disk, or one in memory.
#[derive(Clone, Debug)]
pub(super) enum Input {
    File { path: PathBuf, format: Format, len_bytes: u64 },
    Memory(Source),
}

/// A file, or its bytes.
pub(super) trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

impl Input {
    /// A file, or standard input if the path is `-`, that is read with these options.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is of a format that is not read.
    pub(super) fn of(path: &Path, options: &Arc<TableOptions>, watch: Watch<'_>) -> Result<Self, FileError> {
        let on_disk = if options.leaves_out() { None } else { Self::on_disk(path)? };
        if let Some(input) = on_disk {
            return Ok(input);
        }
        let sources = Source::read_all_with(&[path], options, watch)?;
        Ok(Self::Memory(sources.into_iter().next().expect("one was read")))
    }

    /// A file that can be read from the disk chunk by chunk; `None` if it has to be in memory as a whole.
    fn on_disk(path: &Path) -> Result<Option<Self>, FileError> {
        if path == Path::new("-") {
            return Ok(None);
        }
        let sniffed = || {
            let mut file = File::open(path)?;
            let metadata = file.metadata()?;
            if !metadata.is_file() {
                return Ok(None);
            }
            let mut start = Vec::new();
            Read::by_ref(&mut file).take(CHUNK_LEN_BYTES as u64).read_to_end(&mut start)?;
            let format = Format::of(path, &start);
            let is_chunked = match format.is_text {
                true => {
                    start.len() == CHUNK_LEN_BYTES
                        && other_kind(path, &start).is_none()
                        && check_text(&start, format).is_ok()
                        && (format != Format::CSV || !dialect::is_encoded(&start))
                }
                false => format.is_chunked && Format::from_bytes(&start) == Some(format),
            };
            let len_bytes = metadata.len();
            Ok(is_chunked.then(|| Self::File { path: path.into(), format, len_bytes }))
        };
        sniffed().map_err(|source: io::Error| FileError::Read { path: path.into(), source })
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::File { path, .. } => path,
            Self::Memory(source) => source.path(),
        }
    }

    pub(super) fn place(&self) -> Location {
        Location::file(self.path())
    }

    /// The content in memory, whose tables are read with these options.
    ///
    /// # Errors
    ///
    /// As [`Source::read`].
    pub(super) fn into_memory(
        self,
        options: &Arc<TableOptions>,
        watch: Watch<'_>,
    ) -> Result<Source, FileError> {
        match self {
            Self::Memory(source) => Ok(source),
            Self::File { path, .. } => Ok(Source::read(&path, watch)?.with_options(options)),
        }
    }

    /// The format of the content, unpacked.
    pub(super) fn format(&self) -> Format {
        match self {
            Self::File { format, .. } => *format,
            Self::Memory(source) => source.format(),
        }
    }

    /// The content from its start, unpacked, and its length in bytes.
    pub(super) fn open(&self) -> Result<(Box<dyn ReadSeek>, u64), FileError> {
        Ok(match self {
            Self::Memory(source) => {
                let bytes = source.shared();
                let len_bytes = bytes.len() as u64;
                (Box::new(Cursor::new(bytes)), len_bytes)
            }
            Self::File { path, len_bytes, .. } => {
                let file = File::open(path);
                let file = file.map_err(|source| FileError::Read { path: path.clone(), source })?;
                (Box::new(file), *len_bytes)
            }
        })
    }
}

/// A table that is read as a whole.
pub(super) struct Once(pub(super) Option<Table>);

impl Once {
    /// Reads a file that is in memory.
    ///
    /// # Errors
    ///
    /// As `read`, or if the table has no rows.
    pub(super) fn open(
        input: &Input,
        reading: Reading,
        read: impl FnOnce(&Source) -> Result<Table, FileError>,
    ) -> Result<Box<dyn ChunkReader>, FileError> {
        let Input::Memory(source) = input else {
            unreachable!("a format without chunks is read from memory")
        };
        let table = read(source)?;
        match table.has_no_rows() {
            true => Err(FileError::input(input.place(), Problem::Empty)),
            false => Ok(Box::new(Self(Some(table.read_as(reading.of_whole(true)))))),
        }
    }
}

impl ChunkReader for Once {
    fn next(&mut self) -> Result<Option<Table>, FileError> {
        Ok(self.0.take())
    }

    fn progress(&self) -> Option<(Unit, u64, u64)> {
        None
    }
}
