//! The log of what devices counted and answered.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use calib_fit::fleet::LogLine;

use crate::files::{FileError, Location, Problem, Row, json_words};

/// Far more than a day's predictions in one line.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// Reads a log of devices line by line: see [`LogLine`]. Empty lines are skipped. `take` is given each line with its place.
///
/// # Errors
///
/// If the file cannot be read, holds nothing, or a line is none of a log; and those of `take`.
pub fn read_fleet_log<E: From<FileError>>(
    path: &Path,
    mut take: impl FnMut(Location, LogLine) -> Result<(), E>,
) -> Result<(), E> {
    let read_error = |source| FileError::Read { path: path.into(), source };
    let mut file = BufReader::new(File::open(path).map_err(read_error)?);
    let (mut text, mut lines) = (Vec::new(), 0u64);
    for number in 1.. {
        text.clear();
        let read = file.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut text).map_err(read_error)?;
        if read == 0 {
            break;
        }
        let place = Location::file(path).row(Row::Line(number));
        if read as u64 > MAX_LINE_BYTES {
            return Err(FileError::input(place, Problem::RowTooLong { max: MAX_LINE_BYTES }).into());
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line = serde_json::from_slice(&text).map_err(|cause| {
            let why = format!("not a line of a log: {}", json_words(&cause));
            FileError::input(place.clone(), Problem::Format(why))
        })?;
        take(place, line)?;
        lines += 1;
    }
    match lines {
        0 => Err(FileError::input(Location::file(path), Problem::EmptyFile).into()),
        _ => Ok(()),
    }
}
