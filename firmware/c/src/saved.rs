//! Counters as bytes: the calibrator's name, the shape, the counters, and a CRC-32C of all of them, little-endian.

use calib_core::Identity;
use calib_core::artifact::crc32c;

use crate::error::{CALIB_ERROR_LENGTH, CALIB_ERROR_SAVED, Result};

const NAME: usize = 8;
const SHAPE: usize = 4;
const CRC: usize = 4;

/// How many bytes so many counters are.
pub(crate) const fn len(words: usize) -> usize {
    NAME + SHAPE + 4 * words + CRC
}

/// Writes so many counters; returns how many bytes they are.
pub(crate) fn write(
    bytes: &mut [u8],
    of: Identity,
    (shape, count): (u32, usize),
    words: impl Iterator<Item = u32>,
) -> Result<usize> {
    let (content, crc) = bytes
        .get_mut(..len(count))
        .and_then(<[u8]>::split_last_chunk_mut::<CRC>)
        .ok_or(CALIB_ERROR_LENGTH)?;
    let (name, rest) = content.split_first_chunk_mut::<NAME>().ok_or(CALIB_ERROR_LENGTH)?;
    let (form, counters) = rest.split_first_chunk_mut::<SHAPE>().ok_or(CALIB_ERROR_LENGTH)?;
    (*name, *form) = (of.0, shape.to_le_bytes());
    for (place, word) in counters.as_chunks_mut().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    *crc = crc32c(content).to_le_bytes();
    Ok(len(count))
}

/// Reads so many counters of this calibrator and shape.
pub(crate) fn read(
    bytes: &[u8],
    of: Identity,
    (shape, count): (u32, usize),
) -> Result<impl Iterator<Item = u32> + '_> {
    let (content, crc) = bytes.split_last_chunk::<CRC>().ok_or(CALIB_ERROR_SAVED)?;
    let (name, rest) = content.split_first_chunk::<NAME>().ok_or(CALIB_ERROR_SAVED)?;
    let (form, counters) = rest.split_first_chunk::<SHAPE>().ok_or(CALIB_ERROR_SAVED)?;
    let is_ours = (*name, *form) == (of.0, shape.to_le_bytes());
    if bytes.len() != len(count) || !is_ours || crc32c(content).to_le_bytes() != *crc {
        return Err(CALIB_ERROR_SAVED);
    }
    Ok(counters.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)))
}
