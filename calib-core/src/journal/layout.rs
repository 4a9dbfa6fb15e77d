//! Where the journal lies in the flash.

use core::fmt;

use embedded_storage::nor_flash::NorFlash;

use super::record::{UNIT_LEN, record_len};
use crate::slot::Erased;

/// The place of a journal in the flash: whole sectors, in which nothing else lies.
///
/// ```
/// use calib_core::Erased;
/// use calib_core::journal::JournalLayout;
///
/// let layout = JournalLayout { offset: 0x7_C000, len_bytes: 2 * 4096, erased: Erased::Ones };
/// // 15 bins of one table are 64 words: 14 saves in a sector, and so an erase of each in 28.
/// assert_eq!(layout.records(4096, 64), 28);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct JournalLayout {
    /// The offset of the first sector in the flash, in bytes.
    pub offset: u32,
    /// The length of all sectors in bytes.
    pub len_bytes: u32,
    /// The value of an erased bit.
    pub erased: Erased,
}

/// Why a flash cannot hold the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum JournalLayoutError {
    /// The flash is read or written in units of this many bytes, which does not divide 32.
    Unit(usize),
    /// The journal is not two or more whole sectors of this many bytes.
    Sectors(usize),
    /// A record has this many bytes, more than a sector.
    Record(usize),
    /// The journal goes beyond the end of the flash, which has this many bytes.
    Capacity(usize),
}

impl JournalLayout {
    /// Returns how many saves of so many words fit into all sectors, each of so many bytes.
    pub const fn records(&self, sector_len_bytes: u32, words: usize) -> u32 {
        let (Some(sectors), Some(each)) = (
            self.len_bytes.checked_div(sector_len_bytes),
            sector_len_bytes.checked_div(record_len(words) as u32),
        ) else {
            return 0;
        };
        sectors * each
    }

    pub(super) fn check<F: NorFlash>(&self, flash: &F, words: usize) -> Result<(), JournalLayoutError> {
        for unit in [F::READ_SIZE, F::WRITE_SIZE] {
            if unit == 0 || !UNIT_LEN.is_multiple_of(unit) {
                return Err(JournalLayoutError::Unit(unit));
            }
        }
        let sectors = JournalLayoutError::Sectors(F::ERASE_SIZE);
        let sector = u32::try_from(F::ERASE_SIZE).map_err(|_| sectors)?;
        let whole = |bytes: u32| sector != 0 && bytes.is_multiple_of(sector);
        if !whole(self.offset) || !whole(self.len_bytes) || self.len_bytes <= sector {
            return Err(sectors);
        }
        if !F::ERASE_SIZE.is_multiple_of(UNIT_LEN) || record_len(words) > F::ERASE_SIZE {
            return Err(JournalLayoutError::Record(record_len(words)));
        }
        let end = self.offset.checked_add(self.len_bytes).and_then(|end| usize::try_from(end).ok());
        match end.is_some_and(|end| end <= flash.capacity()) {
            true => Ok(()),
            false => Err(JournalLayoutError::Capacity(flash.capacity())),
        }
    }
}

impl fmt::Display for JournalLayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit(unit) => {
                write!(f, "the flash is accessed in units of {unit} bytes, which does not divide 32")
            }
            Self::Sectors(len) => write!(f, "the journal is not of two or more whole sectors of {len} bytes"),
            Self::Record(len) => write!(f, "a record of {len} bytes does not fit into a sector"),
            Self::Capacity(len) => write!(f, "the journal goes beyond the end of the flash of {len} bytes"),
        }
    }
}

impl core::error::Error for JournalLayoutError {}
