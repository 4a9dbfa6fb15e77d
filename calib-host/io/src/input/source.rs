//! Files and standard input.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::guard::guarded;
use super::limit::{MAX_READ_BYTES, MAX_UNPACKED_BYTES, unpack};
use super::sniff::detect::{check_text, other_kind};
use super::sniff::dialect;
use super::sniff::options::TableOptions;
use crate::files::{FileError, Format, Location, Problem, Progress, Row, Unit, Watch, read_to_limit};

/// The most bytes read of a device.
const MAX_DEVICE_BYTES: u64 = 64 << 20;

/// A file's bytes and where they come from. A clone shares the bytes.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    bytes: Bytes,
    /// What the bytes are compressed from, or a text in UTF-8, without spaces before quotes.
    unpacked: Option<Bytes>,
    format: Format,
    options: Arc<TableOptions>,
    /// The rows that lack a value, if such are left out.
    left_out: Arc<HashSet<usize>>,
}

impl Source {
    /// Reads a file, or standard input if the path is `-`; what was compressed with gzip is unpacked. `watch` receives
    /// the progress of reading a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read or unpacked, or is larger than [`MAX_READ_BYTES`].
    pub fn read(path: &Path, watch: Watch<'_>) -> Result<Self, FileError> {
        let read_error = |source| FileError::Read { path: path.into(), source };
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            read_to_limit(io::stdin().lock(), MAX_READ_BYTES, &mut bytes, |_| ()).map_err(read_error)?;
            if bytes.len() as u64 > MAX_READ_BYTES {
                return Err(too_large(Path::new("standard input"), MAX_READ_BYTES));
            }
            return Self::from_bytes("standard input", bytes);
        }
        Self::read_limited(path, MAX_READ_BYTES, watch)
    }

    /// Reads a file as [`Source::read`], up to another limit.
    ///
    /// # Errors
    ///
    /// As [`Source::read`].
    pub fn read_limited(path: &Path, max: u64, watch: Watch<'_>) -> Result<Self, FileError> {
        let read_error = |source| FileError::Read { path: path.into(), source };
        let file = std::fs::File::open(path).map_err(read_error)?;
        let meta = file.metadata().map_err(read_error)?;
        let len = meta.len();
        // A device may have no end.
        let max = if meta.is_file() || is_pipe(&meta) { max } else { max.min(MAX_DEVICE_BYTES) };
        if len > max {
            return Err(too_large(path, max));
        }
        let mut bytes = Vec::new();
        let reserved = bytes.try_reserve_exact(usize::try_from(len).unwrap_or(usize::MAX));
        reserved.map_err(|_| read_error(io::ErrorKind::OutOfMemory.into()))?;
        let tell = |done| watch(Progress { path, unit: Unit::Bytes, done, total: len });
        // A file that has grown is not over before its end.
        read_to_limit(file, max, &mut bytes, |done| tell(done.min(len.saturating_sub(1))))
            .map_err(read_error)?;
        if bytes.len() as u64 > max {
            return Err(too_large(path, max));
        }
        tell(len);
        Self::from_bytes(path, bytes)
    }

    /// Reads several files, of which one may be standard input.
    ///
    /// # Errors
    ///
    /// As [`Source::read`], or if two are standard input.
    pub fn read_all(paths: &[&Path], watch: Watch<'_>) -> Result<Vec<Self>, FileError> {
        Self::check_paths(paths)?;
        paths.iter().map(|path| Self::read(path, watch)).collect()
    }

    /// The same file, of which the tables are read so.
    #[must_use]
    pub fn with_options(self, options: &Arc<TableOptions>) -> Self {
        Self { options: options.clone(), ..self }
    }

    /// The same file without the rows that are left out of another one, and read as that one is.
    #[must_use]
    pub fn beside(self, other: &Self) -> Self {
        Self { options: other.options.clone(), left_out: other.left_out.clone(), ..self }
    }

    /// How its tables are read.
    pub fn options(&self) -> &Arc<TableOptions> {
        &self.options
    }

    pub(super) fn left_out(&self) -> &HashSet<usize> {
        &self.left_out
    }

    pub(super) fn leave_out(&mut self, rows: &Arc<HashSet<usize>>) {
        self.left_out = rows.clone();
    }

    pub(super) fn check_paths(paths: &[&Path]) -> Result<(), FileError> {
        if paths.iter().filter(|path| **path == Path::new("-")).count() > 1 {
            return Err(FileError::TwoStandardInputs);
        }
        Ok(())
    }

    /// Takes bytes for the content of the file called `path`.
    ///
    /// # Errors
    ///
    /// If they are compressed and cannot be unpacked.
    pub fn from_bytes(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<Self, FileError> {
        let path = path.into();
        let fail = |problem| FileError::input(Location::file(&path), problem);
        if let Some(problem) = other_kind(&path, &bytes) {
            return Err(fail(problem));
        }
        let mut format = Format::of(&path, &bytes);
        let mut unpacked = None;
        if format == Format::GZIP && !bytes.is_empty() {
            if !bytes.starts_with(b"\x1f\x8b") {
                return Err(fail(Problem::NotA(Format::GZIP, "it does not start like one".into())));
            }
            let place = Location::file(&path);
            let content = guarded(&place, Format::GZIP, || {
                let unpacked = unpack(MultiGzDecoder::new(&bytes[..]), MAX_UNPACKED_BYTES);
                unpacked.map_err(|cause| cause.of(Format::GZIP, place.clone()))
            })?;
            if let Some(problem) = other_kind(&path, &content) {
                return Err(fail(problem));
            }
            // `scores.npy.gz` is called `scores.npy` inside.
            let name =
                path.extension().filter(|e| e.eq_ignore_ascii_case("gz")).map(|_| path.with_extension(""));
            format = Format::of(name.as_deref().unwrap_or(&path), &content);
            if format == Format::GZIP {
                return Err(fail(Problem::NotA(Format::GZIP, "it is compressed twice".into())));
            }
            unpacked = Some(content);
        }
        let content = unpacked.as_ref().unwrap_or(&bytes);
        check_text(content, format).map_err(fail)?;
        if format == Format::CSV {
            let damaged =
                |line| FileError::input(Location::file(&path).row(Row::Line(line)), Problem::NotUtf16);
            if let Some(text) = dialect::decoded(content).map_err(damaged)? {
                unpacked = Some(text);
            }
        }
        let (bytes, unpacked) = (bytes.into(), unpacked.map(Bytes::from));
        Ok(Self { path, bytes, unpacked, format, options: Arc::default(), left_out: Arc::default() })
    }

    /// The file's name; "standard input" for what has none.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content, unpacked, and a text in UTF-8.
    pub fn bytes(&self) -> &[u8] {
        self.unpacked.as_ref().unwrap_or(&self.bytes)
    }

    /// The same bytes, shared.
    pub(super) fn shared(&self) -> Bytes {
        self.unpacked.as_ref().unwrap_or(&self.bytes).clone()
    }

    /// The content as it is on the disk.
    pub(super) fn as_stored(&self) -> &[u8] {
        &self.bytes
    }

    /// The format of the content, unpacked.
    pub fn format(&self) -> Format {
        self.format
    }
}

fn too_large(path: &Path, max: u64) -> FileError {
    FileError::input(Location::file(path), Problem::FileTooLarge { max })
}

/// Whether a file is what another program writes into.
#[cfg(unix)]
fn is_pipe(meta: &std::fs::Metadata) -> bool {
    let kind = meta.file_type();
    std::os::unix::fs::FileTypeExt::is_fifo(&kind) || std::os::unix::fs::FileTypeExt::is_socket(&kind)
}

/// Elsewhere all that is no file is a device.
#[cfg(not(unix))]
fn is_pipe(_: &std::fs::Metadata) -> bool {
    false
}

/// The SHA-256 of files as they are on the disk, one after the other.
///
/// ```
/// use calib_io::input::{Source, sha256};
///
/// let [scores, labels] = ["0.2\n", "1\n"].map(|text| Source::from_bytes("a.csv", text.into()));
/// // What `cat scores labels | sha256sum` says.
/// let (scores, labels) = (scores?, labels?);
/// assert_eq!(sha256(&[&scores, &labels]), sha256(&[&Source::from_bytes("both.csv", "0.2\n1\n".into())?]));
/// # Ok::<(), calib_io::files::FileError>(())
/// ```
pub fn sha256(sources: &[&Source]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for source in sources {
        hash.update(&source.bytes);
    }
    hash.finalize().into()
}
