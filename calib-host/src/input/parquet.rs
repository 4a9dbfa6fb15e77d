//! Parquet.

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use ::parquet::basic::Compression;
use bytes::Bytes;

use super::Source;
use super::arrow::{add_columns, append, columns};
use super::format::Format;
use super::limit::{MAX_UNPACKED_BYTES, check_cells};
use super::table::{Table, Wanted};
use crate::error::{Error, Place, Problem};

const MAGIC: &[u8] = b"PAR1";

/// Reads the wanted columns of all row groups; the others are not even unpacked.
pub(super) fn read(source: &Source, wanted: Wanted<'_>) -> Result<Table, Error> {
    let bytes = source.bytes();
    let fail = |problem| Error::input(Place::file(source.path()), problem);
    let not = |why: &str| fail(Problem::NotA(Format::Parquet, why.into()));
    if !bytes.starts_with(MAGIC) {
        return Err(not("it does not start like one"));
    }
    if !bytes.ends_with(MAGIC) || bytes.len() < 12 {
        return Err(not("it is cut off"));
    }
    let damaged = |cause: &dyn std::fmt::Display| not(&format!("it is damaged ({cause})"));
    // What an Arrow writer adds about its own types is not needed, and one thing less to be wrong.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder =
        ParquetRecordBatchReaderBuilder::try_new_with_options(Bytes::copy_from_slice(bytes), options);
    let builder = builder.map_err(|cause| damaged(&cause))?;

    let mut table = Table::new(source);
    let filled = add_columns(&mut table, builder.schema().fields(), wanted);
    let metadata = builder.metadata();
    let mut rows: u64 = 0;
    let mut unpacked: u64 = 0;
    for group in metadata.row_groups() {
        rows = rows.saturating_add(group.num_rows().try_into().map_err(|_| not("it is damaged"))?);
        for &root in &filled {
            let leaves =
                (0..group.num_columns()).filter(|&i| builder.parquet_schema().get_column_root_idx(i) == root);
            let size = leaves
                .clone()
                .map(|i| u64::try_from(group.column(i).uncompressed_size()).unwrap_or(u64::MAX));
            unpacked = size.fold(unpacked, u64::saturating_add);
            let mut codecs = leaves.map(|i| group.column(i).compression());
            if let Some(codec) =
                codecs.find(|codec| matches!(codec, Compression::BROTLI(_) | Compression::LZO))
            {
                return Err(fail(Problem::Codec(codec_name(codec))));
            }
        }
    }
    check_cells(rows, filled.len()).map_err(fail)?;
    if unpacked > MAX_UNPACKED_BYTES {
        return Err(fail(Problem::TooLarge { max: MAX_UNPACKED_BYTES }));
    }
    if filled.is_empty() {
        return Ok(table);
    }
    let mask = ProjectionMask::roots(builder.parquet_schema(), filled.iter().copied());
    let reader = builder.with_projection(mask).build().map_err(|cause| damaged(&cause))?;
    for batch in reader {
        let batch = batch.map_err(|cause| damaged(&cause))?;
        append(&mut table, columns(&batch, &filled)).map_err(fail)?;
    }
    Ok(table)
}

/// A codec's name without its level.
fn codec_name(codec: Compression) -> String {
    codec.to_string().split('(').next().unwrap_or_default().to_lowercase()
}
