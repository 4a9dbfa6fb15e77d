//! `calib fit` of a binary calibrator, from a file to an artifact.

use super::files::{ARRAYS, TEXTS};
use crate::case::{Case, Script};

const SCRIPT: Script = Script(include_str!("fit.py"));

const ROWS: Case = Case::of(&ARRAYS, 10_000_000, &["scores.npy", "labels.npy"]);

pub(super) const CASES: &[Case] = &[
    Case {
        name: "fit umd, NPY",
        ours: "fit --force --quiet --method umd --bins 15 --scores scores.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("numpy: load, quantile, digitize, bincount", &["umd", "npy"]),
        ..ROWS
    },
    Case {
        name: "fit fixed-width, NPY",
        ours: "fit --force --quiet --method fixed-width --bins 15 --scores scores.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("numpy: load, digitize, bincount", &["fixed-width", "npy"]),
        ..ROWS
    },
    Case {
        name: "fit isotonic, NPY",
        ours: "fit --force --quiet --method isotonic --scores scores.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("numpy: load; scikit-learn: IsotonicRegression", &["isotonic", "npy"]),
        ..ROWS
    },
    Case {
        name: "fit platt, NPY",
        ours: "fit --force --quiet --method platt --scores scores.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("numpy: load; scikit-learn: LogisticRegression", &["platt", "npy"]),
        ..ROWS
    },
    Case {
        name: "fit umd, Parquet",
        ours: "fit --force --quiet --method umd --bins 15 --scores rows.parquet -o cal.bin",
        reads: &["rows.parquet"],
        peer: SCRIPT.peer("pyarrow: read_table; numpy: quantile, digitize, bincount", &["umd", "parquet"]),
        ..ROWS
    },
    Case {
        name: "fit isotonic, Parquet",
        ours: "fit --force --quiet --method isotonic --scores rows.parquet -o cal.bin",
        reads: &["rows.parquet"],
        peer: SCRIPT.peer("pyarrow: read_table; scikit-learn: IsotonicRegression", &["isotonic", "parquet"]),
        ..ROWS
    },
    Case {
        name: "fit umd, CSV",
        data: &TEXTS,
        rows: 3_000_000,
        ours: "fit --force --quiet --method umd --bins 15 --scores rows.csv -o cal.bin",
        reads: &["rows.csv"],
        peer: SCRIPT.peer("pandas: read_csv; numpy: quantile, digitize, bincount", &["umd", "csv"]),
        ..ROWS
    },
    Case {
        name: "fit umd, CSV (pyarrow)",
        data: &TEXTS,
        rows: 3_000_000,
        grows: false,
        ours: "fit --force --quiet --method umd --bins 15 --scores rows.csv -o cal.bin",
        reads: &["rows.csv"],
        peer: SCRIPT
            .peer("pyarrow: csv.read_csv; numpy: quantile, digitize, bincount", &["umd", "csv-pyarrow"]),
        ..ROWS
    },
    Case {
        name: "fit umd, JSON lines",
        data: &TEXTS,
        rows: 3_000_000,
        ours: "fit --force --quiet --method umd --bins 15 --scores rows.jsonl -o cal.bin",
        reads: &["rows.jsonl"],
        peer: SCRIPT.peer("pyarrow: json.read_json; numpy: quantile, digitize, bincount", &["umd", "json"]),
        ..ROWS
    },
];
