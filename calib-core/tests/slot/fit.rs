//! Which flash and which places are taken for slots, and what is told of those that are not.

use calib_core::artifact::KeyId;
use calib_core::slot::{
    InstallError, LayoutError, Refused, SignatureError, SlotFault, UnusableSlot, slot_trailer,
};
use calib_core::{Artifact, ArtifactBuffer, Erased, SlotLayout, SlotStore};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

use crate::flash::{Flash, SLOT_LEN};
use crate::{Buffer, LAYOUT, OTHERS, OURS, admission, artifact, artifact_of_len, open, put};

/// A flash in other units, of which bytes are erased to 0.
struct Other<const READ: usize, const WRITE: usize, const ERASE: usize>(Flash);

impl<const R: usize, const W: usize, const E: usize> ErrorType for Other<R, W, E> {
    type Error = NorFlashErrorKind;
}

impl<const R: usize, const W: usize, const E: usize> ReadNorFlash for Other<R, W, E> {
    const READ_SIZE: usize = R;

    fn read(&mut self, at: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        self.0.read(at, bytes)?;
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl<const R: usize, const W: usize, const E: usize> NorFlash for Other<R, W, E> {
    const WRITE_SIZE: usize = W;
    const ERASE_SIZE: usize = E;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.0.erase(from, to)
    }

    fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        self.0.write(at, &bytes.iter().map(|byte| !byte).collect::<Vec<_>>())
    }
}

/// Why a flash of 2048 bytes does not hold such slots.
fn refused<const R: usize, const W: usize, const E: usize>(
    offsets: [u32; 2],
    len_bytes: u32,
) -> Option<LayoutError> {
    let layout = SlotLayout { offsets, len_bytes, erased: Erased::Zeros };
    let flash = Other::<R, W, E>(Flash::erased());
    SlotStore::open(flash, layout, admission(), &mut Buffer::new()).err()
}

#[test]
fn units_that_do_not_divide_32_are_refused() {
    const LEN: u32 = SLOT_LEN as u32;
    assert_eq!(refused::<1, 32, 256>([0, LEN], LEN), None);
    assert_eq!(refused::<32, 1, 32>([0, LEN], LEN), None);
    for unit in [refused::<0, 4, 256>([0, LEN], LEN), refused::<4, 0, 256>([0, LEN], LEN)] {
        assert_eq!(unit, Some(LayoutError::Unit(0)));
    }
    for unit in [refused::<24, 4, 256>([0, LEN], LEN), refused::<4, 24, 256>([0, LEN], LEN)] {
        assert_eq!(unit, Some(LayoutError::Unit(24)));
    }
}

#[test]
fn slots_are_whole_sectors_that_lie_apart_within_the_flash() {
    let at = refused::<4, 4, 256>;
    for (offsets, len_bytes) in [([0, 1024], 1024), ([1024, 0], 1024), ([0, 512], 512), ([1536, 256], 512)] {
        assert_eq!(at(offsets, len_bytes), None, "{offsets:?}");
    }
    for (offsets, len_bytes) in [([128, 1024], 512), ([0, 1152], 512), ([0, 1024], 640)] {
        assert_eq!(at(offsets, len_bytes), Some(LayoutError::Sector(256)), "{offsets:?}");
    }
    // Sectors of no bytes, and of less than a mark.
    assert_eq!(refused::<4, 4, 0>([0, 1024], 1024), Some(LayoutError::Sector(0)));
    assert_eq!(refused::<4, 4, 16>([0, 1024], 1024), Some(LayoutError::Sector(16)));
    for offsets in [[0, 0], [0, 768], [768, 0], [512, 1280]] {
        assert_eq!(at(offsets, 1024), Some(LayoutError::Overlap), "{offsets:?}");
    }
    for offsets in [[0, 1280], [1280, 0], [0, u32::MAX - 255]] {
        assert_eq!(at(offsets, 1024), Some(LayoutError::Capacity(2048)), "{offsets:?}");
    }
    // 288 bytes beside an artifact, which begins with 32.
    let small = refused::<4, 4, 32>;
    assert_eq!((small([0, 1024], 320), small([0, 1024], 352)), (None, None));
    assert_eq!(small([0, 1024], 288), Some(LayoutError::TooSmall(288)));
}

/// A mark is of ones where an erased bit is 0.
#[test]
fn what_is_installed_in_a_flash_that_is_erased_to_0_is_there_at_the_next_start() {
    let layout = SlotLayout { erased: Erased::Zeros, ..LAYOUT };
    let (first, second) = (artifact(1, 0.5, OURS), artifact(2, 0.75, OURS));
    let mut flash = Other::<4, 4, 256>(Flash::erased());
    for (artifact, slot) in [(&first, 0), (&second, 1)] {
        let mut buffer = Buffer::new();
        let (mut store, _) = SlotStore::open(flash, layout, admission(), &mut buffer).unwrap();
        assert_eq!(store.install(artifact.as_bytes()).unwrap().slot, slot);
        flash = store.free();
        let mut buffer = Buffer::new();
        let (store, loaded) = SlotStore::open(flash, layout, admission(), &mut buffer).unwrap();
        assert_eq!(loaded.unwrap().bytes(), artifact.as_bytes());
        flash = store.free();
    }
}

/// From the longest artifact on, each byte of a slot has its use.
#[test]
fn the_longest_artifact_is_installed() {
    const MAX: usize = SLOT_LEN - 288;
    for len_bytes in [256, 260, 508, 512, 516, MAX - 4, MAX] {
        let long = artifact_of_len(1, len_bytes);
        let mut buffer = ArtifactBuffer::<256>::new();
        let (mut store, _) = SlotStore::open(Flash::erased(), LAYOUT, admission(), &mut buffer).unwrap();
        assert_eq!(store.install(long.as_bytes()).unwrap().slot, 0, "{len_bytes}");
        assert_eq!(store.load(&mut buffer).unwrap().bytes(), long.as_bytes(), "{len_bytes}");
    }
}

/// Up to the notes, which stand behind each of them in the end.
#[test]
fn the_longest_artifacts_follow_each_other() {
    let mut flash = Flash::erased();
    for counter in 1..=4 {
        let long = artifact_of_len(counter, SLOT_LEN - 288);
        let mut buffer = ArtifactBuffer::<256>::new();
        let (mut store, _) = SlotStore::open(flash, LAYOUT, admission(), &mut buffer).unwrap();
        store.install(long.as_bytes()).unwrap();
        let (store, loaded) = SlotStore::open(store.free(), LAYOUT, admission(), &mut buffer).unwrap();
        assert_eq!(loaded.unwrap().bytes(), long.as_bytes(), "{counter}");
        flash = store.free();
    }
}

/// At the first byte that is not erased, within the artifact's last unit and behind it.
#[test]
fn what_lies_behind_an_artifact_is_told_with_its_place() {
    let artifact = artifact(1, 0.5, OURS);
    let len = artifact.as_bytes().len();
    assert!(!len.is_multiple_of(32), "there is a rest of a unit");
    for at in [len, len.next_multiple_of(32) - 1, len.next_multiple_of(32), SLOT_LEN - 289] {
        let mut flash = Flash::erased();
        put(&mut flash, 0, &artifact, 1);
        flash.bytes[at] = 0x7F;
        let mut buffer = Buffer::new();
        let (_, loaded) = SlotStore::open(flash, LAYOUT, admission(), &mut buffer).unwrap();
        assert_eq!(loaded.unwrap_err(), [SlotFault::Tail { offset: at as u32 }, SlotFault::Blank]);
    }
}

/// A probe writes no slot that a device would not read.
#[test]
fn a_trailer_is_of_an_artifact_that_fits_its_slot() {
    for (len_bytes, fits) in [(256, true), (SLOT_LEN - 288, true), (SLOT_LEN - 284, false)] {
        let long = artifact_of_len(1, len_bytes);
        let parsed = Artifact::parse(long.as_bytes()).unwrap();
        assert_eq!(slot_trailer(&parsed, long.as_bytes(), 1, &LAYOUT).is_some(), fits, "{len_bytes}");
    }
}

/// What can be read says that nothing was installed, or that an installation was not completed.
#[test]
fn an_end_without_a_whole_mark_is_of_no_installation_that_was_completed() {
    let faults = |flash: Flash| {
        let mut buffer = Buffer::new();
        let (_, loaded) = SlotStore::open(flash, LAYOUT, admission(), &mut buffer).unwrap();
        loaded.unwrap_err()
    };
    assert_eq!(faults(Flash::erased()), [SlotFault::Blank; 2]);
    // The record, which cannot be read.
    let mut flash = Flash::erased();
    flash.lost = vec![SLOT_LEN - 60];
    assert_eq!(faults(flash), [SlotFault::Uncommitted, SlotFault::Blank]);
    // A mark, which may have been complete.
    let mut flash = Flash::erased();
    flash.lost = vec![SLOT_LEN - 30];
    assert_eq!(faults(flash), [SlotFault::Flash, SlotFault::Blank]);
    // A bit of a record, of the first mark, of another one, and of an artifact.
    for at in [SLOT_LEN - 60, SLOT_LEN - 30, SLOT_LEN - 90, SLOT_LEN - 200, 100] {
        let mut flash = Flash::erased();
        flash.bytes[at] = 0x7F;
        assert_eq!(faults(flash), [SlotFault::Uncommitted, SlotFault::Blank], "{at}");
    }
}

/// Whichever of both slots it is in.
#[test]
fn a_newer_calibrator_of_no_use_is_told() {
    for (newest, older) in [(0, 1), (1, 0)] {
        let mut flash = Flash::erased();
        put(&mut flash, older, &artifact(1, 0.5, OURS), 1);
        put(&mut flash, newest, &artifact(2, 0.75, OURS), 2);
        flash.bytes[newest * SLOT_LEN + 50] ^= 1;
        let mut buffer = Buffer::new();
        let store = open(flash, &mut buffer);
        let told = UnusableSlot { slot: newest as u8, fault: SlotFault::Altered };
        assert_eq!((store.current_slot(), store.fallback_from()), (Some(older), Some(told)));
    }
}

#[test]
fn what_is_told_has_the_numbers() {
    for (error, told) in [
        (LayoutError::Unit(24), "24 bytes"),
        (LayoutError::Sector(256), "256 bytes"),
        (LayoutError::TooSmall(288), "288 bytes"),
        (LayoutError::Overlap, "overlap"),
        (LayoutError::Capacity(2048), "2048 bytes"),
    ] {
        assert!(error.to_string().contains(told), "{error}");
    }
    for (fault, told) in [
        (SlotFault::Blank, "blank"),
        (SlotFault::Tail { offset: 77 }, "offset 77"),
        (SlotFault::TooLarge { len_bytes: 77 }, "77 bytes"),
        (SlotFault::Refused(Refused::Signature(SignatureError::Missing)), "not signed"),
    ] {
        assert!(fault.to_string().contains(told), "{fault}");
    }
    type Error = InstallError<NorFlashErrorKind>;
    for (error, told) in [
        (Error::Downgrade { held: 4, offered: 3 }, "counter is 3, below 4"),
        (Error::SameCounter { counter: 4 }, "counter is 4"),
        (Error::TooLarge { len_bytes: 740, max: 736 }, "740 bytes, the slot holds 736"),
        (Error::ReadBack { offset: 77 }, "offset 77"),
        (Error::Flash(NorFlashErrorKind::NotAligned), "NotAligned"),
        (Error::Refused(Refused::OtherClassifier(Some(OTHERS))), &OTHERS.to_string()),
    ] {
        assert!(error.to_string().contains(told), "{error}");
    }
    let key = KeyId([9; 8]);
    assert!(SignatureError::OtherKey(key).to_string().contains(&key.to_string()));
    assert_ne!(SignatureError::Wrong.to_string(), SignatureError::Missing.to_string());
    let full = ArtifactBuffer::<1>::new().extend_from_slice(&[0; 5]).unwrap_err();
    assert!(!full.to_string().is_empty());
}
