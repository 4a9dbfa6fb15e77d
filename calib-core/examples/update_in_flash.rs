//! Two slots in flash: a calibrator is installed step by step, the power fails, and the device starts again.
//!
//! ```sh
//! cargo run -p calib-core --example update_in_flash
//! ```

use calib_core::slot::{Progress, SlotFault};
use calib_core::{Admission, Anybody, ArtifactBuffer, ClassifierId, Erased, SlotLayout, SlotStore};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

const SECTOR: usize = 4096;
const LAYOUT: SlotLayout =
    SlotLayout { offsets: [0, SECTOR as u32], len_bytes: SECTOR as u32, erased: Erased::Ones };

/// A firmware brings its own driver; this one keeps two sectors in memory.
struct Flash(Vec<u8>);

impl ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        let from = self.0.get(offset as usize..).and_then(|rest| rest.get(..bytes.len()));
        bytes.copy_from_slice(from.ok_or(NorFlashErrorKind::OutOfBounds)?);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.len()
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        self.0.get_mut(from as usize..to as usize).ok_or(NorFlashErrorKind::OutOfBounds)?.fill(0xFF);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        let to = self.0.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
        // A write only clears bits.
        to.ok_or(NorFlashErrorKind::OutOfBounds)?.iter_mut().zip(bytes).for_each(|(to, from)| *to &= from);
        Ok(())
    }
}

/// What the device finds at a start.
fn start(
    flash: &mut Flash,
    then: impl FnOnce(&mut SlotStore<&mut Flash, Anybody>),
) -> Result<u64, SlotFault> {
    let mut buffer = ArtifactBuffer::<256>::new();
    let admission = Admission::new(Anybody, ClassifierId(*b"example "));
    let (mut store, loaded) = SlotStore::open(flash, LAYOUT, admission, &mut buffer).expect("slots fit");
    let found = loaded.map(|admitted| admitted.artifact().header().n).map_err(|faults| faults[0]);
    then(&mut store);
    found
}

fn main() {
    // As it arrives over a line: in words, as artifacts are read in place.
    let mut arrived = ArtifactBuffer::<256>::new();
    arrived.extend_from_slice(include_bytes!("calibrator.cal")).expect("it fits");
    let new = arrived.as_bytes();
    let mut flash = Flash(vec![0xFF; 2 * SECTOR]);

    let blank = start(&mut flash, |store| {
        let mut install = store.begin(new).expect("it is for this classifier");
        // The power fails after the third step.
        for _ in 0..3 {
            store.step(&mut install, new).expect("the flash works");
        }
    });
    println!("at first: {blank:?}");

    let torn = start(&mut flash, |store| {
        let mut install = store.begin(new).expect("it is for this classifier");
        while !matches!(store.step(&mut install, new), Ok(Progress::Installed(_))) {}
    });
    println!("after the power failed: {torn:?}");

    let whole = start(&mut flash, |_| ());
    println!("after the installation: a calibrator of {whole:?} rows");

    assert!(blank.is_err() && torn.is_err(), "half a calibrator is none");
    assert!(whole.is_ok_and(|rows| rows > 0));
}

#[test]
fn half_an_installation_is_none() {
    main();
}
