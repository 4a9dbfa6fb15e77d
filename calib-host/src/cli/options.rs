//! Options that several commands share.

use std::path::{Path, PathBuf};

use calib_host::input::{Column, CsvTable, Source, read_npy};
use calib_host::{Error, VectorKind};
use clap::Args;

/// Where scores come from: exactly one of the three.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ScoreSource {
    /// Scores of class 1 of a binary classifier, in [0, 1]: a CSV table, or a NumPy array of shape (n,).
    #[arg(long, value_name = "FILE")]
    pub(crate) scores: Option<PathBuf>,
    /// Logits of a multi-class classifier: a NumPy array of shape (n, classes).
    #[arg(long, value_name = "FILE")]
    logits: Option<PathBuf>,
    /// Probabilities of a multi-class classifier: a NumPy array of shape (n, classes).
    #[arg(long, value_name = "FILE")]
    probs: Option<PathBuf>,
}

impl ScoreSource {
    /// The file with vectors and what they are; `None` if binary scores were given.
    pub(crate) fn vectors(&self) -> Option<(&Path, VectorKind)> {
        let logits = self.logits.as_deref().map(|path| (path, VectorKind::Logits));
        logits.or(self.probs.as_deref().map(|path| (path, VectorKind::Probs)))
    }
}

/// Reads labels from a file of their own: a NumPy array, or a column of a CSV table.
pub(crate) fn read_labels(source: &Source, column: &str) -> Result<Column<i64>, Error> {
    if source.is_npy() { read_npy(source)?.labels() } else { CsvTable::parse(source)?.labels(column) }
}
