//! A device's log: defmt's, decoded with the program that it comes from.

use std::fs;
use std::path::Path;

use defmt_decoder::{DecodeError, Locations, StreamDecoder, Table};

use crate::files::{FileError, Location, Problem};

/// What a program's log is decoded with.
pub struct LogTable {
    table: Table,
    locations: Locations,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Its level, such as `info`; `None` for a line without one.
    pub level: Option<&'static str>,
    /// The device's time, if it logs one.
    pub timestamp: Option<String>,
    /// The text.
    pub message: String,
    /// File and line in the program's source, if the program says.
    pub place: Option<(String, u64)>,
}

/// Makes lines of a log's bytes.
pub struct LogDecoder<'t> {
    table: &'t Table,
    decoder: Box<dyn StreamDecoder + Send + Sync + 't>,
    locations: &'t Locations,
    damaged: u64,
}

impl LogTable {
    /// Reads the table in a program, an ELF file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or its program has no such log.
    pub fn read(elf: &Path) -> Result<Self, FileError> {
        let bytes = fs::read(elf).map_err(|source| FileError::Read { path: elf.into(), source })?;
        let bad = |what: String| FileError::input(Location::file(elf), Problem::Format(what));
        let table =
            Table::parse(&bytes).map_err(|cause| bad(format!("not a program with a log: {cause}")))?;
        let table = table.ok_or_else(|| bad("this program logs nothing through defmt".into()))?;
        // A program without debug information has no places.
        let locations = table.get_locations(&bytes).unwrap_or_default();
        Ok(Self { table, locations })
    }

    /// Begins to decode, wherever in the log.
    pub fn decoder(&self) -> LogDecoder<'_> {
        let Self { table, locations } = self;
        LogDecoder { table, decoder: table.new_stream_decoder(), locations, damaged: 0 }
    }
}

impl LogDecoder<'_> {
    /// Takes bytes as they come, and returns the lines that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<LogLine> {
        self.decoder.received(bytes);
        let mut lines = Vec::new();
        loop {
            let line = self.decoder.decode().map(|frame| LogLine {
                level: frame.level().map(|level| level.as_str()),
                timestamp: frame.display_timestamp().map(|time| time.to_string()),
                message: frame.display_message().to_string(),
                place: self
                    .locations
                    .get(&frame.index())
                    .map(|place| (place.file.display().to_string(), place.line)),
            });
            match line {
                Ok(line) => lines.push(line),
                Err(DecodeError::Malformed) => {
                    self.damaged += 1;
                    // An encoding without ends of lines cannot skip one: it restarts.
                    if !self.table.encoding().can_recover() {
                        self.decoder = self.table.new_stream_decoder();
                    }
                }
                Err(DecodeError::UnexpectedEof) => return lines,
            }
        }
    }

    /// How many lines were damaged.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }
}

impl std::fmt::Debug for LogTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogTable").field("lines", &self.locations.len()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for LogDecoder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogDecoder").field("damaged", &self.damaged).finish_non_exhaustive()
    }
}
