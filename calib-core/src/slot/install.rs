//! An installation, step by step.

use embedded_storage::nor_flash::NorFlash;
use serde::{Deserialize, Serialize};

use super::admission::Trust;
use super::error::InstallError;
use super::layout::{UNIT_LEN, When};
use super::note::Note;
use super::plan::Plan;
use super::record::Record;
use super::store::{Current, SlotStore};
use crate::artifact::{CRC_32C, Identity};

/// The number of bytes of an artifact that a step writes or compares.
const STEP_LEN: u32 = 8 * UNIT_LEN;

/// An installation that has begun. If it is dropped, the active calibrator stays active.
#[derive(Clone, Copy, Debug)]
pub struct Install {
    identity: Identity,
    plan: Plan,
    next: Step,
}

/// The next step of an installation, with offsets in the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    MakeSure,
    Erase { at: u32 },
    Write { at: u32 },
    Compare { at: u32 },
    Sum,
    Record,
    Mark,
    Firm,
    Clear { at: u32 },
    Done,
}

/// How far an installation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Progress {
    /// There are more steps to do.
    Pending {
        /// The bytes of flash erased, written and compared so far.
        done_bytes: u32,
        /// The bytes of flash to erase, write and compare in all.
        total_bytes: u32,
    },
    /// The artifact is active, whatever happens from now on.
    Installed(Receipt),
}

/// An acknowledged installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Receipt {
    /// The artifact's identity.
    pub identity: Identity,
    /// The slot that holds the artifact.
    pub slot: u8,
    /// The number of the installation on this device, from 1 on.
    pub sequence: u32,
}

type Result<T, F> =
    core::result::Result<T, InstallError<<F as embedded_storage::nor_flash::ErrorType>::Error>>;

impl<F: NorFlash, T: Trust> SlotStore<F, T> {
    /// Checks an artifact, and begins to install it in the slot that is not active. Nothing is written yet.
    ///
    /// If the active slot holds the same bytes already, the installation only confirms them.
    ///
    /// # Errors
    ///
    /// If the artifact is not admitted, is too large, or has a lower counter than the newest calibrator in the slots. If signatures
    /// are demanded, also if it has no counter, or that of another calibrator. [`InstallError::Reload`] if the store would not know
    /// what it replaces. Also if it is signed with a key in whose place another one came.
    pub fn begin(&mut self, bytes: &[u8]) -> Result<Install, F> {
        let admitted = self.admission.admit(bytes).map_err(InstallError::Refused)?;
        let (identity, counter) = (admitted.artifact().identity(), admitted.artifact().counter());
        let max = self.region.layout.max_artifact_len_bytes();
        let len_bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        if len_bytes > max {
            return Err(InstallError::TooLarge { len_bytes, max });
        }
        if counter == 0 && self.admission.trusted_key().is_some() {
            return Err(InstallError::NoCounter);
        }
        let (crc, successor) = (CRC_32C.checksum(bytes), self.admission.successor(&admitted));
        let offered = Record { sequence: 0, counter, len_bytes, crc, successor };
        let plan = self.plan(offered, &admitted)?;
        let next = if self.current.is_some() { Step::MakeSure } else { Step::Erase { at: 0 } };
        Ok(Install { identity, plan, next })
    }

    /// Does the next step of an installation: erases a sector, or writes or compares up to 256 bytes.
    ///
    /// `bytes` is the artifact with which the installation [began](SlotStore::begin). After an error, begin again.
    ///
    /// # Errors
    ///
    /// If the flash fails, or does not hold the bytes that were written. The active calibrator stays active.
    pub fn step(&mut self, install: &mut Install, bytes: &[u8]) -> Result<Progress, F> {
        let Install { plan: Plan { target, record, is_held, clears, before }, next, .. } = *install;
        if u32::try_from(bytes.len()) != Ok(record.len_bytes) {
            return Err(InstallError::OtherArtifact);
        }
        let len = record.len_bytes;
        let completed = if clears { Step::Clear { at: 0 } } else { Step::Done };
        install.next = match next {
            Step::MakeSure => {
                if let Some(Current { slot, .. }) = self.current {
                    self.region.make_sure(slot)?;
                }
                if is_held { completed } else { Step::Erase { at: 0 } }
            }
            Step::Erase { at } => {
                let at = self.region.erase_sector(target, at)?;
                if at < self.region.layout.len_bytes {
                    Step::Erase { at }
                } else {
                    if let Some(note) = before {
                        self.region.write_note(target, When::Before, note, self.admission.whose());
                    }
                    Step::Write { at: 0 }
                }
            }
            Step::Write { at } => {
                let end = at + (len - at).min(STEP_LEN);
                self.write_artifact(target, at, end, bytes)?;
                if end < len { Step::Write { at: end } } else { Step::Compare { at: 0 } }
            }
            Step::Compare { at } => {
                let end = at + (len - at).min(STEP_LEN);
                let differs = self.region.first_difference(target, at, end, bytes);
                if let Some(offset) = differs.map_err(InstallError::Flash)? {
                    return Err(InstallError::ReadBack { offset });
                }
                if end < len { Step::Compare { at: end } } else { Step::Sum }
            }
            Step::Sum => {
                // The flash holds `bytes` by now. The CRC says that they are the bytes that were admitted.
                if CRC_32C.checksum(bytes) != record.crc {
                    return Err(InstallError::OtherArtifact);
                }
                Step::Record
            }
            Step::Record => {
                self.region.write_unit(target, self.region.layout.record_at(), &record.to_bytes())?;
                Step::Mark
            }
            Step::Mark => {
                self.region.write_first_mark(target)?;
                Step::Firm
            }
            Step::Firm => {
                self.region.make_sure(target)?;
                completed
            }
            Step::Clear { at } => {
                let at = self.region.erase_sector(1 - target.min(1), at)?;
                if at < self.region.layout.len_bytes { Step::Clear { at } } else { Step::Done }
            }
            Step::Done => Step::Done,
        };
        if install.next == Step::Done {
            let whose = self.admission.whose();
            self.region.write_note(1 - target.min(1), When::After, Note::of(&record), whose);
            self.current = Some(Current { slot: target, record });
        }
        Ok(self.progress(install))
    }

    /// Installs an artifact by all steps at once.
    ///
    /// # Errors
    ///
    /// As [`SlotStore::begin`] and [`SlotStore::step`].
    pub fn install(&mut self, bytes: &[u8]) -> Result<Receipt, F> {
        let mut install = self.begin(bytes)?;
        loop {
            if let Progress::Installed(receipt) = self.step(&mut install, bytes)? {
                return Ok(receipt);
            }
        }
    }

    /// Writes a part of an artifact, and erased bytes after it up to the next unit.
    fn write_artifact(&mut self, slot: usize, from: u32, to: u32, bytes: &[u8]) -> Result<(), F> {
        let part = bytes.get(from as usize..to as usize).ok_or(InstallError::OtherArtifact)?;
        let mut chunk = [self.region.layout.erased.byte(); STEP_LEN as usize];
        chunk.iter_mut().zip(part).for_each(|(to, from)| *to = *from);
        let padded = part.len().next_multiple_of(F::WRITE_SIZE);
        let chunk = chunk.get(..padded).ok_or(InstallError::OtherArtifact)?;
        self.region.write(slot, from, chunk)
    }

    /// Returns how far an installation is.
    pub fn progress(&self, install: &Install) -> Progress {
        let Install { identity, plan: Plan { target, record, is_held, clears, .. }, next } = *install;
        let (len, slot_len) = (record.len_bytes, self.region.layout.len_bytes);
        let to_complete = if is_held { 0 } else { slot_len + 2 * len };
        let total_bytes = to_complete + if clears { slot_len } else { 0 };
        let done_bytes = match next {
            Step::MakeSure => 0,
            Step::Erase { at } => at,
            Step::Write { at } => slot_len + at,
            Step::Compare { at } => slot_len + len + at,
            Step::Sum | Step::Record | Step::Mark | Step::Firm => to_complete,
            Step::Clear { at } => to_complete + at,
            Step::Done => {
                let (slot, sequence) = (target as u8, record.sequence);
                return Progress::Installed(Receipt { identity, slot, sequence });
            }
        };
        Progress::Pending { done_bytes, total_bytes }
    }
}
