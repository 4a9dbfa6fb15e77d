//! Where the slots lie in the flash.

use core::fmt;

use embedded_storage::nor_flash::NorFlash;

use super::record::{MARK_LEN, RECORD_LEN, TRAILER_LEN};
use crate::artifact::PREFIX_LEN;

/// The number of bytes that are read and compared at once. The units in which a flash is read and written divide it.
pub(super) const UNIT_LEN: u32 = 32;

/// The number of units before the record that are kept for marks.
const SPARE_MARKS: u32 = 5;
/// The number of units before those, for notes.
const NOTES: u32 = 2;

/// When a note is written into a slot: each has a separate place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Before an installation into the slot: of what is newest then.
    Before,
    /// After an installation into the other slot: of that.
    After,
}

/// The value of an erased bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Erased {
    /// One, as in nearly all flash: programming clears bits.
    #[default]
    Ones,
    /// Zero: programming sets bits.
    Zeros,
}

impl Erased {
    /// Returns the value of an erased byte.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Ones => 0xFF,
            Self::Zeros => 0x00,
        }
    }
}

/// The place of two slots in the flash, both of the same length and of whole sectors.
///
/// Nothing else may lie in the slots' sectors, because an installation erases them.
///
/// ```
/// use calib_core::{Erased, SlotLayout};
///
/// let layout = SlotLayout { offsets: [0x7_E000, 0x7_F000], len_bytes: 4096, erased: Erased::Ones };
/// assert_eq!(layout.max_artifact_len_bytes(), 3808);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SlotLayout {
    /// The offsets of the slots in the flash, in bytes.
    pub offsets: [u32; 2],
    /// The length of either slot in bytes.
    pub len_bytes: u32,
    /// The value of an erased bit.
    pub erased: Erased,
}

/// Why a flash cannot hold the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum LayoutError {
    /// The flash is read or written in units of this many bytes, which does not divide 32.
    Unit(usize),
    /// A slot does not consist of whole sectors of this many bytes.
    Sector(usize),
    /// A slot of this many bytes is too short for any artifact.
    TooSmall(u32),
    /// The slots overlap.
    Overlap,
    /// A slot goes beyond the end of the flash, which has this many bytes.
    Capacity(usize),
}

impl SlotLayout {
    /// Returns the length of the longest artifact that fits a slot, in bytes: that of the slot except for 288 bytes, which hold the
    /// record, the marks and notes.
    pub const fn max_artifact_len_bytes(&self) -> u32 {
        self.len_bytes.saturating_sub(TRAILER_LEN + (SPARE_MARKS + NOTES) * MARK_LEN as u32)
    }

    /// Returns the offset of the record in a slot.
    pub(super) const fn record_at(&self) -> u32 {
        self.len_bytes.saturating_sub(TRAILER_LEN)
    }

    /// Returns the offsets of the marks: first the one that installs an artifact, then the spare ones.
    pub(super) fn marks(&self) -> impl Iterator<Item = u32> + use<> {
        let record_at = self.record_at();
        let spare = (1..=SPARE_MARKS).map(move |index| record_at.saturating_sub(index * UNIT_LEN));
        core::iter::once(record_at + RECORD_LEN as u32).chain(spare)
    }

    /// Returns the offset of the place of a note in a slot.
    pub(super) const fn note_at(&self, when: When) -> u32 {
        let first = self.max_artifact_len_bytes();
        match when {
            When::Before => first,
            When::After => first + UNIT_LEN,
        }
    }

    pub(super) fn check<F: NorFlash>(&self, flash: &F) -> Result<(), LayoutError> {
        for unit in [F::READ_SIZE, F::WRITE_SIZE] {
            if unit == 0 || !(UNIT_LEN as usize).is_multiple_of(unit) {
                return Err(LayoutError::Unit(unit));
            }
        }
        let sector_error = LayoutError::Sector(F::ERASE_SIZE);
        let sector = u32::try_from(F::ERASE_SIZE).map_err(|_| sector_error)?;
        let whole = |offset: u32| sector.is_multiple_of(UNIT_LEN) && offset.is_multiple_of(sector);
        if sector == 0 || ![self.len_bytes, self.offsets[0], self.offsets[1]].into_iter().all(whole) {
            return Err(sector_error);
        }
        if self.max_artifact_len_bytes() < PREFIX_LEN as u32 {
            return Err(LayoutError::TooSmall(self.len_bytes));
        }
        if self.offsets[0].abs_diff(self.offsets[1]) < self.len_bytes {
            return Err(LayoutError::Overlap);
        }
        let fits = |offset: u32| {
            let end = offset.checked_add(self.len_bytes).and_then(|end| usize::try_from(end).ok());
            end.is_some_and(|end| end <= flash.capacity())
        };
        if self.offsets.into_iter().all(fits) { Ok(()) } else { Err(LayoutError::Capacity(flash.capacity())) }
    }
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit(unit) => {
                write!(f, "the flash is accessed in units of {unit} bytes, which does not divide 32")
            }
            Self::Sector(len) => write!(f, "a slot is not of whole sectors of {len} bytes"),
            Self::TooSmall(len) => write!(f, "a slot of {len} bytes holds no artifact"),
            Self::Overlap => f.write_str("the slots overlap"),
            Self::Capacity(len) => write!(f, "a slot goes beyond the end of the flash of {len} bytes"),
        }
    }
}

impl core::error::Error for LayoutError {}
