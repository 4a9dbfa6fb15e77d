//! Counters in the caller's memory, of two shapes, in memory alone or kept in flash.

use core::mem::MaybeUninit;

use calib_core::Identity;
use calib_firmware::{Monitors, PersistentMonitors, Watch};

use crate::error::{CALIB_ERROR_ARGUMENT, CALIB_ERROR_LENGTH, CALIB_ERROR_SAVED, Result};
use crate::journal::JournalFlash;
use crate::memory::{self, Span};
use crate::saved;
use crate::told::ToldOutcomes;

/// Words, of 8 bytes, of the counters of `calib_monitors_open`.
#[cfg(target_pointer_width = "32")]
pub const CALIB_COUNTERS_WORDS: usize = 85;
/// Words, of 8 bytes, of the counters of `calib_monitors_open`.
#[cfg(target_pointer_width = "64")]
pub const CALIB_COUNTERS_WORDS: usize = 88;
/// Words, of 8 bytes, of the counters of `calib_monitors_open_many`.
#[cfg(target_pointer_width = "32")]
pub const CALIB_MANY_COUNTERS_WORDS: usize = 339;
/// Words, of 8 bytes, of the counters of `calib_monitors_open_many`.
#[cfg(target_pointer_width = "64")]
pub const CALIB_MANY_COUNTERS_WORDS: usize = 342;
/// Bytes of saved counters of `calib_monitors_open`.
pub const CALIB_SAVED_BYTES: usize = 616;
/// Bytes of saved counters of `calib_monitors_open_many`.
pub const CALIB_MANY_SAVED_BYTES: usize = 2648;

const _: () = assert!(CALIB_SAVED_BYTES == saved::len(saved_words(Monitors::<32, 1>::WORDS)));
const _: () = assert!(CALIB_MANY_SAVED_BYTES == saved::len(saved_words(Monitors::<15, 10>::WORDS)));

/// How many words are saved with so many of counters.
const fn saved_words(counters: usize) -> usize {
    counters + ToldOutcomes::SAVED_WORDS
}

/// Counters that can be saved by the caller.
// A function that opens some kind of them names it: no other is linked.
pub(crate) trait Counting: Watch {
    /// Writes the counters of this calibrator, and which outcomes were told; returns how many bytes they are.
    fn save(&self, of: Identity, told: &ToldOutcomes, bytes: &mut [u8]) -> Result<usize>;

    /// Takes counters over that were saved, and returns which outcomes were told.
    fn restore(&mut self, of: Identity, bytes: &[u8]) -> Result<ToldOutcomes>;

    /// The number of the prediction that was counted last, behind the one before it; nothing if none can be given that is no other's.
    fn number(&mut self, before: u32) -> Option<u32>;

    /// Up to which number predictions were numbered before the restart.
    fn skipped(&self) -> u32;

    /// How many words of 8 bytes the caller gave for them.
    fn given(&self) -> usize;
}

/// Of one table, of as many bins as a reply over the line holds; in memory alone, and kept in flash.
pub(crate) type OneTable = Monitors<32, 1>;
pub(crate) type PersistentTable = PersistentMonitors<JournalFlash, 32, 1>;
/// Of as many tables as classes, or groups, are often counted.
pub(crate) type ManyTables = Monitors<15, 10>;
pub(crate) type ManyPersistentTables = PersistentMonitors<JournalFlash, 15, 10>;

/// What tells apart counters of other numbers of bins and tables.
const fn shape(bins: usize, tables: usize) -> u32 {
    (bins as u32) << 16 | tables as u32
}

impl<const BINS: usize, const TABLES: usize> Counting for Monitors<BINS, TABLES> {
    fn save(&self, of: Identity, told: &ToldOutcomes, bytes: &mut [u8]) -> Result<usize> {
        let words = self.words().chain(told.words());
        saved::write(bytes, of, (shape(BINS, TABLES), saved_words(Self::WORDS)), words)
    }

    fn restore(&mut self, of: Identity, bytes: &[u8]) -> Result<ToldOutcomes> {
        let mut words = saved::read(bytes, of, (shape(BINS, TABLES), saved_words(Self::WORDS)))?;
        // There are enough.
        Self::restore(self, &mut words);
        ToldOutcomes::restored(&mut words).ok_or(CALIB_ERROR_SAVED)
    }

    fn number(&mut self, before: u32) -> Option<u32> {
        before.checked_add(1)
    }

    fn skipped(&self) -> u32 {
        0
    }

    fn given(&self) -> usize {
        Self::WORDS_GIVEN
    }
}

/// They save themselves.
impl<const BINS: usize, const TABLES: usize> Counting for PersistentMonitors<JournalFlash, BINS, TABLES> {
    fn save(&self, _: Identity, _: &ToldOutcomes, _: &mut [u8]) -> Result<usize> {
        Err(CALIB_ERROR_ARGUMENT)
    }

    fn restore(&mut self, _: Identity, _: &[u8]) -> Result<ToldOutcomes> {
        Err(CALIB_ERROR_ARGUMENT)
    }

    fn number(&mut self, _: u32) -> Option<u32> {
        Self::number(self)
    }

    fn skipped(&self) -> u32 {
        self.numbered()
    }

    fn given(&self) -> usize {
        Self::WORDS_GIVEN
    }
}

/// What an opening function makes.
pub(crate) trait Made: Counting + Sized + 'static {
    /// How many words of 8 bytes the caller gives.
    const WORDS_GIVEN: usize;
}

impl<const BINS: usize, const TABLES: usize> Made for Monitors<BINS, TABLES> {
    const WORDS_GIVEN: usize = words(TABLES);
}

impl<const BINS: usize, const TABLES: usize> Made for PersistentMonitors<JournalFlash, BINS, TABLES> {
    const WORDS_GIVEN: usize = words(TABLES);
}

const fn words(tables: usize) -> usize {
    if tables == 1 { CALIB_COUNTERS_WORDS } else { CALIB_MANY_COUNTERS_WORDS }
}

/// Puts counters into the caller's words, which are no part of what is read.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned points to so many words, which may be written, and which nothing else uses while the
/// counters are used.
pub(crate) unsafe fn open<C: Made>(
    words: *mut u64,
    len: usize,
    read: &[Span],
    make: impl FnOnce() -> Result<C>,
) -> Result<*mut dyn Counting> {
    let place = memory::checked_mut(words.cast::<MaybeUninit<C>>())?;
    const { assert!(size_of::<C>() <= size_of::<u64>() * C::WORDS_GIVEN) };
    if len < C::WORDS_GIVEN {
        return Err(CALIB_ERROR_LENGTH);
    }
    Span::of_slice(words, C::WORDS_GIVEN).apart_from(read)?;
    let made = make()?;
    // SAFETY: checked, and the caller's.
    Ok(unsafe { (*place).write(made) })
}
