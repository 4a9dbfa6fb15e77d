//! An installation, step by step.

use embedded_storage::nor_flash::NorFlash;
use serde::{Deserialize, Serialize};

use super::admission::Trust;
use super::error::InstallError;
use super::layout::UNIT_LEN;
use super::record::{MARK_LEN, RECORD_LEN, Record};
use super::store::{Current, SlotStore};
use crate::artifact::{CRC_32C, Identity};

/// The number of bytes of an artefact that a step writes or compares.
const STEP_LEN: u32 = 8 * UNIT_LEN;

/// An installation that has begun. If it is dropped, the calibrator in force stays in force.
#[derive(Clone, Copy, Debug)]
pub struct Install {
    identity: Identity,
    record: Record,
    target: usize,
    next: Step,
}

/// The next step of an installation, with offsets in the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Firm { held_already: bool },
    Erase { at: u32 },
    Write { at: u32 },
    Compare { at: u32 },
    Tail,
    Record,
    Mark,
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
    /// The artefact is in force, whatever happens from now on.
    Installed(Receipt),
}

/// An acknowledged installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Receipt {
    /// The artefact's identity.
    pub identity: Identity,
    /// The slot that holds the artefact.
    pub slot: u8,
    /// The number of the installation on this device, from 1 on.
    pub sequence: u32,
}

type Result<T, F> =
    core::result::Result<T, InstallError<<F as embedded_storage::nor_flash::ErrorType>::Error>>;

impl<F: NorFlash, T: Trust> SlotStore<F, T> {
    /// Checks an artefact, and begins to install it in the slot that is not in force. Nothing is written yet.
    ///
    /// If the slot in force holds the same bytes already, the installation only confirms them.
    ///
    /// # Errors
    ///
    /// If the artefact is not admitted, is too large, or has a lower counter than the calibrator in force.
    pub fn begin(&mut self, bytes: &[u8]) -> Result<Install, F> {
        let admitted = self.admission.admit(bytes).map_err(InstallError::Refused)?;
        let (identity, counter) = (admitted.artifact().identity(), admitted.artifact().counter());
        let max = self.layout.max_artifact_len_bytes();
        let len_bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        if len_bytes > max {
            return Err(InstallError::TooLarge { len_bytes, max });
        }
        let crc = CRC_32C.checksum(bytes);
        let Some(Current { slot, record, .. }) = self.current else {
            let record = Record { sequence: 1, counter, len_bytes, crc };
            return Ok(Install { identity, record, target: 0, next: Step::Erase { at: 0 } });
        };
        if counter < record.counter {
            return Err(InstallError::Downgrade { held: record.counter, offered: counter });
        }
        if (record.counter, record.len_bytes, record.crc) == (counter, len_bytes, crc)
            && self.first_difference(slot, 0, len_bytes, bytes)?.is_none()
        {
            return Ok(Install { identity, record, target: slot, next: Step::Firm { held_already: true } });
        }
        let sequence = record.sequence.checked_add(1).ok_or(InstallError::SequenceExhausted)?;
        let record = Record { sequence, counter, len_bytes, crc };
        Ok(Install { identity, record, target: 1 - slot.min(1), next: Step::Firm { held_already: false } })
    }

    /// Does the next step of an installation: erases a sector, or writes or compares up to 256 bytes.
    ///
    /// `bytes` is the artefact with which the installation [began](SlotStore::begin). After an error, begin again.
    ///
    /// # Errors
    ///
    /// If the flash fails, or does not hold the bytes that were written. The calibrator in force stays in force.
    pub fn step(&mut self, install: &mut Install, bytes: &[u8]) -> Result<Progress, F> {
        let Install { record, target, next, .. } = *install;
        if u32::try_from(bytes.len()) != Ok(record.len_bytes) {
            return Err(InstallError::OtherArtifact);
        }
        let len = record.len_bytes;
        let record_at = self.layout.max_artifact_len_bytes();
        install.next = match next {
            Step::Firm { held_already } => {
                self.firm()?;
                if held_already { Step::Done } else { Step::Erase { at: 0 } }
            }
            Step::Erase { at } => {
                let from = self.start(target) + at;
                let sector = F::ERASE_SIZE as u32;
                self.flash.erase(from, from + sector).map_err(InstallError::Flash)?;
                let at = at + sector;
                if at < self.layout.len_bytes { Step::Erase { at } } else { Step::Write { at: 0 } }
            }
            Step::Write { at } => {
                let end = at + (len - at).min(STEP_LEN);
                self.write_artifact(target, at, end, bytes)?;
                if end < len { Step::Write { at: end } } else { Step::Compare { at: 0 } }
            }
            Step::Compare { at } => {
                let end = at + (len - at).min(STEP_LEN);
                if let Some(offset) = self.first_difference(target, at, end, bytes)? {
                    return Err(InstallError::ReadBack { offset });
                }
                if end < len { Step::Compare { at: end } } else { Step::Tail }
            }
            Step::Tail => {
                // The flash holds `bytes` by now. The CRC says that they are the bytes that were admitted.
                if CRC_32C.checksum(bytes) != record.crc {
                    return Err(InstallError::OtherArtifact);
                }
                let from = len.next_multiple_of(UNIT_LEN);
                match self.first_programmed(target, from, self.layout.len_bytes) {
                    Ok(None) => Step::Record,
                    Ok(Some(offset)) => return Err(InstallError::ReadBack { offset }),
                    Err(_) => return Err(InstallError::ReadBack { offset: from }),
                }
            }
            Step::Record => {
                self.write_unit(target, record_at, &record.to_bytes())?;
                Step::Mark
            }
            Step::Mark => {
                self.write_unit(target, record_at + RECORD_LEN as u32, &self.mark())?;
                self.current = Some(Current { slot: target, record, firm: true });
                Step::Done
            }
            Step::Done => Step::Done,
        };
        Ok(self.progress(install))
    }

    /// Installs an artefact by all steps at once.
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

    /// Writes the mark of the slot in force again, unless it was written completely since the start.
    fn firm(&mut self) -> Result<(), F> {
        if let Some(current) = self.current
            && !current.firm
        {
            let at = self.layout.max_artifact_len_bytes() + RECORD_LEN as u32;
            self.write_unit(current.slot, at, &self.mark())?;
            self.current = Some(Current { firm: true, ..current });
        }
        Ok(())
    }

    /// Writes a part of an artefact, and erased bytes after it up to the next unit.
    fn write_artifact(&mut self, slot: usize, from: u32, to: u32, bytes: &[u8]) -> Result<(), F> {
        let part = bytes.get(from as usize..to as usize).ok_or(InstallError::OtherArtifact)?;
        let mut chunk = [self.layout.erased.byte(); STEP_LEN as usize];
        chunk.iter_mut().zip(part).for_each(|(to, from)| *to = *from);
        let padded = part.len().next_multiple_of(F::WRITE_SIZE);
        let chunk = chunk.get(..padded).ok_or(InstallError::OtherArtifact)?;
        self.flash.write(self.start(slot) + from, chunk).map_err(InstallError::Flash)
    }

    /// Writes a record or a mark, and reads it back.
    fn write_unit(&mut self, slot: usize, offset: u32, unit: &[u8; MARK_LEN]) -> Result<(), F> {
        self.flash.write(self.start(slot) + offset, unit).map_err(InstallError::Flash)?;
        let mut found = [0; MARK_LEN];
        self.read(slot, offset, &mut found).map_err(InstallError::Flash)?;
        match unit.iter().zip(&found).position(|(written, read)| written != read) {
            None => Ok(()),
            Some(at) => Err(InstallError::ReadBack { offset: offset + at as u32 }),
        }
    }

    /// Returns the first offset in `from..to` at which the slot differs from the artefact. `from` is a multiple of a unit.
    fn first_difference(&mut self, slot: usize, from: u32, to: u32, bytes: &[u8]) -> Result<Option<u32>, F> {
        let mut at = from;
        while at < to {
            let mut unit = [0; UNIT_LEN as usize];
            self.read(slot, at, &mut unit).map_err(InstallError::Flash)?;
            let expected = bytes.get(at as usize..to as usize).unwrap_or_default();
            if let Some(differs) = unit.iter().zip(expected).position(|(read, written)| read != written) {
                return Ok(Some(at + differs as u32));
            }
            at += UNIT_LEN;
        }
        Ok(None)
    }

    /// Returns how far an installation is.
    pub fn progress(&self, install: &Install) -> Progress {
        let len = install.record.len_bytes;
        let (slot_len, total_bytes) = (self.layout.len_bytes, self.layout.len_bytes + 2 * len);
        let done_bytes = match install.next {
            Step::Firm { .. } => 0,
            Step::Erase { at } => at,
            Step::Write { at } => slot_len + at,
            Step::Compare { at } => slot_len + len + at,
            Step::Tail | Step::Record | Step::Mark => total_bytes,
            Step::Done => {
                let Install { identity, record, target, .. } = *install;
                return Progress::Installed(Receipt {
                    identity,
                    slot: target as u8,
                    sequence: record.sequence,
                });
            }
        };
        Progress::Pending { done_bytes, total_bytes }
    }
}
