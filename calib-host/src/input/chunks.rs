//! Tables, piece by piece.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};

use super::format::Format;
use super::npy::NpyChunks;
#[cfg(feature = "arrow")]
use super::parquet::ParquetChunks;
use super::{Source, Table};
use crate::error::{Error, Place};

/// So many rows are read at a time.
pub(super) const CHUNK_ROWS: usize = 1 << 16;

/// The tables that a file consists of: a NumPy array or a Parquet file in pieces, anything else as a whole.
pub(super) struct Chunks {
    content: Content,
    tables: Tables,
    bar: ProgressBar,
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

impl Chunks {
    /// Opens a file, of which columns of these names are wanted.
    pub(super) fn open(path: &Path, names: &[&str], progress: bool) -> Result<Self, Error> {
        let read_error = |source| Error::Read { path: path.into(), source };
        let mut in_pieces = None;
        if path != Path::new("-") {
            let file = File::open(path).map_err(read_error)?;
            if file.metadata().map_err(read_error)?.is_file() {
                in_pieces = Tables::in_pieces(path, file, names)?;
            }
        }
        let Some((tables, rows)) = in_pieces else {
            let source = Source::read(path, progress)?;
            let table = Table::read_only(&source, names)?;
            let tables = Tables::Whole(Some(table));
            return Ok(Self { content: Content::Memory(source.into()), tables, bar: ProgressBar::hidden() });
        };
        // indicatif draws nothing when standard error is not a terminal.
        let bar = if progress { ProgressBar::new(rows) } else { ProgressBar::hidden() };
        let template = "reading {msg} {wide_bar} {human_pos}/{human_len} rows {eta}";
        bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
        bar.set_message(path.display().to_string());
        Ok(Self { content: Content::File(path.into()), tables, bar })
    }

    /// The next table, with at least one row.
    pub(super) fn next(&mut self) -> Result<Option<Table>, Error> {
        self.bar.inc(CHUNK_ROWS as u64);
        let next = match &mut self.tables {
            Tables::Whole(table) => Ok(table.take()),
            Tables::Npy(chunks) => chunks.next(),
            #[cfg(feature = "arrow")]
            Tables::Parquet(chunks) => chunks.next(),
        };
        if !matches!(next, Ok(Some(_))) {
            self.bar.finish_and_clear();
        }
        next
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
    fn in_pieces(path: &Path, mut file: File, names: &[&str]) -> Result<Option<(Self, u64)>, Error> {
        let read_error = |source| Error::Read { path: path.into(), source };
        let mut start = Vec::new();
        Read::by_ref(&mut file).take(Format::MAGIC_LEN).read_to_end(&mut start).map_err(read_error)?;
        Ok(match Format::from_bytes(&start) {
            Some(Format::Npy) => {
                let chunks = NpyChunks::open(path, file)?;
                let rows = chunks.rows();
                Some((Self::Npy(chunks), rows))
            }
            #[cfg(feature = "arrow")]
            Some(Format::Parquet) => {
                let chunks = ParquetChunks::open(path, file, names)?;
                let rows = chunks.rows();
                Some((Self::Parquet(chunks), rows))
            }
            _ => None,
        })
    }
}

/// The SHA-256 of contents, one after the other; anything once told to stop.
pub(super) fn sha256_chunks(contents: &[Content], stop: &AtomicBool) -> Result<[u8; 32], Error> {
    let mut hash = Sha256::new();
    for content in contents {
        match content {
            Content::Memory(source) => hash.update(source.as_stored()),
            Content::File(path) => hash_file(&mut hash, path, stop)
                .map_err(|source| Error::Read { path: path.clone(), source })?,
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
