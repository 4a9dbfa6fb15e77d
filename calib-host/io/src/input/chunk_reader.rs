//! One way to read every format: chunk by chunk.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::guard::guarded;
use super::limit::MAX_UNPACKED_BYTES;
use super::projection::Projection;
use super::sniff::detect::{check_text, other_kind};
use super::sniff::dialect;
use super::sniff::options::TableOptions;
use super::source::Source;
use super::table::{Reading, Table};
use super::text::CHUNK_LEN_BYTES;
use super::{csv, json_lines, npy, npz};
#[cfg(feature = "arrow")]
use super::{ipc, parquet};
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
            let is_chunked = match format {
                Format::Npy | Format::Parquet => Format::from_bytes(&start) == Some(format),
                Format::Csv | Format::JsonLines => {
                    start.len() == CHUNK_LEN_BYTES
                        && other_kind(path, &start).is_none()
                        && check_text(&start, format).is_ok()
                        && (format == Format::JsonLines || !dialect::is_encoded(&start))
                }
                _ => false,
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

    /// Begins to read the columns of a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or its start is damaged.
    pub(super) fn chunks(
        &self,
        projection: &Projection,
        reading: &Reading,
    ) -> Result<Box<dyn ChunkReader>, FileError> {
        if let Self::Memory(source) = self {
            if source.bytes().is_empty() {
                return Err(FileError::input(self.place(), Problem::EmptyFile));
            }
            if !source.left_out().is_empty() {
                return Ok(Box::new(Once(Some(Table::read_projected(source, projection)?))));
            }
        }
        self.all_chunks(projection, reading)
    }

    /// Begins to read the columns of a file, rows that are left out included.
    fn all_chunks(
        &self,
        projection: &Projection,
        reading: &Reading,
    ) -> Result<Box<dyn ChunkReader>, FileError> {
        let format = self.format();
        let opened = guarded(&self.place(), format, || -> Result<Box<dyn ChunkReader>, FileError> {
            let whole = |table: Table| match table.has_no_rows() {
                true => Err(FileError::input(self.place(), Problem::Empty)),
                false => Ok(Box::new(Once(Some(table.read_as(reading.clone().of_whole(true)))))),
            };
            Ok(match (format, self) {
                (Format::Csv, _) => csv::open(self, projection, reading.clone())?,
                (Format::JsonLines, _) => json_lines::open(self, projection, reading.clone())?,
                (Format::Npy, _) => Box::new(npy::TableChunks::open(self, reading.clone())?),
                (Format::Npz, Self::Memory(source)) => whole(npz::table(source, projection)?)?,
                #[cfg(feature = "arrow")]
                (Format::ArrowFile | Format::ArrowStream, Self::Memory(source)) => {
                    whole(ipc::table(source, projection)?)?
                }
                #[cfg(feature = "arrow")]
                (Format::Parquet, _) => Box::new(parquet::Chunks::open(self, projection, reading.clone())?),
                #[cfg(not(feature = "arrow"))]
                (Format::ArrowFile | Format::ArrowStream | Format::Parquet, _) => {
                    return Err(FileError::input(self.place(), Problem::NotBuilt(format)));
                }
                (Format::Gzip, _) | (_, Self::File { .. }) => {
                    unreachable!("a source is unpacked, and these formats are read from memory")
                }
            })
        })?;
        Ok(Box::new(Guarded { reader: opened, place: self.place(), format }))
    }
}

/// A table that is read as a whole.
pub(super) struct Once(pub(super) Option<Table>);

impl ChunkReader for Once {
    fn next(&mut self) -> Result<Option<Table>, FileError> {
        Ok(self.0.take())
    }

    fn progress(&self) -> Option<(Unit, u64, u64)> {
        None
    }
}

/// A reader whose panic is an error of the file.
struct Guarded {
    reader: Box<dyn ChunkReader>,
    place: Location,
    format: Format,
}

impl ChunkReader for Guarded {
    fn next(&mut self) -> Result<Option<Table>, FileError> {
        guarded(&self.place, self.format, || self.reader.next())
    }

    fn progress(&self) -> Option<(Unit, u64, u64)> {
        self.reader.progress()
    }
}

impl Table {
    /// Reads a table with all its columns.
    ///
    /// # Errors
    ///
    /// If the file is not of its format, is damaged or larger than [`MAX_UNPACKED_BYTES`](super::MAX_UNPACKED_BYTES)
    /// unpacked, or has no rows.
    pub fn read(source: &Source) -> Result<Self, FileError> {
        Self::read_projected(source, &Projection::All)
    }

    /// Reads a table with the columns of these names only. The names of the other columns are known.
    ///
    /// # Errors
    ///
    /// As [`Table::read`].
    pub fn read_only(source: &Source, names: &[&str]) -> Result<Self, FileError> {
        Self::read_projected(source, &Projection::texts(names, source.options()))
    }

    /// Collects the chunks of a file.
    pub(super) fn read_projected(source: &Source, projection: &Projection) -> Result<Self, FileError> {
        Self::read_within(source, projection, MAX_UNPACKED_BYTES)
    }

    /// The same, of a table whose cells take no more memory than this.
    fn read_within(source: &Source, projection: &Projection, max: u64) -> Result<Self, FileError> {
        let input = Input::Memory(source.clone());
        let empty = |problem| FileError::input(input.place(), problem);
        if source.bytes().is_empty() {
            return Err(empty(Problem::EmptyFile));
        }
        let reading = Reading::new(source.options());
        let mut chunks = input.all_chunks(projection, &reading)?;
        let within = |table: Self| match table.len_bytes() > max {
            true => Err(empty(Problem::TableTooLarge { max })),
            false => Ok(table),
        };
        let mut table = within(chunks.next()?.ok_or_else(|| empty(Problem::Empty))?)?;
        while let Some(chunk) = chunks.next()? {
            table.append(chunk);
            table = within(table)?;
        }
        table.make_whole();
        if !source.left_out().is_empty() {
            table.leave_out(source.left_out());
        }
        if table.has_no_rows() {
            return Err(empty(Problem::Empty));
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// Short rows, which take more memory as cells than as text.
    #[test]
    fn many_short_rows_stop_at_the_limit_of_cells() {
        let lines = |row: &str| format!("score,label\n{}", row.repeat(3 * CHUNK_LEN_BYTES / row.len()));
        let json = "{\"score\":0.5,\"label\":1}\n";
        let json = json.repeat(3 * CHUNK_LEN_BYTES / json.len());
        for (name, text) in
            [("t.csv.gz", lines("0.5,1\n")), ("t.csv.gz", lines("a,b\n")), ("t.jsonl.gz", json)]
        {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(text.as_bytes()).unwrap();
            let source = Source::from_bytes(name, packed.finish().unwrap()).unwrap();
            for projection in [Projection::All, Projection::texts(&["score", "label"], source.options())] {
                let whole = Table::read_within(&source, &projection, MAX_UNPACKED_BYTES).unwrap();
                let len_bytes = whole.len_bytes();
                assert!(len_bytes > text.len() as u64 / 3, "{len_bytes} {}", text.len());
                assert!(Table::read_within(&source, &projection, len_bytes).is_ok());
                let max = len_bytes - 1;
                let error = Table::read_within(&source, &projection, max).err().unwrap();
                let is_it = matches!(&error, FileError::Input { problem: Problem::TableTooLarge { max: at }, .. } if *at == max);
                assert!(is_it, "{name}: {error:?}");
            }
        }
    }
}
