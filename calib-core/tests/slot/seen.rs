//! What a store sees of its slots, and what it does when it sees otherwise than before.

use calib_core::slot::{InstallError, SlotFault, UnusableSlot};

use crate::flash::{Flash, SLOT_LEN};
use crate::{Buffer, OTHERS, OURS, artifact, open, put};

/// Slot 0 holds counter 2, slot 1 counter 3, which is in force.
fn two() -> Flash {
    let mut flash = Flash::erased();
    put(&mut flash, 0, &artifact(2, 0.5, OURS), 1);
    put(&mut flash, 1, &artifact(3, 0.75, OURS), 2);
    flash
}

#[test]
fn a_start_writes_nothing() {
    for damage in [None, Some(40), Some(SLOT_LEN - 60), Some(SLOT_LEN - 20)] {
        let mut flash = two();
        if let Some(at) = damage {
            flash.bytes[SLOT_LEN + at] ^= 1;
        }
        let before = flash.bytes.clone();
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        let _ = store.survey();
        assert_eq!((&store.flash().bytes, store.flash().changes), (&before, 0));
    }
}

/// A disturbance at the start, and a push of an old calibrator: it does not pass for the first one.
#[test]
fn after_a_start_without_sight_counters_still_count() {
    let mut flash = two();
    flash.blind = 10_000;
    let mut buffer = Buffer::new();
    let mut store = open(flash, &mut buffer);
    assert_eq!(store.load(&mut buffer).unwrap_err(), [SlotFault::Flash; 2]);
    store.flash_mut().blind = 0;
    for counter in [1, 2, 3, 4] {
        let offered = artifact(counter, 0.875, OURS);
        assert_eq!(store.install(offered.as_bytes()).unwrap_err(), InstallError::Reload);
    }
    assert_eq!(store.flash().changes, 0);
    store.load(&mut buffer).unwrap();
    assert_eq!(store.current_counter(), Some(3));
    let lower = store.install(artifact(2, 0.875, OURS).as_bytes()).unwrap_err();
    assert_eq!(lower, InstallError::Downgrade { held: 3, offered: 2 });
    let receipt = store.install(artifact(4, 0.875, OURS).as_bytes()).unwrap();
    assert_eq!((receipt.slot, receipt.sequence), (0, 3));
}

/// The newest cannot be read at the start, and is there again when an older one is pushed.
#[test]
fn a_newer_calibrator_that_comes_back_is_not_erased() {
    let mut flash = two();
    flash.lost = vec![SLOT_LEN + 64];
    let mut buffer = Buffer::new();
    let mut store = open(flash, &mut buffer);
    assert_eq!(store.current_counter(), Some(2));
    assert_eq!(store.fallback_from(), Some(UnusableSlot { slot: 1, fault: SlotFault::Flash }));
    store.flash_mut().lost.clear();
    for counter in [2, 3, 4] {
        let refused = store.install(artifact(counter, 0.875, OURS).as_bytes()).unwrap_err();
        assert_eq!(refused, InstallError::Reload);
    }
    store.load(&mut buffer).unwrap();
    assert_eq!((store.current_counter(), store.fallback_from()), (Some(3), None));
}

#[test]
fn a_read_is_tried_three_times() {
    for (fails, counter) in [(0, Some(3)), (1, Some(3)), (2, Some(3)), (10_000, None)] {
        let mut flash = two();
        flash.blind = fails;
        let mut buffer = Buffer::new();
        let store = open(flash, &mut buffer);
        assert_eq!((store.current_counter(), store.fallback_from()), (counter, None), "{fails}");
    }
}

#[test]
fn a_newer_calibrator_that_is_damaged_is_told_and_its_counter_counts() {
    for (at, fault) in [
        (40, SlotFault::Altered),
        (SLOT_LEN - 300, SlotFault::Tail { offset: SLOT_LEN as u32 - 300 }),
        // The record: it may have been an older one.
        (SLOT_LEN - 60, SlotFault::Altered),
    ] {
        let mut flash = two();
        flash.bytes[SLOT_LEN + at] ^= 1;
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        assert_eq!(store.current_counter(), Some(2), "{at}");
        assert_eq!(store.fallback_from(), Some(UnusableSlot { slot: 1, fault }), "{at}");
        let lower = store.install(artifact(2, 0.875, OURS).as_bytes());
        if at == SLOT_LEN - 60 {
            assert_eq!(lower.unwrap().slot, 1);
        } else {
            assert_eq!(lower.unwrap_err(), InstallError::Downgrade { held: 3, offered: 2 });
            let receipt = store.install(artifact(3, 0.875, OURS).as_bytes()).unwrap();
            assert_eq!((receipt.slot, receipt.sequence), (1, 3));
        }
    }
}

#[test]
fn nothing_is_passed_over_that_was_never_completed_or_is_older() {
    let mut buffer = Buffer::new();
    assert_eq!(open(two(), &mut buffer).fallback_from(), None);
    // The older one is damaged.
    let mut flash = two();
    flash.bytes[40] ^= 1;
    assert_eq!(open(flash, &mut buffer).fallback_from(), None);
    // The newer one was cut short before its mark.
    for left in [0, 16] {
        let mut flash = two();
        flash.bytes[2 * SLOT_LEN - 32 + left..2 * SLOT_LEN].fill(0xFF);
        assert_eq!(open(flash, &mut buffer).fallback_from(), None);
    }
    assert_eq!(open(Flash::erased(), &mut buffer).fallback_from(), None);
}

/// What is acknowledged stays in force, also if the other slot's torn mark is read as whole one day.
#[test]
fn what_is_installed_again_is_in_force_whatever_was_torn() {
    let old = artifact(2, 0.5, OURS);
    let mut flash = two();
    let mark = 2 * SLOT_LEN - 9;
    flash.bytes[mark..mark + 2].copy_from_slice(&[0xF0, 0xFF]);
    let mut buffer = Buffer::new();
    let mut store = open(flash, &mut buffer);
    assert_eq!(store.install(old.as_bytes()).unwrap().slot, 0);
    let mut flash = store.free();
    flash.bytes[mark..mark + 2].fill(0);
    assert_eq!(open(flash, &mut buffer).current_counter(), Some(2));

    // An older one beside it is no danger, and stays.
    let mut store = open(two(), &mut buffer);
    assert_eq!(store.install(artifact(3, 0.75, OURS).as_bytes()).unwrap().slot, 1);
    assert_eq!(store.survey().map(|slot| slot.map(|content| content.counter)), [Ok(2), Ok(3)]);
}

/// With neither slot in force, the one that cannot be read may hold anything: it is erased last.
#[test]
fn without_a_calibrator_the_slot_that_cannot_be_read_is_erased_last() {
    let new = artifact(1, 0.5, OURS);
    for lost in [0, 1] {
        let mut flash = Flash::erased();
        flash.bytes[lost * SLOT_LEN..][..SLOT_LEN].fill(0);
        flash.lost = vec![(lost + 1) * SLOT_LEN - 8, (lost + 1) * SLOT_LEN - 40];
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        assert_eq!(store.current_slot(), None);
        assert_eq!(usize::from(store.install(new.as_bytes()).unwrap().slot), 1 - lost);
        let flash = store.free();
        // But for the note of the other slot's counter.
        let erased = &flash.bytes[lost * SLOT_LEN..][..SLOT_LEN];
        assert!(erased[..SLOT_LEN - 256].iter().chain(&erased[SLOT_LEN - 224..]).all(|&byte| byte == 0xFF));
        assert_eq!(open(flash, &mut buffer).current_counter(), Some(1));
    }
}

/// What is refused, such as that of an earlier classifier, neither sets the counter nor stays where it might be in force one day.
#[test]
fn a_refused_calibrator_does_not_count() {
    for (refused, slot) in [(0, 1), (1, 0)] {
        let mut flash = Flash::erased();
        put(&mut flash, refused, &artifact(7, 0.5, OTHERS), 5);
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        let receipt = store.install(artifact(2, 0.75, OURS).as_bytes()).unwrap();
        assert_eq!((usize::from(receipt.slot), receipt.sequence), (slot, 6));
        assert_eq!(store.survey()[refused], Err(SlotFault::Blank));
        store.load(&mut buffer).unwrap();
        assert_eq!((store.current_counter(), store.fallback_from()), (Some(2), None));
    }
}

/// The newest, acknowledged, cannot be read for several starts, however often an older one is pushed.
#[test]
fn the_newest_counter_is_known_while_its_slot_cannot_be_read() {
    let mut buffer = Buffer::new();
    let mut store = open(Flash::erased(), &mut buffer);
    store.install(artifact(2, 0.5, OURS).as_bytes()).unwrap();
    store.install(artifact(5, 0.75, OURS).as_bytes()).unwrap();
    let mut flash = store.free();
    for start in 0..3 {
        // Record and marks; from its second start on nothing of it.
        flash.lost = (if start == 0 { 2 * SLOT_LEN - 224 } else { SLOT_LEN }..2 * SLOT_LEN).collect();
        let mut store = open(flash, &mut buffer);
        assert_eq!(store.current_counter(), Some(2));
        assert_eq!(store.fallback_from(), Some(UnusableSlot { slot: 1, fault: SlotFault::Flash }));
        for counter in [1, 2, 3, 4] {
            let lower = store.install(artifact(counter, 0.875, OURS).as_bytes()).unwrap_err();
            assert_eq!(lower, InstallError::Downgrade { held: 5, offered: counter });
        }
        flash = store.free();
    }
    let mut whole = flash.clone();
    whole.lost.clear();
    assert_eq!(open(whole, &mut buffer).current_counter(), Some(5));
    // A newer one goes there. If that is cut short, the older one is in force, which is told, and the counter is known.
    flash.cut = Some(6);
    let mut store = open(flash, &mut buffer);
    store.install(artifact(6, 0.875, OURS).as_bytes()).unwrap_err();
    let mut flash = store.free();
    flash.cut = None;
    let mut store = open(flash, &mut buffer);
    assert_eq!(store.current_counter(), Some(2));
    assert_eq!(store.fallback_from().map(|over| over.slot), Some(1));
    let lower = store.install(artifact(4, 0.875, OURS).as_bytes()).unwrap_err();
    assert_eq!(lower, InstallError::Downgrade { held: 5, offered: 4 });
    store.install(artifact(5, 0.75, OURS).as_bytes()).unwrap();
    store.load(&mut buffer).unwrap();
    assert_eq!((store.current_counter(), store.fallback_from()), (Some(5), None));
}

/// Nothing is in force: the slot of the newest cannot be read, and the other one was being written.
#[test]
fn the_newest_counter_is_known_with_nothing_in_force() {
    let mut buffer = Buffer::new();
    let mut store = open(Flash::erased(), &mut buffer);
    store.install(artifact(2, 0.5, OURS).as_bytes()).unwrap();
    store.install(artifact(5, 0.75, OURS).as_bytes()).unwrap();
    let mut flash = store.free();
    flash.cut = Some(6);
    let mut store = open(flash, &mut buffer);
    store.install(artifact(6, 0.875, OURS).as_bytes()).unwrap_err();
    let mut flash = store.free();
    (flash.cut, flash.lost) = (None, (SLOT_LEN..2 * SLOT_LEN).collect());
    let mut store = open(flash, &mut buffer);
    assert_eq!(store.current_counter(), None);
    let lower = store.install(artifact(4, 0.875, OURS).as_bytes()).unwrap_err();
    assert_eq!(lower, InstallError::Downgrade { held: 5, offered: 4 });
    store.install(artifact(6, 0.875, OURS).as_bytes()).unwrap();
}

/// A bit that is read wrong once brings no older calibrator into force.
#[test]
fn what_is_not_in_order_is_read_again() {
    // Of long slots several are.
    let erased: Vec<usize> = (SLOT_LEN + 480..2 * SLOT_LEN - 300).step_by(40).collect();
    for at in [vec![SLOT_LEN + 40], vec![SLOT_LEN + 700], vec![2 * SLOT_LEN - 50], erased] {
        let mut flash = two();
        flash.misreads = at.clone();
        let mut buffer = Buffer::new();
        let store = open(flash, &mut buffer);
        assert_eq!((store.current_counter(), store.fallback_from()), (Some(3), None), "{at:?}");
    }
}

/// A note of another classifier's calibrators says nothing of ours.
#[test]
fn notes_count_for_the_classifier_that_wrote_them() {
    let mut buffer = Buffer::new();
    let others = calib_core::Admission::new(calib_core::Anybody, OTHERS);
    let (mut store, _) =
        calib_core::SlotStore::open(Flash::erased(), crate::LAYOUT, others, &mut buffer).unwrap();
    store.install(artifact(7, 0.5, OTHERS).as_bytes()).unwrap();
    store.install(artifact(8, 0.75, OTHERS).as_bytes()).unwrap();
    let mut store = open(store.free(), &mut buffer);
    store.install(artifact(1, 0.5, OURS).as_bytes()).unwrap();
    store.load(&mut buffer).unwrap();
    assert_eq!((store.current_counter(), store.fallback_from()), (Some(1), None));
}

/// Whatever the other slot may turn out to be one day, it is erased before the one in force is acknowledged again.
#[test]
fn what_might_be_in_force_one_day_is_erased() {
    let newest = artifact(3, 0.75, OURS);
    let (record, mark) = (SLOT_LEN - 64, SLOT_LEN - 32);
    // The record is not right, and the mark torn, or whole; and one of the same rank.
    for case in 0..3 {
        let mut flash = two();
        if case < 2 {
            flash.bytes[record + 8] ^= 1;
        } else {
            put(&mut flash, 0, &newest, 2);
        }
        if case == 0 {
            flash.bytes[mark..mark + 16].fill(0xFF);
        }
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        let slot = store.install(newest.as_bytes()).unwrap().slot;
        assert_eq!(store.survey()[usize::from(1 - slot)], Err(SlotFault::Blank), "{case}");
        assert_eq!(store.survey()[usize::from(slot)].map(|held| held.counter), Ok(3));
    }
}

/// A record that cannot be read, beside any mark that can.
#[test]
fn a_slot_of_which_only_a_spare_mark_is_read_is_told() {
    let mut flash = two();
    flash.bytes[2 * SLOT_LEN - 32..].fill(0xFF);
    flash.bytes[2 * SLOT_LEN - 160..2 * SLOT_LEN - 128].fill(0);
    let mut buffer = Buffer::new();
    assert_eq!(open(flash.clone(), &mut buffer).current_counter(), Some(3));
    flash.lost = vec![2 * SLOT_LEN - 50];
    let store = open(flash, &mut buffer);
    assert_eq!(store.fallback_from(), Some(UnusableSlot { slot: 1, fault: SlotFault::Flash }));
}

/// Every byte of the record is read back; a mark with a wrong bit is one, and others have none.
#[test]
fn a_bit_that_a_write_loses_is_not_acknowledged_unless_it_is_a_marks() {
    for at in SLOT_LEN - 32..SLOT_LEN {
        let mut flash = two();
        flash.bytes[..SLOT_LEN].fill(0xFF);
        flash.loses = Some(at);
        let mut buffer = Buffer::new();
        assert_eq!(open(flash, &mut buffer).install(artifact(4, 0.875, OURS).as_bytes()).unwrap().slot, 0);
    }
    for at in (SLOT_LEN - 64..SLOT_LEN - 32).chain([0, 100]) {
        let mut flash = two();
        flash.bytes[..SLOT_LEN].fill(0xFF);
        flash.loses = Some(at);
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        let lost = store.install(artifact(4, 0.875, OURS).as_bytes()).unwrap_err();
        assert_eq!(lost, InstallError::ReadBack { offset: at as u32 });
    }
}
