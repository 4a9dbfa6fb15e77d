//! One way to read every format: chunk by chunk.

use super::READERS;
use super::chunk_reader::{ChunkReader, Input, Once};
use super::guard::guarded;
use super::limit::MAX_UNPACKED_BYTES;
use super::projection::Projection;
use super::source::Source;
use super::table::{Reading, Table};
use crate::files::{FileError, Format, Location, Problem, Unit};

/// Begins to read the columns of a file.
pub(super) type Open = fn(&Input, &Projection, Reading) -> Result<Box<dyn ChunkReader>, FileError>;

impl Input {
    /// Begins to read the columns of a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or its start is damaged.
    pub(super) fn chunks(
        &self,
        projection: &Projection,
        reading: &Reading,
    ) -> Result<Box<dyn ChunkReader>, FileError> {
        if let Self::Memory(source) = self {
            if source.bytes().is_empty() {
                return Err(FileError::input(self.place(), Problem::EmptyFile));
            }
            if !source.left_out().is_empty() {
                return Ok(Box::new(Once(Some(Table::read_projected(source, projection)?))));
            }
        }
        self.all_chunks(projection, reading)
    }

    /// Begins to read the columns of a file, rows that are left out included.
    fn all_chunks(
        &self,
        projection: &Projection,
        reading: &Reading,
    ) -> Result<Box<dyn ChunkReader>, FileError> {
        let format = self.format();
        let reader = READERS.iter().find(|(of, _)| *of == format);
        let (_, open) = reader.ok_or_else(|| FileError::input(self.place(), Problem::NotBuilt(format)))?;
        let opened = guarded(&self.place(), format, || open(self, projection, reading.clone()))?;
        Ok(Box::new(Guarded { reader: opened, place: self.place(), format }))
    }
}

/// A reader whose panic is an error of the file.
struct Guarded {
    reader: Box<dyn ChunkReader>,
    place: Location,
    format: Format,
}

impl ChunkReader for Guarded {
    fn next(&mut self) -> Result<Option<Table>, FileError> {
        guarded(&self.place, self.format, || self.reader.next())
    }

    fn progress(&self) -> Option<(Unit, u64, u64)> {
        self.reader.progress()
    }
}

impl Table {
    /// Reads a table with all its columns.
    ///
    /// # Errors
    ///
    /// If the file is not of its format, is damaged or larger than [`MAX_UNPACKED_BYTES`](super::MAX_UNPACKED_BYTES)
    /// unpacked, or has no rows.
    pub fn read(source: &Source) -> Result<Self, FileError> {
        Self::read_projected(source, &Projection::All)
    }

    /// Reads a table with the columns of these names only. The names of the other columns are known.
    ///
    /// # Errors
    ///
    /// As [`Table::read`].
    pub fn read_only(source: &Source, names: &[&str]) -> Result<Self, FileError> {
        Self::read_projected(source, &Projection::texts(names, source.options()))
    }

    /// Collects the chunks of a file.
    pub(super) fn read_projected(source: &Source, projection: &Projection) -> Result<Self, FileError> {
        Self::read_within(source, projection, MAX_UNPACKED_BYTES)
    }

    /// The same, of a table whose cells take no more memory than this.
    fn read_within(source: &Source, projection: &Projection, max: u64) -> Result<Self, FileError> {
        let input = Input::Memory(source.clone());
        let empty = |problem| FileError::input(input.place(), problem);
        if source.bytes().is_empty() {
            return Err(empty(Problem::EmptyFile));
        }
        let reading = Reading::new(source.options());
        let mut chunks = input.all_chunks(projection, &reading)?;
        let within = |table: Self| match table.len_bytes() > max {
            true => Err(empty(Problem::TableTooLarge { max })),
            false => Ok(table),
        };
        let mut table = within(chunks.next()?.ok_or_else(|| empty(Problem::Empty))?)?;
        while let Some(chunk) = chunks.next()? {
            table.append(chunk);
            table = within(table)?;
        }
        table.make_whole();
        if !source.left_out().is_empty() {
            table.leave_out(source.left_out());
        }
        if table.has_no_rows() {
            return Err(empty(Problem::Empty));
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::input::text::CHUNK_LEN_BYTES;

    /// Short rows, which take more memory as cells than as text.
    #[test]
    fn many_short_rows_stop_at_the_limit_of_cells() {
        let lines = |row: &str| format!("score,label\n{}", row.repeat(3 * CHUNK_LEN_BYTES / row.len()));
        let json = "{\"score\":0.5,\"label\":1}\n";
        let json = json.repeat(3 * CHUNK_LEN_BYTES / json.len());
        for (name, text) in
            [("t.csv.gz", lines("0.5,1\n")), ("t.csv.gz", lines("a,b\n")), ("t.jsonl.gz", json)]
        {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(text.as_bytes()).unwrap();
            let source = Source::from_bytes(name, packed.finish().unwrap()).unwrap();
            for projection in [Projection::All, Projection::texts(&["score", "label"], source.options())] {
                let whole = Table::read_within(&source, &projection, MAX_UNPACKED_BYTES).unwrap();
                let len_bytes = whole.len_bytes();
                assert!(len_bytes > text.len() as u64 / 3, "{len_bytes} {}", text.len());
                assert!(Table::read_within(&source, &projection, len_bytes).is_ok());
                let max = len_bytes - 1;
                let error = Table::read_within(&source, &projection, max).err().unwrap();
                let is_it = matches!(&error, FileError::Input { problem: Problem::TableTooLarge { max: at }, .. } if *at == max);
                assert!(is_it, "{name}: {error:?}");
            }
        }
    }
}
