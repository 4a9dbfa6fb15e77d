//! The checksum of artefacts and frames.

use crc::{CRC_32_ISCSI, Crc};

/// CRC-32C (Castagnoli). It finds every error of up to 5 bits in 655 bytes and of up to 3 bits in 4 KB.
///
/// A `static`, so that its table of 1 KB is in flash once.
pub(crate) static CRC_32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// The CRC-32C of these bytes, as it announces an artefact in the [device protocol](crate::wire).
pub fn crc32c(bytes: &[u8]) -> u32 {
    CRC_32C.checksum(bytes)
}
