//! `calib fit` of several classes, from an array of logits to an artifact.

use super::files::{HUNDRED, TEN};
use crate::case::{Case, Script};

const SCRIPT: Script = Script(include_str!("classes.py"));

const ROWS: Case = Case { grows: false, ..Case::of(&TEN, 1_000_000, &["logits.npy", "labels.npy"]) };

pub(super) const CASES: &[Case] = &[
    Case {
        name: "fit top-label, 10 classes",
        ours: "fit --force --quiet --method umd --reduction top-label --bins 15 --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("numpy: argmax, quantile, digitize, bincount; scipy: softmax", &["top-label"]),
        ..ROWS
    },
    Case {
        name: "fit class-wise, 10 classes",
        ours: "fit --force --quiet --method umd --reduction class-wise --bins 15 --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("numpy: quantile, digitize, bincount; scipy: softmax", &["class-wise"]),
        ..ROWS
    },
    Case {
        name: "fit temperature, 10 classes",
        ours: "fit --force --quiet --method temperature --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("scipy: minimize_scalar", &["temperature"]),
        ..ROWS
    },
    Case {
        name: "fit vector, 10 classes",
        ours: "fit --force --quiet --method vector --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("scipy: minimize (L-BFGS-B)", &["vector"]),
        ..ROWS
    },
    Case {
        name: "fit matrix, 10 classes",
        ours: "fit --force --quiet --method matrix --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("scikit-learn: LogisticRegression", &["matrix"]),
        ..ROWS
    },
    Case {
        name: "fit matrix (1e-8), 10 classes",
        ours: "fit --force --quiet --method matrix --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("scikit-learn: LogisticRegression, tol=1e-8", &["matrix-to-optimum"]),
        ..ROWS
    },
    Case {
        name: "fit dirichlet, 10 classes",
        ours: "fit --force --quiet --method dirichlet --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("scikit-learn: LogisticRegression of log-probabilities", &["dirichlet"]),
        ..ROWS
    },
    Case {
        name: "fit top-label, 100 classes",
        data: &HUNDRED,
        rows: 100_000,
        ours: "fit --force --quiet --method umd --reduction top-label --bins 15 --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("numpy: argmax, quantile, digitize, bincount; scipy: softmax", &["top-label"]),
        ..ROWS
    },
    Case {
        name: "fit class-wise, 100 classes",
        data: &HUNDRED,
        rows: 100_000,
        ours: "fit --force --quiet --method umd --reduction class-wise --bins 15 --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("numpy: quantile, digitize, bincount; scipy: softmax", &["class-wise"]),
        ..ROWS
    },
    Case {
        name: "fit temperature, 100 classes",
        data: &HUNDRED,
        rows: 100_000,
        ours: "fit --force --quiet --method temperature --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("scipy: minimize_scalar", &["temperature"]),
        ..ROWS
    },
    Case {
        name: "fit vector, 100 classes",
        data: &HUNDRED,
        rows: 100_000,
        ours: "fit --force --quiet --method vector --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("scipy: minimize (L-BFGS-B)", &["vector"]),
        ..ROWS
    },
    Case {
        name: "fit matrix, 100 classes",
        data: &HUNDRED,
        rows: 100_000,
        ours: "fit --force --quiet --method matrix --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("scikit-learn: LogisticRegression", &["matrix"]),
        ..ROWS
    },
    Case {
        name: "fit matrix (1e-8), 100 classes",
        data: &HUNDRED,
        rows: 100_000,
        ours: "fit --force --quiet --method matrix --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("scikit-learn: LogisticRegression, tol=1e-8", &["matrix-to-optimum"]),
        ..ROWS
    },
    Case {
        name: "fit dirichlet, 100 classes",
        data: &HUNDRED,
        rows: 100_000,
        ours: "fit --force --quiet --method dirichlet --logits logits.npy --labels labels.npy -o cal.bin",
        peer: SCRIPT.peer("scikit-learn: LogisticRegression of log-probabilities", &["dirichlet"]),
        ..ROWS
    },
    Case {
        name: "fit multiclass-irp, 10 classes",
        rows: 20_000,
        ours: "fit --force --quiet --method multiclass-irp --max-bins 20 --logits logits.npy --labels labels.npy -o cal.bin",
        ..ROWS
    },
];
