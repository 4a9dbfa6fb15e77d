//! The marks of a slot: an installation is completed by the first, and made sure of by more.

use embedded_storage::nor_flash::NorFlash;

use super::error::InstallError;
use super::record::MARK_LEN;
use super::region::Region;

/// So many complete marks make sure of a calibrator: a cut in the writing of one mark spoils that mark alone.
const SURE_MARKS: usize = 4;

/// What a slot's marks are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// The marks of which every bit is programmed.
    pub(super) complete: usize,
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

    fn is_blank(&self, unit: &[u8; MARK_LEN]) -> bool {
        unit.iter().all(|&byte| byte == self.layout.erased.byte())
    }

    /// Reads the marks of a slot.
    pub(super) fn marks(&mut self, slot: usize) -> Marks {
        let mut marks = Marks::default();
        for at in self.layout.marks() {
            marks.places += 1;
            match self.unit(slot, at) {
                Ok(unit) if unit == self.mark() => marks.complete += 1,
                Ok(unit) if self.is_blank(&unit) => marks.blank += 1,
                Ok(_) => {}
                Err(_) => marks.unreadable += 1,
            }
        }
        marks
    }

    /// Writes the mark that completes an installation, and reads it back.
    ///
    /// # Errors
    ///
    /// If the flash fails, or does not hold the mark.
    pub(super) fn write_first_mark(&mut self, slot: usize) -> Result<(), InstallError<F::Error>> {
        let at = self.layout.marks().next().unwrap_or_default();
        self.write_unit(slot, at, &self.mark())
    }

    /// Writes marks until [`SURE_MARKS`] are complete, each into a unit that is blank.
    ///
    /// A mark that was cut short may read as complete now and not at the next start, and no unit is written twice to mend it.
    ///
    /// # Errors
    ///
    /// [`InstallError::NoMark`] if too few units are blank. If the flash fails, or does not hold what was written, and no other unit
    /// takes its place.
    pub(super) fn make_sure(&mut self, slot: usize) -> Result<(), InstallError<F::Error>> {
        let mut missing = SURE_MARKS.saturating_sub(self.marks(slot).complete);
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
        if missing == 0 { Ok(()) } else { Err(failure) }
    }
}
