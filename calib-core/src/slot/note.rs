//! Notes: the newest calibrator's counter, kept a second time outside its record.

use embedded_storage::nor_flash::NorFlash;

use super::layout::When;
use super::record::{RECORD_LEN, Record};
use super::region::Region;
use crate::artifact::{CRC_32C, KeyId};

const MAGIC: [u8; 4] = *b"CLST";
const CRC_AT: usize = RECORD_LEN - 4;

/// A calibrator that was the newest once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) counter: u32,
    /// The CRC-32C of the artifact.
    pub(super) crc: u32,
    /// The name of the key that signed it, if it took the place of another one.
    pub(super) successor: KeyId,
}

impl Note {
    pub(super) const fn of(record: &Record) -> Self {
        Self { counter: record.counter, crc: record.crc, successor: record.successor }
    }

    fn to_bytes(self, whose: u32) -> [u8; RECORD_LEN] {
        let mut bytes = [0; RECORD_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&self.counter.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.crc.to_le_bytes());
        bytes[12..16].copy_from_slice(&whose.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.successor.0);
        let crc = CRC_32C.checksum(&bytes[..CRC_AT]);
        bytes[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Returns the note in these bytes; `None` unless every bit is right, and it is about calibrators that are accepted here.
    fn parse(bytes: &[u8; RECORD_LEN], whose: u32) -> Option<Self> {
        let word = |at: usize| bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes);
        let successor = KeyId(*bytes.get(16..)?.first_chunk()?);
        let note = Self { counter: word(4)?, crc: word(8)?, successor };
        (note.to_bytes(whose) == *bytes).then_some(note)
    }
}

impl<F: NorFlash> Region<F> {
    /// Writes a note if its place is blank. What fails costs the second copy of a counter, and nothing else.
    pub(super) fn write_note(&mut self, slot: usize, when: When, note: Note, whose: u32) {
        let at = self.layout.note_at(when);
        // Without a counter there is nothing to keep.
        if note.counter > 0 && self.unit(slot, at).is_ok_and(|unit| self.is_blank(&unit)) {
            let _ = self.write_unit(slot, at, &note.to_bytes(whose));
        }
    }

    /// Returns the greatest counter that a note says.
    pub(super) fn noted(&mut self, whose: u32) -> Option<Note> {
        let places = [(0, When::Before), (0, When::After), (1, When::Before), (1, When::After)];
        let read = |(slot, when)| {
            let unit = self.unit(slot, self.layout.note_at(when)).ok()?;
            Note::parse(&unit, whose)
        };
        places.into_iter().filter_map(read).max_by_key(|note| note.counter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_pinned_and_no_other_is_taken() {
        let (note, whose) =
            (Note { counter: 7, crc: 0xDEAD_BEEF, successor: KeyId(*b"key name") }, 0x0102_0304);
        let bytes = note.to_bytes(whose);
        assert_eq!(bytes[..16], b"CLST\x07\0\0\0\xEF\xBE\xAD\xDE\x04\x03\x02\x01"[..]);
        assert_eq!(bytes[16..28], *b"key name\0\0\0\0");
        assert_eq!((Note::parse(&bytes, whose), Note::parse(&bytes, whose + 1)), (Some(note), None));
        for bit in 0..8 * bytes.len() {
            let mut bad = bytes;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Note::parse(&bad, whose), None, "bit {bit}");
        }
    }
}
