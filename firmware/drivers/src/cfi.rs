//! Parallel NOR flash with Intel's command set (JEDEC JEP137, command set 0001h).

use core::fmt;

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};

/// Both halves of a word: two 16-bit chips lie side by side.
const fn both(command: u32) -> u32 {
    command << 16 | command
}

/// An erased word.
const ERASED: u32 = u32::MAX;

const READ_ARRAY: u32 = both(0xFF);
const PROGRAM: u32 = both(0x40);
const ERASE: u32 = both(0x20);
const CONFIRM: u32 = both(0xD0);
const CLEAR_STATUS: u32 = both(0x50);

const STATUS_READY: u32 = both(1 << 7);
const STATUS_ERASE_FAILED: u32 = both(1 << 5);
const STATUS_PROGRAM_FAILED: u32 = both(1 << 4);
const STATUS_VOLTAGE: u32 = both(1 << 3);
const STATUS_PROTECTED: u32 = both(1 << 1);
const STATUS_FAILED: u32 = STATUS_ERASE_FAILED | STATUS_PROGRAM_FAILED | STATUS_VOLTAGE | STATUS_PROTECTED;

/// How often the status is asked for before the chips are given up: far more often than any erase takes.
const POLLS: u32 = 50_000_000;

/// A flash in the address space, accessed by 32-bit words.
///
/// Every access reaches the chips, in order: the words are volatile.
pub trait FlashBus {
    /// Reads the word at an offset from the flash's start, a multiple of 4 within it.
    fn read(&mut self, offset: u32) -> u32;

    /// Writes the word at an offset from the flash's start, a multiple of 4 within it.
    fn write(&mut self, offset: u32, word: u32);

    /// The length of the flash in bytes.
    fn len_bytes(&self) -> usize;
}

/// Two 16-bit chips side by side, of sectors of `SECTOR` bytes over both. A word is written only while it is erased.
#[derive(Debug)]
pub struct CfiFlash<B, const SECTOR: usize> {
    bus: B,
}

/// Why the flash did not do as it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CfiError {
    /// The place is not aligned, or beyond the end.
    Place(NorFlashErrorKind),
    /// The chips did not get ready.
    Timeout,
    /// The chips report this status: both halves of the word, 16 bits each.
    Status(u32),
    /// The word at this offset is not erased. Nothing was written.
    NotErased(u32),
}

impl<B: FlashBus, const SECTOR: usize> CfiFlash<B, SECTOR> {
    /// Takes the flash, and lets it be read.
    pub fn new(mut bus: B) -> Self {
        bus.write(0, CLEAR_STATUS);
        bus.write(0, READ_ARRAY);
        Self { bus }
    }

    /// Gives the bus back.
    pub fn free(self) -> B {
        self.bus
    }

    /// Writes a command and its operand, waits, and lets the flash be read again.
    fn command(&mut self, offset: u32, command: u32, operand: u32) -> Result<(), CfiError> {
        self.bus.write(offset, command);
        self.bus.write(offset, operand);
        let status =
            (0..POLLS).map(|_| self.bus.read(offset)).find(|status| status & STATUS_READY == STATUS_READY);
        self.bus.write(offset, CLEAR_STATUS);
        self.bus.write(offset, READ_ARRAY);
        match status {
            None => Err(CfiError::Timeout),
            Some(status) if status & STATUS_FAILED != 0 => Err(CfiError::Status(status)),
            Some(_) => Ok(()),
        }
    }
}

impl<B: FlashBus, const SECTOR: usize> ErrorType for CfiFlash<B, SECTOR> {
    type Error = CfiError;
}

impl<B: FlashBus, const SECTOR: usize> ReadNorFlash for CfiFlash<B, SECTOR> {
    const READ_SIZE: usize = 4;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), CfiError> {
        check_read(self, offset, bytes.len()).map_err(CfiError::Place)?;
        for (at, word) in (offset..).step_by(4).zip(bytes.as_chunks_mut().0) {
            *word = self.bus.read(at).to_le_bytes();
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bus.len_bytes()
    }
}

impl<B: FlashBus, const SECTOR: usize> NorFlash for CfiFlash<B, SECTOR> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), CfiError> {
        check_erase(self, from, to).map_err(CfiError::Place)?;
        (from..to).step_by(SECTOR).try_for_each(|sector| self.command(sector, ERASE, CONFIRM))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), CfiError> {
        check_write(self, offset, bytes.len()).map_err(CfiError::Place)?;
        let mut places = (offset..).step_by(4).take(bytes.len() / 4);
        if let Some(written) = places.find(|&at| self.bus.read(at) != ERASED) {
            return Err(CfiError::NotErased(written));
        }
        let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        (offset..).step_by(4).zip(words).try_for_each(|(at, word)| self.command(at, PROGRAM, word))
    }
}

impl NorFlashError for CfiError {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::Place(kind) => *kind,
            _ => NorFlashErrorKind::Other,
        }
    }
}

impl fmt::Display for CfiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(NorFlashErrorKind::OutOfBounds) => f.write_str("beyond the end of the flash"),
            Self::Place(_) => f.write_str("not aligned to the flash's units"),
            Self::Timeout => f.write_str("the flash did not get ready"),
            Self::Status(status) => write!(f, "the flash reports status {status:08x}"),
            Self::NotErased(at) => write!(f, "the word at {at:#x} is written already"),
        }
    }
}

impl core::error::Error for CfiError {}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    const SECTOR: usize = 64;

    /// Two chips that answer the commands, after being busy for a while.
    #[derive(Debug)]
    struct Chips {
        words: Vec<u32>,
        state: State,
        busy: u32,
        /// What the status shows in addition.
        fault: u32,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum State {
        Array,
        Program,
        Erase,
        Status,
    }

    impl Chips {
        fn flash(fault: u32) -> CfiFlash<Self, SECTOR> {
            CfiFlash::new(Self { words: std::vec![0; 64], state: State::Status, busy: 0, fault })
        }
    }

    impl FlashBus for Chips {
        fn read(&mut self, offset: u32) -> u32 {
            if self.state == State::Array {
                return self.words[offset as usize / 4];
            }
            assert_eq!(self.state, State::Status, "read in the middle of a command");
            self.busy = self.busy.saturating_sub(1);
            // One chip is slower than the other.
            match self.busy {
                0 => STATUS_READY | self.fault,
                1 => STATUS_READY & 0xFFFF,
                _ => 0,
            }
        }

        fn write(&mut self, offset: u32, word: u32) {
            let at = offset as usize / 4;
            self.state = match (self.state, word) {
                (State::Program, data) => {
                    self.words[at] &= data;
                    self.busy = 5;
                    State::Status
                }
                (State::Erase, CONFIRM) => {
                    let sector = at / (SECTOR / 4) * (SECTOR / 4);
                    self.words[sector..sector + SECTOR / 4].fill(u32::MAX);
                    self.busy = 9;
                    State::Status
                }
                (State::Erase, other) => panic!("{other:08x} does not confirm"),
                (_, READ_ARRAY) => State::Array,
                (State::Status, CLEAR_STATUS) => State::Status,
                (State::Array, PROGRAM) => State::Program,
                (State::Array, ERASE) => State::Erase,
                (state, other) => panic!("{other:08x} in state {state:?}"),
            };
        }

        fn len_bytes(&self) -> usize {
            4 * self.words.len()
        }
    }

    #[test]
    fn erases_whole_sectors_and_writes_words() {
        let mut flash = Chips::flash(0);
        flash.erase(64, 192).unwrap();
        flash.write(68, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let mut bytes = [0; 16];
        flash.read(64, &mut bytes).unwrap();
        assert_eq!(bytes, [0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3, 4, 5, 6, 7, 8, 0xFF, 0xFF, 0xFF, 0xFF]);
        let words = flash.free().words;
        assert!(words[..16].iter().chain(&words[48..]).all(|&word| word == 0), "other sectors were touched");
        assert!(words[19..48].iter().all(|&word| word == u32::MAX));
    }

    #[test]
    fn a_word_is_written_once_between_two_erases() {
        let mut flash = Chips::flash(0);
        flash.erase(0, 64).unwrap();
        flash.write(8, &[1, 2, 3, 4]).unwrap();
        for (offset, bytes) in [(8, &[1, 2, 3, 4][..]), (8, &[0; 4]), (8, &[0xFF; 4]), (4, &[0; 12])] {
            assert_eq!(flash.write(offset, bytes), Err(CfiError::NotErased(8)));
        }
        let mut bytes = [0; 12];
        flash.read(4, &mut bytes).unwrap();
        assert_eq!(bytes, [0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3, 4, 0xFF, 0xFF, 0xFF, 0xFF]);
        flash.erase(0, 64).unwrap();
        flash.write(8, &[0; 4]).unwrap();
    }

    #[test]
    fn tells_what_the_chips_report() {
        for fault in [both(1 << 5), 1 << 4, 1 << 17, both(1 << 3)] {
            let mut flash = Chips::flash(fault);
            flash.bus.words.fill(ERASED);
            assert_eq!(flash.erase(0, 64), Err(CfiError::Status(STATUS_READY | fault)));
            assert_eq!(flash.write(0, &[0; 4]), Err(CfiError::Status(STATUS_READY | fault)));
            // It can be read all the same.
            flash.read(0, &mut [0; 4]).unwrap();
        }
    }

    #[test]
    fn refuses_places_that_are_none() {
        let mut flash = Chips::flash(0);
        let misaligned = Err(CfiError::Place(NorFlashErrorKind::NotAligned));
        let beyond = Err(CfiError::Place(NorFlashErrorKind::OutOfBounds));
        assert_eq!(flash.erase(4, 64), misaligned);
        assert_eq!(flash.write(2, &[0; 4]), misaligned);
        assert_eq!(flash.write(4, &[0; 3]), misaligned);
        assert_eq!(flash.read(1, &mut [0; 4]), misaligned);
        assert_eq!(flash.erase(192, 320), beyond);
        assert_eq!(flash.write(252, &[0; 8]), beyond);
        assert_eq!(flash.read(256, &mut [0; 4]), beyond);
    }
}
