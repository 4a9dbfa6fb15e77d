//! The marks: how many make sure of a calibrator, and where they go.

use calib_core::slot::{InstallError, SlotFault};
use calib_core::{ArtifactBuffer, SlotStore};

use crate::flash::{Flash, SLOT_LEN};
use crate::{Buffer, OURS, artifact, open, put};

/// The places of the marks of slot 0, in the order in which they are written.
const PLACES: [usize; 6] =
    [SLOT_LEN - 32, SLOT_LEN - 96, SLOT_LEN - 128, SLOT_LEN - 160, SLOT_LEN - 192, SLOT_LEN - 224];

fn is_mark(flash: &Flash, at: usize) -> bool {
    flash.bytes[at..at + 32].iter().all(|&byte| byte == 0)
}

fn marks(flash: &Flash) -> Vec<usize> {
    (0..PLACES.len()).filter(|&index| is_mark(flash, PLACES[index])).collect()
}

/// A device with the older calibrator in slot 0.
fn with_old() -> Flash {
    let mut flash = Flash::erased();
    put(&mut flash, 0, &artifact(1, 0.5, OURS), 1);
    flash
}

#[test]
fn four_marks_make_sure_before_the_other_slot_is_erased() {
    let new = artifact(2, 0.75, OURS);
    // Torn marks are left as they are: neither complete nor blank. If no place is left, those that are there suffice.
    for torn in [&[][..], &[1], &[1, 3], &[2, 4, 5], &[1, 2, 3, 4], &[1, 2, 3, 4, 5]] {
        let mut flash = with_old();
        torn.iter().for_each(|&index| flash.bytes[PLACES[index] + 7] = 0x7F);
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        assert_eq!(store.install(new.as_bytes()).unwrap().slot, 1);
        let expected: Vec<usize> = (0..6).filter(|index| !torn.contains(index)).take(4).collect();
        assert_eq!(marks(store.flash()), expected, "{torn:?}");
        // What is installed has its four at once.
        let of_new = PLACES.iter().filter(|&&at| is_mark(store.flash(), SLOT_LEN + at)).count();
        assert_eq!(of_new, 4);
    }
}

#[test]
fn no_more_marks_are_written_than_it_takes() {
    let (old, new) = (artifact(1, 0.5, OURS), artifact(2, 0.75, OURS));
    let mut flash = with_old();
    // However often a device is started and the same is pushed.
    for _ in 0..60 {
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        let receipt = store.install(old.as_bytes()).unwrap();
        assert_eq!((receipt.slot, receipt.sequence), (0, 1));
        flash = store.free();
    }
    // Three marks, and a note in the other slot.
    assert_eq!((marks(&flash), flash.changes), (vec![0, 1, 2, 3], 4));
    let mut buffer = Buffer::new();
    assert_eq!(open(flash, &mut buffer).install(new.as_bytes()).unwrap().slot, 1);
}

/// The device takes a calibrator even then, if a mark is certain.
#[test]
fn without_a_place_for_a_mark_one_suffices_that_is_always_read() {
    let (old, new) = (artifact(1, 0.5, OURS), artifact(2, 0.75, OURS));
    let mut flash = with_old();
    PLACES[1..].iter().for_each(|&at| flash.bytes[at] = 0x7F);
    let mut buffer = Buffer::new();
    for artifact in [&old, &new] {
        let mut store = open(flash.clone(), &mut buffer);
        store.install(artifact.as_bytes()).unwrap();
        assert_eq!(store.load(&mut buffer).unwrap().bytes(), artifact.as_bytes());
        assert_eq!(marks(store.flash()), [0]);
    }
    // It is not there any more.
    let mut store = open(flash, &mut buffer);
    store.flash_mut().lost = vec![PLACES[0]];
    assert_eq!(store.install(new.as_bytes()).unwrap_err(), InstallError::NoMark);
    store.flash_mut().lost.clear();
    assert_eq!(store.load(&mut buffer).unwrap().bytes(), old.as_bytes());
    assert_eq!(store.survey()[1], Err(SlotFault::Blank));
    // One after the other is read, and then none: that is not always.
    store.flash_mut().fades = Some((PLACES[0], 12));
    assert_eq!(store.install(new.as_bytes()).unwrap_err(), InstallError::NoMark);
}

/// Five cuts within the marks of one calibrator, and any number of pushes: the device is not locked.
#[test]
fn no_number_of_cuts_within_marks_locks_a_device() {
    let (old, new) = (artifact(1, 0.5, OURS), artifact(2, 0.75, OURS));
    for cuts in 0..12 {
        let mut flash = with_old();
        let mut buffer = Buffer::new();
        for cut in 0..cuts {
            flash.cut = Some(cut % 9);
            let mut store = open(flash, &mut buffer);
            let _ = store.install(if cut % 2 == 0 { &old } else { &new }.as_bytes());
            flash = store.free();
        }
        flash.cut = None;
        let mut store = open(flash, &mut buffer);
        while store.install(new.as_bytes()) == Err(InstallError::Reload) {
            store.load(&mut buffer).unwrap();
        }
        assert_eq!(store.current_counter(), Some(2), "{cuts}");
    }
}

#[test]
fn any_mark_keeps_a_calibrator_with_up_to_eight_wrong_bits_and_a_torn_one_is_none() {
    let old = artifact(1, 0.5, OURS);
    for place in PLACES {
        let mut flash = with_old();
        flash.bytes[PLACES[0]..][..4].copy_from_slice(&[0xF0, 0x1F, 0x80, 0]);
        let mut buffer = Buffer::new();
        assert_eq!(open(flash.clone(), &mut buffer).current_slot(), None, "ten bits");
        flash.bytes[place..place + 32].fill(0);
        for bits in 0..10 {
            assert_eq!(open(flash.clone(), &mut buffer).current_slot(), (bits <= 8).then_some(0), "{bits}");
            if bits <= 8 {
                assert_eq!(buffer.as_bytes(), old.as_bytes());
            }
            flash.bytes[place + 3 * bits] ^= 4;
        }
    }
}

/// Every bit of a device that has had two installations.
#[test]
fn no_single_bit_brings_an_older_calibrator_without_a_word_or_a_lower_counter() {
    let (old, new) = (artifact(1, 0.5, OURS), artifact(4, 0.75, OURS));
    let mut buffer = Buffer::new();
    let mut store = open(Flash::erased(), &mut buffer);
    store.install(old.as_bytes()).unwrap();
    store.install(new.as_bytes()).unwrap();
    let whole = store.free();
    for bit in 0..8 * 2 * SLOT_LEN {
        let mut flash = whole.clone();
        flash.bytes[bit / 8] ^= 1 << (bit % 8);
        let mut store = open(flash, &mut buffer);
        match store.current_counter() {
            Some(4) => {}
            Some(1) => {
                assert_eq!(store.fallback_from().map(|over| over.slot), Some(1), "bit {bit} is not told");
                // What is no record, no artifact and no gap decides nothing.
                assert!(
                    bit / 8 < 2 * SLOT_LEN - 288
                        || (2 * SLOT_LEN - 64..2 * SLOT_LEN - 32).contains(&(bit / 8))
                );
            }
            other => panic!("bit {bit}: {other:?}"),
        }
        let lower = store.install(artifact(3, 0.875, OURS).as_bytes()).unwrap_err();
        assert_eq!(lower, InstallError::Downgrade { held: 4, offered: 3 }, "bit {bit}");
        assert_eq!(store.install(artifact(5, 0.875, OURS).as_bytes()).map(|_| ()), Ok(()), "bit {bit}");
    }
}

#[test]
fn a_place_that_fails_or_cannot_be_read_is_passed_by() {
    let new = artifact(2, 0.75, OURS);
    let mut flash = with_old();
    flash.refuses = Some(PLACES[1]);
    flash.lost = vec![PLACES[3]];
    let mut buffer = Buffer::new();
    let mut store = open(flash, &mut buffer);
    assert_eq!(store.install(new.as_bytes()).unwrap().slot, 1);
    assert_eq!(marks(store.flash()), [0, 2, 4, 5]);
}

/// An artifact may reach up to the notes, and no further.
#[test]
fn an_artifact_in_the_place_of_a_note_is_neither_installed_nor_read() {
    const MAX: usize = SLOT_LEN - 288;
    let (longest, beyond) = (crate::artifact_of_len(1, MAX), crate::artifact_of_len(1, MAX + 4));
    for (long, fits) in [(&longest, true), (&beyond, false)] {
        let mut flash = Flash::erased();
        crate::put_long(&mut flash, 0, long, 1);
        let mut buffer = ArtifactBuffer::<256>::new();
        let (mut store, loaded) =
            SlotStore::open(flash, crate::LAYOUT, crate::admission(), &mut buffer).unwrap();
        if fits {
            assert_eq!(loaded.unwrap().bytes(), long.as_bytes());
            assert_eq!(store.install(artifact(2, 0.75, OURS).as_bytes()).unwrap().slot, 1);
            assert!(PLACES[..4].iter().all(|&at| is_mark(store.flash(), at)));
        } else {
            assert_eq!(loaded.unwrap_err(), [SlotFault::Altered, SlotFault::Blank]);
            let too_large = InstallError::TooLarge { len_bytes: MAX as u32 + 4, max: MAX as u32 };
            assert_eq!(store.install(long.as_bytes()).unwrap_err(), too_large);
        }
    }
}
