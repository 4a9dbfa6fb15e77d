//! Any bytes as the flash that a device starts on: no calibrator, or one whose slot is in order to the last bit; and then
//! it takes another one.
#![no_main]

use std::sync::LazyLock;

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, PREFIX_LEN, Provenance, Reduction, Table, TableForm,
};
use calib_core::slot::{InstallError, slot_trailer};
use calib_core::{
    Admission, Anybody, ArtifactBuffer, ClassifierId, Erased, Identity, ScoreEncoding, SlotLayout, SlotStore,
    StepTable,
};
use calib_fuzz::repair;
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
use libfuzzer_sys::fuzz_target;

const SLOT_LEN: usize = 512;
const WORDS: usize = 112;

/// An artifact to install.
static OFFERED: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let header = Header {
        method: Method::Umd,
        reduction: Reduction::Binary,
        encoding: ScoreEncoding::F32,
        classes: 2,
        bins: 2,
        n: 100,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: Provenance {
            data_sha256: [0; 32],
            tool_version: "fuzz",
            parameters: "",
            classifier: None,
        },
    };
    let mut words = vec![0u32; WORDS];
    let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut words));
    writer.header(&header).expect("in order");
    let steps = StepTable::new(&[0.5], &[0.1, 0.8]).expect("in order");
    writer.tables(&[Some(Table { form: TableForm::Steps(steps), epsilon: None })]).expect("they fit");
    writer.counter(u32::MAX).expect("it fits");
    let len = writer.finish(|_| Identity(*b"offered!")).expect("it fits").len();
    words.truncate(len / 4);
    words
});

// The first byte chooses the erased value, and of each slot whether record and mark are made to fit, and whether an artifact
// is made of it first; the rest is flash.
fuzz_target!(|data: &[u8]| {
    let Some((&choice, rest)) = data.split_first() else { return };
    let erased = if choice & 1 == 0 { Erased::Ones } else { Erased::Zeros };
    let mut bytes = vec![erased.byte(); 2 * SLOT_LEN];
    bytes.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let layout = SlotLayout { offsets: [0, SLOT_LEN as u32], len_bytes: SLOT_LEN as u32, erased };
    for (slot, bytes) in bytes.chunks_mut(SLOT_LEN).enumerate() {
        if choice & (8 << slot) != 0 {
            make_artifact(bytes, erased);
        }
        if choice & (2 << slot) != 0 {
            seal(bytes, &layout, choice);
        }
    }

    let before = bytes.clone();
    let mut buffer = ArtifactBuffer::<WORDS>::new();
    let admission = Admission::new(Anybody, ClassifierId([7; 8]));
    let (mut store, loaded) =
        SlotStore::open(Memory { bytes, erased: erased.byte() }, layout, admission, &mut buffer)
            .expect("the slots fit");
    let loaded = loaded.ok().map(|admitted| (admitted.bytes().to_vec(), admitted.artifact().identity()));
    let survey = store.survey();
    if let Some((artifact, identity)) = &loaded {
        let slot = store.current_slot().expect("something is in force");
        let content = survey[slot].expect("what is in force is in order");
        assert_eq!((content.identity, content.len_bytes as usize), (*identity, artifact.len()));
        let slot = &before[slot * SLOT_LEN..][..SLOT_LEN];
        assert_eq!(&slot[..artifact.len()], artifact);
        let tail = artifact.len()..artifact.len().next_multiple_of(32).max(SLOT_LEN - 288);
        assert!(slot[tail.clone()].iter().all(|&byte| byte == erased.byte()), "the tail is not erased");
        let mut marks = slot[SLOT_LEN - 224..SLOT_LEN - 64].chunks(32).chain([&slot[SLOT_LEN - 32..]]);
        let wrong = |byte: &u8| (!(byte ^ erased.byte())).count_ones();
        let is_whole = |mark: &[u8]| mark.iter().map(wrong).sum::<u32>() <= 8;
        assert!(marks.any(is_whole), "no mark is whole");
    }
    match store.install(bytemuck::cast_slice(&OFFERED)) {
        Ok(receipt) => {
            let now = store.load(&mut buffer).expect("what was acknowledged is in force");
            assert_eq!(now.artifact().identity(), receipt.identity);
        }
        Err(InstallError::SequenceExhausted) => {}
        Err(error) => panic!("{error}"),
    }
});

/// Makes an artifact of what a slot begins with, but for its sections, and erases the rest.
fn make_artifact(slot: &mut [u8], erased: Erased) {
    let stated = u32::from_le_bytes(*slot[8..].first_chunk().expect("4 bytes")) as usize;
    let len = (stated % (SLOT_LEN - 64)).next_multiple_of(4).max(PREFIX_LEN);
    repair(&mut slot[..len]);
    slot[len..].fill(erased.byte());
}

/// Makes record and mark fit what is in the slot, if that is an artifact.
fn seal(slot: &mut [u8], layout: &SlotLayout, sequence: u8) {
    let mut words = vec![0u32; SLOT_LEN / 4];
    bytemuck::cast_slice_mut(&mut words).copy_from_slice(slot);
    let whole: &[u8] = bytemuck::cast_slice(&words);
    let len = u32::from_le_bytes(*whole[8..].first_chunk().expect("4 bytes")) as usize;
    let Some(bytes) = whole.get(..len) else { return };
    let Ok(artifact) = calib_core::Artifact::parse(bytes) else { return };
    if let Some(trailer) = slot_trailer(&artifact, bytes, u32::from(sequence) << 24 | 1, layout) {
        slot[SLOT_LEN - 64..].copy_from_slice(&trailer);
    }
}

/// Bytes behind flash's rules.
struct Memory {
    bytes: Vec<u8>,
    erased: u8,
}

impl ErrorType for Memory {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Memory {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl NorFlash for Memory {
    const WRITE_SIZE: usize = 8;
    const ERASE_SIZE: usize = 256;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.bytes[from as usize..to as usize].fill(self.erased);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        let place = &mut self.bytes[offset as usize..][..bytes.len()];
        assert!(place.iter().all(|&byte| byte == self.erased), "a word is written twice");
        place.copy_from_slice(bytes);
        Ok(())
    }
}
