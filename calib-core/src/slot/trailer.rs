//! What the end of a slot says of it: record and marks.

use embedded_storage::nor_flash::NorFlash;

use super::error::SlotFault;
use super::layout::When;
use super::record::{RECORD_LEN, Record};
use super::region::{READ_TRIES, Region};

/// What the end of a slot says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trailer {
    /// Record and marks are erased.
    Blank,
    /// No mark is complete. The record is there if the installation had come so far.
    Open(Option<Record>),
    /// A mark is complete, and the record is right.
    Complete(Record),
    /// A mark is complete, and the record is not right.
    Damaged,
    /// Record or marks cannot be read, and what can be read does not say that there is no calibrator.
    Unreadable,
}

impl Trailer {
    /// Returns the record of an installation that was completed.
    pub(super) const fn complete(&self) -> Option<Record> {
        match self {
            Self::Complete(record) => Some(*record),
            _ => None,
        }
    }

    /// Tells whether the slot cannot be active before one of this rank, whatever its torn bits turn out to be.
    pub(super) fn is_below(&self, rank: (u32, u32)) -> bool {
        match self {
            Self::Blank => true,
            Self::Open(Some(record)) | Self::Complete(record) => record.rank() < rank,
            Self::Open(None) | Self::Damaged | Self::Unreadable => false,
        }
    }

    /// Orders slots by how much is lost if one is erased: a slot that cannot be read may hold anything.
    pub(super) fn worth(&self) -> (u8, (u32, u32)) {
        match self {
            Self::Blank | Self::Open(_) => (0, (0, 0)),
            Self::Damaged => (1, (0, 0)),
            Self::Complete(record) => (2, record.rank()),
            Self::Unreadable => (3, (0, 0)),
        }
    }
}

impl<F: NorFlash> Region<F> {
    /// Reads the record of a slot, and looks whether it is in order.
    fn record_unit(&mut self, slot: usize) -> (Option<Record>, Option<[u8; RECORD_LEN]>) {
        let bytes: Option<[u8; RECORD_LEN]> = self.unit(slot, self.layout.record_at()).ok();
        let max = self.layout.max_artifact_len_bytes();
        let record = bytes.and_then(|bytes| Record::parse(&bytes)).filter(|record| record.len_bytes <= max);
        (record, bytes)
    }

    /// Reads record and marks of a slot.
    pub(super) fn trailer(&mut self, slot: usize) -> Trailer {
        let mut found = self.record_unit(slot);
        // A bit may have been read wrong.
        for _ in 1..READ_TRIES {
            if found.0.is_some() {
                break;
            }
            found = self.record_unit(slot);
        }
        let (record, bytes) = found;
        let marks = self.marks(slot);
        match (record, bytes) {
            (Some(record), _) if marks.complete > 0 => Trailer::Complete(record),
            (None, Some(_)) if marks.complete > 0 => Trailer::Damaged,
            (_, None) if marks.complete > 0 => Trailer::Unreadable,
            _ if marks.unreadable > 0 => Trailer::Unreadable,
            (Some(_), _) => Trailer::Open(record),
            (None, Some(bytes)) => {
                let erased = self.layout.erased.byte();
                let blank = marks.blank == marks.places && bytes.iter().all(|&byte| byte == erased);
                if blank { Trailer::Blank } else { Trailer::Open(None) }
            }
            (None, None) => Trailer::Open(None),
        }
    }

    /// Returns the record of a slot whose end says that it holds a calibrator.
    ///
    /// # Errors
    ///
    /// Why it holds none.
    pub(super) fn record(&mut self, slot: usize, trailer: Trailer) -> Result<Record, SlotFault> {
        match trailer {
            Trailer::Complete(record) => Ok(record),
            Trailer::Damaged => Err(SlotFault::Altered),
            Trailer::Unreadable => Err(SlotFault::Flash),
            Trailer::Open(_) => Err(SlotFault::Uncommitted),
            Trailer::Blank => {
                // What was torn may be unreadable: it is not blank then. A note is no artifact.
                let blank = self.first_programmed(slot, 0, self.layout.note_at(When::Before));
                Err(if matches!(blank, Ok(None)) { SlotFault::Blank } else { SlotFault::Uncommitted })
            }
        }
    }
}
