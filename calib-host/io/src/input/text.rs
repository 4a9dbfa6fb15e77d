//! Text, chunk by chunk: read in order, parsed on all cores.

use std::collections::VecDeque;
use std::io::Read;

use rayon::prelude::*;

use super::chunk_reader::{ChunkReader, Input, ReadSeek};
use super::guard::guarded;
use super::limit::{MAX_READ_BYTES, MAX_ROW_BYTES};
use super::sniff::options::TableOptions;
use super::table::{Reading, Table};
use crate::files::{FileError, Format, Location, Problem, Row, Unit};

/// The length of a chunk: its fields stay in a cache. Under a fuzzer a short text has several chunks.
pub(super) const CHUNK_LEN_BYTES: usize = if cfg!(fuzzing) { 48 } else { 1 << 18 };

/// A text table as tables of some records each.
pub(super) struct TextChunks<S> {
    reader: Splitter,
    schema: S,
    reading: Reading,
    /// Tables that were parsed and not returned yet.
    ready: VecDeque<Result<Option<Table>, FileError>>,
    /// Chunks that were read and not parsed yet.
    waiting: Vec<Chunk>,
    has_rows: bool,
}

/// What parses the chunks of a file.
pub(super) trait ParseChunk: Send + Sync {
    /// Returns the columns of a chunk; `None` if it has no records.
    fn table(&self, chunk: &Chunk) -> Result<Option<Table>, FileError>;

    /// Says what only all chunks tell.
    fn finish(&self, _: &TableOptions) -> Result<(), FileError> {
        Ok(())
    }
}

/// Some whole records.
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    /// The line in the file on which they begin.
    pub(super) line: u64,
}

/// Returns the end of the last whole record; 0 if there is none.
type RecordEnd = Box<dyn Fn(&[u8]) -> usize + Send + Sync>;

/// Cuts a file into chunks between records.
pub(super) struct Splitter {
    place: Location,
    format: Format,
    file: Box<dyn ReadSeek>,
    chunk_len: usize,
    record_end: RecordEnd,
    /// What was read of the next chunk.
    pub(super) start: Vec<u8>,
    /// The line on which that begins.
    pub(super) line: u64,
    /// Whether `start` goes to the end of the file.
    pub(super) is_over: bool,
    /// How many bytes were read, and how many there are.
    done: u64,
    total: u64,
}

impl<S: ParseChunk> TextChunks<S> {
    pub(super) fn new(reader: Splitter, schema: S, reading: Reading) -> Self {
        Self { reader, schema, reading, ready: VecDeque::new(), waiting: Vec::new(), has_rows: false }
    }
}

impl<S: ParseChunk> ChunkReader for TextChunks<S> {
    /// The next table with a row; while some chunks are parsed, the next ones are read.
    fn next(&mut self) -> Result<Option<Table>, FileError> {
        loop {
            match self.ready.pop_front().transpose()? {
                Some(None) => {}
                Some(Some(table)) => {
                    let is_whole = !self.has_rows && self.ready.is_empty() && self.waiting.is_empty();
                    self.has_rows = true;
                    return Ok(Some(table.read_as(self.reading.clone().of_whole(is_whole))));
                }
                None => {
                    if self.waiting.is_empty() {
                        self.waiting = self.reader.batch()?;
                    }
                    if self.waiting.is_empty() {
                        return match self.has_rows {
                            true => self.schema.finish(&self.reading.options).map(|()| None),
                            false => Err(FileError::input(self.reader.place.clone(), Problem::Empty)),
                        };
                    }
                    let Self { reader, schema, waiting, .. } = self;
                    let present = std::mem::take(waiting);
                    let (place, format) = (reader.place.clone(), reader.format);
                    let parse = || {
                        present
                            .into_par_iter()
                            .map(|chunk| guarded(&place, format, || schema.table(&chunk)))
                            .collect::<Vec<_>>()
                    };
                    let (next, tables) = rayon::join(|| reader.batch(), parse);
                    self.ready.extend(tables);
                    self.waiting = next?;
                }
            }
        }
    }

    fn progress(&self) -> Option<(Unit, u64, u64)> {
        Some((Unit::Bytes, self.reader.done, self.reader.total))
    }
}

impl Splitter {
    /// Begins to read a file: the first chunk is in `start`.
    pub(super) fn new(
        input: &Input,
        chunk_len: usize,
        record_end: impl Fn(&[u8]) -> usize + Send + Sync + 'static,
    ) -> Result<Self, FileError> {
        let (file, total) = input.open()?;
        let (place, format, record_end) = (input.place(), input.format(), Box::new(record_end));
        let start = Vec::new();
        let mut new = Self {
            place,
            format,
            file,
            chunk_len,
            record_end,
            start,
            line: 1,
            is_over: false,
            done: 0,
            total,
        };
        new.read_more()?;
        Ok(new)
    }

    /// Sets how the end of the last whole record is found.
    pub(super) fn with_record_end(self, record_end: impl Fn(&[u8]) -> usize + Send + Sync + 'static) -> Self {
        Self { record_end: Box::new(record_end), ..self }
    }

    /// Makes the rest of the file one chunk.
    pub(super) fn in_one_chunk(self) -> Result<Self, FileError> {
        if self.total > MAX_READ_BYTES {
            return Err(self.too_large());
        }
        Ok(Self { chunk_len: usize::MAX, ..self })
    }

    /// The next chunks, some for each core; none at the end.
    fn batch(&mut self) -> Result<Vec<Chunk>, FileError> {
        let mut chunks = Vec::new();
        while chunks.len() < 2 * rayon::current_num_threads()
            && let Some(chunk) = self.chunk()?
        {
            chunks.push(chunk);
        }
        Ok(chunks)
    }

    fn chunk(&mut self) -> Result<Option<Chunk>, FileError> {
        loop {
            let end = if self.is_over { self.start.len() } else { (self.record_end)(&self.start) };
            if end > 0 && (self.is_over || self.start.len() >= self.chunk_len) {
                let rest = self.start.split_off(end);
                let bytes = std::mem::replace(&mut self.start, rest);
                let line = self.line;
                self.line += line_feeds(&bytes);
                return Ok(Some(Chunk { bytes, line }));
            }
            if self.is_over {
                return Ok(None);
            }
            self.read_more()?;
        }
    }

    /// Reads on to the length of a chunk, or twice as far if a record is longer than that.
    pub(super) fn read_more(&mut self) -> Result<(), FileError> {
        let there = self.start.len();
        if there as u64 >= MAX_ROW_BYTES && self.chunk_len < usize::MAX {
            let place = self.place.clone().row(Row::Line(self.line));
            return Err(FileError::input(place, Problem::RowTooLong { max: MAX_ROW_BYTES }));
        }
        if there as u64 > MAX_READ_BYTES {
            return Err(self.too_large());
        }
        let left = usize::try_from(self.total.saturating_sub(self.done)).unwrap_or(usize::MAX);
        let want = if there < self.chunk_len { self.chunk_len - there } else { there };
        // A file may have grown since its length was known.
        let want = want.min(left.max(CHUNK_LEN_BYTES).saturating_add(1));
        self.start.reserve_exact(want);
        let read = Read::by_ref(&mut self.file).take(want as u64).read_to_end(&mut self.start);
        let read = read.map_err(|source| FileError::Read { path: self.place.file.clone(), source })?;
        self.done += read as u64;
        self.is_over = read < want;
        Ok(())
    }

    fn too_large(&self) -> FileError {
        FileError::input(self.place.clone(), Problem::FileTooLarge { max: MAX_READ_BYTES })
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
    pub(in crate::input) type Read = Result<Vec<(Location, u64)>, String>;

    /// The numbers of column `a` and the classes of column `b`.
    pub(in crate::input) fn columns(table: &Table) -> [Read; 2] {
        let text = |error: FileError| error.to_string();
        let numbers = table.numbers("a").map_err(text).map(|column| {
            (0..column.len()).map(|row| (column.at(row), column.values[row].to_bits())).collect()
        });
        let labels = table.classes("b").map_err(text).map(|column| {
            (0..column.len()).map(|row| (column.at(row), column.values[row].cast_unsigned())).collect()
        });
        [numbers, labels]
    }

    /// The columns of two chunks after each other: the first fault counts.
    pub(in crate::input) fn joined(front: Read, back: Read) -> Read {
        let mut front = front?;
        front.extend(back?);
        Ok(front)
    }
}
