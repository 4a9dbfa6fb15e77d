//! The checksum of artifacts and frames.

use crc::{CRC_32_ISCSI, Crc};

/// CRC-32C (Castagnoli), which finds every error of up to 5 bits in 655 bytes and of up to 3 bits in 4 KB.
// A `static`, so that its table of 1 KB is in flash once.
pub(crate) static CRC_32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// Returns the CRC-32C of bytes, with which the [device protocol](crate::wire) announces an artifact.
///
/// ```
/// assert_eq!(calib_core::artifact::crc32c(b"123456789"), 0xE306_9283);
/// ```
pub fn crc32c(bytes: &[u8]) -> u32 {
    CRC_32C.checksum(bytes)
}
