//! Small files of every format.

use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int16Array,
    RecordBatch, StringArray, TimestampMillisecondArray, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use flate2::Compression;
use flate2::write::GzEncoder;
use npyz::half::f16;
use npyz::{AutoSerialize, Order, WriteOptions, WriterBuilder};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as Codec, GzipLevel, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Each file's target, its name, and its bytes.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str, Vec<u8>)> {
    let of = |target| move |(name, bytes)| (target, name, bytes);
    let text = texts().into_iter().map(of("text"));
    let npy = arrays().into_iter().map(of("npy"));
    let arrow = arrow().into_iter().map(of("arrow"));
    text.chain(npy).chain(arrow).chain(parquets().into_iter().map(of("parquet")))
}

/// The first byte is the target's choice of a format.
fn chosen(choice: u8, bytes: impl AsRef<[u8]>) -> Vec<u8> {
    [&[choice], bytes.as_ref()].concat()
}

fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let csv = "score,label\n0.25,0\n0.75,1\n1e-3,0\n";
    let lines = "{\"score\": 0.25, \"label\": 0}\n{\"label\": true, \"score\": 0.75}\n";
    let mut gz = GzEncoder::new(Vec::new(), Compression::best());
    gz.write_all(csv.as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    vec![
        ("csv", chosen(0, csv)),
        ("csv_of_codes", chosen(0, "\u{feff}score,label\r\n-128,1\r\n\"127\",0\r\n,\r\n")),
        ("csv_quoted", chosen(0, "\"a \"\"b\"\"\",score,\"label\n\"\n1,0.5,false\n,nan,\n2,-inf,1\n")),
        ("csv_open_quote", chosen(0, "score,label,note\n0.25,0,a\n0.75,1,\"b\n0.5,0,c\n")),
        ("csv_stray_quotes", chosen(0, "score,label,note\n0.25,0,\"a\n0.75,1,b\n0.5,0,\"c\n")),
        ("csv_damaged_line", chosen(0, b"score,label\n0.25,0\n0\xff\n0.75,1\n")),
        ("csv_short_header", chosen(0, "score,label\n0.875,1,0\n0.125,0,1\n0.75,1,0\n")),
        ("csv_thousands", chosen(0, "score;label\n1,910;1\n625;0\n")),
        ("lines", chosen(1, lines)),
        (
            "lines_nested",
            chosen(1, "{\"score\": null, \"x\": {\"y\": [1, \"\\u00e9\"]}}\n\n{\"label\": \"a\"}\n"),
        ),
        ("gz", chosen(2, &gz)),
        ("gz_twice", chosen(2, [&gz[..], &gz].concat())),
        ("gz_cut", chosen(2, &gz[..gz.len() - 5])),
        (
            "lines_one_object",
            chosen(1, "{\"0\": {\"score\": 0.25, \"label\": 0}, \"1\": {\"score\": 0.75, \"label\": 1}}"),
        ),
        (
            "lines_of_python",
            chosen(
                1,
                "{\"score\": 0.25, \"label\": \"0\", \"x\": NaN}\n{\"score\": -Infinity, \"label\": \"1\"}\n",
            ),
        ),
        ("packed_lines", chosen(3, lines)),
    ]
}

fn arrays() -> Vec<(&'static str, Vec<u8>)> {
    let scores = npy(Order::C, &[4], &[0.25f32, 0.5, 0.75, 1.0]);
    let labels = npy(Order::C, &[4], &[0u8, 1, 1, 1]);
    let matrix = npy(Order::C, &[2, 3], &[0.5f64, 0.25, 0.25, 0.125, 0.125, 0.75]);
    let members = [("score.npy", &scores[..]), ("label.npy", &labels)];
    // The target parts the bytes in the middle: both arrays are of one length.
    let (half, other) =
        (npy(Order::C, &[8], &[0.5f32; 8]), npy(Order::C, &[8], &[1i32, 0, 1, 0, 0, 1, 1, 1]));
    assert_eq!(half.len(), other.len());
    // The writer takes no name twice.
    let mut twice = archive(&[("score.npy", &scores), ("scorf.npy", &scores)], CompressionMethod::Stored);
    while let Some(at) = twice.windows(5).position(|part| part == b"scorf") {
        twice[at..at + 5].copy_from_slice(b"score");
    }
    vec![
        ("f32", chosen(0, &scores)),
        ("f16", chosen(0, npy(Order::C, &[3], &[f16::ZERO, f16::ONE, f16::NAN]))),
        ("i8", chosen(0, npy(Order::C, &[3], &[-128i8, 0, 127]))),
        ("u64", chosen(0, npy(Order::C, &[2], &[0, u64::MAX]))),
        ("bool", chosen(0, npy(Order::C, &[3], &[true, false, true]))),
        ("matrix", chosen(0, &matrix)),
        ("matrix_by_column", chosen(0, npy(Order::Fortran, &[2, 2], &[0.5f32, 0.25, 0.5, 0.75]))),
        ("codes", chosen(0, npy(Order::C, &[2, 2], &[0u8, 255, 128, 128]))),
        ("cut", chosen(0, &scores[..scores.len() - 3])),
        // A header of 4 GiB, in 12 bytes.
        ("long_header", chosen(0, b"\x93NUMPY\x03\x00\xf0\xff\xff\xff")),
        ("npz_twice", chosen(1, twice)),
        ("npz", chosen(1, archive(&members, CompressionMethod::Stored))),
        ("npz_packed", chosen(1, archive(&members, CompressionMethod::Deflated))),
        ("npz_matrix", chosen(1, archive(&[("logits.npy", &matrix)], CompressionMethod::Deflated))),
        ("one_member", chosen(2, &scores)),
        ("one_matrix", chosen(2, &matrix)),
        ("two_members", chosen(3, [half, other].concat())),
    ]
}

fn npy<T: AutoSerialize + Copy>(order: Order, shape: &[u64], values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        WriteOptions::new().default_dtype().order(order).shape(shape).writer(&mut bytes).begin_nd().unwrap();
    writer.extend(values.iter().copied()).unwrap();
    writer.finish().unwrap();
    bytes
}

fn archive(members: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Scores and labels with nulls.
fn plain() -> RecordBatch {
    batch(&[
        ("score", Arc::new(Float32Array::from(vec![Some(0.25), None, Some(0.75)]))),
        ("label", Arc::new(BooleanArray::from(vec![Some(false), Some(true), None]))),
    ])
}

/// Scores and labels without nulls.
fn whole() -> RecordBatch {
    batch(&[
        ("score", Arc::new(Float64Array::from(vec![0.25, 0.5, 0.75]))),
        ("label", Arc::new(Int16Array::from(vec![0, 1, 1]))),
    ])
}

/// Text, repeated text, times, decimals, and integers.
fn mixed() -> RecordBatch {
    let repeated: DictionaryArray<Int8Type> = ["a", "b", "a"].into_iter().collect();
    batch(&[
        ("score", Arc::new(Decimal128Array::from(vec![25, 50, 75]).with_precision_and_scale(10, 2).unwrap())),
        ("label", Arc::new(StringArray::from(vec![Some("0"), Some("1"), None]))),
        ("group", Arc::new(repeated)),
        ("time", Arc::new(TimestampMillisecondArray::from(vec![0, -1, 1 << 40]))),
        ("count", Arc::new(UInt64Array::from(vec![0, 1, u64::MAX]))),
    ])
}

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(name, array)| (*name, array.clone(), true)))
        .unwrap()
}

fn arrow() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("file", arrow_file(&whole(), None)),
        ("file_nulls", arrow_file(&plain(), None)),
        ("file_mixed", arrow_file(&mixed(), None)),
        ("file_lz4", arrow_file(&whole(), Some(CompressionType::LZ4_FRAME))),
        ("file_zstd", arrow_file(&plain(), Some(CompressionType::ZSTD))),
        ("stream", arrow_stream(&whole(), None)),
        ("stream_nulls", arrow_stream(&plain(), None)),
        ("stream_mixed", arrow_stream(&mixed(), None)),
        ("stream_lz4", arrow_stream(&plain(), Some(CompressionType::LZ4_FRAME))),
        ("stream_zstd", arrow_stream(&whole(), Some(CompressionType::ZSTD))),
    ]
}

fn arrow_file(batch: &RecordBatch, codec: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow_stream(batch: &RecordBatch, codec: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn parquets() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("plain", parquet(&whole(), Codec::UNCOMPRESSED, false)),
        ("nulls", parquet(&plain(), Codec::UNCOMPRESSED, false)),
        ("mixed", parquet(&mixed(), Codec::UNCOMPRESSED, true)),
        ("snappy", parquet(&whole(), Codec::SNAPPY, true)),
        ("gzip", parquet(&plain(), Codec::GZIP(GzipLevel::default()), false)),
        ("lz4", parquet(&plain(), Codec::LZ4_RAW, false)),
        ("zstd", parquet(&whole(), Codec::ZSTD(ZstdLevel::default()), true)),
    ]
}

/// A file of two row groups, without statistics.
fn parquet(batch: &RecordBatch, codec: Codec, dictionary: bool) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_dictionary_enabled(dictionary)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_max_row_group_row_count(Some(2));
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}
