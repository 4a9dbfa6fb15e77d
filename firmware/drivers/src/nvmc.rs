//! Flash behind the controller of Nordic's nRF51 and nRF52, "NVMC": words are written, pages erased, in the address space.

use core::fmt;

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};

/// An erased word.
const ERASED: u32 = u32::MAX;

/// How often the controller is asked whether it is ready before it is given up: far more often than any erase takes.
const POLLS: u32 = 10_000_000;

/// What the controller lets happen to flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum NvmcMode {
    /// Reading alone.
    Read,
    /// Writing words.
    Write,
    /// Erasing pages.
    Erase,
}

/// The controller's registers, and a region of whole pages of its flash. Every access happens, in order.
pub trait NvmcBus {
    /// Whether the last operation has ended.
    fn is_ready(&mut self) -> bool;

    /// Sets the mode. The controller is ready.
    fn set_mode(&mut self, mode: NvmcMode);

    /// Starts to erase the page at an offset from the region's start.
    fn erase_page(&mut self, offset: u32);

    /// Reads the word at an offset from the region's start, a multiple of 4 within it.
    fn read(&mut self, offset: u32) -> u32;

    /// Starts to write the word at an offset from the region's start, a multiple of 4 within it.
    fn write(&mut self, offset: u32, word: u32);

    /// The length of the region in bytes.
    fn len_bytes(&self) -> usize;
}

/// A region of flash of pages of `PAGE` bytes, of which `PAGES` are erased as one sector. The controller does not say that an operation
/// failed: read back.
///
/// A word is written only while it is erased: between two erases the nRF52 takes two writes of a word (`nWRITE`), and the next
/// damages it without a word.
#[derive(Debug)]
pub struct NvmcFlash<B, const PAGE: usize, const PAGES: usize = 1> {
    bus: B,
}

/// Why the flash did not do as it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NvmcError {
    /// The place is not aligned, or beyond the end.
    Place(NorFlashErrorKind),
    /// The controller did not get ready.
    Timeout,
    /// The word at this offset is not erased. Nothing was written.
    NotErased(u32),
}

impl<B: NvmcBus, const PAGE: usize, const PAGES: usize> NvmcFlash<B, PAGE, PAGES> {
    /// Takes the region.
    pub const fn new(bus: B) -> Self {
        Self { bus }
    }

    /// Gives the bus back.
    pub fn free(self) -> B {
        self.bus
    }

    fn wait(&mut self) -> Result<(), NvmcError> {
        if (0..POLLS).any(|_| self.bus.is_ready()) { Ok(()) } else { Err(NvmcError::Timeout) }
    }

    /// Does something in a mode, and lets flash be read only again, whatever happens.
    fn during(
        &mut self,
        mode: NvmcMode,
        work: impl FnOnce(&mut Self) -> Result<(), NvmcError>,
    ) -> Result<(), NvmcError> {
        self.wait()?;
        self.bus.set_mode(mode);
        let result = work(self);
        self.bus.set_mode(NvmcMode::Read);
        result
    }
}

impl<B: NvmcBus, const PAGE: usize, const PAGES: usize> ErrorType for NvmcFlash<B, PAGE, PAGES> {
    type Error = NvmcError;
}

impl<B: NvmcBus, const PAGE: usize, const PAGES: usize> ReadNorFlash for NvmcFlash<B, PAGE, PAGES> {
    const READ_SIZE: usize = 4;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NvmcError> {
        check_read(self, offset, bytes.len()).map_err(NvmcError::Place)?;
        for (at, word) in (offset..).step_by(4).zip(bytes.as_chunks_mut().0) {
            *word = self.bus.read(at).to_le_bytes();
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bus.len_bytes()
    }
}

impl<B: NvmcBus, const PAGE: usize, const PAGES: usize> NorFlash for NvmcFlash<B, PAGE, PAGES> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = PAGE * PAGES;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NvmcError> {
        check_erase(self, from, to).map_err(NvmcError::Place)?;
        self.during(NvmcMode::Erase, |flash| {
            (from..to).step_by(PAGE).try_for_each(|page| {
                flash.bus.erase_page(page);
                flash.wait()
            })
        })
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NvmcError> {
        check_write(self, offset, bytes.len()).map_err(NvmcError::Place)?;
        let mut places = (offset..).step_by(4).take(bytes.len() / 4);
        if let Some(written) = places.find(|&at| self.bus.read(at) != ERASED) {
            return Err(NvmcError::NotErased(written));
        }
        self.during(NvmcMode::Write, |flash| {
            let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
            (offset..).step_by(4).zip(words).try_for_each(|(at, word)| {
                flash.bus.write(at, word);
                flash.wait()
            })
        })
    }
}

impl NorFlashError for NvmcError {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::Place(kind) => *kind,
            Self::Timeout | Self::NotErased(_) => NorFlashErrorKind::Other,
        }
    }
}

impl fmt::Display for NvmcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(NorFlashErrorKind::OutOfBounds) => f.write_str("beyond the end of the flash"),
            Self::Place(_) => f.write_str("not aligned to the flash's units"),
            Self::Timeout => f.write_str("the flash did not get ready"),
            Self::NotErased(at) => write!(f, "the word at {at:#x} is written already"),
        }
    }
}

impl core::error::Error for NvmcError {}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    const PAGE: usize = 64;

    /// A controller that does only what its mode allows, is busy for a while after each, and holds to what the
    /// manual asks: nothing may be begun before the last has ended.
    #[derive(Debug)]
    struct Chip {
        words: Vec<u32>,
        mode: NvmcMode,
        busy: u32,
        /// How long it is busy after an operation.
        takes: u32,
        operations: usize,
        page: usize,
    }

    impl Chip {
        fn flash(takes: u32) -> NvmcFlash<Self, PAGE> {
            NvmcFlash::new(Self::new(takes))
        }

        fn new(takes: u32) -> Self {
            let words = std::vec![0xA5A5_A5A5; 48];
            Self { words, mode: NvmcMode::Read, busy: 0, takes, operations: 0, page: PAGE }
        }

        fn begin(&mut self, mode: NvmcMode) {
            assert_eq!((self.mode, self.busy), (mode, 0), "in another mode, or too early");
            self.busy = self.takes;
            self.operations += 1;
        }
    }

    impl NvmcBus for Chip {
        fn is_ready(&mut self) -> bool {
            self.busy = self.busy.saturating_sub(1);
            self.busy == 0
        }

        fn set_mode(&mut self, mode: NvmcMode) {
            assert!(self.busy == 0 || self.takes == u32::MAX, "the mode is changed too early");
            self.mode = mode;
        }

        fn erase_page(&mut self, offset: u32) {
            self.begin(NvmcMode::Erase);
            let first = offset as usize / 4;
            assert_eq!(offset as usize % self.page, 0);
            self.words[first..first + self.page / 4].fill(u32::MAX);
        }

        fn read(&mut self, offset: u32) -> u32 {
            assert_eq!((self.mode, self.busy), (NvmcMode::Read, 0));
            self.words[offset as usize / 4]
        }

        fn write(&mut self, offset: u32, word: u32) {
            self.begin(NvmcMode::Write);
            self.words[offset as usize / 4] &= word;
        }

        fn len_bytes(&self) -> usize {
            4 * self.words.len()
        }
    }

    #[test]
    fn erases_whole_pages_and_writes_words_one_after_the_other() {
        let mut flash = Chip::flash(7);
        flash.erase(64, 192).unwrap();
        flash.write(68, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let mut bytes = [0; 16];
        flash.read(64, &mut bytes).unwrap();
        assert_eq!(bytes, [0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3, 4, 5, 6, 7, 8, 0xFF, 0xFF, 0xFF, 0xFF]);
        let Chip { words, mode, operations, .. } = flash.free();
        assert!(words[..16].iter().all(|&word| word == 0xA5A5_A5A5), "another page was touched");
        assert!(words[19..].iter().all(|&word| word == u32::MAX));
        assert_eq!((mode, operations), (NvmcMode::Read, 2 + 2));
    }

    #[test]
    fn a_sector_of_several_pages_is_erased_page_by_page() {
        let mut flash = NvmcFlash::<_, 32, 2>::new(Chip { page: 32, ..Chip::new(2) });
        assert_eq!(flash.erase(32, 96), Err(NvmcError::Place(NorFlashErrorKind::NotAligned)));
        flash.erase(64, 128).unwrap();
        let Chip { words, operations, .. } = flash.free();
        let erased = words.iter().enumerate().filter(|&(_, &word)| word == ERASED).map(|(at, _)| at);
        assert_eq!((erased.collect::<Vec<_>>(), operations), ((16..32).collect(), 2));
    }

    #[test]
    fn a_word_is_written_once_between_two_erases() {
        let mut flash = Chip::flash(3);
        flash.erase(0, 64).unwrap();
        flash.write(8, &[1, 2, 3, 4]).unwrap();
        // Not even the same bits, nor a word before it.
        for (offset, bytes) in [(8, &[1, 2, 3, 4][..]), (8, &[0; 4]), (8, &[0xFF; 4]), (4, &[0; 12])] {
            assert_eq!(flash.write(offset, bytes), Err(NvmcError::NotErased(8)));
        }
        assert_eq!(flash.bus.operations, 2, "nothing was begun");
        let mut bytes = [0; 16];
        flash.read(0, &mut bytes).unwrap();
        assert_eq!(
            bytes,
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3, 4, 0xFF, 0xFF, 0xFF, 0xFF]
        );
        flash.erase(0, 64).unwrap();
        flash.write(8, &[0; 4]).unwrap();
    }

    #[test]
    fn a_controller_that_stays_busy_is_given_up_and_left_in_reading() {
        for step in [0, 1] {
            let mut flash = Chip::flash(u32::MAX);
            flash.bus.words.fill(ERASED);
            let result = if step == 0 { flash.erase(0, 128) } else { flash.write(0, &[0; 8]) };
            assert_eq!(result, Err(NvmcError::Timeout));
            let chip = flash.free();
            assert_eq!((chip.mode, chip.operations), (NvmcMode::Read, 1), "nothing more is begun");
        }
    }

    #[test]
    fn refuses_places_that_are_none() {
        let mut flash = Chip::flash(1);
        let misaligned = Err(NvmcError::Place(NorFlashErrorKind::NotAligned));
        let beyond = Err(NvmcError::Place(NorFlashErrorKind::OutOfBounds));
        assert_eq!(flash.erase(4, 64), misaligned);
        assert_eq!(flash.write(2, &[0; 4]), misaligned);
        assert_eq!(flash.write(4, &[0; 3]), misaligned);
        assert_eq!(flash.read(1, &mut [0; 4]), misaligned);
        assert_eq!(flash.erase(128, 256), beyond);
        assert_eq!(flash.write(188, &[0; 8]), beyond);
        assert_eq!(flash.read(192, &mut [0; 4]), beyond);
        assert_eq!(flash.free().operations, 0);
    }
}
