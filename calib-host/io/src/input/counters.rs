//! The file of what a device's monitors counted.

use std::path::Path;

use calib_fit::fleet::DeviceCounters;

use super::sniff::dialect::BYTE_ORDER_MARK;
use super::source::Source;
use crate::files::{FileError, Location, Problem, Row, json_words};

/// The most bytes that a file of counters has: far more than those of 65 535 tables.
pub const MAX_COUNTERS_BYTES: u64 = 64 << 20;

/// Reads the counters of one device, or of several one after the other: JSON objects.
///
/// ```json
/// {
///   "calib_counters": 1,
///   "device": "ward 3",
///   "calibrator": "6d4b3c2f1a09f8e7",
///   "tables": [{"predictions": [40, 38], "labeled": [9, 7], "positives": [1, 6]}]
/// }
/// ```
///
/// # Errors
///
/// If the file cannot be read, or is something else; with the line.
pub fn read_counters(path: &Path) -> Result<Vec<DeviceCounters>, FileError> {
    counters_of(&Source::read_limited(path, MAX_COUNTERS_BYTES, &|_| ())?)
}

/// The same of a file that was read.
///
/// # Errors
///
/// If it is something else; with the line.
pub fn counters_of(source: &Source) -> Result<Vec<DeviceCounters>, FileError> {
    let place = Location::file(source.path());
    let bytes = source.bytes().strip_prefix(BYTE_ORDER_MARK).unwrap_or(source.bytes());
    if bytes.len() as u64 > MAX_COUNTERS_BYTES {
        return Err(FileError::input(place, Problem::TooLarge { max: MAX_COUNTERS_BYTES }));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(FileError::input(place, Problem::EmptyFile));
    }
    let devices = serde_json::Deserializer::from_slice(bytes).into_iter::<DeviceCounters>();
    devices
        .map(|device| {
            device.map_err(|cause| {
                let place = place.clone().row(Row::Line(cause.line() as u64));
                let why = format!("not the counters of a device: {}", json_words(&cause));
                FileError::input(place, Problem::Format(why))
            })
        })
        .collect()
}
