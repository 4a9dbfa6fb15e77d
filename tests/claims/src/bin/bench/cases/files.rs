//! Files of scores or logits, and labels.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use xtask::{root, run};

use crate::case::Data;

/// `scores.npy` of f32, `labels.npy` of u8, and both in `rows.parquet`.
pub(super) const ARRAYS: Data = Data { name: "arrays", write: |folder, rows| write(folder, rows, "arrays") };

/// Scores and labels in `rows.csv` and `rows.jsonl`.
pub(super) const TEXTS: Data = Data { name: "texts", write: |folder, rows| write(folder, rows, "texts") };

/// Logits of ten classes in `logits.npy`, and `labels.npy`.
pub(super) const TEN: Data = Data { name: "ten-classes", write: |folder, rows| write(folder, rows, "10") };

/// The same of a hundred classes.
pub(super) const HUNDRED: Data =
    Data { name: "hundred-classes", write: |folder, rows| write(folder, rows, "100") };

fn write(folder: &Path, rows: u64, what: &str) -> Result<()> {
    let writer = root().join("target/release/examples/large_files");
    run(Command::new(writer).arg(folder).arg(rows.to_string()).arg(what))
}
