//! Files, as the command line says how their tables are read.

use std::path::Path;

use calib_fit::ScoreKind;
use calib_fit::VectorKind;
use calib_io::files::{FileError, Watch};
use calib_io::input::{BinaryChunks, BinaryFiles, BinaryInput, Chunks, MatrixChunks, ScoreNumber, Source};

use crate::context::Context;

/// Reads several files with the same rows.
pub(crate) fn read_all(paths: &[&Path], cx: &Context) -> Result<Vec<Source>, FileError> {
    Source::read_all_with(paths, &cx.tables, &cx.reading())
}

/// Reads binary scores with their labels.
pub(crate) fn read_binary(files: &BinaryFiles<'_>, cx: &Context) -> Result<BinaryInput, FileError> {
    files.read(&cx.tables, &cx.reading())
}

/// Opens binary scores with their labels.
pub(crate) fn open_binary<'w, S: ScoreNumber>(
    files: &BinaryFiles<'w>,
    kind: ScoreKind,
    (watch, cx): (Watch<'w>, &Context),
) -> Result<BinaryChunks<'w, S>, FileError> {
    files.chunks(kind, &cx.tables, watch)
}

/// Opens a table.
pub(crate) fn open_table<'w>(path: &Path, watch: Watch<'w>, cx: &Context) -> Result<Chunks<'w>, FileError> {
    Chunks::open_all(path, &cx.tables, watch)
}

/// Opens a matrix, with what [`read_vectors`](super::read_vectors) says of its column.
pub(crate) fn open_matrix<'w>(
    path: &Path,
    kind: VectorKind,
    name: Option<&str>,
    (watch, cx): (Watch<'w>, &Context),
) -> Result<MatrixChunks<'w>, FileError> {
    MatrixChunks::open(path, (kind, name), &cx.tables, watch)
}
