//! How far the reading of a file is.

use std::path::Path;

/// How far the reading of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The file.
    pub path: &'a Path,
    /// What is counted.
    pub unit: Unit,
    /// How many bytes or rows were read.
    pub done: u64,
    /// How many there are. Reading is over when `done` gets there.
    pub total: u64,
}

/// What the progress of reading counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of a text, or of a file that is read as a whole.
    Bytes,
    /// Rows of a file that is read chunk by chunk.
    Rows,
}

/// Receives the progress of reading; `&|_| ()` ignores it.
pub type Watch<'a> = &'a (dyn Fn(Progress<'_>) + Sync);
