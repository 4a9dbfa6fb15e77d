//! The journal: records written around, and the newest one read.

use core::fmt;

use embedded_storage::nor_flash::NorFlash;

use super::layout::{JournalLayout, JournalLayoutError};
use super::record::{Checksum, Head, UNIT_LEN, UNIT_WORDS, record_len};
use crate::artifact::Identity;

/// How often a read that fails is tried, and one of a record that is not whole: a disturbance passes.
const READ_TRIES: usize = 3;
/// How often a record is written that the flash does not hold.
const WRITE_TRIES: usize = 2;

/// A journal of counters in a flash.
///
/// ```
/// use calib_core::journal::{Journal, JournalLayout};
/// use calib_core::{Erased, Identity};
/// # use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
/// # struct Ram([u8; 8192]);
/// # impl ErrorType for Ram { type Error = NorFlashErrorKind; }
/// # impl ReadNorFlash for Ram {
/// #     const READ_SIZE: usize = 1;
/// #     fn read(&mut self, at: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
/// #         bytes.copy_from_slice(&self.0[at as usize..][..bytes.len()]);
/// #         Ok(())
/// #     }
/// #     fn capacity(&self) -> usize { 8192 }
/// # }
/// # impl NorFlash for Ram {
/// #     const WRITE_SIZE: usize = 4;
/// #     const ERASE_SIZE: usize = 4096;
/// #     fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
/// #         self.0[from as usize..to as usize].fill(0xFF);
/// #         Ok(())
/// #     }
/// #     fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
/// #         self.0[at as usize..][..bytes.len()].copy_from_slice(bytes);
/// #         Ok(())
/// #     }
/// # }
/// # let flash = Ram([0; 8192]);
/// let layout = JournalLayout { offset: 0, len_bytes: 8192, erased: Erased::Ones };
/// let (calibrator, shape) = (Identity([7; 8]), 0);
/// let mut journal = Journal::open(flash, layout, 3)?;
/// let counters = |words: &mut dyn Iterator<Item = u32>| words.sum::<u32>();
/// assert_eq!(journal.load(calibrator, shape, counters), None);
/// journal.save(calibrator, shape, [1, 20, 300].into_iter()).unwrap();
/// assert_eq!(journal.load(calibrator, shape, counters), Some(321));
/// // Another calibrator has counted nothing.
/// assert_eq!(journal.load(Identity([8; 8]), shape, counters), None);
/// # Ok::<(), calib_core::journal::JournalLayoutError>(())
/// ```
#[derive(Debug)]
pub struct Journal<F> {
    flash: F,
    layout: JournalLayout,
    /// The counters of a record.
    words: usize,
    newest: Option<WholeRecord>,
    /// Where the next record goes, as an offset in the journal; `None` if that is the next sector.
    next: Option<u32>,
    /// The greatest number of a record that was seen.
    last: u32,
    /// By how much the next record's number is greater: after a start by two, as a record that a power cut left in the sector of the newest
    /// one may read as whole later.
    step: u32,
}

/// A record that is whole.
#[derive(Clone, Copy, Debug)]
struct WholeRecord {
    at: u32,
    head: Head,
}

/// The outcome of what was saved before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Damage {
    /// There is a record, or nothing was saved.
    None,
    /// No record is whole although the sectors are not blank: it was altered, or something else lies there.
    Altered,
    /// The sectors cannot be read, now at least.
    Unreadable,
}

/// Why counters were not saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum JournalError<E> {
    /// The flash failed.
    Flash(E),
    /// The flash does not hold what was written, or is not blank after erasing.
    ReadBack,
    /// Counters were saved 2^32 - 1 times.
    Exhausted,
}

impl<F: NorFlash> Journal<F> {
    const SECTOR: u32 = F::ERASE_SIZE as u32;

    /// Takes the flash, for records of so many counters, and looks for the newest one.
    ///
    /// # Errors
    ///
    /// If the journal does not fit the flash, or a record a sector.
    pub fn open(flash: F, layout: JournalLayout, words: usize) -> Result<Self, JournalLayoutError> {
        layout.check(&flash, words)?;
        let mut journal = Self { flash, layout, words, newest: None, next: None, last: 0, step: 2 };
        journal.look_again();
        Ok(journal)
    }

    /// Looks for the newest record again if there was none: what could not be read may be there now.
    pub fn look_again(&mut self) {
        if self.newest.is_none() {
            self.newest = self.newest_below(u32::MAX);
            self.last = self.last.max(self.newest.map_or(0, |newest| newest.head.sequence));
        }
    }

    /// Reads the newest counters; `None` if there are none, or they are another calibrator's or arranged otherwise. `take` is given the
    /// counters as they are read, more than once if a record turns out not to be whole: what it makes of them counts only if it is returned.
    pub fn load<R>(
        &mut self,
        calibrator: Identity,
        shape: u32,
        mut take: impl FnMut(&mut dyn Iterator<Item = u32>) -> R,
    ) -> Option<R> {
        self.load_if(|head| (head.calibrator, head.shape) == (calibrator, shape), &mut take)
    }

    /// Reads the newest counters as [`Journal::load`] does, whichever calibrator's they are.
    pub fn load_any<R>(&mut self, mut take: impl FnMut(&mut dyn Iterator<Item = u32>) -> R) -> Option<R> {
        self.load_if(|_| true, &mut take)
    }

    fn load_if<R>(
        &mut self,
        is_wanted: impl Fn(&Head) -> bool,
        take: &mut impl FnMut(&mut dyn Iterator<Item = u32>) -> R,
    ) -> Option<R> {
        while let Some(WholeRecord { at, head }) = self.newest {
            if !is_wanted(&head) {
                return None;
            }
            for _ in 0..READ_TRIES {
                match self.read(at, &mut *take) {
                    Some((again, taken)) if again == head => return Some(taken),
                    _ => {}
                }
            }
            // A power cut left it, and now it reads otherwise than before: the one before it counts.
            (self.newest, self.next) = (self.newest_below(head.sequence), None);
        }
        None
    }

    /// Saves counters, as many as the journal was opened for.
    ///
    /// # Errors
    ///
    /// If the flash fails, or does not hold what was written. What was saved before is there still.
    pub fn save(
        &mut self,
        calibrator: Identity,
        shape: u32,
        words: impl Iterator<Item = u32> + Clone,
    ) -> Result<(), JournalError<F::Error>> {
        let sequence = self.last.checked_add(self.step).ok_or(JournalError::Exhausted)?;
        // No more than fit into a sector.
        let head = Head { sequence, calibrator, shape, words: self.words as u32 };
        let mut result = Err(JournalError::ReadBack);
        for _ in 0..WRITE_TRIES {
            let at = match self.next {
                Some(at) => at,
                None => self.take_sector()?,
            };
            self.next = None;
            result = self.write(at, head, words.clone());
            if result.is_ok() {
                self.next = self.behind(at);
                self.newest = Some(WholeRecord { at, head });
                (self.last, self.step) = (sequence, 1);
                break;
            }
        }
        result
    }

    /// Lets the next save take a separate sector, which is erased for it.
    pub const fn take_next_sector(&mut self) {
        self.next = None;
    }

    /// Saves counters with which counting restarts, and erases all that was saved before.
    ///
    /// # Errors
    ///
    /// As [`Journal::save`]; also if the others are not erased, though these count from now on.
    pub fn begin_anew(
        &mut self,
        calibrator: Identity,
        shape: u32,
        words: impl Iterator<Item = u32> + Clone,
    ) -> Result<(), JournalError<F::Error>> {
        self.take_next_sector();
        self.save(calibrator, shape, words)?;
        let held = self.newest.map_or(0, |newest| newest.at / Self::SECTOR);
        let sectors = self.layout.len_bytes / Self::SECTOR;
        (0..sectors).filter(|&sector| sector != held).try_for_each(|sector| self.erase(sector * Self::SECTOR))
    }

    /// Tells whether there is a record, of whichever calibrator.
    pub const fn has_record(&self) -> bool {
        self.newest.is_some()
    }

    /// Tells the outcome of what was saved before, if no record is whole.
    ///
    /// A sector that is blank except for the first record's place, beside sectors that are blank, is what a power cut leaves of the very first
    /// save: before that nothing was.
    pub fn damage(&mut self) -> Damage {
        if self.newest.is_some() {
            return Damage::None;
        }
        let (mut begun, mut is_further) = (0, false);
        for at in (0..self.layout.len_bytes).step_by(UNIT_LEN) {
            match self.unit(at) {
                Err(_) => return Damage::Unreadable,
                Ok(unit) if unit == [self.layout.erased.byte(); UNIT_LEN] => {}
                Ok(_) if at % Self::SECTOR < self.record_len() => {
                    begun |= 1u64 << (at / Self::SECTOR).min(63)
                }
                Ok(_) => is_further = true,
            }
        }
        if !is_further && begun.count_ones() < 2 { Damage::None } else { Damage::Altered }
    }

    /// Gives the flash back.
    pub fn free(self) -> F {
        self.flash
    }

    /// Changes the flash by other ways than the journal's.
    pub const fn flash_mut(&mut self) -> &mut F {
        &mut self.flash
    }

    /// Looks for the newest record with a number below this one.
    fn newest_below(&mut self, below: u32) -> Option<WholeRecord> {
        let mut newest: Option<WholeRecord> = None;
        for sector in (0..self.layout.len_bytes).step_by(F::ERASE_SIZE) {
            for at in (sector..sector + Self::SECTOR).step_by(record_len(self.words).max(UNIT_LEN)) {
                // What does not end in its sector is no record, and behind a place that is blank there is none: what fails is not
                // followed by another in its sector.
                if at + self.record_len() > sector + Self::SECTOR || self.is_blank(at) {
                    break;
                }
                let read = |journal: &mut Self| journal.read(at, |_| ());
                let Some((head, ())) = (0..READ_TRIES).find_map(|_| read(self)) else { continue };
                if head.sequence < below && newest.is_none_or(|newest| newest.head.sequence <= head.sequence)
                {
                    newest = Some(WholeRecord { at, head });
                }
            }
        }
        newest
    }

    fn record_len(&self) -> u32 {
        record_len(self.words) as u32
    }

    /// Where the next record goes in the sector of this one, if it has room.
    fn behind(&self, at: u32) -> Option<u32> {
        let next = at + self.record_len();
        let end = (at / Self::SECTOR + 1) * Self::SECTOR;
        (next + self.record_len() <= end).then_some(next)
    }

    /// Erases the sector after the newest record's, and returns where it begins.
    fn take_sector(&mut self) -> Result<u32, JournalError<F::Error>> {
        let after = self.newest.map_or(0, |newest| (newest.at / Self::SECTOR + 1) * Self::SECTOR);
        let at = if after < self.layout.len_bytes { after } else { 0 };
        self.erase(at)?;
        Ok(at)
    }

    /// Erases a sector, and looks whether it is blank: some flash says nothing when it leaves bits behind.
    fn erase(&mut self, at: u32) -> Result<(), JournalError<F::Error>> {
        let from = self.layout.offset + at;
        self.flash.erase(from, from + Self::SECTOR).map_err(JournalError::Flash)?;
        match (at..at + Self::SECTOR).step_by(UNIT_LEN).all(|at| self.is_blank(at)) {
            true => Ok(()),
            false => Err(JournalError::ReadBack),
        }
    }

    /// Whether a unit reads as erased.
    fn is_blank(&mut self, at: u32) -> bool {
        self.unit(at).is_ok_and(|unit| unit == [self.layout.erased.byte(); UNIT_LEN])
    }

    /// Reads a unit.
    fn unit(&mut self, at: u32) -> Result<[u8; UNIT_LEN], F::Error> {
        let mut unit = [0; UNIT_LEN];
        let mut result = self.flash.read(self.layout.offset + at, &mut unit);
        for _ in 1..READ_TRIES {
            if result.is_ok() {
                break;
            }
            result = self.flash.read(self.layout.offset + at, &mut unit);
        }
        result.map(|()| unit)
    }

    /// Writes a record where the flash is blank, and reads it back.
    fn write(
        &mut self,
        at: u32,
        head: Head,
        words: impl Iterator<Item = u32> + Clone,
    ) -> Result<(), JournalError<F::Error>> {
        let mut all = checked(head.to_words().into_iter().chain(words.take(self.words)));
        let erased = u32::from_le_bytes([self.layout.erased.byte(); 4]);
        for at in (at..at + self.record_len()).step_by(UNIT_LEN) {
            let words: [u32; UNIT_WORDS] = core::array::from_fn(|_| all.next().unwrap_or(erased));
            let mut unit = [0; UNIT_LEN];
            unit.as_chunks_mut::<4>().0.iter_mut().zip(words).for_each(|(to, word)| *to = word.to_le_bytes());
            self.flash.write(self.layout.offset + at, &unit).map_err(JournalError::Flash)?;
            if self.unit(at).map_err(JournalError::Flash)? != unit {
                return Err(JournalError::ReadBack);
            }
        }
        Ok(())
    }

    /// Reads a record, each word once; `None` unless every bit of it is right.
    fn read<R>(
        &mut self,
        at: u32,
        take: impl FnOnce(&mut dyn Iterator<Item = u32>) -> R,
    ) -> Option<(Head, R)> {
        let words = self.words;
        let mut unit = [0; UNIT_LEN];
        let mut index = 0;
        let mut failed = false;
        let mut next = || {
            let within = index % UNIT_WORDS;
            if within == 0 && !failed {
                match self.unit(at + 4 * index as u32) {
                    Ok(read) => unit = read,
                    Err(_) => failed = true,
                }
            }
            index += 1;
            let word = unit.as_chunks::<4>().0.get(within).copied().unwrap_or_default();
            if failed { None } else { Some(u32::from_le_bytes(word)) }
        };
        let mut checksum = Checksum::new();
        let mut head = [0; 6];
        for word in &mut head {
            *word = next()?;
            checksum.add(*word);
        }
        let head = Head::of_words(head).filter(|head| head.words as usize == words)?;
        let mut left = words;
        let mut counters = core::iter::from_fn(|| {
            left = left.checked_sub(1)?;
            let word = next()?;
            checksum.add(word);
            Some(word)
        });
        let taken = take(&mut counters);
        // What was not taken belongs to the checksum, too.
        counters.by_ref().for_each(drop);
        (next()? == checksum.finish()).then_some((head, taken))
    }
}

/// Words with their checksum behind them.
fn checked(words: impl Iterator<Item = u32> + Clone) -> impl Iterator<Item = u32> {
    let mut checksum = Checksum::new();
    words.clone().for_each(|word| checksum.add(word));
    words.chain(core::iter::once(checksum.finish()))
}

impl<E: fmt::Display> fmt::Display for JournalError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flash(error) => write!(f, "the flash failed: {error}"),
            Self::ReadBack => f.write_str("the flash does not hold what was written"),
            Self::Exhausted => f.write_str("no more counters can be saved on this device"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for JournalError<E> {}
