//! Parquet.

use std::fs::File;
use std::path::Path;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use ::parquet::basic::Compression;
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::reader::ChunkReader;
use arrow_schema::SchemaRef;
use bytes::Bytes;

use super::{add_columns, append, columns};
use crate::files::{FileError, Format, Place, Problem};
use crate::input::guard::guarded;
use crate::input::limit::{CHUNK_ROWS, MAX_UNPACKED_BYTES, check_cells};
use crate::input::rows::Rows;
use crate::input::source::Source;
use crate::input::table::{Table, Wanted};

const MAGIC: &[u8] = b"PAR1";

/// The most rows that are read piece by piece: a small file promises any number of equal ones.
const MAX_ROWS: u64 = 1 << 34;

/// Reads the wanted columns of all row groups; the others are not even unpacked.
pub(in crate::input) fn read(source: &Source, wanted: Wanted<'_>) -> Result<Table, FileError> {
    let bytes = source.bytes();
    let file = Opened::new(Place::file(source.path()), Bytes::copy_from_slice(bytes))?;
    let mut table = Table::new(source);
    let filled = add_columns(&mut table, file.builder.schema().fields(), wanted);
    check_cells(file.rows, filled.len()).map_err(|problem| file.error(problem))?;
    if file.unpacked_len_bytes(&filled)?.iter().fold(0, |sum, len| len.saturating_add(sum))
        > MAX_UNPACKED_BYTES
    {
        return Err(file.error(Problem::TooLarge { max: MAX_UNPACKED_BYTES }));
    }
    if filled.is_empty() {
        return Ok(table);
    }
    let place = file.place.clone();
    for batch in file.batches(&filled)? {
        let batch = batch.map_err(|cause| damaged(&place, &cause))?;
        append(&mut table, columns(&batch, &filled))
            .map_err(|problem| FileError::input(place.clone(), problem))?;
    }
    Ok(table)
}

/// A file as tables of some rows each, with the wanted columns.
pub(in crate::input) struct ParquetPieces {
    place: Place,
    /// The names of the columns that are wanted; `None` for all.
    names: Option<Vec<String>>,
    batches: Option<ParquetRecordBatchReader>,
    schema: SchemaRef,
    rows: u64,
    first_row: usize,
}

impl ParquetPieces {
    /// Checks a file's metadata.
    ///
    /// # Errors
    ///
    /// If it is damaged, unpacked a row group is larger than [`MAX_UNPACKED_BYTES`], or all of it has more rows than are kept.
    pub(in crate::input) fn open(path: &Path, file: File, wanted: Wanted<'_>) -> Result<Self, FileError> {
        let place = Place::file(path);
        in_place(&place, || {
            let file = Opened::new(place.clone(), file)?;
            let mut columns = Table::at(place.clone(), Rows::From(0));
            let schema = file.builder.schema().clone();
            let filled = add_columns(&mut columns, schema.fields(), wanted);
            let largest = file.unpacked_len_bytes(&filled)?.into_iter().max().unwrap_or(0);
            if largest > MAX_UNPACKED_BYTES {
                return Err(file.error(Problem::TooLarge { max: MAX_UNPACKED_BYTES }));
            }
            let rows = file.rows;
            if rows == 0 {
                return Err(file.error(Problem::Empty));
            }
            if rows > MAX_ROWS {
                return Err(file.error(Problem::TooManyRows { max: MAX_ROWS }));
            }
            // Without any of the columns there is one table, which can say so.
            let batches = if filled.is_empty() { None } else { Some(file.batches(&filled)?) };
            let names = schema.fields().iter().map(|field| field.name().trim());
            let names = names.filter(|name| wanted.includes(name)).map(str::to_owned).collect();
            let names = if let Wanted::All = wanted { None } else { Some(names) };
            Ok(Self { place: place.clone(), names, batches, schema, rows, first_row: 0 })
        })
    }

    /// The number of rows of all tables.
    pub(in crate::input) fn rows(&self) -> u64 {
        self.rows
    }

    /// The next table.
    pub(in crate::input) fn next(&mut self) -> Result<Option<Table>, FileError> {
        let place = self.place.clone();
        in_place(&place, || {
            let names: Vec<&str> = self.names.iter().flatten().map(String::as_str).collect();
            let wanted = if self.names.is_some() { Wanted::Only(&names) } else { Wanted::All };
            let mut table = Table::at(place.clone(), Rows::From(self.first_row));
            let filled = add_columns(&mut table, self.schema.fields(), wanted);
            let Some(batches) = &mut self.batches else {
                let rows = std::mem::replace(&mut self.first_row, 1);
                return Ok((rows == 0).then_some(table));
            };
            let Some(batch) = batches.next() else { return Ok(None) };
            let batch = batch.map_err(|cause| damaged(&place, &cause))?;
            append(&mut table, columns(&batch, &filled))
                .map_err(|problem| FileError::input(place.clone(), problem))?;
            self.first_row += batch.num_rows();
            Ok(Some(table))
        })
    }
}

/// Turns a reader's panic into an error.
fn in_place<T>(place: &Place, read: impl FnOnce() -> Result<T, FileError>) -> Result<T, FileError> {
    guarded(place, Format::Parquet, read)
}

fn damaged(place: &Place, cause: &dyn std::fmt::Display) -> FileError {
    FileError::input(place.clone(), Problem::NotA(Format::Parquet, format!("it is damaged ({cause})")))
}

/// A file whose metadata were read.
struct Opened<R: ChunkReader> {
    place: Place,
    builder: ParquetRecordBatchReaderBuilder<R>,
    rows: u64,
}

impl<R: ChunkReader + 'static> Opened<R> {
    fn new(place: Place, input: R) -> Result<Self, FileError> {
        let not = |why: &str| FileError::input(place.clone(), Problem::NotA(Format::Parquet, why.into()));
        let magic = |at| input.get_bytes(at, MAGIC.len());
        if !magic(0).is_ok_and(|start| start == MAGIC) {
            return Err(not("it does not start like one"));
        }
        let len = input.len();
        if len < 12 || !magic(len - MAGIC.len() as u64).is_ok_and(|end| end == MAGIC) {
            return Err(not("it is cut off"));
        }
        // What an Arrow writer adds about its own types is not needed, and one thing less to be wrong.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(input, options);
        let builder = builder.map_err(|cause| damaged(&place, &cause))?;
        let mut rows = 0u64;
        for group in builder.metadata().row_groups() {
            rows = rows.saturating_add(group.num_rows().try_into().map_err(|_| not("it is damaged"))?);
        }
        Ok(Self { place, builder, rows })
    }

    /// What the columns take unpacked, by row group.
    fn unpacked_len_bytes(&self, columns: &[usize]) -> Result<Vec<u64>, FileError> {
        let schema = self.builder.parquet_schema();
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
        self.builder.metadata().row_groups().iter().map(len).collect()
    }

    fn batches(self, columns: &[usize]) -> Result<ParquetRecordBatchReader, FileError> {
        let mask = ProjectionMask::roots(self.builder.parquet_schema(), columns.iter().copied());
        let reader = self.builder.with_projection(mask).with_batch_size(CHUNK_ROWS).build();
        reader.map_err(|cause| damaged(&self.place, &cause))
    }

    fn error(&self, problem: Problem) -> FileError {
        FileError::input(self.place.clone(), problem)
    }
}

/// A codec's name without its level.
fn codec_name(codec: Compression) -> String {
    codec.to_string().split('(').next().unwrap_or_default().to_lowercase()
}
