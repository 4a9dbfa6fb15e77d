//! What a device that demands signatures refuses besides.

use calib_core::artifact::KeyId;
use calib_core::slot::{InstallError, SignatureError, Trust};
use calib_core::{Admission, Artifact, SlotStore};

use crate::flash::{Flash, SLOT_LEN};
use crate::{Buffer, LAYOUT, OURS, artifact, put};

/// Takes every signature.
#[derive(Debug)]
struct Owner;

impl Trust for Owner {
    fn check(&self, _: &Artifact<'_>, _: &[u8]) -> Result<(), SignatureError> {
        Ok(())
    }

    fn key(&self) -> Option<KeyId> {
        Some(KeyId([9; 8]))
    }
}

fn open(flash: Flash, buffer: &mut Buffer) -> SlotStore<Flash, Owner> {
    SlotStore::open(flash, LAYOUT, Admission::new(Owner, OURS), buffer).unwrap().0
}

#[test]
fn a_calibrator_without_a_counter_is_not_installed() {
    let mut buffer = Buffer::new();
    let mut store = open(Flash::erased(), &mut buffer);
    assert_eq!(store.install(artifact(0, 0.5, OURS).as_bytes()).unwrap_err(), InstallError::NoCounter);
    assert_eq!(store.flash().changes, 0);
    store.install(artifact(1, 0.5, OURS).as_bytes()).unwrap();

    // Anybody's device takes it.
    let mut store = crate::open(Flash::erased(), &mut buffer);
    store.install(artifact(0, 0.5, OURS).as_bytes()).unwrap();
}

/// One that was installed before devices demanded it stays in force.
#[test]
fn a_calibrator_without_a_counter_that_is_there_is_used() {
    let mut flash = Flash::erased();
    put(&mut flash, 0, &artifact(0, 0.5, OURS), 1);
    let mut buffer = Buffer::new();
    assert_eq!(open(flash, &mut buffer).current_counter(), Some(0));
}

/// Otherwise whoever has both puts one in the place of the other as often as they like.
#[test]
fn another_calibrator_of_the_same_counter_is_not_installed() {
    let (first, second) = (artifact(4, 0.5, OURS), artifact(4, 0.75, OURS));
    let mut buffer = Buffer::new();
    let mut store = open(Flash::erased(), &mut buffer);
    let receipt = store.install(first.as_bytes()).unwrap();
    assert_eq!(store.install(second.as_bytes()).unwrap_err(), InstallError::SameCounter { counter: 4 });
    assert_eq!(store.install(first.as_bytes()).unwrap(), receipt, "the same is no other");
    store.install(artifact(5, 0.75, OURS).as_bytes()).unwrap();

    // Anybody's device takes it.
    let mut store = crate::open(Flash::erased(), &mut buffer);
    store.install(first.as_bytes()).unwrap();
    assert_eq!(store.install(second.as_bytes()).unwrap().sequence, 2);
}

/// The newest is damaged: it may be installed once more, and no other of its counter.
#[test]
fn a_damaged_calibrator_is_replaced_by_itself_or_a_newer_one() {
    let (older, newest) = (artifact(3, 0.5, OURS), artifact(4, 0.75, OURS));
    let mut flash = Flash::erased();
    put(&mut flash, 0, &older, 1);
    put(&mut flash, 1, &newest, 2);
    flash.bytes[SLOT_LEN + 50] ^= 1;
    let mut buffer = Buffer::new();
    let mut store = open(flash, &mut buffer);
    assert_eq!(store.current_counter(), Some(3));
    let other = store.install(artifact(4, 0.875, OURS).as_bytes()).unwrap_err();
    assert_eq!(other, InstallError::SameCounter { counter: 4 });
    let older = store.install(older.as_bytes()).unwrap_err();
    assert_eq!(older, InstallError::Downgrade { held: 4, offered: 3 });
    let receipt = store.install(newest.as_bytes()).unwrap();
    assert_eq!((receipt.slot, receipt.sequence), (1, 3));
}
