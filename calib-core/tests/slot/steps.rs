//! The steps of an installation: how far it says that it is, and what each leaves in the flash.

use calib_core::slot::{Install, InstallError, Progress};
use calib_core::{Anybody, ArtifactBuffer, SlotStore};

use crate::flash::{Flash, SLOT_LEN};
use crate::{Buffer, LAYOUT, OURS, admission, artifact, artifact_of_len, open, put};

/// The bytes that are done before each step, each of which says the same sum of all.
fn pending(
    store: &mut SlotStore<Flash, Anybody>,
    mut install: Install,
    bytes: &[u8],
    total: u32,
) -> Vec<u32> {
    let mut done = Vec::new();
    loop {
        match store.progress(&install) {
            Progress::Pending { done_bytes, total_bytes } => {
                assert_eq!(total_bytes, total);
                done.push(done_bytes);
            }
            Progress::Installed(_) => return done,
        }
        store.step(&mut install, bytes).unwrap();
    }
}

#[test]
fn progress_counts_what_is_erased_written_and_compared() {
    let long = artifact_of_len(2, 736);
    let all = 1024 + 2 * 736;
    let expected = [
        // Erased; written; compared; the sum, the record, the first mark and the others.
        &[0, 256, 512, 768][..],
        &[1024, 1280, 1536],
        &[1760, 2016, 2272],
        &[all; 4],
    ]
    .concat();
    let mut buffer = ArtifactBuffer::<256>::new();
    let mut store = SlotStore::open(Flash::erased(), LAYOUT, admission(), &mut buffer).unwrap().0;
    let install = store.begin(long.as_bytes()).unwrap();
    assert_eq!(pending(&mut store, install, long.as_bytes(), all), expected);
    // Beside another calibrator, of which it is made sure first.
    let mut flash = Flash::erased();
    put(&mut flash, 0, &artifact(1, 0.5, OURS), 1);
    let mut store = SlotStore::open(flash, LAYOUT, admission(), &mut buffer).unwrap().0;
    let install = store.begin(long.as_bytes()).unwrap();
    assert_eq!(pending(&mut store, install, long.as_bytes(), all), [&[0], &expected[..]].concat());
}

/// The other slot might hold a newer one: it is erased before the same one is acknowledged.
#[test]
fn progress_counts_what_is_cleared() {
    let same = artifact(2, 0.5, OURS);
    let mut flash = Flash::erased();
    put(&mut flash, 0, &same, 1);
    put(&mut flash, 1, &artifact(3, 0.75, OURS), 2);
    // Its record is not right.
    flash.bytes[2 * SLOT_LEN - 60] ^= 1;
    let mut buffer = Buffer::new();
    let mut store = open(flash, &mut buffer);
    let install = store.begin(same.as_bytes()).unwrap();
    assert_eq!(pending(&mut store, install, same.as_bytes(), 1024), [0, 0, 256, 512, 768]);
    assert!(store.flash().bytes[SLOT_LEN..2 * SLOT_LEN - 288].iter().all(|&byte| byte == 0xFF));
    // With none in force, what is cleared is counted behind all else.
    let mut flash = Flash::erased();
    for (slot, counter) in [(0, 2), (1, 3)] {
        put(&mut flash, slot, &artifact(counter, 0.75, OURS), counter);
        flash.bytes[slot * SLOT_LEN + SLOT_LEN - 60] ^= 1;
    }
    let mut store = open(flash, &mut buffer);
    let new = artifact(5, 0.5, OURS);
    let len = new.as_bytes().len() as u32;
    assert!(len <= 256);
    let install = store.begin(new.as_bytes()).unwrap();
    let all = 1024 + 2 * len;
    let expected =
        [0, 256, 512, 768, 1024, 1024 + len, all, all, all, all, all, all + 256, all + 512, all + 768];
    assert_eq!(pending(&mut store, install, new.as_bytes(), all + 1024), expected);
}

/// All of an artifact is compared, piece by piece.
#[test]
fn a_bit_that_the_flash_does_not_hold_is_noticed_wherever_it_is() {
    let long = artifact_of_len(2, 736);
    for at in [0, 255, 256, 511, 512, 735] {
        let mut flash = Flash::erased();
        flash.loses = Some(at);
        let mut buffer = ArtifactBuffer::<256>::new();
        let mut store = SlotStore::open(flash, LAYOUT, admission(), &mut buffer).unwrap().0;
        let error = store.install(long.as_bytes()).unwrap_err();
        assert_eq!(error, InstallError::ReadBack { offset: at as u32 });
    }
}

/// A cut after the first mark finds an installation that is completed; one before it, none.
#[test]
fn the_first_mark_completes_an_installation_and_the_others_make_sure_in_a_step_of_their_own() {
    let (old, new) = (artifact(1, 0.5, OURS), artifact(2, 0.75, OURS));
    let mut flash = Flash::erased();
    put(&mut flash, 0, &old, 1);
    let mut buffer = Buffer::new();
    let mut store = open(flash, &mut buffer);
    let mut install = store.begin(new.as_bytes()).unwrap();
    let mut numbers = Vec::new();
    loop {
        let progress = store.step(&mut install, new.as_bytes()).unwrap();
        let trailer = &store.flash().bytes[2 * SLOT_LEN - 224..];
        let marks = trailer.chunks(32).filter(|unit| unit.iter().all(|&byte| byte == 0)).count();
        let counter = open(store.flash().clone(), &mut Buffer::new()).current_counter();
        assert_eq!(counter, Some(if marks == 0 { 1 } else { 2 }));
        numbers.push(marks);
        if matches!(progress, Progress::Installed(_)) {
            break;
        }
    }
    numbers.dedup();
    assert_eq!(numbers, [0, 1, 4]);
}

/// A few bits do no harm, and others make sure; a mark that is not there is told.
#[test]
fn a_first_mark_that_the_flash_does_not_hold_completes_nothing() {
    let new = artifact(2, 0.75, OURS);
    let mut flash = Flash::erased();
    flash.loses = Some(SLOT_LEN - 20);
    let mut buffer = Buffer::new();
    assert_eq!(open(flash, &mut buffer).install(new.as_bytes()).unwrap().slot, 0);
    let mut flash = Flash::erased();
    flash.ignores = Some(SLOT_LEN - 32);
    let error = open(flash, &mut buffer).install(new.as_bytes()).unwrap_err();
    assert_eq!(error, InstallError::ReadBack { offset: SLOT_LEN as u32 - 32 });
}

/// There is nothing to keep of a calibrator without a counter.
#[test]
fn only_a_counter_is_noted() {
    for (counter, notes) in [(0, 0), (3, 1)] {
        let mut buffer = Buffer::new();
        let mut store = open(Flash::erased(), &mut buffer);
        store.install(artifact(counter, 0.5, OURS).as_bytes()).unwrap();
        let bytes = &store.flash().bytes;
        let places = [SLOT_LEN - 288, SLOT_LEN - 256, 2 * SLOT_LEN - 288, 2 * SLOT_LEN - 256];
        let found = places.into_iter().filter(|&at| bytes[at..at + 32].iter().any(|&byte| byte != 0xFF));
        assert_eq!(found.count(), notes, "{counter}");
    }
}
