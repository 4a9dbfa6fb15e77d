//! Labels in NumPy arrays of texts and of floats.

use serde_json::{Value, json};

use crate::npy::{Npy, f64s, i64s, texts};
use crate::workplace::Workplace;

const FIT: &str = "calib fit --method umd --bins 4 --scores s.npy --labels y.npy -o out.cal --force --json";

fn scores() -> Npy {
    f64s(&[40], (0..40).map(|row| f64::from(row * 37 % 40) / 64.0 + 0.125))
}

fn is_one(row: usize) -> bool {
    row * 37 % 40 > 11 && !row.is_multiple_of(3)
}

fn place(labels: &Npy) -> Workplace {
    Workplace::new().with("s.npy", scores().bytes()).with("y.npy", labels.bytes())
}

fn fitted(labels: &Npy, options: &str) -> Value {
    let got = place(labels).json(&format!("{FIT}{options}"));
    json!([got["n"], got["tables"]])
}

#[test]
fn texts_and_whole_floats_are_labels() {
    let expected = fitted(&i64s((0..40).map(|row| i64::from(is_one(row)))), "");
    assert_eq!(expected[0], 40);
    let worded = |kind: char, no: &str, yes: &str| {
        texts(kind, &(0..40).map(|row| if is_one(row) { yes } else { no }).collect::<Vec<_>>())
    };
    for (labels, options) in [
        (worded('U', "no", "yes"), ""),
        (worded('U', "no", "yes").big_endian_points(), ""),
        (worded('S', "False", "True"), ""),
        (worded('U', "0", "1"), ""),
        (worded('U', "gesund", "krank\u{e4}"), " --positive-label krank\u{e4}"),
        (worded('S', "control", "case"), " --positive-label case"),
        (f64s(&[40], (0..40).map(|row| f64::from(u8::from(is_one(row))))), ""),
        (f64s(&[40, 1], (0..40).map(|row| f64::from(u8::from(is_one(row))))), ""),
        (f64s(&[40], (0..40).map(|row| 1.0 + f64::from(u8::from(is_one(row))))), " --positive-label 2"),
    ] {
        assert_eq!(fitted(&labels, options), expected, "{labels:?}");
    }
}

#[test]
fn labels_that_are_none_are_refused_with_what_helps() {
    let mut gaps: Vec<f64> = (0..40).map(|row| f64::from(u8::from(is_one(row)))).collect();
    gaps[3] = f64::NAN;
    let words: Vec<&str> = (0..40).map(|row| if is_one(row) { "case" } else { "control" }).collect();
    for labels in [scores(), f64s(&[40], gaps), texts('U', &words), i64s(0..40).descr("|O")] {
        place(&labels).says(FIT);
    }
    // Texts are no scores.
    Workplace::new()
        .with("s.npy", texts('U', &["0.5"; 40]).bytes())
        .with("y.npy", i64s([0, 1].repeat(20)).bytes())
        .says(FIT);
    said!();
}
