//! What the fuzz targets share.

mod files;

use calib_core::artifact::PREFIX_LEN;
use crc::{CRC_32_ISCSI, Crc};

pub use files::{read, read_one_way};

/// The CRC of artifacts and frames.
pub static CRC_32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// Gets behind an artifact's CRC: makes magic, format, length and CRC right and leaves the rest to the fuzzer.
///
/// # Panics
///
/// If it is shorter than an artifact's prefix.
pub fn repair(artifact: &mut [u8]) {
    assert!(artifact.len() >= PREFIX_LEN);
    let len = artifact.len() as u32;
    artifact[..4].copy_from_slice(b"CALB");
    artifact[4..6].copy_from_slice(&1u16.to_le_bytes());
    artifact[8..12].copy_from_slice(&len.to_le_bytes());
    artifact[24..32].fill(0);
    let mut digest = CRC_32C.digest();
    digest.update(&artifact[..12]);
    digest.update(&artifact[16..]);
    artifact[12..16].copy_from_slice(&digest.finalize().to_le_bytes());
}

/// Bytes without a zero, as frames hold them.
pub fn cobs_encoded(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = vec![0; cobs::max_encoding_length(bytes.len())];
    let len = cobs::encode(bytes, &mut encoded);
    encoded.truncate(len);
    encoded
}
