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
    let says = |files: &str| {
        work.says(&format!("calib fit --method isotonic --scores {files} -o cal.bin"));
        assert!(!work.path().join("cal.bin").exists());
    };
    says("s.npy --labels y.npy");
    says("bad.parquet");
    says("right.npy --labels wrong.npy");
    says("wrong.parquet");
    says("right.npy --labels short.npy");
    says("bad.parquet --score-column p");
    said!();
}

#[test]
fn missing_values_and_text_are_found_in_pieces_of_parquet() {
    let gap: Int64Array = (0..ROWS).map(|row| (row != 90_000).then_some(1)).collect();
    let batch = batch(&[("score", column::<Float32Array>(scores())), ("label", column::<Int64Array>(gap))]);
    let work = Workplace::new()
        .with("gap.parquet", crate::written::parquet(&batch, parquet::basic::Compression::SNAPPY));
    work.says("calib fit --method isotonic --scores gap.parquet -o cal.bin");
    said!();
}

/// Standard input is read all at once: a file in pieces gives the same artifact, to the byte.
#[test]
fn a_text_in_pieces_gives_the_bytes_of_the_whole() {
    let rows = || scores().into_iter().zip(truth());
    let lines =
        |row: &dyn Fn(f32, u8) -> String| rows().map(|(score, label)| row(score, label)).collect::<String>();
    let plain = csv(&scores(), &truth());
    let texts = [
        ("plain.csv", plain.clone()),
        ("returns.csv", plain.replace('\n', "\r\n")),
        ("blank.csv", plain.replace("\n0.12", "\n\n0.12")),
        ("no_end.csv", plain.trim_end().to_owned()),
        ("wide.csv", format!("id, label ,score\n{}", lines(&|s, y| format!("é{y},{y}.0, {s}\n")))),
        (
            "quoted.csv",
            format!("score,label,note\n{}", lines(&|s, y| format!("\"{s}\",{y},\"a, \"\"b\"\"\nc\"\n"))),
        ),
    ];
    for (name, text) in texts {
        let work = Workplace::new().with(name, &text);
        for method in ["umd --bins 20", "isotonic"] {
            let fit =
                |file: &str, out: &str| format!("fit --method {method} --scores {file} -o {out} --force");
            work.ok(&format!("calib {}", fit(name, "pieces.bin")));
            let input = std::fs::File::open(work.path().join(name)).unwrap();
            let whole = work.command(&fit("-", "whole.bin")).stdin(input).output().unwrap();
            assert!(whole.status.success(), "{name}: {}", String::from_utf8_lossy(&whole.stderr));
            assert!(work.bytes("pieces.bin") == work.bytes("whole.bin"), "{name}, {method}");
        }
    }
}

/// A text with several faults is told as if it had been read all at once: the file's form first, then labels, then scores.
#[test]
fn a_text_in_pieces_has_the_fault_of_the_whole() {
    let text = |faults: &[(usize, &str)]| {
        let mut lines: Vec<String> = csv(&scores(), &truth()).lines().map(str::to_owned).collect();
        for &(line, fault) in faults {
            lines[line - 1] = fault.into();
        }
        lines.join("\n") + "\n"
    };
    for faults in [
        &[(140_001, "0.5,7")][..],
        &[(140_001, "1.5,1")],
        &[(140_001, "none,1")],
        &[(140_001, ",1")],
        &[(140_001, "0.5")],
        &[(5, "nan,1"), (140_001, "0.5,1,1")],
        &[(5, "nan,1"), (140_001, "0.5,7")],
        &[(5, "0.5,7"), (140_001, "0.5,x")],
        &[(5, "\"0.5\",1"), (7, "\"0.5\n\",0"), (140_001, "-1,1")],
    ] {
        let work = Workplace::new().with("t.csv", text(faults));
        work.says("calib fit --method umd --bins 10 --scores t.csv -o cal.bin");
    }
    let work = Workplace::new().with("t.csv", text(&[(5, "nan,1")]));
    work.says("calib fit --method umd --bins 10 --scores t.csv --score-column p -o cal.bin");
    said!();
}
