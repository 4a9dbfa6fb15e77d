//! The marks of a slot: an installation is completed by the first, and made sure of by three more.

use embedded_storage::nor_flash::NorFlash;

use super::error::InstallError;
use super::record::MARK_LEN;
use super::region::Region;

/// So many marks make sure of a calibrator: a cut in the writing of one mark spoils that mark alone.
const SURE_MARKS: usize = 4;
/// So many of its 256 bits may be wrong in a mark that is complete: bits turn at rest.
const SLIPS: u32 = 8;
/// If there is no place for another mark, one suffices that is read as complete so many times.
const SURE_READS: usize = 16;

/// What a slot's marks are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// The marks of which nearly every bit is programmed.
    pub(super) complete: usize,
    /// Of these, the marks of which every bit is.
    exact: usize,
    /// The places of marks that cannot be read.
    pub(super) unreadable: usize,
    /// The places of marks of which no bit is programmed.
    pub(super) blank: usize,
    /// All places.
    pub(super) places: usize,
}

impl<F: NorFlash> Region<F> {
    /// Returns a mark: every bit programmed.
    fn mark(&self) -> [u8; MARK_LEN] {
        [!self.layout.erased.byte(); MARK_LEN]
    }

    /// Whether a unit is a mark, except for a few bits. Of a mark that was begun the record and the artifact are whole, so that no bit of it decides
    /// that.
    fn is_mark(&self, unit: &[u8; MARK_LEN]) -> bool {
        let erased = self.layout.erased.byte();
        unit.iter().map(|byte| (!(byte ^ erased)).count_ones()).sum::<u32>() <= SLIPS
    }

    pub(super) fn is_blank(&self, unit: &[u8; MARK_LEN]) -> bool {
        unit.iter().all(|&byte| byte == self.layout.erased.byte())
    }

    /// Reads the marks of a slot.
    pub(super) fn marks(&mut self, slot: usize) -> Marks {
        let mut marks = Marks::default();
        for at in self.layout.marks() {
            marks.places += 1;
            match self.unit(slot, at) {
                Ok(unit) if self.is_mark(&unit) => {
                    marks.complete += 1;
                    marks.exact += usize::from(unit == self.mark());
                }
                Ok(unit) if self.is_blank(&unit) => marks.blank += 1,
                Ok(_) => {}
                Err(_) => marks.unreadable += 1,
            }
        }
        marks
    }

    /// Writes the mark that completes an installation, and reads it back. A few bits that the flash does not hold do no harm: it is complete, and
    /// others make sure.
    ///
    /// # Errors
    ///
    /// If the flash fails, or does not hold the mark.
    pub(super) fn write_first_mark(&mut self, slot: usize) -> Result<(), InstallError<F::Error>> {
        let at = self.layout.marks().next().unwrap_or_default();
        match self.write_unit(slot, at, &self.mark()) {
            Err(InstallError::ReadBack { .. })
                if self.unit(slot, at).is_ok_and(|unit| self.is_mark(&unit)) =>
            {
                Ok(())
            }
            written => written,
        }
    }

    /// Writes marks until every bit of [`SURE_MARKS`] is right, each into a unit that is blank. If no unit is left, one mark suffices that is read as
    /// complete every time: the device must not refuse installations for ever.
    ///
    /// A mark that was cut short may read as complete now and not at the next start, and no unit is written twice to fix it.
    ///
    /// # Errors
    ///
    /// If the flash fails, or does not hold what was written, and no other unit takes its place: each try uses up a unit. [`InstallError::NoMark`]
    /// if none is left, and no mark is certain.
    pub(super) fn make_sure(&mut self, slot: usize) -> Result<(), InstallError<F::Error>> {
        let mut missing = SURE_MARKS.saturating_sub(self.marks(slot).exact);
        let mut failure = InstallError::NoMark;
        for at in self.layout.marks() {
            if missing == 0 {
                break;
            }
            if !self.unit(slot, at).is_ok_and(|unit| self.is_blank(&unit)) {
                continue;
            }
            match self.write_unit(slot, at, &self.mark()) {
                Ok(()) => missing -= 1,
                Err(error) => failure = error,
            }
        }
        let left = self.marks(slot);
        match missing == 0 || left.blank == 0 && (0..SURE_READS).all(|_| self.marks(slot).complete > 0) {
            true => Ok(()),
            false => Err(failure),
        }
    }
}
