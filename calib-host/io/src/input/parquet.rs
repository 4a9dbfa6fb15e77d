//! Parquet.

use std::fs::File;

use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use ::parquet::arrow::{ProjectionMask, parquet_to_arrow_schema};
use ::parquet::basic::Compression;
use ::parquet::file::metadata::RowGroupMetaData;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::chunk_reader::{ChunkReader, Input};
use super::limit::{CHUNK_ROWS, MAX_UNPACKED_BYTES, check_cells};
use super::projection::Projection;
use super::record_batch::{add_columns, append, columns};
use super::rows::Rows;
use super::table::{Reading, Table};
use super::thrift;
use crate::files::{FileError, Format, Location, Problem, Unit};

const MAGIC: &[u8] = b"PAR1";

/// The most rows that are read chunk by chunk: a small file claims any number of equal ones.
const MAX_ROWS: u64 = 1 << 34;

/// How much is read to find the header of a page, and how long one may be: it has the smallest and the largest value.
const PAGE_HEADER_LEN_BYTES: [u64; 2] = [1 << 12, 1 << 24];

/// A file as tables of some rows each, with the columns that are read; the other columns are not even unpacked.
struct Chunks {
    place: Location,
    projection: Projection,
    reading: Reading,
    /// `None` if no column is read.
    batches: Option<ParquetRecordBatchReader>,
    schema: SchemaRef,
    rows: u64,
    first_row: usize,
}

/// Checks a file's metadata.
///
/// # Errors
///
/// If the file is damaged, or if a row group, or all of a file in memory, is larger than [`MAX_UNPACKED_BYTES`] when it is unpacked.
/// Also if it has more rows than are kept.
pub(super) fn open(
    input: &Input,
    projection: &Projection,
    reading: Reading,
) -> Result<Box<dyn ChunkReader>, FileError> {
    let place = input.place();
    Ok(Box::new(match input {
        Input::Memory(source) => Opened::new(place, source.shared())?.chunks(projection, reading, true)?,
        Input::File { path, .. } => {
            let file = File::open(path);
            let file = file.map_err(|source| FileError::Read { path: path.clone(), source })?;
            Opened::new(place, file)?.chunks(projection, reading, false)?
        }
    }))
}

impl ChunkReader for Chunks {
    fn next(&mut self) -> Result<Option<Table>, FileError> {
        let table = Table::at(self.place.clone(), Rows::From(self.first_row));
        let mut table = table.read_as(self.reading.clone());
        let filled = add_columns(&mut table, self.schema.fields(), &self.projection);
        let Some(batches) = &mut self.batches else {
            let rows = std::mem::replace(&mut self.first_row, 1);
            return Ok((rows == 0).then_some(table));
        };
        let Some(batch) = batches.next() else {
            return match self.first_row as u64 == self.rows {
                true => Ok(None),
                false => {
                    let why = format!("it has {} rows, and states {}", self.first_row, self.rows);
                    Err(damaged(&self.place, &why))
                }
            };
        };
        let batch = batch.map_err(|cause| damaged(&self.place, &cause))?;
        append(&mut table, columns(&batch, &filled))
            .map_err(|problem| FileError::input(self.place.clone(), problem))?;
        self.first_row += batch.num_rows();
        Ok(Some(table))
    }

    fn progress(&self) -> Option<(Unit, u64, u64)> {
        Some((Unit::Rows, self.first_row as u64, self.rows))
    }
}

fn damaged(place: &Location, cause: &dyn std::fmt::Display) -> FileError {
    FileError::input(place.clone(), Problem::NotA(Format::PARQUET, format!("it is damaged ({cause})")))
}

/// A file whose metadata were read.
struct Opened<R> {
    place: Location,
    input: R,
    metadata: ArrowReaderMetadata,
    rows: u64,
}

impl<R: ::parquet::file::reader::ChunkReader + 'static> Opened<R> {
    fn new(place: Location, input: R) -> Result<Self, FileError> {
        let not = |why: &str| FileError::input(place.clone(), Problem::NotA(Format::PARQUET, why.into()));
        let magic = |at| input.get_bytes(at, MAGIC.len());
        if !magic(0).is_ok_and(|start| start == MAGIC) {
            return Err(not("it does not start like one"));
        }
        let len = input.len();
        if len < 12 || !magic(len - MAGIC.len() as u64).is_ok_and(|end| end == MAGIC) {
            return Err(not("it is cut off"));
        }
        let metadata = input.get_bytes(len - 8, 4).ok().and_then(|bytes| {
            let metadata_len = u64::from(u32::from_le_bytes(bytes.as_ref().try_into().ok()?));
            input.get_bytes((len - 8).checked_sub(metadata_len)?, metadata_len as usize).ok()
        });
        if !metadata.is_some_and(|metadata| thrift::ends(&metadata)) {
            return Err(not("its metadata are damaged"));
        }
        // What an Arrow writer adds about its own types is not needed, and one thing less to be wrong.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = ArrowReaderMetadata::load(&input, options).map_err(|cause| damaged(&place, &cause))?;
        let mut rows = 0u64;
        for group in metadata.metadata().row_groups() {
            rows = rows.saturating_add(group.num_rows().try_into().map_err(|_| not("it is damaged"))?);
        }
        Ok(Self { place, input, metadata, rows })
    }

    /// Sees that the header of every page of these columns ends.
    fn check_pages(&self, columns: &[usize]) -> Result<(), FileError> {
        let schema = self.metadata.parquet_schema();
        for group in self.metadata.metadata().row_groups() {
            let leaves =
                (0..group.num_columns()).filter(|&leaf| columns.contains(&schema.get_column_root_idx(leaf)));
            for leaf in leaves {
                let (mut at, len) = group.column(leaf).byte_range();
                let end = at.saturating_add(len).min(self.input.len());
                while at < end {
                    at = at.saturating_add(self.page_len(at, end)?);
                }
            }
        }
        Ok(())
    }

    /// The length of the page that begins here, with its header.
    fn page_len(&self, at: u64, end: u64) -> Result<u64, FileError> {
        for most in PAGE_HEADER_LEN_BYTES {
            let start = self.input.get_bytes(at, (end - at).min(most) as usize);
            let start = start.map_err(|cause| damaged(&self.place, &cause))?;
            if let Some((header_len, page_len)) = thrift::page(&start) {
                // Behind the last page there may be room.
                return Ok(page_len.map_or(end - at, |page_len| page_len.saturating_add(header_len as u64)));
            }
        }
        Err(damaged(&self.place, &"the header of a page"))
    }

    /// What the columns take unpacked, by row group.
    fn unpacked_len_bytes(&self, columns: &[usize]) -> Result<Vec<u64>, FileError> {
        let schema = self.metadata.parquet_schema();
        let len = |group: &RowGroupMetaData| {
            let leaves = (0..group.num_columns())
                .filter(|&leaf| columns.contains(&schema.get_column_root_idx(leaf)))
                .map(|leaf| group.column(leaf));
            let mut len_bytes = 0u64;
            for leaf in leaves {
                if let codec @ (Compression::BROTLI(_) | Compression::LZO) = leaf.compression() {
                    return Err(self.error(Problem::Codec(codec_name(codec))));
                }
                let len = u64::try_from(leaf.uncompressed_size()).unwrap_or(u64::MAX);
                len_bytes = len_bytes.saturating_add(len);
            }
            Ok(len_bytes)
        };
        self.metadata.metadata().row_groups().iter().map(len).collect()
    }

    /// Begins to read the columns of a file; `all` of them at once, or some rows at a time.
    fn chunks(self, projection: &Projection, reading: Reading, all: bool) -> Result<Chunks, FileError> {
        let schema = with_durations(&self.metadata);
        let mut columns = Table::at(self.place.clone(), Rows::From(0));
        let filled = add_columns(&mut columns, schema.fields(), projection);
        let groups = self.unpacked_len_bytes(&filled)?.into_iter();
        let (rows, place) = (self.rows, self.place.clone());
        let unpacked = match all {
            true => {
                check_cells(rows, filled.len()).map_err(|problem| self.error(problem))?;
                groups.fold(0, u64::saturating_add)
            }
            false => groups.max().unwrap_or(0),
        };
        if unpacked > MAX_UNPACKED_BYTES {
            return Err(self.error(Problem::TooLarge { max: MAX_UNPACKED_BYTES }));
        }
        if rows == 0 {
            return Err(self.error(Problem::Empty));
        }
        if rows > MAX_ROWS {
            return Err(self.error(Problem::TooManyRows { max: MAX_ROWS }));
        }
        // Without any of the columns there is one table, which can say so.
        let batches = if filled.is_empty() { None } else { Some(self.batches(&filled)?) };
        let projection = projection.clone();
        Ok(Chunks { place, projection, reading, batches, schema, rows, first_row: 0 })
    }

    fn batches(self, columns: &[usize]) -> Result<ParquetRecordBatchReader, FileError> {
        self.check_pages(columns)?;
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.input, self.metadata);
        let reader = builder.with_projection(mask).with_batch_size(CHUNK_ROWS).build();
        reader.map_err(|cause| damaged(&self.place, &cause))
    }

    fn error(&self, problem: Problem) -> FileError {
        FileError::input(self.place.clone(), problem)
    }
}

/// The schema of a file, in which durations, which Parquet does not know, are no numbers: Arrow's writers say so beside it.
fn with_durations(metadata: &ArrowReaderMetadata) -> SchemaRef {
    let file = metadata.metadata().file_metadata();
    let Ok(arrow) = parquet_to_arrow_schema(file.schema_descr(), file.key_value_metadata()) else {
        return metadata.schema().clone();
    };
    let is_duration = |field: &Field| matches!(field.data_type(), DataType::Duration(_));
    let fields =
        metadata.schema().fields().iter().enumerate().map(|(at, field)| match arrow.fields().get(at) {
            Some(other) if is_duration(other) => other.clone(),
            _ => field.clone(),
        });
    Schema::new(fields.collect::<Vec<_>>()).into()
}

/// A codec's name without its level.
fn codec_name(codec: Compression) -> String {
    codec.to_string().split('(').next().unwrap_or_default().to_lowercase()
}
