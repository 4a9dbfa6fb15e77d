//! Whether an artifact may be installed, and where it goes.

use embedded_storage::nor_flash::{ErrorType, NorFlash};

use super::admission::{Admitted, Trust};
use super::error::{InstallError, SlotFault};
use super::note::Note;
use super::record::Record;
use super::store::{Current, ScanResult, SlotStore};
use super::trailer::Trailer;

/// What an installation does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The slot that holds the artifact in the end.
    pub(super) target: usize,
    /// The artifact's record.
    pub(super) record: Record,
    /// Whether the active slot holds the artifact already.
    pub(super) is_held: bool,
    /// Whether the other slot is erased before the installation is acknowledged: it might be active at a later start.
    pub(super) clears: bool,
    /// What is newest before the installation.
    pub(super) before: Option<Note>,
}

type Result<T, F> = core::result::Result<T, InstallError<<F as ErrorType>::Error>>;

impl<F: NorFlash, T: Trust> SlotStore<F, T> {
    /// Plans the installation of an admitted artifact. `offered` is its record, whose sequence does not count.
    ///
    /// # Errors
    ///
    /// If the device may not take it, or does not know what it would replace.
    pub(super) fn plan(&mut self, offered: Record, admitted: &Admitted<'_>) -> Result<Plan, F> {
        let bytes = admitted.bytes();
        let trailers = [self.region.trailer(0), self.region.trailer(1)];
        if (0..2).zip(trailers).any(|(slot, trailer)| self.is_news(slot, trailer)) {
            return Err(InstallError::Reload);
        }
        let Record { counter, len_bytes, .. } = offered;
        let of_slots = self.newest(trailers).map(|record| Note::of(&record));
        // The slots' own records come last: of equal counters they say what is there.
        let noted = self.region.noted(self.admission.whose());
        let before = [self.noted, noted, of_slots].into_iter().flatten().max_by_key(|note| note.counter);
        if let Some(held) = before.map(|newest| newest.counter).filter(|&held| counter < held) {
            return Err(InstallError::Downgrade { held, offered: counter });
        }
        if let Some(newest) = before {
            self.admission.check_after(newest.successor, admitted).map_err(InstallError::Refused)?;
        }
        let [first, second] = trailers;
        if let Some(Current { slot, record }) = self.current
            && record.is_of_same(&offered)
            && self.region.first_difference(slot, 0, len_bytes, bytes).map_err(InstallError::Flash)?.is_none()
        {
            let other = if slot == 0 { second } else { first };
            let clears = !other.is_below(record.rank());
            return Ok(Plan { target: slot, record, is_held: true, clears, before });
        }
        let is_keyed = self.admission.trusted_key().is_some();
        if is_keyed && before.is_some_and(|held| held.counter == counter && held.crc != offered.crc) {
            return Err(InstallError::SameCounter { counter });
        }
        let seen = self.current.map(|current| current.record).into_iter();
        let seen = seen.chain([first, second].into_iter().filter_map(|trailer| trailer.complete()));
        let sequence = seen.map(|record| record.sequence).max().unwrap_or(0);
        let sequence = sequence.checked_add(1).ok_or(InstallError::SequenceExhausted)?;
        let record = Record { sequence, ..offered };
        let (target, clears) = match self.current {
            Some(current) => (1 - current.slot.min(1), false),
            None if first.worth() > second.worth() => (1, !first.is_below(record.rank())),
            None => (0, !second.is_below(record.rank())),
        };
        Ok(Plan { target, record, is_held: false, clears, before })
    }

    /// Tells whether a slot is complete of which the store, when it loaded the calibrator, did not know that it is older than
    /// the active one or of no use.
    fn is_news(&self, slot: usize, trailer: Trailer) -> bool {
        let Some(record) = trailer.complete() else { return false };
        if let Some(Current { slot: in_force, record: held }) = self.current
            && (slot == in_force || record.rank() <= held.rank())
        {
            return false;
        }
        // What could not be read then says nothing.
        let is_known = |found: &ScanResult| {
            found.trailer == trailer && found.fault.is_some_and(|fault| fault != SlotFault::Flash)
        };
        !self.found.get(slot).is_some_and(is_known)
    }

    /// Returns the record of the newest calibrator, whether or not its bytes are whole; what was refused does not count.
    fn newest(&self, trailers: [Trailer; 2]) -> Option<Record> {
        let counted = trailers.into_iter().zip(self.found).filter_map(|(trailer, found)| match found.fault {
            Some(SlotFault::Refused(_)) => None,
            _ => trailer.complete(),
        });
        let all = self.current.map(|current| current.record).into_iter().chain(counted);
        all.max_by_key(Record::rank)
    }
}
