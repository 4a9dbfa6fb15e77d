//! The journal of counters, from outside: what is read after bits turn, sectors are lost, and flash lies.

use calib_core::artifact::crc32c;
use calib_core::journal::{Damage, Journal, JournalError, JournalLayout, JournalLayoutError};
use calib_core::{Erased, Identity};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

const SECTOR: usize = 256;
/// Four counters: 44 bytes, in two units of 32, and so four records a sector.
const WORDS: usize = 4;
const RECORD: usize = 64;
const OURS: Identity = Identity([1; 8]);
const OTHERS: Identity = Identity([2; 8]);

/// Three sectors.
#[derive(Clone, Debug)]
struct Flash {
    bytes: Vec<u8>,
    /// The offset of a byte that an erase leaves as it is.
    stuck: Option<usize>,
    /// The offset of a byte of which a write loses a bit, once.
    loses: Option<usize>,
    /// How many reads will fail.
    blind: usize,
    /// The offset of a byte that is read wrong, and how often.
    misreads: (usize, usize),
    erases: usize,
}

impl Flash {
    fn erased(sectors: usize) -> Self {
        let bytes = vec![0xFF; sectors * SECTOR];
        Self { bytes, stuck: None, loses: None, blind: 0, misreads: (0, 0), erases: 0 }
    }
}

impl ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 4;

    fn read(&mut self, at: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        if self.blind > 0 {
            self.blind -= 1;
            return Err(NorFlashErrorKind::Other);
        }
        let range = at as usize..at as usize + bytes.len();
        bytes.copy_from_slice(&self.bytes[range.clone()]);
        let (wrong, left) = &mut self.misreads;
        if *left > 0 && range.contains(wrong) {
            *left -= 1;
            bytes[*wrong - range.start] ^= 2;
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 8;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.erases += 1;
        for at in (from as usize..to as usize).filter(|&at| self.stuck != Some(at)) {
            self.bytes[at] = 0xFF;
        }
        Ok(())
    }

    fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        let range = at as usize..at as usize + bytes.len();
        assert!(
            self.bytes[range.clone()].iter().all(|&byte| byte == 0xFF),
            "a word is written twice, at {at}"
        );
        self.bytes[range.clone()].copy_from_slice(bytes);
        if let Some(lost) = self.loses.take_if(|lost| range.contains(lost)) {
            self.bytes[lost] ^= 1;
        }
        Ok(())
    }
}

fn opened(flash: Flash) -> Journal<Flash> {
    let layout = JournalLayout { offset: 0, len_bytes: flash.bytes.len() as u32, erased: Erased::Ones };
    Journal::open(flash, layout, WORDS).unwrap()
}

fn save(
    journal: &mut Journal<Flash>,
    of: Identity,
    counter: u32,
) -> Result<(), JournalError<NorFlashErrorKind>> {
    journal.save(of, 0, [counter, 0, 0, counter].into_iter())
}

/// The first counter, if it is also the last.
fn load(journal: &mut Journal<Flash>, of: Identity, shape: u32) -> Option<u32> {
    let words: Vec<u32> = journal.load(of, shape, |words| words.collect())?;
    assert_eq!((words.len(), words[0]), (WORDS, words[3]));
    Some(words[0])
}

/// What a start finds.
fn found(flash: &Flash) -> Option<u32> {
    load(&mut opened(flash.clone()), OURS, 0)
}

/// A journal with so many saves, from 1 on, without a restart.
fn saved(sectors: usize, saves: u32) -> Flash {
    let mut journal = opened(Flash::erased(sectors));
    (1..=saves).for_each(|counter| save(&mut journal, OURS, counter).unwrap());
    journal.free()
}

#[test]
fn the_newest_record_that_is_whole_counts() {
    for saves in 1..30 {
        let flash = saved(3, saves);
        assert_eq!(found(&flash), Some(saves));
        // The newest is not whole: the one before it, also across sectors.
        let at = RECORD * ((saves as usize - 1) % 12);
        for bit in [0, 40, 100, 8 * 43] {
            let mut flash = flash.clone();
            flash.bytes[at + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(found(&flash), Some(saves - 1).filter(|&saves| saves > 0), "{saves}, bit {bit}");
        }
    }
    // Nor does a first record that is not whole end the search in its sector.
    let mut flash = saved(3, 3);
    flash.bytes[9] ^= 1;
    assert_eq!(found(&flash), Some(3));
}

#[test]
fn neither_another_shape_nor_another_calibrator_is_loaded() {
    let mut journal = opened(saved(3, 2));
    assert_eq!((load(&mut journal, OURS, 1), load(&mut journal, OTHERS, 0)), (None, None));
    assert!(journal.has_record());
    assert_eq!(load(&mut journal, OURS, 0), Some(2));
}

#[test]
fn the_newest_is_also_read_of_any_calibrator() {
    let mut journal = opened(saved(3, 2));
    save(&mut journal, OTHERS, 7).unwrap();
    assert_eq!(load(&mut journal, OURS, 0), None);
    assert_eq!(journal.load_any(|words| words.last()), Some(Some(7)));
    assert_eq!(opened(Flash::erased(3)).load_any(|words| words.last()), None);
}

/// What could not be read at the start is found later, and the next record is newer than it.
#[test]
fn a_journal_that_can_be_read_again_goes_on() {
    let mut flash = saved(3, 2);
    flash.blind = usize::MAX;
    let mut journal = opened(flash);
    journal.look_again();
    assert_eq!((journal.has_record(), load(&mut journal, OURS, 0)), (false, None));
    journal.flash_mut().blind = 0;
    journal.look_again();
    assert_eq!(load(&mut journal, OURS, 0), Some(2));
    save(&mut journal, OURS, 3).unwrap();
    journal.look_again();
    assert_eq!(found(&journal.free()), Some(3));
}

/// Its checksum is right, and its number of counters is not ours.
#[test]
fn a_record_of_another_number_of_counters_is_none() {
    for (words, expected) in [(4u32, Some(7)), (3, None), (5, None)] {
        let mut record = Vec::new();
        record.extend(b"CJNL");
        record.extend(1u32.to_le_bytes());
        record.extend(OURS.0);
        record.extend([0, words, 7, 0, 0, 7].map(u32::to_le_bytes).concat());
        let crc = crc32c(&record);
        record.extend(crc.to_le_bytes());
        let mut flash = Flash::erased(3);
        flash.bytes[..record.len()].copy_from_slice(&record);
        assert_eq!(found(&flash), expected, "{words}");
    }
}

/// What begins in one sector and ends in the next goes with either of them.
#[test]
fn a_record_across_two_sectors_is_none() {
    // Of 68 bytes in three units: two in a sector, and a rest of two units.
    const MORE: u32 = 10;
    for (at, expected) in [(SECTOR - 160, Some(7)), (SECTOR - 64, None)] {
        let mut record = Vec::new();
        record.extend(b"CJNL");
        record.extend(1u32.to_le_bytes());
        record.extend(OURS.0);
        record.extend([0, MORE].map(u32::to_le_bytes).concat());
        record.extend([7u32; MORE as usize].map(u32::to_le_bytes).concat());
        let crc = crc32c(&record);
        record.extend(crc.to_le_bytes());
        let mut flash = Flash::erased(3);
        // Behind a first one that is not whole.
        flash.bytes[..SECTOR].fill(0);
        flash.bytes[at..at + record.len()].copy_from_slice(&record);
        let layout = JournalLayout { offset: 0, len_bytes: 3 * SECTOR as u32, erased: Erased::Ones };
        let mut journal = Journal::open(flash, layout, MORE as usize).unwrap();
        assert_eq!(journal.load(OURS, 0, |words| words.last()), expected.map(Some), "{at}");
    }
}

/// In the place of the record that was found another one is read: it is not what was found.
#[test]
fn a_record_that_is_another_than_at_the_start_is_not_loaded() {
    let ours = saved(3, 2);
    let mut others = opened(Flash::erased(3));
    (1..=2).for_each(|counter| save(&mut others, OTHERS, 10 * counter).unwrap());
    let others = others.free();
    let mut journal = opened(ours);
    journal.flash_mut().bytes[RECORD..2 * RECORD].copy_from_slice(&others.bytes[RECORD..2 * RECORD]);
    assert_eq!(load(&mut journal, OURS, 0), Some(1));
}

#[test]
fn what_was_counted_before_a_reset_does_not_come_back() {
    for saves in 1..14 {
        let mut journal = opened(saved(3, saves));
        journal.begin_anew(OURS, 0, [100, 0, 0, 100].into_iter()).unwrap();
        let flash = journal.free();
        assert_eq!(found(&flash), Some(100));
        // The record of the reset is lost, alone or with its sector.
        let at = flash.bytes.chunks(SECTOR).position(|sector| sector[0] != 0xFF).unwrap() * SECTOR;
        let mut flipped = flash.clone();
        flipped.bytes[at + 24] ^= 1;
        let mut lost = flash.clone();
        lost.bytes[at..at + SECTOR].fill(0);
        for flash in [flipped, lost] {
            assert_eq!(found(&flash), None, "{saves}");
        }
        // Nothing else is there.
        let rest: usize = flash.bytes.iter().filter(|&&byte| byte != 0xFF).count();
        assert!(rest <= RECORD, "{saves}");
    }
}

/// A record that was cut short, is not whole at the next start, and is at a later one.
#[test]
fn a_torn_record_that_is_read_one_day_is_not_the_newest() {
    for before in 1..12 {
        let whole = saved(3, before + 1);
        let at = RECORD * before as usize;
        let mut torn = whole.clone();
        torn.bytes[at + 30] ^= 0x10;
        let mut journal = opened(torn);
        assert_eq!(load(&mut journal, OURS, 0), Some(before));
        save(&mut journal, OURS, 500).unwrap();
        let mut flash = journal.free();
        // Unless its sector was taken.
        if !before.is_multiple_of(4) {
            flash.bytes[at + 30] ^= 0x10;
        }
        assert_eq!(found(&flash), Some(500), "{before}");
    }
}

#[test]
fn what_an_erase_left_is_not_written_over_and_what_is_not_held_is_written_again() {
    // A byte beyond the record that goes there.
    let mut flash = saved(2, 4);
    flash.bytes[SECTOR + 200] = 0x7F;
    flash.stuck = Some(SECTOR + 200);
    let mut journal = opened(flash);
    assert_eq!(save(&mut journal, OURS, 5), Err(JournalError::ReadBack));
    assert_eq!(found(&journal.free()), Some(4));
    // A bit that a write loses: it is written again, into a sector that is erased once more.
    let mut flash = saved(3, 2);
    flash.loses = Some(SECTOR + 30);
    let mut journal = opened(flash);
    assert_eq!(save(&mut journal, OURS, 3), Ok(()));
    let flash = journal.free();
    assert_eq!((found(&flash), flash.erases), (Some(3), 3));
}

#[test]
fn a_bit_that_is_read_wrong_takes_no_counters_back() {
    let flash = saved(3, 6);
    for at in [SECTOR + 4, SECTOR + 30, SECTOR + RECORD + 10, SECTOR + RECORD + 41] {
        for times in 1..3 {
            let mut flash = flash.clone();
            flash.misreads = (at, times);
            assert_eq!(found(&flash), Some(6), "{at} {times}");
        }
        // At the start or later.
        let mut journal = opened(flash.clone());
        journal.flash_mut().misreads = (at, 2);
        assert_eq!(load(&mut journal, OURS, 0), Some(6));
    }
}

#[test]
fn a_record_apart_is_in_the_next_sector() {
    let mut journal = opened(saved(2, 1));
    save(&mut journal, OURS, 2).unwrap();
    journal.take_next_sector();
    save(&mut journal, OURS, 3).unwrap();
    let flash = journal.free();
    for (lost, expected) in [(0, 2), (SECTOR, 3)] {
        let mut flash = flash.clone();
        flash.bytes[lost..lost + SECTOR].fill(0);
        assert_eq!(found(&flash), Some(expected));
    }
}

#[test]
fn damage_is_what_cannot_be_the_first_save() {
    let damage = |flash: &Flash| opened(flash.clone()).damage();
    assert_eq!((damage(&Flash::erased(3)), damage(&saved(3, 1))), (Damage::None, Damage::None));
    // The very first save was cut short.
    let mut torn = Flash::erased(3);
    torn.bytes[..30].fill(0x3C);
    assert_eq!(damage(&torn), Damage::None);
    // Something behind it, or in two sectors.
    for at in [RECORD, SECTOR - 1, SECTOR] {
        let mut torn = torn.clone();
        torn.bytes[at] = 0x3C;
        assert_eq!(damage(&torn), Damage::Altered, "{at}");
    }
    let mut blind = saved(3, 5);
    blind.blind = 10_000;
    let mut journal = opened(blind);
    assert_eq!((journal.has_record(), journal.damage()), (false, Damage::Unreadable));
    journal.flash_mut().blind = 0;
    assert_eq!(found(&journal.free()), Some(5));
}

/// A read that fails is tried again at the same place: not at the flash's start, where another's data lies.
#[test]
fn a_journal_beyond_the_start_of_the_flash_survives_reads_that_fail() {
    let layout = JournalLayout { offset: SECTOR as u32, len_bytes: 2 * SECTOR as u32, erased: Erased::Ones };
    let open = |flash| Journal::open(flash, layout, WORDS).unwrap();
    let mut journal = open(Flash::erased(3));
    (1..=6).for_each(|counter| save(&mut journal, OURS, counter).unwrap());
    let flash = journal.free();
    assert!(flash.bytes[..SECTOR].iter().all(|&byte| byte == 0xFF));
    for blind in 0..3 {
        let mut flash = flash.clone();
        flash.blind = blind;
        let mut journal = open(flash);
        journal.flash_mut().blind = blind;
        assert_eq!(load(&mut journal, OURS, 0), Some(6), "{blind}");
    }
}

/// The sectors that are begun are told apart by their number, not by their place.
#[test]
fn records_cut_short_in_two_sectors_are_damage_however_far_apart() {
    for sectors in [3, 70] {
        for (first, second) in [(0, 1), (0, sectors - 1), (1, sectors - 1), (sectors - 2, 0)] {
            let mut flash = Flash::erased(sectors);
            flash.bytes[first * SECTOR] = 0x3C;
            assert_eq!(opened(flash.clone()).damage(), Damage::None, "{first}");
            flash.bytes[first * SECTOR + RECORD - 1] = 0x3C;
            assert_eq!(opened(flash.clone()).damage(), Damage::None, "{first}");
            flash.bytes[second * SECTOR] = 0x3C;
            assert_eq!(opened(flash).damage(), Damage::Altered, "{first} and {second}");
        }
    }
}

#[test]
fn records_are_counted_by_whole_sectors() {
    let layout = JournalLayout { offset: 0, len_bytes: 3 * SECTOR as u32, erased: Erased::Ones };
    // Of 44 bytes in 64; of 256; of 288.
    let records = [WORDS, 57, 58].map(|words| layout.records(SECTOR as u32, words));
    assert_eq!(records, [12, 3, 0]);
    assert_eq!(layout.records(0, WORDS), 0);
    let odd = JournalLayout { len_bytes: 2 * SECTOR as u32 + 64, ..layout };
    assert_eq!(odd.records(SECTOR as u32, WORDS), 8);
}

/// A flash in other units.
#[derive(Debug)]
struct Units<const READ: usize, const WRITE: usize>(Flash);

impl<const READ: usize, const WRITE: usize> ErrorType for Units<READ, WRITE> {
    type Error = NorFlashErrorKind;
}

impl<const READ: usize, const WRITE: usize> ReadNorFlash for Units<READ, WRITE> {
    const READ_SIZE: usize = READ;

    fn read(&mut self, at: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        self.0.read(at, bytes)
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl<const READ: usize, const WRITE: usize> NorFlash for Units<READ, WRITE> {
    const WRITE_SIZE: usize = WRITE;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.0.erase(from, to)
    }

    fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        self.0.write(at, bytes)
    }
}

#[test]
fn a_flash_in_units_that_do_not_divide_32_is_refused() {
    fn refused<const READ: usize, const WRITE: usize>() -> Option<JournalLayoutError> {
        let layout = JournalLayout { offset: 0, len_bytes: 2 * SECTOR as u32, erased: Erased::Ones };
        Journal::open(Units::<READ, WRITE>(Flash::erased(2)), layout, WORDS).err()
    }
    assert_eq!((refused::<1, 32>(), refused::<32, 1>()), (None, None));
    assert_eq!(
        (refused::<0, 4>(), refused::<4, 0>()),
        (Some(JournalLayoutError::Unit(0)), Some(JournalLayoutError::Unit(0)))
    );
    assert_eq!(
        (refused::<4, 64>(), refused::<64, 4>()),
        (Some(JournalLayoutError::Unit(64)), Some(JournalLayoutError::Unit(64)))
    );
    assert_eq!(
        (refused::<4, 24>(), refused::<24, 4>()),
        (Some(JournalLayoutError::Unit(24)), Some(JournalLayoutError::Unit(24)))
    );
}

#[test]
fn what_is_told_has_the_numbers() {
    for (error, number) in [
        (JournalLayoutError::Unit(24), "24 bytes"),
        (JournalLayoutError::Sectors(4096), "4096 bytes"),
        (JournalLayoutError::Record(288), "288 bytes"),
        (JournalLayoutError::Capacity(768), "768 bytes"),
    ] {
        assert!(error.to_string().contains(number), "{error}");
    }
    let flash = JournalError::Flash(NorFlashErrorKind::NotAligned);
    assert!(flash.to_string().ends_with(&NorFlashErrorKind::NotAligned.to_string()), "{flash}");
}

#[test]
fn a_journal_that_does_not_fit_is_refused() {
    let open = |offset, len_bytes, words| {
        let layout = JournalLayout { offset, len_bytes, erased: Erased::Ones };
        Journal::open(Flash::erased(3), layout, words).map(|_| ())
    };
    let (two, three) = (2 * SECTOR as u32, 3 * SECTOR as u32);
    assert_eq!(open(0, three, 57), Ok(()));
    assert_eq!(open(0, three, 58), Err(JournalLayoutError::Record(288)));
    for (offset, len_bytes) in [(0, SECTOR as u32), (0, two + 4), (4, two)] {
        assert_eq!(open(offset, len_bytes, WORDS), Err(JournalLayoutError::Sectors(SECTOR)));
    }
    assert_eq!(open(two, two, WORDS), Err(JournalLayoutError::Capacity(3 * SECTOR)));
}
