//! `calib apply` from and to files of more rows than are in memory at a time.

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{Float32Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::FileReader;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use zip::CompressionMethod;

use crate::data::Json;
use crate::npy::{f32s, labels};
use crate::workplace::{Run, Workplace};
use crate::written::{batch, column, npz};

/// More than two pieces of 65 536 rows.
const ROWS: usize = 150_000;

fn scores() -> Vec<f32> {
    (0..ROWS).map(|row| (row * 7919 % 65_537) as f32 / 65_537.0).collect()
}

fn truth() -> Vec<u8> {
    (0..ROWS).map(|row| u8::from(row * 31 % 10 < row * 7919 % 65_537 / 6554)).collect()
}

fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// The same scores as text, as an array, and as Parquet, with an artifact of 20 bins.
fn place() -> Workplace {
    let text: String = scores().iter().map(|score| format!("{score}\n")).collect();
    let place = Workplace::new()
        .with("s.npy", f32s(&[ROWS], scores()).bytes())
        .with("y.npy", labels("<i4", &truth()).bytes())
        .with("s.parquet", parquet(&batch(&[("score", column::<Float32Array>(scores()))])))
        .with("s.csv", format!("score\n{text}"));
    place.ok("calib fit --method umd --bins 20 --scores s.npy --labels y.npy -o cal.bin");
    place
}

#[test]
fn pieces_and_wholes_give_the_same_bytes_on_any_number_of_threads() {
    let place = place();
    for method in
        ["umd --bins 20", "umd-randomized --bins 20 --seed 3", "platt", "fixed-width --bins 9", "venn-abers"]
    {
        place.ok(&format!("calib fit --method {method} --scores s.npy --labels y.npy -o m.bin --force"));
        // Text is read as a whole.
        place.ok("calib apply m.bin --scores s.csv --seed 5 -o whole.csv --force");
        let whole = place.bytes("whole.csv");
        assert_eq!(whole.iter().filter(|&&byte| byte == b'\n').count(), ROWS + 1);
        for file in ["s.npy", "s.parquet", "s.csv"] {
            for threads in ["1", "4"] {
                let args = format!("apply m.bin --scores {file} --seed 5 -o pieces.csv --force");
                let run = place.command(&args).env("RAYON_NUM_THREADS", threads).output().unwrap();
                assert_eq!(Run::from(run).code, 0);
                assert!(place.bytes("pieces.csv") == whole, "{method}, {file}, {threads} threads");
            }
        }
    }
}

/// The probabilities of every format, by readers that are not ours.
#[test]
fn every_format_has_the_bits_of_the_device() {
    let place = place();
    for name in ["out.csv", "out.jsonl", "out.npy", "out.parquet", "out.arrow"] {
        place.ok(&format!("calib apply cal.bin --scores s.npy -o {name}"));
    }
    let of_text = |text: &str| text.parse::<f32>().unwrap().to_bits();
    let (header, rows) = place.table("out.csv");
    assert_eq!(header, ["score", "prob", "bin", "epsilon", "flags", "lo", "hi"]);
    let csv: Vec<u32> = rows.iter().map(|row| of_text(&row[1])).collect();
    assert_eq!(csv.len(), ROWS);
    let array: Vec<f32> = npyz::NpyFile::new(&place.bytes("out.npy")[..]).unwrap().into_vec().unwrap();
    assert!(array.iter().map(|prob| prob.to_bits()).eq(csv.iter().copied()));
    let text = place.text("out.jsonl");
    let json = text.lines().zip(&rows).map(|(line, row)| {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!((object["bin"].to_string(), &object["flags"]), (row[2].clone(), &row[4].as_str().into()));
        (object["prob"].number() as f32).to_bits()
    });
    assert!(json.eq(csv.iter().copied()));
    let of_batch = |batch: RecordBatch| {
        let probs = batch.column_by_name("prob").unwrap().as_primitive::<Float32Type>().values().to_vec();
        probs.into_iter().map(f32::to_bits)
    };
    let file = |name| File::open(place.path().join(name)).unwrap();
    let arrow = FileReader::try_new(file("out.arrow"), None).unwrap();
    assert!(arrow.flat_map(|batch| of_batch(batch.unwrap())).eq(csv.iter().copied()));
    let parquet = ParquetRecordBatchReaderBuilder::try_new(file("out.parquet")).unwrap().build().unwrap();
    assert!(parquet.flat_map(|batch| of_batch(batch.unwrap())).eq(csv.iter().copied()));
}

#[test]
fn columns_keep_their_types_and_gaps() {
    let ids: Int64Array = (0..3).map(|row| (row != 1).then_some(row - 1)).collect();
    let names = StringArray::from(vec![Some("a,b"), None, Some("c")]);
    let rows = batch(&[
        ("id", Arc::new(ids) as _),
        ("score", column::<Float32Array>(vec![0.25, 0.5, 0.75])),
        ("name", Arc::new(names) as _),
    ]);
    let place = place().with("t.parquet", parquet(&rows));
    place.ok("calib apply cal.bin --scores t.parquet -o out.parquet");
    let file = File::open(place.path().join("out.parquet")).unwrap();
    let got =
        ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().next().unwrap().unwrap();
    for name in ["id", "score", "name"] {
        assert_eq!(got.column_by_name(name).unwrap(), rows.column_by_name(name).unwrap());
    }
    // What the file has as text is text, but for the scores.
    let place =
        place.with("t.csv", "id,score\n007,0.50\n").with("t.jsonl", "{\"id\":7,\"score\":0.5,\"b\":true}\n");
    place.ok("calib apply cal.bin --scores t.csv -o of-text.jsonl");
    place.ok("calib apply cal.bin --scores t.jsonl -o of-json.jsonl");
    let line = |name| place.text(name);
    assert!(
        line("of-text.jsonl").starts_with("{\"id\":\"007\",\"score\":0.5,\"prob\":0."),
        "{}",
        line("of-text.jsonl")
    );
    assert!(line("of-json.jsonl").starts_with("{\"id\":7,\"score\":0.5,\"b\":true,\"prob\":0."));
}

#[test]
fn matrices_in_pieces_are_those_that_are_read_as_a_whole() {
    const CLASSES: usize = 3;
    // More than two pieces of 65 536 / 3 rows.
    const MATRIX_ROWS: usize = 50_000;
    let logits = || (0..MATRIX_ROWS * CLASSES).map(|i| (i * 7919 % 10_007) as f32 / 1000.0 - 5.0);
    let classes: Vec<u8> = (0..MATRIX_ROWS).map(|row| (row * 31 % CLASSES) as u8).collect();
    let place = Workplace::new()
        .with("l.npy", f32s(&[MATRIX_ROWS, CLASSES], logits()).bytes())
        // The same array in an archive is read as a whole.
        .with("l.npz", npz(&[("logits", f32s(&[MATRIX_ROWS, CLASSES], logits()))], CompressionMethod::Stored))
        .with("y.npy", labels("|u1", &classes).bytes());
    for (reduction, columns) in [("top-label", 1), ("top-k-label --k 2", 2), ("class-wise", 3)] {
        place.ok(&format!(
            "calib fit --method umd --bins 3 --reduction {reduction} --logits l.npy --labels y.npy -o m.bin --force"
        ));
        place.ok("calib apply m.bin --logits l.npz -o whole.csv --force");
        place.ok("calib apply m.bin --logits l.npy -o pieces.csv --force");
        assert!(place.bytes("pieces.csv") == place.bytes("whole.csv"), "{reduction}");
        place.ok("calib apply m.bin --logits l.npy -o probs.npy --force");
        let probs = place.bytes("probs.npy");
        let shape = npyz::NpyFile::new(&probs[..]).unwrap().shape().to_vec();
        let expected =
            if columns == 1 { vec![MATRIX_ROWS as u64] } else { vec![MATRIX_ROWS as u64, columns] };
        assert_eq!(shape, expected, "{reduction}");
    }
    let mut bad: Vec<f32> = logits().collect();
    bad[40_000 * CLASSES + 1] = f32::NAN;
    let place = place.with("bad.npy", f32s(&[MATRIX_ROWS, CLASSES], bad).bytes()).with("old.csv", "old");
    place.says("calib apply m.bin --logits bad.npy -o old.csv --force");
    assert_eq!(place.bytes("old.csv"), b"old");
    said!();
}

#[test]
fn a_fault_in_a_late_row_leaves_no_output_and_the_old_one_as_it_was() {
    let mut bad = scores();
    bad[140_001] = 1.5;
    bad[140_002] = f32::NAN;
    let place = place()
        .with("bad.npy", f32s(&[ROWS], bad.clone()).bytes())
        .with("bad.parquet", parquet(&batch(&[("score", column::<Float32Array>(bad))])));
    for output in ["out.csv", "out.jsonl", "out.npy", "out.parquet", "out.arrow"] {
        for file in ["bad.npy", "bad.parquet"] {
            let before = place.everything();
            place.says(&format!("calib apply cal.bin --scores {file} -o {output}"));
            assert!(place.everything() == before, "{file}, {output}: a file was left");
        }
    }
    let place = place.with("old.parquet", "old");
    place.says("calib apply cal.bin --scores bad.npy -o old.parquet --force");
    assert_eq!(place.bytes("old.parquet"), b"old");
    said!();
}

#[test]
fn an_extension_of_no_format_is_refused_before_anything_is_read() {
    let place = place();
    let before = place.everything();
    let run = place.says("calib apply cal.bin --scores none.npy -o out.xlsx");
    assert!([".csv", ".jsonl", ".parquet", ".arrow", ".npy"].iter().all(|known| run.stderr.contains(known)));
    assert!(place.everything() == before);
    place.ok("calib apply cal.bin --scores s.npy -o OUT.CSV");
    place.ok("calib apply cal.bin --scores s.npy -o out");
    assert_eq!(place.bytes("OUT.CSV"), place.bytes("out"));
    said!();
}
