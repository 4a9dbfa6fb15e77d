//! Files and standard input.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};

use super::format::Format;
use super::limit::{MAX_READ_BYTES, MAX_UNPACKED_BYTES, Unpack, reason, unpack};
use crate::error::{Error, Place};
use crate::problem::Problem;

/// A file's bytes and where they come from.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    bytes: Vec<u8>,
    /// What the bytes are compressed from.
    unpacked: Option<Vec<u8>>,
    format: Format,
}

impl Source {
    /// Reads a file, or standard input if the path is `-`, showing progress on standard error if it takes long and
    /// `progress` is wanted. What was compressed with gzip is unpacked.
    ///
    /// # Errors
    ///
    /// If it cannot be read or unpacked, or is larger than [`MAX_READ_BYTES`].
    pub fn read(path: &Path, progress: bool) -> Result<Self, Error> {
        let read_error = |source| Error::Read { path: path.into(), source };
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            io::stdin().lock().take(MAX_READ_BYTES + 1).read_to_end(&mut bytes).map_err(read_error)?;
            if bytes.len() as u64 > MAX_READ_BYTES {
                return Err(too_large(Path::new("standard input")));
            }
            return Self::from_bytes("standard input", bytes);
        }
        let file = std::fs::File::open(path).map_err(read_error)?;
        let len = file.metadata().map_err(read_error)?.len();
        if len > MAX_READ_BYTES {
            return Err(too_large(path));
        }
        // indicatif draws nothing when standard error is not a terminal.
        let bar = if progress { ProgressBar::new(len) } else { ProgressBar::hidden() };
        bar.set_style(
            ProgressStyle::with_template("reading {msg} {wide_bar} {bytes}/{total_bytes} {eta}")
                .expect("a valid template"),
        );
        bar.set_message(path.display().to_string());
        let mut bytes = Vec::new();
        let reserved = bytes.try_reserve_exact(usize::try_from(len).unwrap_or(usize::MAX));
        reserved.map_err(|_| read_error(io::ErrorKind::OutOfMemory.into()))?;
        bar.wrap_read(file).read_to_end(&mut bytes).map_err(read_error)?;
        bar.finish_and_clear();
        Self::from_bytes(path, bytes)
    }

    /// Reads several files, of which one may be standard input.
    ///
    /// # Errors
    ///
    /// As [`Source::read`], or if two are standard input.
    pub fn read_all(paths: &[&Path], progress: bool) -> Result<Vec<Self>, Error> {
        Self::check_paths(paths)?;
        paths.iter().map(|path| Self::read(path, progress)).collect()
    }

    pub(super) fn check_paths(paths: &[&Path]) -> Result<(), Error> {
        if paths.iter().filter(|path| **path == Path::new("-")).count() > 1 {
            return Err(Error::Usage("only one input can be -, which is standard input".into()));
        }
        Ok(())
    }

    /// Takes bytes for the content of the file called `path`.
    ///
    /// # Errors
    ///
    /// If they are compressed and cannot be unpacked.
    pub fn from_bytes(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<Self, Error> {
        let path = path.into();
        let format = Format::of(&path, &bytes);
        if format != Format::Gzip || bytes.is_empty() {
            return Ok(Self { path, bytes, unpacked: None, format });
        }
        let fail = |problem| Error::input(Place::file(&path), problem);
        if !bytes.starts_with(b"\x1f\x8b") {
            return Err(fail(Problem::NotA(Format::Gzip, "it does not start like one".into())));
        }
        let unpacked = unpack(MultiGzDecoder::new(&bytes[..]), MAX_UNPACKED_BYTES).map_err(|cause| {
            fail(match cause {
                Unpack::TooLarge => Problem::TooLarge { max: MAX_UNPACKED_BYTES },
                Unpack::Io(cause) => Problem::NotA(Format::Gzip, reason(&cause)),
            })
        })?;
        // `scores.npy.gz` is called `scores.npy` inside.
        let name = path.extension().filter(|e| e.eq_ignore_ascii_case("gz")).map(|_| path.with_extension(""));
        let format = match Format::of(name.as_deref().unwrap_or(&path), &unpacked) {
            Format::Gzip => return Err(fail(Problem::NotA(Format::Gzip, "it is compressed twice".into()))),
            inner => inner,
        };
        Ok(Self { path, bytes, unpacked: Some(unpacked), format })
    }

    /// The file's name; "standard input" for what has none.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content, unpacked.
    pub fn bytes(&self) -> &[u8] {
        self.unpacked.as_deref().unwrap_or(&self.bytes)
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

fn too_large(path: &Path) -> Error {
    Error::input(Place::file(path), Problem::FileTooLarge { max: MAX_READ_BYTES })
}

/// The SHA-256 of files as they are on the disk, one after the other.
pub fn sha256(sources: &[&Source]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for source in sources {
        hash.update(&source.bytes);
    }
    hash.finalize().into()
}
