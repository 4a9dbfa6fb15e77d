//! Two slots in flash, and updates over the line.

use calib_core::slot::MonitorRoom;
use calib_core::wire::RequestBody;
use calib_core::{Admission, Anybody, ArtifactBuffer, ClassifierId, Erased, SlotLayout, SlotStore};
use calib_firmware::{Task, Update, Updater};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

use crate::any::{any, bytes, from, keep};

const WORDS: usize = 256;

/// A flash of which nothing is known.
pub(crate) struct Flash;

impl ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 4;

    fn read(&mut self, _: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        bytes.fill(any());
        from(Ok(()))
    }

    fn capacity(&self) -> usize {
        any()
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, _: u32, _: u32) -> Result<(), NorFlashErrorKind> {
        from(Ok(()))
    }

    fn write(&mut self, _: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        keep(bytes);
        from(Ok(()))
    }
}

fn layout() -> SlotLayout {
    from(SlotLayout { offsets: [0, 4096], len_bytes: 4096, erased: Erased::Ones })
}

fn store(buffer: &mut ArtifactBuffer<WORDS>) {
    let admission = Admission::new(Anybody, ClassifierId([0; 8])).watched(from(MonitorRoom::NONE));
    let Ok((mut store, loaded)) = SlotStore::open(Flash, layout(), admission, buffer) else { return };
    keep(loaded);
    keep(store.install(bytes()));
    keep(store.survey());
    keep((store.current_slot(), store.current_counter(), store.fallback_from()));
    keep(store.load(buffer));
}

/// Opens, loads, installs, and updates over the line.
pub(crate) fn prove() {
    let mut buffer = ArtifactBuffer::new();
    store(&mut buffer);
    let admission = Admission::new(Anybody, ClassifierId([0; 8]));
    let mut staged = ArtifactBuffer::<WORDS>::new();
    let Ok(mut updater) = Updater::open(Flash, layout(), admission, from(Task::Binary), &mut staged) else {
        return;
    };
    keep(updater.answer(&from(RequestBody::Slots)));
    keep((updater.is_replaced(), updater.questions()));
    keep(updater.load(&mut buffer).status());
}
