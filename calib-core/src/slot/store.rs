//! The store: which slot is active.

use embedded_storage::nor_flash::NorFlash;
use serde::{Deserialize, Serialize};

use super::admission::{Admission, Admitted, Trust};
use super::buffer::ArtifactBuffer;
use super::error::SlotFault;
use super::layout::{LayoutError, SlotLayout, UNIT_LEN};
use super::note::Note;
use super::record::{NO_KEY, Record, TRAILER_LEN};
use super::region::{READ_TRIES, Region};
use super::rotation::signed_by_successor;
use super::trailer::Trailer;
use crate::artifact::{Artifact, CRC_32C, Identity};

/// The offset of the identity in an artifact.
const IDENTITY_AT: u32 = 16;

/// Two slots in a flash, with the admission of artifacts to them.
///
/// ```
/// use calib_core::{Admission, Anybody, ArtifactBuffer, ClassifierId, Erased, SlotLayout, SlotStore};
/// use calib_core::slot::SlotFault;
/// # use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
/// # struct Blank;
/// # impl ErrorType for Blank { type Error = NorFlashErrorKind; }
/// # impl ReadNorFlash for Blank {
/// #     const READ_SIZE: usize = 1;
/// #     fn read(&mut self, _: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> { bytes.fill(0xFF); Ok(()) }
/// #     fn capacity(&self) -> usize { 8192 }
/// # }
/// # impl NorFlash for Blank {
/// #     const WRITE_SIZE: usize = 4;
/// #     const ERASE_SIZE: usize = 4096;
/// #     fn erase(&mut self, _: u32, _: u32) -> Result<(), NorFlashErrorKind> { Ok(()) }
/// #     fn write(&mut self, _: u32, _: &[u8]) -> Result<(), NorFlashErrorKind> { Ok(()) }
/// # }
/// let layout = SlotLayout { offsets: [0, 4096], len_bytes: 4096, erased: Erased::Ones };
/// let admission = Admission::new(Anybody, ClassifierId(*b"thermo01"));
/// let mut buffer = ArtifactBuffer::<256>::new();
/// # let flash = Blank;
/// let (mut store, loaded) = SlotStore::open(flash, layout, admission, &mut buffer)?;
/// assert_eq!(loaded.unwrap_err(), [SlotFault::Blank; 2]);
/// # Ok::<(), calib_core::slot::LayoutError>(())
/// ```
#[derive(Debug)]
pub struct SlotStore<F, T> {
    pub(super) region: Region<F>,
    pub(super) admission: Admission<T>,
    pub(super) current: Option<Current>,
    /// What the slots were when they were loaded last.
    pub(super) found: [ScanResult; 2],
    /// The greatest counter that a note said then.
    pub(super) noted: Option<Note>,
}

/// The active slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Current {
    pub(super) slot: usize,
    pub(super) record: Record,
}

/// What a slot was found to be: what its end says, and why it was not loaded, if that was tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanResult {
    pub(super) trailer: Trailer,
    pub(super) fault: Option<SlotFault>,
}

/// A slot that may hold a newer calibrator than the active one, and is of no use.
///
/// An installation into the slot was once completed. Its record is newer, or damaged, or cannot be read: then the calibrator may
/// as well be an older one. Or a note says that a newer one was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct UnusableSlot {
    /// The slot.
    pub slot: u8,
    /// Why it is of no use.
    pub fault: SlotFault,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SlotContent {
    /// The artifact's identity.
    pub identity: Identity,
    /// The artifact's length in bytes.
    pub len_bytes: u32,
    /// The artifact's counter.
    pub counter: u32,
    /// The number of the installation on this device, from 1 on.
    pub sequence: u32,
}

impl<F: NorFlash, T: Trust> SlotStore<F, T> {
    /// Takes the flash, and [loads](SlotStore::load) the active calibrator.
    ///
    /// # Errors
    ///
    /// If the slots do not fit the flash. A missing calibrator is the inner error; the store exists nevertheless.
    pub fn open<const WORDS: usize>(
        flash: F,
        layout: SlotLayout,
        admission: Admission<T>,
        buffer: &mut ArtifactBuffer<WORDS>,
    ) -> Result<(Self, Result<Admitted<'_>, [SlotFault; 2]>), LayoutError> {
        layout.check(&flash)?;
        let found = [ScanResult { trailer: Trailer::Unreadable, fault: None }; 2];
        let mut store =
            Self { region: Region { flash, layout }, admission, current: None, found, noted: None };
        let loaded = store.load(buffer);
        Ok((store, loaded))
    }

    /// Copies the active artifact to `buffer` and checks the copy. The whole slot is read, and nothing is written.
    ///
    /// # Errors
    ///
    /// If neither slot is valid, with the fault of each.
    pub fn load<'b, const WORDS: usize>(
        &mut self,
        buffer: &'b mut ArtifactBuffer<WORDS>,
    ) -> Result<Admitted<'b>, [SlotFault; 2]> {
        self.current = None;
        self.noted = self.region.noted(self.admission.whose());
        self.found = [0, 1].map(|slot| ScanResult { trailer: self.region.trailer(slot), fault: None });
        let [first, second] = self.found.map(|found| found.trailer.complete().map(|record| record.rank()));
        for slot in if first >= second { [0, 1] } else { [1, 0] } {
            let mut loaded = self.load_slot(slot, buffer);
            for _ in 1..READ_TRIES {
                // A bit may have been read wrong.
                if !matches!(loaded, Err(SlotFault::Altered | SlotFault::Tail { .. })) {
                    break;
                }
                loaded = self.load_slot(slot, buffer);
            }
            match loaded {
                Ok(record) => {
                    self.current = Some(Current { slot, record });
                    break;
                }
                Err(fault) => {
                    if let Some(found) = self.found.get_mut(slot) {
                        found.fault = Some(fault);
                    }
                }
            }
        }
        let faults = self.found.map(|found| found.fault.unwrap_or(SlotFault::Uncommitted));
        if self.current.is_none() {
            buffer.clear();
            return Err(faults);
        }
        // `load_slot` has admitted it, but cannot return a borrow of the buffer out of the loop.
        Admitted::again(buffer.as_bytes()).ok_or(faults)
    }

    /// Reads both slots completely, and returns what they hold. Whether an artifact is admitted shows only when it is loaded.
    pub fn survey(&mut self) -> [Result<SlotContent, SlotFault>; 2] {
        [0, 1].map(|slot| {
            let trailer = self.region.trailer(slot);
            let record = self.region.record(slot, trailer)?;
            let mut identity = [0; 8];
            self.region.scan(slot, record, |offset, bytes| {
                if let Some(found) = IDENTITY_AT.checked_sub(offset).and_then(|at| bytes.get(at as usize..)) {
                    identity.iter_mut().zip(found).for_each(|(to, from)| *to = *from);
                }
                Ok(())
            })?;
            let Record { sequence, counter, len_bytes, .. } = record;
            Ok(SlotContent { identity: Identity(identity), len_bytes, counter, sequence })
        })
    }

    /// Returns the slot whose calibrator may be newer than the active one and was of no use when the latter was
    /// [loaded](SlotStore::load). It is `None` if there is no such slot, or no active calibrator.
    pub fn fallback_from(&self) -> Option<UnusableSlot> {
        let current = self.current?;
        let slot = 1 - current.slot.min(1);
        // The newest is not there, whatever is in its slot.
        let is_gone = self.noted.is_some_and(|noted| noted.counter > current.record.counter);
        let gone = |fault| Some(fault).filter(|_| is_gone);
        let fault = match *self.found.get(slot)? {
            // One with an older calibrator is not looked at.
            ScanResult { trailer: Trailer::Complete(_), fault } => fault.or(gone(SlotFault::Uncommitted)),
            ScanResult { trailer: Trailer::Damaged, .. } => Some(SlotFault::Altered),
            ScanResult { trailer: Trailer::Unreadable, .. } => Some(SlotFault::Flash),
            ScanResult { trailer: Trailer::Blank, .. } => gone(SlotFault::Blank),
            ScanResult { trailer: Trailer::Open(_), .. } => gone(SlotFault::Uncommitted),
        };
        fault.map(|fault| UnusableSlot { slot: slot as u8, fault })
    }

    /// Returns the active slot, 0 or 1; `None` if neither is.
    pub fn current_slot(&self) -> Option<usize> {
        self.current.map(|current| current.slot)
    }

    /// Returns the counter of the active calibrator; `None` if there is no calibrator.
    pub fn current_counter(&self) -> Option<u32> {
        self.current.map(|current| current.record.counter)
    }

    /// Returns the admission of artifacts.
    pub const fn admission(&self) -> &Admission<T> {
        &self.admission
    }

    /// Returns the place of the slots.
    pub const fn layout(&self) -> &SlotLayout {
        &self.region.layout
    }

    /// Returns the flash.
    pub const fn flash(&self) -> &F {
        &self.region.flash
    }

    /// Returns the flash, for other uses. After a change to the slots, open a new store.
    pub const fn flash_mut(&mut self) -> &mut F {
        &mut self.region.flash
    }

    /// Gives the flash back.
    pub fn free(self) -> F {
        self.region.flash
    }

    /// Copies the artifact of a slot to the buffer, and admits it there.
    fn load_slot<const WORDS: usize>(
        &mut self,
        slot: usize,
        buffer: &mut ArtifactBuffer<WORDS>,
    ) -> Result<Record, SlotFault> {
        let trailer = self.found.get(slot).map_or(Trailer::Unreadable, |found| found.trailer);
        let record = self.region.record(slot, trailer)?;
        buffer.clear();
        let len_bytes = record.len_bytes;
        self.region.scan(slot, record, |_, bytes| {
            buffer.extend_from_slice(bytes).map_err(|_| SlotFault::TooLarge { len_bytes })
        })?;
        let admitted = self.admission.admit(buffer.as_bytes()).map_err(SlotFault::Refused)?;
        if admitted.artifact().counter() == record.counter { Ok(record) } else { Err(SlotFault::Altered) }
    }
}

impl<F: NorFlash> Region<F> {
    /// Reads a slot up to its spare marks. Gives the artifact to `take` piece by piece, each with its offset, and checks that the
    /// artifact is the record's and that the rest is erased.
    fn scan(
        &mut self,
        slot: usize,
        record: Record,
        mut take: impl FnMut(u32, &[u8]) -> Result<(), SlotFault>,
    ) -> Result<(), SlotFault> {
        let mut digest = CRC_32C.digest();
        let mut at = 0;
        while at < record.len_bytes {
            let unit: [u8; UNIT_LEN as usize] = self.unit(slot, at).map_err(|_| SlotFault::Flash)?;
            let len = (record.len_bytes - at).min(UNIT_LEN) as usize;
            let (bytes, padding) = unit.split_at(len.min(unit.len()));
            digest.update(bytes);
            take(at, bytes)?;
            let erased = self.layout.erased.byte();
            if let Some(dirty) = padding.iter().position(|&byte| byte != erased) {
                return Err(SlotFault::Tail { offset: record.len_bytes + dirty as u32 });
            }
            at += UNIT_LEN;
        }
        if digest.finalize() != record.crc {
            return Err(SlotFault::Altered);
        }
        self.is_erased(slot, at)
    }

    /// Looks whether all behind an artifact is erased. It is most of a slot: a bit of it that was read wrong is read again where it is, and
    /// not all of the slot.
    fn is_erased(&mut self, slot: usize, from: u32) -> Result<(), SlotFault> {
        let (mut at, mut tries) = (from, 0);
        loop {
            match self.first_programmed(slot, at, self.layout.max_artifact_len_bytes()) {
                Ok(None) => return Ok(()),
                Ok(Some(offset)) => {
                    let unit = offset / UNIT_LEN * UNIT_LEN;
                    tries = if unit == at { tries + 1 } else { 1 };
                    if tries == READ_TRIES {
                        return Err(SlotFault::Tail { offset });
                    }
                    at = unit;
                }
                Err(_) => return Err(SlotFault::Flash),
            }
        }
    }
}

/// Returns the last 64 bytes of a slot that holds this artifact as the installation with this number; `None` if the artifact does
/// not fit the slot.
///
/// This is for tools that write a whole slot at once, such as through a debug probe. Between the artifact and these bytes the slot
/// is erased.
///
/// ```
/// use calib_core::{Artifact, Erased, SlotLayout};
/// use calib_core::slot::slot_trailer;
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let buffer = sample::binary();
/// # let bytes = buffer.as_bytes();
/// let layout = SlotLayout { offsets: [0, 4096], len_bytes: 4096, erased: Erased::Ones };
/// let artifact = Artifact::parse(bytes).unwrap();
/// let trailer = slot_trailer(&artifact, bytes, 1, &layout).unwrap();
/// assert_eq!(trailer[..4], *b"CSLT");
/// assert_eq!(trailer[32..], [0; 32]); // the mark: every bit programmed
/// ```
pub fn slot_trailer(
    artifact: &Artifact<'_>,
    bytes: &[u8],
    sequence: u32,
    layout: &SlotLayout,
) -> Option<[u8; 64]> {
    let len_bytes = u32::try_from(bytes.len()).ok()?;
    if len_bytes > layout.max_artifact_len_bytes() {
        return None;
    }
    let crc = CRC_32C.checksum(bytes);
    let successor = signed_by_successor(artifact, bytes).unwrap_or(NO_KEY);
    let record = Record { sequence, counter: artifact.counter(), len_bytes, crc, successor };
    let mut trailer = [!layout.erased.byte(); TRAILER_LEN as usize];
    trailer.first_chunk_mut().map(|start| *start = record.to_bytes())?;
    Some(trailer)
}
