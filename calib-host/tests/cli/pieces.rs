//! Files of more rows than are read at a time: right ones, and ones with a fault far from the start.

use arrow_array::{Float32Array, Int64Array, UInt8Array};
use parquet::arrow::ArrowWriter;
use serde_json::Value;

use crate::npy::{Npy, f32s, labels};
use crate::workplace::Workplace;
use crate::written::{batch, column};

/// More than two pieces of 65 536 rows.
const ROWS: usize = 150_000;

fn scores() -> Vec<f32> {
    (0..ROWS).map(|row| (row * 7919 % 65_537) as f32 / 65_537.0).collect()
}

fn truth() -> Vec<u8> {
    (0..ROWS).map(|row| u8::from(row * 31 % 10 < row * 7919 % 65_537 / 6554)).collect()
}

fn column_of_labels(labels: &[u8]) -> Npy {
    crate::npy::labels("|u1", labels)
}

fn parquet(scores: Vec<f32>, labels: Vec<u8>) -> Vec<u8> {
    let batch = batch(&[("score", column::<Float32Array>(scores)), ("label", column::<UInt8Array>(labels))]);
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn csv(scores: &[f32], labels: &[u8]) -> String {
    let rows = scores.iter().zip(labels).map(|(score, label)| format!("{score},{label}\n"));
    std::iter::once("score,label\n".to_owned()).chain(rows).collect()
}

#[test]
fn pieces_and_wholes_give_the_same_fit_and_the_hash_of_the_files() {
    let work = Workplace::new()
        .with("s.npy", f32s(&[ROWS], scores()).bytes())
        .with("y.npy", labels("<i4", &truth()).bytes())
        .with("t.parquet", parquet(scores(), truth()))
        .with("t.csv", csv(&scores(), &truth()));
    for method in ["umd --bins 20", "isotonic", "platt"] {
        let fit = |files: &str| {
            let line = format!("calib fit --method {method} --scores {files} --force --json -o cal.bin");
            let mut summary = work.json(&line);
            summary["len_bytes"] = Value::Null;
            (summary, work.inspect("cal.bin"))
        };
        let (whole, inspected) = fit("t.csv");
        assert_eq!(whole["n"], ROWS);
        for files in ["s.npy --labels y.npy", "t.parquet", "s.npy --labels t.csv", "t.csv --labels y.npy"] {
            let (pieces, inspected_pieces) = fit(files);
            assert_eq!(pieces, whole, "{files}");
            assert_ne!(inspected_pieces["provenance"], inspected["provenance"], "{files}");
        }
    }
}

#[test]
fn the_first_bad_row_is_named_wherever_it_is() {
    let mut bad = scores();
    bad[140_001] = 1.5;
    bad[140_002] = f32::NAN;
    let mut wrong = truth();
    wrong[70_000] = 2;
    let work = Workplace::new()
        .with("s.npy", f32s(&[ROWS], bad.clone()).bytes())
        .with("right.npy", f32s(&[ROWS], scores()).bytes())
        .with("y.npy", column_of_labels(&truth()).bytes())
        .with("wrong.npy", column_of_labels(&wrong).bytes())
        .with("short.npy", column_of_labels(&truth()[..100_000]).bytes())
        .with("bad.parquet", parquet(bad, truth()))
        .with("wrong.parquet", parquet(scores(), wrong));
    let says = |files: &str, words: &[&str]| {
        let run = work.run(&format!("calib fit --method isotonic --scores {files} -o cal.bin"));
        assert_eq!(run.code, 3, "{files}");
        assert!(words.iter().all(|word| run.stderr.contains(word)), "{files}\n{}", run.stderr);
        assert!(!work.path().join("cal.bin").exists());
    };
    says("s.npy --labels y.npy", &["s.npy", "row 140001", "1.5"]);
    says("bad.parquet", &["bad.parquet", "row 140001", "score", "1.5"]);
    says("right.npy --labels wrong.npy", &["wrong.npy", "row 70000", "2"]);
    says("wrong.parquet", &["wrong.parquet", "row 70000", "label"]);
    says("right.npy --labels short.npy", &["short.npy", "100000", "right.npy", "150000"]);
    says(
        "bad.parquet --score-column p",
        &["bad.parquet, column p", "there is no such column", "\"score\", \"label\""],
    );
}

#[test]
fn missing_values_and_text_are_found_in_pieces_of_parquet() {
    let gap: Int64Array = (0..ROWS).map(|row| (row != 90_000).then_some(1)).collect();
    let batch = batch(&[("score", column::<Float32Array>(scores())), ("label", column::<Int64Array>(gap))]);
    let work = Workplace::new()
        .with("gap.parquet", crate::written::parquet(&batch, parquet::basic::Compression::SNAPPY));
    let run = work.run("calib fit --method isotonic --scores gap.parquet -o cal.bin");
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("row 90000") && run.stderr.contains("missing"), "{}", run.stderr);
}
