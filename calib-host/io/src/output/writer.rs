//! Writing a table, block by block.

use std::io::{self, Seek, SeekFrom, Write};

#[cfg(feature = "arrow")]
use arrow_array::RecordBatch;
#[cfg(feature = "arrow")]
use arrow_ipc::writer::FileWriter;
#[cfg(feature = "arrow")]
use parquet::arrow::ArrowWriter;
#[cfg(feature = "arrow")]
use parquet::file::properties::WriterProperties;

use super::block::Block;
use super::format::TableFormat;
#[cfg(feature = "arrow")]
use super::record_batch;
use super::{csv, json_lines, npy};
use crate::files::{OutputError, OutputFile, OutputPlace};

/// A row group of Parquet has so many rows: what is encoded of it is kept until it is complete.
#[cfg(feature = "arrow")]
const GROUP_ROWS: usize = 1 << 18;

/// Writes a table completely or not at all, as [`write_file`](crate::files::write_file). A table of no blocks is an empty file.
///
/// # Errors
///
/// As [`write_file`](crate::files::write_file), or the error that `write` returns.
pub fn write_table(
    place: OutputPlace<'_>,
    format: TableFormat,
    write: impl FnOnce(&mut TableWriter<'_, '_>) -> io::Result<()>,
) -> Result<(), OutputError> {
    place.write(|file| {
        let mut writer = TableWriter { format, state: State::Begun(file) };
        write(&mut writer)?;
        writer.finish()
    })
}

/// A block in the bytes of its format. Several can be made at a time.
pub struct Part(Content);

enum Content {
    /// What the first part begins the file with, and lines.
    Text {
        head: Vec<u8>,
        lines: Vec<u8>,
    },
    Npy {
        columns: usize,
        rows: u64,
        bytes: Vec<u8>,
    },
    #[cfg(feature = "arrow")]
    Batch(RecordBatch),
}

/// A table that is being written.
pub struct TableWriter<'w, 'f> {
    format: TableFormat,
    state: State<'w, 'f>,
}

enum State<'w, 'f> {
    Begun(&'w mut OutputFile<'f>),
    Text(&'w mut OutputFile<'f>),
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
        Self(match format {
            TableFormat::Csv => Content::Text { head: csv::header(block), lines: csv::rows(block) },
            TableFormat::JsonLines => Content::Text { head: Vec::new(), lines: json_lines::rows(block) },
            TableFormat::Npy => {
                Content::Npy { columns: npy::width(block), rows: block.rows as u64, bytes: npy::rows(block) }
            }
            #[cfg(feature = "arrow")]
            TableFormat::ArrowFile | TableFormat::Parquet => {
                Content::Batch(record_batch::rows(block, record_batch::schema(block)))
            }
            #[cfg(not(feature = "arrow"))]
            TableFormat::ArrowFile | TableFormat::Parquet => {
                unreachable!("a name specifies a format for which there is a writer")
            }
        })
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
        if let State::Begun(_) = self.state {
            self.begin(&part.0)?;
        }
        match (&mut self.state, part.0) {
            (State::Text(file), Content::Text { lines, .. }) => file.write_all(&lines),
            (State::Npy { file, rows, .. }, Content::Npy { bytes, rows: more, .. }) => {
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

    fn begin(&mut self, first: &Content) -> io::Result<()> {
        let State::Begun(file) = std::mem::replace(&mut self.state, State::Broken) else {
            unreachable!("seen by the caller")
        };
        self.state = match first {
            Content::Text { head, .. } => {
                file.write_all(head)?;
                State::Text(file)
            }
            &Content::Npy { columns, .. } => {
                file.write_all(&npy::header(0, columns))?;
                State::Npy { file, columns, rows: 0 }
            }
            #[cfg(feature = "arrow")]
            Content::Batch(batch) if self.format == TableFormat::ArrowFile => {
                State::Arrow(Box::new(FileWriter::try_new(file, &batch.schema()).map_err(cause_of_arrow)?))
            }
            #[cfg(feature = "arrow")]
            Content::Batch(batch) => {
                let properties =
                    WriterProperties::builder().set_max_row_group_row_count(Some(GROUP_ROWS)).build();
                let writer = ArrowWriter::try_new(file, batch.schema(), Some(properties));
                State::Parquet(Box::new(writer.map_err(cause_of_parquet)?))
            }
        };
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        match self.state {
            State::Begun(_) | State::Text(_) | State::Broken => Ok(()),
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
