//! How much a small file may grow to.

use std::io::{self, Read};

use super::cell::{Span, TableCell};
use crate::files::{FileError, Format, Location, Problem, read_to_limit};

/// The most that a compressed file is unpacked to. A hostile one of a few kilobytes claims any amount.
///
/// Fuzzed, of millions of files each gets less.
pub const MAX_UNPACKED_BYTES: u64 = if cfg!(fuzzing) { 16 << 20 } else { 4 << 30 };

/// The most bytes read of a file that is kept in memory as a whole.
pub const MAX_READ_BYTES: u64 = 4 << 30;

/// The most bytes that a row of text has.
pub(super) const MAX_ROW_BYTES: u64 = if cfg!(fuzzing) { 1 << 20 } else { 64 << 20 };

/// The most columns that a text table has.
pub(super) const MAX_COLUMNS: usize = 1 << 17;

/// The number of rows in a chunk of an array or of Parquet.
pub(super) const CHUNK_ROWS: usize = 1 << 16;

/// The most cells that a table may have whose format lets a few bytes stand for many cells.
pub(super) const MAX_CELLS: u64 = MAX_UNPACKED_BYTES / size_of::<TableCell<Span>>() as u64;

/// Why nothing could be unpacked.
#[derive(Debug)]
pub(super) enum Unpack {
    TooLarge,
    Io(io::Error),
}

impl Unpack {
    /// The error of a file that should be of this format.
    pub(super) fn of(self, format: Format, place: Location) -> FileError {
        match self {
            Self::TooLarge => FileError::input(place, Problem::TooLarge { max: MAX_UNPACKED_BYTES }),
            // Nothing is wrong with the file.
            Self::Io(source) if source.kind() == io::ErrorKind::OutOfMemory => {
                FileError::Read { path: place.file, source }
            }
            Self::Io(cause) => FileError::input(place, Problem::NotA(format, reason(&cause))),
        }
    }
}

/// Reads to the end, or to `limit` bytes.
pub(super) fn unpack(reader: impl Read, limit: u64) -> Result<Vec<u8>, Unpack> {
    let mut bytes = Vec::new();
    read_to_limit(reader, limit, &mut bytes, |_| ()).map_err(Unpack::Io)?;
    if bytes.len() as u64 > limit { Err(Unpack::TooLarge) } else { Ok(bytes) }
}

/// Refuses a table of more cells than fit.
#[cfg(feature = "arrow")]
pub(super) fn check_cells(rows: u64, columns: usize) -> Result<(), Problem> {
    match rows.checked_mul(columns as u64) {
        Some(cells) if cells <= MAX_CELLS => Ok(()),
        _ => Err(Problem::TooLarge { max: MAX_UNPACKED_BYTES }),
    }
}

/// The start of a decoder's reason: whether the data end too early, or what else is wrong.
pub(super) fn reason(cause: &io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::UnexpectedEof => "it is cut off".into(),
        _ => format!("it is damaged ({cause})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bomb_stops_at_the_limit() {
        assert_eq!(unpack(io::repeat(7).take(10), 10).unwrap(), [7; 10]);
        assert!(matches!(unpack(io::repeat(7).take(11), 10), Err(Unpack::TooLarge)));
        assert!(matches!(unpack(io::repeat(7), 1 << 16), Err(Unpack::TooLarge)));
    }

    #[cfg(feature = "arrow")]
    #[test]
    fn more_cells_than_memory_are_refused() {
        assert!(check_cells(MAX_CELLS, 1).is_ok());
        assert!(check_cells(MAX_CELLS, 2).is_err() && check_cells(u64::MAX, 2).is_err());
    }
}
