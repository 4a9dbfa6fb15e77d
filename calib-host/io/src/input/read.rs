//! From a file's bytes to a table, whatever the format.

#[cfg(feature = "arrow")]
use super::arrow::{ipc, parquet};
use super::guard::guarded;
use super::source::Source;
use super::table::{Table, Wanted};
use super::{csv, json_lines, npy, npz};
use crate::files::{FileError, Format, Place, Problem};

impl Table {
    /// Reads a table with all its columns.
    ///
    /// # Errors
    ///
    /// If the file is not of its format, is damaged or larger than [`MAX_UNPACKED_BYTES`](super::MAX_UNPACKED_BYTES)
    /// unpacked, or has no rows.
    pub fn read(source: &Source) -> Result<Self, FileError> {
        Self::read_wanted(source, Wanted::All)
    }

    /// Reads a table with the columns of these names only; of the others it knows that they are there.
    ///
    /// # Errors
    ///
    /// As [`Table::read`].
    pub fn read_only(source: &Source, names: &[&str]) -> Result<Self, FileError> {
        Self::read_wanted(source, Wanted::of(names, source.options()))
    }

    pub(super) fn read_wanted(source: &Source, wanted: Wanted<'_>) -> Result<Self, FileError> {
        let file = Place::file(source.path());
        if source.bytes().is_empty() {
            return Err(FileError::input(file, Problem::EmptyFile));
        }
        let mut table = guarded(&file, source.format(), || match source.format() {
            Format::Csv => csv::read(source, wanted),
            Format::JsonLines => json_lines::read(source, wanted),
            Format::Npy => npy::table(source),
            Format::Npz => npz::table(source, wanted),
            #[cfg(feature = "arrow")]
            Format::ArrowFile | Format::ArrowStream => ipc::read(source, wanted),
            #[cfg(feature = "arrow")]
            Format::Parquet => parquet::read(source, wanted),
            #[cfg(not(feature = "arrow"))]
            format @ (Format::ArrowFile | Format::ArrowStream | Format::Parquet) => {
                Err(FileError::input(file.clone(), Problem::NotBuilt(format)))
            }
            Format::Gzip => unreachable!("a source is unpacked when it is read"),
        })?;
        if !source.left_out().is_empty() {
            table.leave_out(source.left_out());
        }
        if table.has_no_rows() {
            return Err(FileError::input(file, Problem::Empty));
        }
        Ok(table)
    }
}
