//! `calib apply`: from scores to a table of what the device answers.

use super::files::ARRAYS;
use crate::case::{Case, Script};

/// Applies a calibrator in Python, or assesses scores.
pub(super) const SCRIPT: Script = Script(include_str!("apply.py"));

const ROWS: Case = Case {
    before: &[
        "fit --force --quiet --method umd --bins 15 --scores scores.npy --labels labels.npy -o cal.bin",
    ],
    ..Case::of(&ARRAYS, 10_000_000, &["scores.npy"])
};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "apply, NPY to CSV",
        ours: "apply cal.bin --force --quiet --scores scores.npy -o out.csv",
        peer: SCRIPT.peer("scikit-learn: predict; pandas: to_csv", &["apply", "peer.csv"]),
        ..ROWS
    },
    Case {
        name: "apply, NPY to Parquet",
        ours: "apply cal.bin --force --quiet --scores scores.npy -o out.parquet",
        peer: SCRIPT.peer("scikit-learn: predict; pandas: to_parquet", &["apply", "peer.parquet"]),
        ..ROWS
    },
    Case {
        name: "apply, NPY to NPY",
        ours: "apply cal.bin --force --quiet --scores scores.npy -o out.npy",
        peer: SCRIPT.peer("scikit-learn: predict; numpy: save", &["apply", "peer.npy"]),
        ..ROWS
    },
    Case {
        name: "apply, NPY to Arrow",
        ours: "apply cal.bin --force --quiet --scores scores.npy -o out.arrow",
        grows: false,
        ..ROWS
    },
    Case {
        name: "apply, NPY to JSON lines",
        ours: "apply cal.bin --force --quiet --scores scores.npy -o out.jsonl",
        grows: false,
        ..ROWS
    },
    Case {
        name: "apply platt, NPY to CSV",
        before: &["fit --force --quiet --method platt --scores scores.npy --labels labels.npy -o platt.bin"],
        ours: "apply platt.bin --force --quiet --scores scores.npy -o out.csv",
        grows: false,
        ..ROWS
    },
];
