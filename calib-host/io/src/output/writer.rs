//! Writing a table, block by block.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

#[cfg(feature = "arrow")]
use arrow_array::RecordBatch;
#[cfg(feature = "arrow")]
use arrow_ipc::writer::FileWriter;
#[cfg(feature = "arrow")]
use arrow_schema::SchemaRef;
#[cfg(feature = "arrow")]
use parquet::arrow::ArrowWriter;
#[cfg(feature = "arrow")]
use parquet::file::properties::WriterProperties;

use super::block::Block;
use super::format::TableFormat;
#[cfg(feature = "arrow")]
use super::record_batch;
use super::{csv, json_lines, npy};
use crate::files::{OutputError, OutputFile, send_seeking, write_file_seeking};

/// A row group of Parquet has so many rows: what is encoded of it is kept until it is complete.
#[cfg(feature = "arrow")]
const GROUP_ROWS: usize = 1 << 18;

/// Writes a table completely or not at all, as [`write_file`](crate::files::write_file). A table of no blocks is an empty file.
///
/// # Errors
///
/// As [`write_file`](crate::files::write_file), or the error that `write` returns.
pub fn write_table(
    path: &Path,
    overwrite: bool,
    format: TableFormat,
    write: impl FnOnce(&mut TableWriter<'_, '_>) -> io::Result<()>,
) -> Result<(), OutputError> {
    write_file_seeking(path, overwrite, |file| whole_table(file, format, write))
}

/// Sends a table on when it is whole; `name` is what errors call the place that it is sent to.
///
/// # Errors
///
/// As [`send_seeking`], or the error that `write` returns.
pub(super) fn send_table(
    (name, out): (&Path, &mut dyn Write),
    format: TableFormat,
    write: impl FnOnce(&mut TableWriter<'_, '_>) -> io::Result<()>,
) -> Result<(), OutputError> {
    send_seeking(name, out, |file| whole_table(file, format, write))
}

fn whole_table(
    file: &mut OutputFile<'_>,
    format: TableFormat,
    write: impl FnOnce(&mut TableWriter<'_, '_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = TableWriter { format, state: State::Begun(file) };
    write(&mut writer)?;
    writer.finish()
}

/// A block in the bytes of its format. Several can be made at a time.
pub struct Part {
    content: Content,
    head: Head,
}

enum Content {
    Bytes {
        bytes: Vec<u8>,
        rows: u64,
    },
    #[cfg(feature = "arrow")]
    Batch(RecordBatch),
}

/// What the first part begins the file with.
enum Head {
    Bytes(Vec<u8>),
    Npy {
        columns: usize,
    },
    #[cfg(feature = "arrow")]
    Schema(SchemaRef),
}

/// A table that is being written.
pub struct TableWriter<'w, 'f> {
    format: TableFormat,
    state: State<'w, 'f>,
}

enum State<'w, 'f> {
    Begun(&'w mut OutputFile<'f>),
    Bytes(&'w mut OutputFile<'f>),
    Npy {
        file: &'w mut OutputFile<'f>,
        columns: usize,
        rows: u64,
    },
    #[cfg(feature = "arrow")]
    Arrow(Box<FileWriter<&'w mut OutputFile<'f>>>),
    #[cfg(feature = "arrow")]
    Parquet(Box<ArrowWriter<&'w mut OutputFile<'f>>>),
    /// After an error.
    Broken,
}

impl Part {
    /// Makes the bytes of a block.
    pub fn new(format: TableFormat, block: &Block<'_>) -> Self {
        let bytes = |bytes| Content::Bytes { bytes, rows: block.rows as u64 };
        let (content, head) = match format {
            TableFormat::Csv => (bytes(csv::rows(block)), Head::Bytes(csv::header(block))),
            TableFormat::JsonLines => (bytes(json_lines::rows(block)), Head::Bytes(Vec::new())),
            TableFormat::Npy => (bytes(npy::rows(block)), Head::Npy { columns: npy::width(block) }),
            #[cfg(feature = "arrow")]
            TableFormat::ArrowFile | TableFormat::Parquet => {
                let schema = record_batch::schema(block);
                (Content::Batch(record_batch::rows(block, schema.clone())), Head::Schema(schema))
            }
            #[cfg(not(feature = "arrow"))]
            TableFormat::ArrowFile | TableFormat::Parquet => {
                unreachable!("a name specifies a format for which there is a writer")
            }
        };
        Self { content, head }
    }
}

impl TableWriter<'_, '_> {
    /// Writes rows. All blocks have the same columns.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&mut self, block: &Block<'_>) -> io::Result<()> {
        self.write_part(Part::new(self.format, block))
    }

    /// Writes rows of which the bytes are made already.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_part(&mut self, part: Part) -> io::Result<()> {
        let Part { content, head } = part;
        if let State::Begun(_) = self.state {
            self.begin(head)?;
        }
        match (&mut self.state, content) {
            (State::Bytes(file), Content::Bytes { bytes, .. }) => file.write_all(&bytes),
            (State::Npy { file, rows, .. }, Content::Bytes { bytes, rows: more }) => {
                *rows += more;
                file.write_all(&bytes)
            }
            #[cfg(feature = "arrow")]
            (State::Arrow(writer), Content::Batch(batch)) => writer.write(&batch).map_err(cause_of_arrow),
            #[cfg(feature = "arrow")]
            (State::Parquet(writer), Content::Batch(batch)) => writer.write(&batch).map_err(cause_of_parquet),
            _ => unreachable!("every part is of the table's format"),
        }
    }

    fn begin(&mut self, head: Head) -> io::Result<()> {
        let State::Begun(file) = std::mem::replace(&mut self.state, State::Broken) else {
            unreachable!("seen by the caller")
        };
        self.state = match head {
            Head::Bytes(bytes) => {
                file.write_all(&bytes)?;
                State::Bytes(file)
            }
            Head::Npy { columns } => {
                file.write_all(&npy::header(0, columns))?;
                State::Npy { file, columns, rows: 0 }
            }
            #[cfg(feature = "arrow")]
            Head::Schema(schema) if self.format == TableFormat::ArrowFile => {
                State::Arrow(Box::new(FileWriter::try_new(file, &schema).map_err(cause_of_arrow)?))
            }
            #[cfg(feature = "arrow")]
            Head::Schema(schema) => {
                let properties =
                    WriterProperties::builder().set_max_row_group_row_count(Some(GROUP_ROWS)).build();
                let writer = ArrowWriter::try_new(file, schema, Some(properties));
                State::Parquet(Box::new(writer.map_err(cause_of_parquet)?))
            }
        };
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        match self.state {
            State::Begun(_) | State::Bytes(_) | State::Broken => Ok(()),
            State::Npy { file, columns, rows } => {
                file.seek(SeekFrom::Start(0))?;
                file.write_all(&npy::header(rows, columns))
            }
            #[cfg(feature = "arrow")]
            State::Arrow(mut writer) => writer.finish().map_err(cause_of_arrow),
            #[cfg(feature = "arrow")]
            State::Parquet(writer) => writer.close().map(drop).map_err(cause_of_parquet),
        }
    }
}

/// The operating system's reason, which tells a full disk from other failures.
#[cfg(feature = "arrow")]
fn cause_of_arrow(error: arrow_schema::ArrowError) -> io::Error {
    match error {
        arrow_schema::ArrowError::IoError(_, cause) => cause,
        other => io::Error::other(other),
    }
}

/// The same for Parquet.
#[cfg(feature = "arrow")]
fn cause_of_parquet(error: parquet::errors::ParquetError) -> io::Error {
    match error {
        parquet::errors::ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
