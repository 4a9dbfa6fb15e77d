//! Text, piece by piece: read in order, taken apart on all processors.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;

use rayon::prelude::*;

use crate::files::{FileError, Format, Place, Problem};
use crate::input::guard::guarded;
use crate::input::limit::MAX_READ_BYTES;
use crate::input::table::Table;

/// About so many bytes are a piece: its fields stay in a cache. Fuzzed, a short text has several.
pub(super) const PIECE_LEN_BYTES: usize = if cfg!(fuzzing) { 48 } else { 1 << 18 };

/// A table as tables of some records each.
pub(super) struct TextPieces<S> {
    reader: Splitter,
    schema: S,
    /// Tables that were taken apart, and are not asked for yet.
    ready: VecDeque<Result<Table, FileError>>,
    /// Pieces that were read, and are not taken apart yet.
    waiting: Vec<Piece>,
    has_rows: bool,
}

/// What takes the pieces of a file apart.
pub(super) trait Apart: Sync {
    /// What the file is.
    const FORMAT: Format;

    /// The file.
    fn place(&self) -> &Place;

    /// The columns of a piece.
    fn table(&self, piece: &Piece) -> Result<Table, FileError>;
}

/// Some whole records.
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// The line in the file on which they begin.
    pub(super) line: u64,
}

/// Where the last record that is there as a whole ends.
pub(super) type Border = Box<dyn Fn(&[u8]) -> usize + Send + Sync>;

/// Cuts a file into pieces between records.
pub(super) struct Splitter {
    pub(super) path: Place,
    pub(super) file: File,
    pub(super) piece_len: usize,
    /// Where the last record that is there as a whole ends; 0 if there is none.
    pub(super) border: Border,
    /// What was read of the next piece.
    pub(super) start: Vec<u8>,
    /// The line on which that begins.
    pub(super) line: u64,
    pub(super) is_over: bool,
    /// How many bytes were read.
    pub(super) done: u64,
}

impl<S: Apart> TextPieces<S> {
    pub(super) fn new(reader: Splitter, schema: S) -> Self {
        Self { reader, schema, ready: VecDeque::new(), waiting: Vec::new(), has_rows: false }
    }

    /// How many bytes were read.
    pub(super) fn done(&self) -> u64 {
        self.reader.done
    }

    /// The next table with a row; while some are taken apart, those after them are read.
    pub(super) fn next(&mut self) -> Result<Option<Table>, FileError> {
        loop {
            match self.ready.pop_front().transpose()? {
                Some(table) if table.has_no_rows() => {}
                Some(table) => {
                    self.has_rows = true;
                    return Ok(Some(table));
                }
                None => {
                    if self.waiting.is_empty() {
                        self.waiting = self.reader.batch()?;
                    }
                    if self.waiting.is_empty() {
                        let place = || self.schema.place().clone();
                        return if self.has_rows {
                            Ok(None)
                        } else {
                            Err(FileError::input(place(), Problem::Empty))
                        };
                    }
                    let Self { reader, schema, waiting, .. } = self;
                    let present = std::mem::take(waiting);
                    let apart = || {
                        present
                            .into_par_iter()
                            .map(|piece| guarded(schema.place(), S::FORMAT, || schema.table(&piece)))
                            .collect::<Vec<_>>()
                    };
                    let (next, tables) = rayon::join(|| reader.batch(), apart);
                    self.ready.extend(tables);
                    self.waiting = next?;
                }
            }
        }
    }
}

impl Splitter {
    /// The next pieces, some for each processor; none at the end.
    fn batch(&mut self) -> Result<Vec<Piece>, FileError> {
        let mut pieces = Vec::new();
        while pieces.len() < 2 * rayon::current_num_threads()
            && let Some(piece) = self.piece()?
        {
            pieces.push(piece);
        }
        Ok(pieces)
    }

    fn piece(&mut self) -> Result<Option<Piece>, FileError> {
        loop {
            let border = if self.is_over { self.start.len() } else { (self.border)(&self.start) };
            if border > 0 && (self.is_over || self.start.len() >= self.piece_len) {
                let rest = self.start.split_off(border);
                let bytes = std::mem::replace(&mut self.start, rest);
                let line = self.line;
                self.line += line_feeds(&bytes);
                return Ok(Some(Piece { bytes, line }));
            }
            if self.is_over {
                return Ok(None);
            }
            // A record that is longer than a piece takes as many more.
            let there = self.start.len();
            let want = if there < self.piece_len { self.piece_len - there } else { there };
            if there as u64 > MAX_READ_BYTES {
                return Err(FileError::input(
                    self.path.clone(),
                    Problem::FileTooLarge { max: MAX_READ_BYTES },
                ));
            }
            self.start.reserve_exact(want);
            let read = Read::by_ref(&mut self.file).take(want as u64).read_to_end(&mut self.start);
            let read = read.map_err(|source| FileError::Read { path: self.path.file.clone(), source })?;
            self.done += read as u64;
            self.is_over = read == 0;
        }
    }
}

pub(super) fn line_feeds(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// What the tests of each kind of text compare.
#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What columns hold, row by row with the places, or why they do not.
    pub(in crate::input::pieces) type Read = Result<Vec<(Place, u64)>, String>;

    /// The numbers of column `a` and the classes of column `b`.
    pub(in crate::input::pieces) fn columns(table: &Table) -> [Read; 2] {
        let text = |error: FileError| error.to_string();
        let numbers = table.numbers("a").map_err(text).map(|column| {
            (0..column.len()).map(|row| (column.at(row), column.values[row].to_bits())).collect()
        });
        let labels = table.classes("b").map_err(text).map(|column| {
            (0..column.len()).map(|row| (column.at(row), column.values[row].cast_unsigned())).collect()
        });
        [numbers, labels]
    }

    /// The columns of two pieces after each other: the first fault counts.
    pub(in crate::input::pieces) fn joined(front: Read, back: Read) -> Read {
        let mut front = front?;
        front.extend(back?);
        Ok(front)
    }
}
