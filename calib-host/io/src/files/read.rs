//! Reading a file that is kept in memory as a whole, up to a limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::error::FileError;
use super::location::Location;
use super::problem::Problem;

/// So many bytes are read at a time.
const BLOCK_LEN_BYTES: usize = 1 << 24;

/// Reads a file of at most `max` bytes: what has no end, such as a device, is read no further, and memory that there is not is an error.
///
/// # Errors
///
/// If the file cannot be read, or is larger.
pub(crate) fn read_limited(path: &Path, max: u64) -> Result<Vec<u8>, FileError> {
    let read_error = |source| FileError::Read { path: path.into(), source };
    let file = File::open(path).map_err(read_error)?;
    let mut bytes = Vec::new();
    read_to_limit(file, max, &mut bytes, |_| ()).map_err(read_error)?;
    match bytes.len() as u64 > max {
        true => Err(FileError::input(Location::file(path), Problem::FileTooLarge { max })),
        false => Ok(bytes),
    }
}

/// As [`read_limited`], a text in UTF-8.
///
/// # Errors
///
/// As [`read_limited`], or if it is no such text.
pub(crate) fn read_text(path: &Path, max: u64) -> Result<String, FileError> {
    text_of(path, read_limited(path, max)?)
}

/// The text in the bytes of a file.
///
/// # Errors
///
/// If they are not UTF-8.
pub(crate) fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|_| FileError::input(Location::file(path), Problem::NotUtf8))
}

/// What the parser of JSON says, without the place.
pub(crate) fn json_words(cause: &serde_json::Error) -> String {
    let mut said = cause.to_string();
    said.truncate(said.rfind(" at line ").unwrap_or(said.len()));
    said
}

/// Reads to the end, or to one byte more than `max`. `read` receives the number of bytes.
pub(crate) fn read_to_limit(
    mut from: impl Read,
    max: u64,
    bytes: &mut Vec<u8>,
    read: impl Fn(u64),
) -> io::Result<()> {
    loop {
        let left = max.saturating_add(1).saturating_sub(bytes.len() as u64);
        let block = left.min(BLOCK_LEN_BYTES as u64);
        bytes.try_reserve(block as usize).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        if block == 0 || from.by_ref().take(block).read_to_end(bytes)? == 0 {
            return Ok(());
        }
        read(bytes.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_stops_at_the_limit() {
        let mut bytes = Vec::new();
        read_to_limit(io::repeat(7), 1 << 20, &mut bytes, |_| ()).unwrap();
        assert_eq!(bytes.len(), (1 << 20) + 1);
        bytes.clear();
        read_to_limit(io::repeat(7).take(10), 10, &mut bytes, |_| ()).unwrap();
        assert_eq!(bytes, [7; 10]);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_larger_than_any_limit() {
        let error = read_limited(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert_eq!(
            error.to_string(),
            "/dev/zero: larger than 1 MiB, which is the most that is read as a whole"
        );
    }
}
