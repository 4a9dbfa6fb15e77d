//! The bytes of a record: six words, the counters, and a CRC-32C of all before it; filled up to whole units.

use crc::Digest;

use crate::artifact::{CRC_32C, Identity};

/// The number of bytes that are read and written at once. The units in which a flash is read and written divide it.
pub(super) const UNIT_LEN: usize = 32;
/// The words of a unit.
pub(super) const UNIT_WORDS: usize = UNIT_LEN / 4;
/// The words before the counters.
const HEAD: usize = 6;

const MAGIC: u32 = u32::from_le_bytes(*b"CJNL");

/// Returns the length of a record of so many counters in bytes: a unit or more.
pub(super) const fn record_len(words: usize) -> usize {
    // Not 0 however many there are: a walk in steps of 0 would be a panic.
    match words.saturating_add(HEAD + 1).saturating_mul(4).checked_next_multiple_of(UNIT_LEN) {
        Some(len) if len > 0 => len,
        _ => usize::MAX,
    }
}

/// What a record says besides the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Counts the records of this journal.
    pub(super) sequence: u32,
    /// Whose counters they are.
    pub(super) calibrator: Identity,
    /// What tells apart counters that are arranged otherwise.
    pub(super) shape: u32,
    /// How many counters there are.
    pub(super) words: u32,
}

impl Head {
    pub(super) fn to_words(self) -> [u32; HEAD] {
        let Self { sequence, calibrator: Identity([a, b, c, d, e, f, g, h]), shape, words } = self;
        let (low, high) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        [MAGIC, sequence, low, high, shape, words]
    }

    pub(super) fn of_words([magic, sequence, low, high, shape, words]: [u32; HEAD]) -> Option<Self> {
        let ([a, b, c, d], [e, f, g, h]) = (low.to_le_bytes(), high.to_le_bytes());
        let calibrator = Identity([a, b, c, d, e, f, g, h]);
        (magic == MAGIC).then_some(Self { sequence, calibrator, shape, words })
    }
}

/// Adds words up to a record's checksum.
pub(super) struct Checksum(Digest<'static, u32>);

impl Checksum {
    pub(super) fn new() -> Self {
        Self(CRC_32C.digest())
    }

    pub(super) fn add(&mut self, word: u32) {
        self.0.update(&word.to_le_bytes());
    }

    pub(super) fn finish(self) -> u32 {
        self.0.finalize()
    }
}
