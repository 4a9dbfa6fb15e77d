//! Tables, piece by piece.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};

use super::guard::guarded;
use super::limit::CHUNK_ROWS;
use super::npy_chunks::NpyChunks;
#[cfg(feature = "arrow")]
use super::parquet::ParquetChunks;
use super::source::Source;
use super::table::{Table, Wanted};
use crate::files::{FileError, Format, Place, Progress, Unit, Watch};

/// The tables that a file consists of: a NumPy array or a Parquet file in pieces, anything else as a whole.
pub(super) struct Chunks<'w> {
    content: Content,
    tables: Tables,
    /// How many rows were read, and how many there are, if the file is read in pieces.
    rows: Option<(u64, u64)>,
    watch: Watch<'w>,
}

/// What is hashed.
#[derive(Clone)]
pub(super) enum Content {
    File(PathBuf),
    Memory(Arc<Source>),
}

enum Tables {
    Whole(Option<Table>),
    Npy(NpyChunks),
    #[cfg(feature = "arrow")]
    Parquet(ParquetChunks),
}

impl<'w> Chunks<'w> {
    /// Opens a file, of which these columns are wanted.
    pub(super) fn open(path: &Path, wanted: Wanted<'_>, watch: Watch<'w>) -> Result<Self, FileError> {
        let read_error = |source| FileError::Read { path: path.into(), source };
        let mut in_pieces = None;
        if path != Path::new("-") {
            let file = File::open(path).map_err(read_error)?;
            if file.metadata().map_err(read_error)?.is_file() {
                in_pieces = Tables::in_pieces(path, file, wanted)?;
            }
        }
        let Some((tables, rows)) = in_pieces else {
            let source = Source::read(path, watch)?;
            let tables = Tables::Whole(Some(Table::read_wanted(&source, wanted)?));
            return Ok(Self { content: Content::Memory(source.into()), tables, rows: None, watch });
        };
        Ok(Self { content: Content::File(path.into()), tables, rows: Some((0, rows)), watch })
    }

    /// The next table, with at least one row.
    pub(super) fn next(&mut self) -> Result<Option<Table>, FileError> {
        let place = self.place();
        let next = match &mut self.tables {
            Tables::Whole(table) => Ok(table.take()),
            Tables::Npy(chunks) => guarded(&place, Format::Npy, || chunks.next()),
            #[cfg(feature = "arrow")]
            Tables::Parquet(chunks) => chunks.next(),
        };
        self.tell(matches!(next, Ok(Some(_))));
        next
    }

    /// Tells how far reading is: a piece further, or at the end, which is the last row or a fault.
    fn tell(&mut self, goes_on: bool) {
        if let (Some((done, total)), Content::File(path)) = (&mut self.rows, &self.content) {
            *done = if goes_on { (*done + CHUNK_ROWS as u64).min(*total) } else { *total };
            (self.watch)(Progress { path, unit: Unit::Rows, done: *done, total: *total });
        }
    }

    pub(super) fn content(&self) -> Content {
        self.content.clone()
    }

    pub(super) fn place(&self) -> Place {
        Place::file(match &self.content {
            Content::File(path) => path,
            Content::Memory(source) => source.path(),
        })
    }
}

impl Tables {
    /// The tables and the number of rows of a file that can be read in pieces.
    #[cfg_attr(not(feature = "arrow"), expect(unused_variables, reason = "an array has no named columns"))]
    fn in_pieces(path: &Path, mut file: File, wanted: Wanted<'_>) -> Result<Option<(Self, u64)>, FileError> {
        let read_error = |source| FileError::Read { path: path.into(), source };
        let mut start = Vec::new();
        Read::by_ref(&mut file).take(Format::MAGIC_LEN).read_to_end(&mut start).map_err(read_error)?;
        Ok(match Format::from_bytes(&start) {
            Some(Format::Npy) => {
                let chunks = guarded(&Place::file(path), Format::Npy, || NpyChunks::open(path, file))?;
                let rows = chunks.rows();
                Some((Self::Npy(chunks), rows))
            }
            #[cfg(feature = "arrow")]
            Some(Format::Parquet) => {
                let chunks = ParquetChunks::open(path, file, wanted)?;
                let rows = chunks.rows();
                Some((Self::Parquet(chunks), rows))
            }
            _ => None,
        })
    }
}

/// The SHA-256 of contents, one after the other; anything once told to stop.
pub(super) fn sha256_chunks(contents: &[Content], stop: &AtomicBool) -> Result<[u8; 32], FileError> {
    let mut hash = Sha256::new();
    for content in contents {
        match content {
            Content::Memory(source) => hash.update(source.as_stored()),
            Content::File(path) => hash_file(&mut hash, path, stop)
                .map_err(|source| FileError::Read { path: path.clone(), source })?,
        }
    }
    Ok(hash.finalize().into())
}

fn hash_file(hash: &mut Sha256, path: &Path, stop: &AtomicBool) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut piece = vec![0; 1 << 18];
    while !stop.load(Ordering::Relaxed) {
        let len = file.read(&mut piece)?;
        if len == 0 {
            break;
        }
        hash.update(&piece[..len]);
    }
    Ok(())
}
