//! The marks: how many make sure of a calibrator, and where they go.

use calib_core::slot::{InstallError, SlotFault};
use calib_core::{ArtifactBuffer, SlotStore};

use crate::flash::{Flash, SLOT_LEN};
use crate::{Buffer, OURS, artefact, open, put};

/// The places of the marks of slot 0, in the order in which they are written.
const PLACES: [usize; 8] = [
    SLOT_LEN - 32,
    SLOT_LEN - 96,
    SLOT_LEN - 128,
    SLOT_LEN - 160,
    SLOT_LEN - 192,
    SLOT_LEN - 224,
    SLOT_LEN - 256,
    SLOT_LEN - 288,
];

fn is_mark(flash: &Flash, at: usize) -> bool {
    flash.bytes[at..at + 32].iter().all(|&byte| byte == 0)
}

fn marks(flash: &Flash) -> Vec<usize> {
    (0..PLACES.len()).filter(|&index| is_mark(flash, PLACES[index])).collect()
}

/// A device with the older calibrator in slot 0.
fn with_old() -> Flash {
    let mut flash = Flash::erased();
    put(&mut flash, 0, &artefact(1, 0.5, OURS), 1);
    flash
}

#[test]
fn four_marks_make_sure_before_the_other_slot_is_erased() {
    let new = artefact(2, 0.75, OURS);
    // Torn marks are left as they are: neither complete nor blank.
    for torn in [&[][..], &[1], &[1, 3], &[2, 4, 5], &[1, 2, 3, 4]] {
        let mut flash = with_old();
        torn.iter().for_each(|&index| flash.bytes[PLACES[index] + 7] = 0x7F);
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        assert_eq!(store.install(new.as_bytes()).unwrap().slot, 1);
        let expected: Vec<usize> = (0..8).filter(|index| !torn.contains(index)).take(4).collect();
        assert_eq!(marks(store.flash()), expected, "{torn:?}");
    }
}

#[test]
fn no_more_marks_are_written_than_it_takes() {
    let (old, new) = (artefact(1, 0.5, OURS), artefact(2, 0.75, OURS));
    let mut flash = with_old();
    // However often a device is started and the same is pushed.
    for _ in 0..60 {
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        let receipt = store.install(old.as_bytes()).unwrap();
        assert_eq!((receipt.slot, receipt.sequence), (0, 1));
        flash = store.free();
    }
    assert_eq!((marks(&flash), flash.changes), (vec![0, 1, 2, 3], 3));
    let mut buffer = Buffer::new();
    assert_eq!(open(flash, &mut buffer).install(new.as_bytes()).unwrap().slot, 1);
}

#[test]
fn without_a_place_for_a_mark_nothing_is_erased() {
    let (old, new) = (artefact(1, 0.5, OURS), artefact(2, 0.75, OURS));
    let mut flash = with_old();
    PLACES[1..].iter().take(5).for_each(|&at| flash.bytes[at] = 0x7F);
    let mut buffer = Buffer::new();
    let mut store = open(flash, &mut buffer);
    for artefact in [&new, &old] {
        assert_eq!(store.install(artefact.as_bytes()).unwrap_err(), InstallError::NoMark);
    }
    assert_eq!(store.load(&mut buffer).unwrap().bytes(), old.as_bytes());
    assert_eq!(marks(store.flash()), [0, 6, 7], "two were written before it was known");
    assert_eq!(store.survey()[1], Err(SlotFault::Blank));
}

#[test]
fn any_mark_keeps_a_calibrator_and_a_torn_one_is_none() {
    let old = artefact(1, 0.5, OURS);
    for place in PLACES {
        let mut flash = with_old();
        flash.bytes[PLACES[0]] = 0x10;
        let mut buffer = Buffer::new();
        assert_eq!(open(flash.clone(), &mut buffer).current_slot(), None);
        flash.bytes[place..place + 32].fill(0);
        assert_eq!(open(flash.clone(), &mut buffer).current_slot(), Some(0));
        assert_eq!(buffer.as_bytes(), old.as_bytes());
        for bit in 0..8 * 32 {
            let mut torn = flash.clone();
            torn.bytes[place + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(torn, &mut buffer).current_slot(), None, "bit {bit} of the mark at {place}");
        }
    }
}

#[test]
fn a_place_that_fails_or_cannot_be_read_is_passed_by() {
    let new = artefact(2, 0.75, OURS);
    let mut flash = with_old();
    flash.refuses = Some(PLACES[1]);
    flash.lost = vec![PLACES[3]];
    let mut buffer = Buffer::new();
    let mut store = open(flash, &mut buffer);
    assert_eq!(store.install(new.as_bytes()).unwrap().slot, 1);
    assert_eq!(marks(store.flash()), [0, 2, 4, 5]);
}

/// An artefact may reach up to the spare marks, and no further.
#[test]
fn an_artefact_in_the_place_of_a_spare_mark_is_neither_installed_nor_read() {
    const MAX: usize = SLOT_LEN - 288;
    let (longest, beyond) = (crate::artefact_of_len(1, MAX), crate::artefact_of_len(1, MAX + 4));
    for (long, fits) in [(&longest, true), (&beyond, false)] {
        let mut flash = Flash::erased();
        crate::put_long(&mut flash, 0, long, 1);
        let mut buffer = ArtifactBuffer::<256>::new();
        let (mut store, loaded) =
            SlotStore::open(flash, crate::LAYOUT, crate::admission(), &mut buffer).unwrap();
        if fits {
            assert_eq!(loaded.unwrap().bytes(), long.as_bytes());
            assert_eq!(store.install(artefact(2, 0.75, OURS).as_bytes()).unwrap().slot, 1);
            assert!(PLACES[..4].iter().all(|&at| is_mark(store.flash(), at)));
        } else {
            assert_eq!(loaded.unwrap_err(), [SlotFault::Altered, SlotFault::Blank]);
            let too_large = InstallError::TooLarge { len_bytes: MAX as u32 + 4, max: MAX as u32 };
            assert_eq!(store.install(long.as_bytes()).unwrap_err(), too_large);
        }
    }
}
