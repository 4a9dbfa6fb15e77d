//! Files, as the command line says how their tables are read.

use std::path::Path;

use calib_fit::ScoreKind;
use calib_fit::VectorKind;
use calib_io::files::{FileError, Watch};
use calib_io::input::{BinaryFiles, BinaryInput, BinaryPieces, MatrixPieces, Pieces, ScoreNumber, Source};

use crate::bar::reading;
use crate::tables::options;

/// Reads several files with the same rows.
pub(crate) fn read_all(paths: &[&Path], quiet: bool) -> Result<Vec<Source>, FileError> {
    Source::read_all_with(paths, options(), &reading(quiet))
}

/// Reads binary scores with their labels.
pub(crate) fn read_binary(files: &BinaryFiles<'_>, quiet: bool) -> Result<BinaryInput, FileError> {
    files.read_with(options(), &reading(quiet))
}

/// Opens binary scores with their labels.
pub(crate) fn open_binary<'w, S: ScoreNumber>(
    files: &BinaryFiles<'w>,
    kind: ScoreKind,
    watch: Watch<'w>,
) -> Result<BinaryPieces<'w, S>, FileError> {
    files.pieces_with(kind, options(), watch)
}

/// Opens a table.
pub(crate) fn open_table<'w>(path: &Path, watch: Watch<'w>) -> Result<Pieces<'w>, FileError> {
    Pieces::open_all_with(path, options(), watch)
}

/// Opens a matrix, with what [`read_vectors`](super::read_vectors) says of its column.
pub(crate) fn open_matrix<'w>(
    path: &Path,
    kind: VectorKind,
    name: Option<&str>,
    watch: Watch<'w>,
) -> Result<MatrixPieces<'w>, FileError> {
    MatrixPieces::open_with(path, (kind, name), options(), watch)
}
