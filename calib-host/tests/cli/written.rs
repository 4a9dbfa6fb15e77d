//! Writes the same table in every format.

use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression as Codec;
use parquet::file::properties::WriterProperties;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::npy::Npy;

/// A record batch of columns that may hold nulls.
pub(crate) fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(name, array)| (*name, array.clone(), true)))
        .unwrap()
}

/// A column of anything that Arrow makes an array of.
pub(crate) fn column<A: arrow_array::Array + 'static>(values: impl Into<A>) -> ArrayRef {
    Arc::new(values.into())
}

pub(crate) fn parquet(batch: &RecordBatch, codec: Codec) -> Vec<u8> {
    let mut bytes = Vec::new();
    let properties =
        WriterProperties::builder().set_compression(codec).set_max_row_group_row_count(Some(150));
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// An Arrow file of two batches, unless there is one row.
pub(crate) fn arrow_file(batch: &RecordBatch, codec: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    halves(batch).iter().for_each(|half| writer.write(half).unwrap());
    writer.into_inner().unwrap()
}

/// An Arrow stream of two batches, unless there is one row.
pub(crate) fn arrow_stream(batch: &RecordBatch, codec: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    halves(batch).iter().for_each(|half| writer.write(half).unwrap());
    writer.into_inner().unwrap()
}

fn halves(batch: &RecordBatch) -> Vec<RecordBatch> {
    let (rows, half) = (batch.num_rows(), batch.num_rows() / 2);
    let halves = [batch.slice(0, half), batch.slice(half, rows - half)];
    halves.into_iter().filter(|part| part.num_rows() > 0).collect()
}

pub(crate) fn npz(members: &[(&str, Npy)], method: CompressionMethod) -> Vec<u8> {
    let members: Vec<_> =
        members.iter().map(|(name, array)| (format!("{name}.npy"), array.bytes())).collect();
    zip(members.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])), method)
}

pub(crate) fn zip<'m>(
    members: impl IntoIterator<Item = (&'m str, &'m [u8])>,
    method: CompressionMethod,
) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub(crate) fn gz(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}
