//! The end of a slot: what was installed, and whether the installation was completed.

use crate::artifact::{CRC_32C, KeyId};

pub(super) const RECORD_LEN: usize = 32;
pub(super) const MARK_LEN: usize = 32;
/// The number of bytes at the end of a slot that every installation writes.
pub(super) const TRAILER_LEN: u32 = (RECORD_LEN + MARK_LEN) as u32;

const MAGIC: [u8; 4] = *b"CSLT";
const CRC_AT: usize = RECORD_LEN - 4;

/// A slot's record about its artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Counts the installations on this device.
    pub(super) sequence: u32,
    /// The artifact's counter.
    pub(super) counter: u32,
    pub(super) len_bytes: u32,
    /// The CRC-32C of the whole artifact.
    pub(super) crc: u32,
    /// The name of the key that signed the artifact, if it took the place of another one.
    pub(super) successor: KeyId,
}

/// No key.
pub(super) const NO_KEY: KeyId = KeyId([0; 8]);

impl Record {
    /// Returns the rank: of two valid slots, the one with the greater rank is active.
    pub(super) const fn rank(&self) -> (u32, u32) {
        (self.counter, self.sequence)
    }

    /// Tells whether both are of the same artifact.
    pub(super) fn is_of_same(&self, other: &Self) -> bool {
        (self.counter, self.len_bytes, self.crc) == (other.counter, other.len_bytes, other.crc)
    }

    pub(super) fn to_bytes(self) -> [u8; RECORD_LEN] {
        let mut bytes = [0; RECORD_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.counter.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.len_bytes.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.crc.to_le_bytes());
        bytes[20..CRC_AT].copy_from_slice(&self.successor.0);
        let crc = CRC_32C.checksum(&bytes[..CRC_AT]);
        bytes[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Returns the record in these bytes; `None` unless every bit is right.
    pub(super) fn parse(bytes: &[u8; RECORD_LEN]) -> Option<Self> {
        let word = |at: usize| bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes);
        let successor = KeyId(*bytes.get(20..)?.first_chunk()?);
        let record =
            Self { sequence: word(4)?, counter: word(8)?, len_bytes: word(12)?, crc: word(16)?, successor };
        (record.to_bytes() == *bytes).then_some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_pinned_and_no_other_is_taken() {
        let successor = NO_KEY;
        let record =
            Record { sequence: 0x0102_0304, counter: 7, len_bytes: 188, crc: 0xDEAD_BEEF, successor };
        let bytes = record.to_bytes();
        let pinned = b"CSLT\x04\x03\x02\x01\x07\0\0\0\xBC\0\0\0\xEF\xBE\xAD\xDE\0\0\0\0\0\0\0\0";
        assert_eq!(bytes[..28], pinned[..]);
        let named = Record { successor: KeyId(*b"key name"), ..record };
        assert_eq!(named.to_bytes()[20..28], *b"key name");
        assert_eq!(Record::parse(&named.to_bytes()), Some(named));
        assert_eq!(Record::parse(&bytes), Some(record));
        for bit in 0..8 * bytes.len() {
            let mut bad = bytes;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Record::parse(&bad), None, "bit {bit}");
        }
        assert_eq!(Record::parse(&[0; 32]), None);
        assert_eq!(Record::parse(&[0xFF; 32]), None);
    }
}
