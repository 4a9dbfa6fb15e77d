//! The same data in every format gives the same tables, the same artifact but for the hash of the file, and the same
//! calibrated rows.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int8Type};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, DurationSecondArray, Float16Array,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, LargeStringArray, StringArray,
    StringViewArray, StructArray, TimestampMillisecondArray, UInt8Array, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow_ipc::CompressionType;
use parquet::basic::{Compression as Codec, GzipLevel, ZstdLevel};
use serde_json::{Value, json};
use zip::CompressionMethod;

use crate::data::{Json, without_origin};
use crate::npy::{f16s, f32s, f64s, i64s, labels};
use crate::workplace::{Run, Workplace};
use crate::written::{arrow_file, arrow_stream, batch, column, gz, npz, parquet};

/// Distinct scores in no order, with labels, in more rows than one of Parquet's row groups here.
fn data() -> Vec<(f32, u8)> {
    let score = |row: usize| ((row * 7919 % 400) as f32 + 0.5) / 400.0;
    (0..400).map(|row| (score(row), u8::from((row * 31 + row / 7) % 10 < (row * 7919 % 400) / 40))).collect()
}

fn csv() -> String {
    data().iter().fold("score,label\n".into(), |text, (score, label)| format!("{text}{score},{label}\n"))
}

fn json_lines() -> String {
    data().iter().fold(String::new(), |text, (score, label)| {
        format!("{text}{{\"score\": {score}, \"label\": {label}}}\n")
    })
}

fn scores<A: arrow_array::Array + From<Vec<f32>> + 'static>() -> ArrayRef {
    column::<A>(data().iter().map(|row| row.0).collect::<Vec<_>>())
}

fn arrow() -> arrow_array::RecordBatch {
    let labels: Int64Array = data().iter().map(|row| i64::from(row.1)).collect();
    batch(&[("score", scores::<Float32Array>()), ("label", column::<Int64Array>(labels))])
}

/// The table of [`data`] in every format: the name of the file and its bytes.
fn every_format() -> Vec<(&'static str, Vec<u8>)> {
    let arrays = || {
        let labels = i64s(data().iter().map(|row| row.1.into()));
        [("score", f32s(&[400], data().iter().map(|row| row.0))), ("label", labels)]
    };
    let zstd = Codec::ZSTD(ZstdLevel::default());
    vec![
        ("t.csv", csv().into()),
        ("t.csv.gz", gz(csv())),
        ("two.csv.gz", [gz(&csv()[..100]), gz(&csv()[100..])].concat()),
        ("t.jsonl", json_lines().into()),
        ("t.ndjson.gz", gz(json_lines())),
        ("stored.npz", npz(&arrays(), CompressionMethod::Stored)),
        ("deflated.npz", npz(&arrays(), CompressionMethod::Deflated)),
        ("t.arrow", arrow_file(&arrow(), None)),
        ("lz4.feather", arrow_file(&arrow(), Some(CompressionType::LZ4_FRAME))),
        ("zstd.feather", arrow_file(&arrow(), Some(CompressionType::ZSTD))),
        ("t.arrows", arrow_stream(&arrow(), None)),
        ("lz4.arrows", arrow_stream(&arrow(), Some(CompressionType::LZ4_FRAME))),
        ("plain.parquet", parquet(&arrow(), Codec::UNCOMPRESSED)),
        ("snappy.parquet", parquet(&arrow(), Codec::SNAPPY)),
        ("zstd.parquet", parquet(&arrow(), zstd)),
        ("lz4.parquet", parquet(&arrow(), Codec::LZ4_RAW)),
        ("gzip.parquet", parquet(&arrow(), Codec::GZIP(GzipLevel::default()))),
    ]
}

/// The artifact's tables byte for byte: what comes before them holds the hash of the data.
fn tables(artifact: &[u8], inspected: &Value) -> Vec<u8> {
    let len = 8 * inspected["bins"].whole() as usize;
    artifact[artifact.len() - len..].to_vec()
}

#[test]
fn fit_and_apply_are_the_same_in_every_format() {
    let mut expected = None;
    for (name, bytes) in every_format() {
        let place = Workplace::new().with(name, bytes);
        for method in ["umd --bins 8", "isotonic"] {
            place.ok(&format!("calib fit --method {method} --scores {name} -o {}.bin", &method[..3]));
        }
        let inspected = ["umd.bin", "iso.bin"].map(|bin| place.inspect(bin));
        let hash = inspected[0]["provenance"]["data_sha256"].clone();
        let tables = [("umd.bin", &inspected[0]), ("iso.bin", &inspected[1])]
            .map(|(bin, inspected)| tables(&place.bytes(bin), inspected));
        // One artifact for all, so that the outputs may be compared byte for byte.
        let (reference, ..) = expected.get_or_insert_with(|| {
            let applied = String::new();
            (
                place.bytes("umd.bin"),
                inspected.clone().map(without_origin),
                tables.clone(),
                hash.clone(),
                applied,
            )
        });
        let place = place.with("one.bin", &*reference);
        place.ok(&format!("calib apply one.bin --scores {name} -o out.csv"));
        let applied = place.text("out.csv");
        let assessed = place.json(&format!("calib assess --probs {name} --prob-column score --json"));
        assert_eq!(assessed["n"], 400);

        let (_, inspected_there, tables_there, hash_there, applied_there) = expected.as_mut().unwrap();
        if name == "t.csv" {
            *applied_there = applied;
            continue;
        }
        assert_eq!(inspected.map(without_origin), *inspected_there, "{name}");
        assert_eq!(tables, *tables_there, "{name}");
        assert_ne!(hash, *hash_there, "{name}");
        assert_eq!(applied, *applied_there, "{name}");
    }
}

/// Files of the writers that users have: `foreign/write.py` made them.
#[test]
fn files_of_other_writers_are_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/foreign");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let place = applier().with("pandas.csv", read("pandas.csv"));
    let fit = "calib fit --method isotonic --scores";
    place.ok(&format!("{fit} pandas.csv -o expected.bin"));
    place.ok("calib apply iso.bin --scores pandas.csv -o expected.csv");
    let expected = without_origin(place.inspect("expected.bin"));
    for name in [
        "pandas.csv.gz",
        "pandas.jsonl",
        "pandas.parquet",
        "pandas.feather",
        "pyarrow.parquet",
        "pyarrow.feather",
        "pyarrow.arrows",
        "polars.parquet",
        "polars.arrow",
        "polars.arrows",
        "polars.ndjson",
        "numpy.npz",
        "compressed.npz",
    ] {
        let place = applier().with(name, read(name)).with("expected.csv", place.bytes("expected.csv"));
        place.ok(&format!("{fit} {name} -o fit.bin"));
        assert_eq!(without_origin(place.inspect("fit.bin")), expected, "{name}");
        place.ok(&format!("calib apply iso.bin --scores {name} -o out.csv"));
        let [(header, rows), (_, expected)] = ["out.csv", "expected.csv"].map(|csv| place.table(csv));
        // pandas writes more digits of a float32 to JSON than it has, and NumPy has no text here.
        let at = |column: &str| header.iter().position(|there| there == column).unwrap();
        for (row, expected) in rows.iter().zip(&expected) {
            assert_eq!(
                row[at("score")].parse::<f32>().unwrap(),
                expected[0].parse::<f32>().unwrap(),
                "{name}"
            );
            assert_eq!((&row[at("label")], &row[at("prob")]), (&expected[1], &expected[3]), "{name}");
            assert!(!header.contains(&"kind".into()) || row[at("kind")] == expected[2], "{name}");
        }
        assert_eq!(rows.len(), 8, "{name}");
    }
}

/// The first bytes count, whatever the name.
#[test]
fn formats_are_told_by_content_and_may_be_standard_input() {
    let mut expected = None;
    for (name, bytes) in every_format() {
        let place = Workplace::new().with("data", &bytes).with("data.csv", &bytes);
        for (file, bin) in [("data", "a.bin"), ("data.csv", "b.bin"), ("-", "c.bin")] {
            let input = std::fs::File::open(place.path().join("data")).unwrap();
            let mut calib = place.command(&format!("fit --method umd --bins 8 --scores {file} -o {bin}"));
            let run: Run = calib.stdin(input).output().unwrap().into();
            assert_eq!(run.code, 0, "{name} as {file}: {}", run.stderr);
            let got = place.bytes(bin);
            assert_eq!(got, place.bytes("a.bin"), "{name} as {file}");
        }
        let expected = expected.get_or_insert_with(|| without_origin(place.inspect("a.bin")));
        assert_eq!(without_origin(place.inspect("a.bin")), *expected, "{name}");
    }
}

#[test]
fn labels_may_come_from_standard_input_too() {
    let (floats, classes): (Vec<f32>, Vec<u8>) = data().into_iter().unzip();
    let place = Workplace::new()
        .with("cal.csv", csv())
        .with("scores.npy", f32s(&[400], floats).bytes())
        .with("labels.npy", labels("|b1", &classes).bytes());
    place.ok("calib fit --method isotonic --scores cal.csv -o csv.bin");
    let input = std::fs::File::open(place.path().join("labels.npy")).unwrap();
    let mut calib = place.command("fit --method isotonic --scores scores.npy --labels - -o in.bin");
    let run: Run = calib.stdin(input).output().unwrap().into();
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(without_origin(place.inspect("in.bin")), without_origin(place.inspect("csv.bin")));
}

/// Fits `batch` as an Arrow file, an Arrow stream and Parquet; every table must be that of `expected`.
fn same_in_columnar_formats(batch: &arrow_array::RecordBatch, expected: &Value) {
    for bytes in [
        arrow_file(batch, Some(CompressionType::ZSTD)),
        arrow_stream(batch, None),
        parquet(batch, Codec::SNAPPY),
    ] {
        let place = Workplace::new().with("t", bytes);
        place.ok("calib fit --method isotonic --scores t -o t.bin");
        assert_eq!(without_origin(place.inspect("t.bin")), *expected, "{}", batch.schema());
    }
}

/// Floats of every width as scores; integers of every width, booleans and whole floats as labels.
#[test]
fn columns_of_every_type() {
    // Eighths are exact as float16.
    let scores = [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0];
    let labels = [0u8, 0, 1, 0, 1, 0, 1, 1];
    let rows = scores.iter().zip(labels).map(|(score, label)| format!("{score},{label}\n"));
    let place = Workplace::new().with("t.csv", format!("score,label\n{}", rows.collect::<String>()));
    place.ok("calib fit --method isotonic --scores t.csv -o t.bin");
    let expected = without_origin(place.inspect("t.bin"));

    let halves = scores.map(|score| {
        let bits = (score as f32).to_bits();
        (((bits >> 23) - 112) << 10 | bits >> 13 & 0x3FF) as u16
    });
    let f16 = Float16Array::from_iter_values(halves.map(Half::from_bits));
    let f32 = Float32Array::from_iter_values(scores.map(|score| score as f32));
    let f64 = Float64Array::from_iter_values(scores);
    let eighths = scores.map(|score| (score * 1000.0) as i128);
    let decimal = Decimal128Array::from_iter_values(eighths).with_precision_and_scale(9, 3).unwrap();
    let bools = BooleanArray::from(labels.map(|label| label == 1).to_vec());
    let dictionary =
        DictionaryArray::<Int8Type>::new(Int8Array::from_iter_values(labels.map(|label| label as i8)), {
            column::<Int64Array>(vec![0, 1])
        });
    let as_labels: [ArrayRef; 12] = [
        column::<BooleanArray>(bools),
        column::<DictionaryArray<Int8Type>>(dictionary),
        column::<Int8Array>(Int8Array::from_iter_values(labels.map(|label| label as i8))),
        column::<Int16Array>(Int16Array::from_iter_values(labels.map(i16::from))),
        column::<Int32Array>(Int32Array::from_iter_values(labels.map(i32::from))),
        column::<Int64Array>(Int64Array::from_iter_values(labels.map(i64::from))),
        column::<UInt8Array>(UInt8Array::from_iter_values(labels)),
        column::<UInt16Array>(UInt16Array::from_iter_values(labels.map(u16::from))),
        column::<UInt32Array>(UInt32Array::from_iter_values(labels.map(u32::from))),
        column::<UInt64Array>(UInt64Array::from_iter_values(labels.map(u64::from))),
        column::<Float32Array>(Float32Array::from_iter_values(labels.map(f32::from))),
        column::<Float64Array>(Float64Array::from_iter_values(labels.map(f64::from))),
    ];
    for label in &as_labels {
        same_in_columnar_formats(
            &batch(&[("label", label.clone()), ("score", column::<Float64Array>(f64.clone()))]),
            &expected,
        );
    }
    let as_scores: [ArrayRef; 3] =
        [column::<Float16Array>(f16), column::<Float32Array>(f32), column::<Decimal128Array>(decimal)];
    for score in as_scores {
        same_in_columnar_formats(&batch(&[("score", score), ("label", as_labels[0].clone())]), &expected);
    }

    let place = Workplace::new()
        .with("scores.npy", f16s(&[8], halves).bytes())
        .with("labels.npy", crate::npy::labels("|u1", &labels).bytes());
    place.ok("calib fit --method isotonic --scores scores.npy --labels labels.npy -o t.bin");
    assert_eq!(without_origin(place.inspect("t.bin")), expected);
}

type Half = <Float16Type as ArrowPrimitiveType>::Native;

const HEADER: &str = "prob,bin,epsilon,flags";

/// A folder with `iso.bin`: 0 below 0.35, 0.5 below 0.65, then 1.
fn applier() -> Workplace {
    let place = Workplace::new().with("cal.csv", "score,label\n0.8,1\n0.5,1\n0.2,0\n0.5,0\n");
    place.ok("calib fit --method isotonic --intervals none --scores cal.csv -o iso.bin");
    place
}

/// Applies to every row and leaves nothing out but these columns, which it names unless it shall be quiet.
#[track_caller]
fn applied(bytes: impl AsRef<[u8]>, expected: &str, left_out: &str) {
    let place = applier().with("new", bytes);
    let named = match left_out {
        "" => String::new(),
        names => format!("left out of out.csv, which has one value a row and column: {names}\n"),
    };
    for (options, named) in [("--quiet", ""), ("--force", &named)] {
        let run = place.ok(&format!("calib apply iso.bin --scores new -o out.csv {options}"));
        let told = if options == "--quiet" { String::new() } else { place.applied("out.csv") };
        assert_eq!(run.stderr, format!("{named}{told}"));
        assert_eq!(place.text("out.csv"), expected);
    }
}

#[test]
fn apply_shows_the_scalar_columns_of_arrow_and_parquet() {
    let lists = arrow_array::ListArray::from_iter_primitive::<Int8Type, _, _>(vec![
        Some(vec![Some(1), Some(2)]),
        None,
        Some(vec![]),
    ]);
    let pairs = StructArray::from(batch(&[("left", column::<Int8Array>(vec![1, 2, 3]))]));
    let categories: DictionaryArray<Int8Type> = vec![Some("a, b"), None, Some("c")].into_iter().collect();
    let times = TimestampMillisecondArray::from(vec![Some(0), Some(1_700_000_000_250), None]);
    let table = batch(&[
        ("id", column::<UInt64Array>(vec![Some(u64::MAX), None, Some(0)])),
        ("list", column::<arrow_array::ListArray>(lists)),
        ("pair", column::<StructArray>(pairs)),
        ("text", column::<StringArray>(vec![Some("é"), Some(""), None])),
        ("large", column::<LargeStringArray>(vec![Some("x"), None, Some("y")])),
        ("view", column::<StringViewArray>(vec![Some("longer than twelve bytes"), None, Some("z")])),
        ("category", column::<DictionaryArray<Int8Type>>(categories)),
        ("flag", column::<BooleanArray>(vec![Some(true), Some(false), None])),
        ("score", column::<Float32Array>(vec![0.1, 0.5, 1.0])),
        ("day", column::<Date32Array>(vec![Some(19_000), None, Some(0)])),
        ("utc", column::<TimestampMillisecondArray>(times.clone().with_timezone("UTC"))),
        ("time", column::<TimestampMillisecondArray>(times)),
        ("nothing", column::<arrow_array::NullArray>(arrow_array::NullArray::new(3))),
    ]);
    let expected = format!(
        "id,text,large,view,category,flag,score,day,utc,time,nothing,{HEADER}\n\
         18446744073709551615,é,x,longer than twelve bytes,\"a, b\",true,0.1,2022-01-08,1970-01-01T00:00:00Z,\
         1970-01-01T00:00:00,,0,0,,out-of-range\n\
         ,,,,,false,0.5,,2023-11-14T22:13:20.250Z,2023-11-14T22:13:20.250,,0.5,1,,\n\
         0,,y,z,c,,1,1970-01-01,,,,1,2,,out-of-range\n"
    );
    applied(arrow_file(&table, Some(CompressionType::LZ4_FRAME)), &expected, "list, pair");
    applied(arrow_stream(&table, None), &expected, "list, pair");
    applied(parquet(&table, Codec::SNAPPY), &expected, "list, pair");
}

#[test]
fn apply_keeps_the_text_of_json() {
    let lines = "{\"id\": 12345678901234567890123, \"score\": 0.10, \"note\": \"a \\\"b\\\"\\u00e9\", \"tags\": [1]}\n\
                 \r\n\
                 {\"score\": 5e-1, \"id\": -0, \"ok\": true, \"tags\": null}\r\n\
                 {\"id\": null, \"score\": 1}";
    let expected = format!(
        "id,score,note,ok,{HEADER}\n\
         12345678901234567890123,0.10,\"a \"\"b\"\"é\",,0,0,,out-of-range\n-0,5e-1,,true,0.5,1,,\n,1,,,1,2,,out-of-range\n"
    );
    applied(lines, &expected, "tags");
    applied(format!("\u{feff}{lines}"), &expected, "tags");
}

/// Beside the columns an archive may hold anything; a lone array needs no name.
#[test]
fn apply_to_archives() {
    let scores = f64s(&[3], [0.1, 0.35, 1.0]);
    let alone = npz(&[("arr_0", scores.clone())], CompressionMethod::Deflated);
    applied(
        alone,
        &format!("score,{HEADER}\n0.1,0,0,,out-of-range\n0.35,0.5,1,,\n1,1,2,,out-of-range\n"),
        "",
    );

    let several = npz(
        &[
            ("id", labels("<u8", &[7, 8, 9])),
            ("weights", f32s(&[2, 2], [0.0; 4])),
            ("classes", f64s(&[2], [0.0; 2]).descr("<U2")),
            ("other", i64s([1, 2])),
            ("empty", i64s([])),
            ("score", scores),
            ("seen", labels("|b1", &[1, 0, 1])),
        ],
        CompressionMethod::Stored,
    );
    applied(
        several,
        &format!(
            "id,score,seen,{HEADER}\n7,0.1,true,0,0,,out-of-range\n8,0.35,false,0.5,1,,\n9,1,true,1,2,,out-of-range\n"
        ),
        "weights, classes, other, empty",
    );
}

/// A column for each class, in any order, is the matrix of a NumPy array.
#[test]
fn matrices_in_columns() {
    let n = 60;
    let logit = |row: usize, class: usize| [row as f32 / 10.0, 0.0, -1.0][class];
    let classes: Vec<u8> = (0..n).map(|row| (row % 3) as u8).collect();
    let of_class = |class| column::<Float32Array>((0..n).map(|row| logit(row, class)).collect::<Vec<_>>());
    let targets: Int64Array = classes.iter().map(|&class| i64::from(class)).collect();
    let columns = batch(&[
        ("z2", of_class(2)),
        ("z0", of_class(0)),
        ("label", column::<Int64Array>(targets)),
        ("z1", of_class(1)),
    ]);
    let place = Workplace::new()
        .with("logits.npy", f32s(&[n, 3], (0..3 * n).map(|at| logit(at / 3, at % 3))).bytes())
        .with("y.npy", labels("|u1", &classes).bytes())
        .with("z.parquet", parquet(&columns, Codec::SNAPPY))
        .with("z.arrow", arrow_file(&columns, None));
    let fit = "calib fit --method umd --reduction top-label --rows-per-bin 20 --force -o out.bin --logits";
    place.ok(&format!("{fit} logits.npy --labels y.npy"));
    let expected = without_origin(place.inspect("out.bin"));
    place.ok("calib apply out.bin --logits logits.npy -o expected.csv");
    for table in ["z.parquet", "z.arrow", "z.parquet --score-column z0..z2"] {
        place.ok(&format!("{fit} {table}"));
        assert_eq!(without_origin(place.inspect("out.bin")), expected, "{table}");
        place.ok(&format!("calib apply out.bin --logits {table} -o out.csv --force"));
        assert_eq!(place.bytes("out.csv"), place.bytes("expected.csv"), "{table}");
    }
}

/// An archive with the logits, the labels and more: the matrix is the only one, or has the name of its kind, or is named.
#[test]
fn matrices_in_archives() {
    let n = 60;
    let logits = || (0..n).flat_map(|row| [row as f32 / 10.0, 0.0, -1.0]);
    let classes: Vec<u8> = (0..n).map(|row| (row % 3) as u8).collect();
    let (good, bad) = (f32s(&[n, 3], logits()), f32s(&[2, 2], [0.0; 4]));
    let y = labels("|u1", &classes);
    let fit = "calib fit --method umd --reduction top-label --rows-per-bin 20";
    let place = Workplace::new()
        .with("logits.npy", good.bytes())
        .with("y.npy", y.bytes())
        .with("alone.npz", npz(&[("arr_0", good.clone())], CompressionMethod::Deflated))
        .with(
            "only.npz",
            npz(
                &[("x", good.clone()), ("label", y.clone()), ("column", f32s(&[2, 1], [0.0; 2]))],
                CompressionMethod::Stored,
            ),
        )
        .with(
            "two.npz",
            npz(
                &[("a", bad), ("logits", good.clone()), ("b", good), ("label", y)],
                CompressionMethod::Deflated,
            ),
        );
    place.ok(&format!("{fit} --logits logits.npy --labels y.npy -o expected.bin"));
    let expected = without_origin(place.inspect("expected.bin"));
    place.ok("calib apply expected.bin --logits logits.npy -o expected.csv");
    for (bin, source, labels) in [
        ("1.bin", "alone.npz", "y.npy"),
        ("2.bin", "only.npz", "only.npz"),
        ("3.bin", "only.npz --score-column x", "y.npy"),
        ("4.bin", "two.npz", "two.npz"),
        ("5.bin", "two.npz --score-column b", "two.npz"),
    ] {
        place.ok(&format!("{fit} --logits {source} --labels {labels} -o {bin}"));
        assert_eq!(without_origin(place.inspect(bin)), expected, "{source}");
        place.ok(&format!("calib apply expected.bin --logits {source} -o out.csv --force"));
        assert_eq!(place.bytes("out.csv"), place.bytes("expected.csv"), "{source}");
    }
}

/// What is missing in a column of probabilities is uncalibrated, as an empty field is.
#[test]
fn assess_leaves_out_nulls() {
    let csv = "prob,label,bin\n0.25,0,0\n0.75,1,1\n,1,\n0.75,0,1\n0.25,1,0\n";
    let table = batch(&[
        ("prob", column::<Float64Array>(vec![Some(0.25), Some(0.75), None, Some(0.75), Some(0.25)])),
        ("label", column::<Int8Array>(vec![0, 1, 1, 0, 1])),
        ("bin", column::<Float64Array>(vec![Some(0.0), Some(1.0), None, Some(1.0), Some(0.0)])),
    ]);
    let lines = "{\"prob\":0.25,\"label\":0,\"bin\":0}\n{\"prob\":0.75,\"label\":1,\"bin\":1}\n{\"label\":1}\n\
                 {\"prob\":0.75,\"label\":0,\"bin\":1}\n{\"prob\":0.25,\"label\":1,\"bin\":0}\n";
    let place = Workplace::new()
        .with("t.csv", csv)
        .with("t.jsonl", lines)
        .with("t.parquet", parquet(&table, Codec::SNAPPY))
        .with("t.arrow", arrow_file(&table, None));
    let expected = place.json("calib assess --probs t.csv --bin-column bin --json");
    assert_eq!(expected["uncalibrated"], json!(1));
    for file in ["t.jsonl", "t.parquet", "t.arrow"] {
        assert_eq!(
            place.json(&format!("calib assess --probs {file} --bin-column bin --json")),
            expected,
            "{file}"
        );
    }
}

/// Durations are no labels and no scores, though Parquet keeps them as whole numbers.
#[test]
fn durations_are_no_numbers() {
    let durations = |values: &[u8]| {
        let values: Vec<i64> = values.iter().map(|&value| value.into()).collect();
        Arc::new(DurationSecondArray::from(values)) as ArrayRef
    };
    let rows = data();
    let labels: Vec<u8> = rows.iter().map(|row| row.1).collect();
    let of_labels = batch(&[("score", scores::<Float32Array>()), ("label", durations(&labels))]);
    let whole: Int64Array = labels.iter().map(|&label| i64::from(label)).collect();
    let of_scores = batch(&[("score", durations(&labels)), ("label", column::<Int64Array>(whole))]);
    for (name, batch, refused) in [("label", of_labels, "column label"), ("score", of_scores, "column score")]
    {
        for (file, bytes) in
            [("t.parquet", parquet(&batch, Codec::SNAPPY)), ("t.arrow", arrow_file(&batch, None))]
        {
            let place = Workplace::new().with(file, bytes);
            let run = place.run(&format!("calib fit {file} --method isotonic -o none.bin"));
            let told = run.code == 3
                && run.stderr.contains(refused)
                && run.stderr.contains("the column holds Duration");
            assert!(told, "{name} {file}: {}", run.stderr);
        }
    }
}
