//! The slots, from outside: which one is in force, and what an installation refuses to acknowledge.

mod fit;
mod flash;
mod marks;
#[cfg(feature = "ed25519")]
mod rotation;
mod seen;
mod steps;
mod trust;

use std::cmp::Ordering;

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm, crc32c,
};
use calib_core::slot::{InstallError, Progress, Refused, SlotFault, slot_trailer};
use calib_core::{
    Admission, Anybody, Artifact, ArtifactBuffer, ClassifierId, Erased, Identity, ScoreEncoding, SlotLayout,
    SlotStore, StepTable,
};

use crate::flash::{Flash, SLOT_LEN};

const LAYOUT: SlotLayout =
    SlotLayout { offsets: [0, SLOT_LEN as u32], len_bytes: SLOT_LEN as u32, erased: Erased::Ones };
const OURS: ClassifierId = ClassifierId(*b"thermo01");
const OTHERS: ClassifierId = ClassifierId(*b"thermo02");

type Buffer = ArtifactBuffer<128>;
type Store = SlotStore<Flash, Anybody>;

/// Artifacts of the same length that differ in their counter and a value.
fn artifact(counter: u32, value: f32, classifier: ClassifierId) -> Buffer {
    written(counter, value, classifier, "")
}

/// An artifact of so many bytes, a multiple of 4.
fn artifact_of_len(counter: u32, len_bytes: usize) -> ArtifactBuffer<256> {
    let empty = written::<256>(counter, 0.5, OURS, "").as_bytes().len();
    // The parameters are padded, and their length may take a byte more. Zeros look like marks.
    let mut parameters = "\0".repeat(len_bytes - empty);
    loop {
        let artifact = written::<256>(counter, 0.5, OURS, &parameters);
        match artifact.as_bytes().len().cmp(&len_bytes) {
            Ordering::Equal => return artifact,
            Ordering::Greater => drop(parameters.pop()),
            Ordering::Less => panic!("{} bytes in place of {len_bytes}", artifact.as_bytes().len()),
        }
    }
}

fn written<const WORDS: usize>(
    counter: u32,
    value: f32,
    classifier: ClassifierId,
    parameters: &str,
) -> ArtifactBuffer<WORDS> {
    let header = Header {
        method: Method::Isotonic,
        reduction: Reduction::Binary,
        encoding: ScoreEncoding::F32,
        classes: 2,
        bins: 2,
        n: 100,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: Provenance {
            data_sha256: [0; 32],
            tool_version: "0.1.0",
            parameters,
            classifier: Some(classifier),
        },
    };
    let values = [0.25, value];
    let table = Table { form: TableForm::Steps(StepTable::new(&[0.5], &values).unwrap()), epsilon: None };
    let mut bytes = [0; 1024];
    let mut writer = ArtifactWriter::new(&mut bytes);
    writer.header(&header).unwrap();
    writer.tables(&[Some(table)]).unwrap();
    if counter > 0 {
        writer.counter(counter).unwrap();
    }
    let mut buffer = ArtifactBuffer::new();
    buffer.extend_from_slice(writer.finish(|_| Identity([0; 8])).unwrap()).unwrap();
    buffer
}

fn admission() -> Admission<Anybody> {
    Admission::new(Anybody, OURS)
}

fn open(flash: Flash, buffer: &mut Buffer) -> Store {
    SlotStore::open(flash, LAYOUT, Admission::new(Anybody, OURS), buffer).unwrap().0
}

/// Writes a slot with its record and its first mark, whatever the artifact's length.
fn put_long(flash: &mut Flash, slot: usize, artifact: &ArtifactBuffer<256>, sequence: u32) {
    let bytes = artifact.as_bytes();
    let parsed = Artifact::parse(bytes).unwrap();
    let mut record = [0; 32];
    record[..4].copy_from_slice(b"CSLT");
    for (at, word) in [(4, sequence), (8, parsed.counter()), (12, bytes.len() as u32), (16, crc32c(bytes))] {
        record[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    let crc = crc32c(&record[..28]);
    record[28..].copy_from_slice(&crc.to_le_bytes());
    let slot = &mut flash.bytes[slot * SLOT_LEN..][..SLOT_LEN];
    slot[..bytes.len()].copy_from_slice(bytes);
    slot[SLOT_LEN - 64..SLOT_LEN - 32].copy_from_slice(&record);
    slot[SLOT_LEN - 32..].fill(0);
}

/// Writes a whole slot, as a debug probe does.
fn put(flash: &mut Flash, slot: usize, artifact: &Buffer, sequence: u32) {
    let bytes = artifact.as_bytes();
    let parsed = Artifact::parse(bytes).unwrap();
    let trailer = slot_trailer(&parsed, bytes, sequence, &LAYOUT).unwrap();
    let start = slot * SLOT_LEN;
    flash.bytes[start..start + bytes.len()].copy_from_slice(bytes);
    flash.bytes[start + SLOT_LEN - trailer.len()..start + SLOT_LEN].copy_from_slice(&trailer);
}

#[test]
fn the_greater_counter_is_in_force_before_the_later_installation() {
    let (newer, older) = (artifact(5, 0.5, OURS), artifact(3, 0.75, OURS));
    for (first, second) in [(0, 1), (1, 0)] {
        let mut flash = Flash::erased();
        put(&mut flash, first, &newer, 1);
        put(&mut flash, second, &older, 9);
        let mut buffer = Buffer::new();
        let store = open(flash, &mut buffer);
        assert_eq!((store.current_slot(), store.current_counter()), (Some(first), Some(5)));
        assert_eq!(buffer.as_bytes(), newer.as_bytes());
    }
}

#[test]
fn of_equal_counters_the_later_installation_is_in_force() {
    let (first, second) = (artifact(5, 0.5, OURS), artifact(5, 0.75, OURS));
    for (slot, other) in [(0, 1), (1, 0)] {
        let mut flash = Flash::erased();
        put(&mut flash, slot, &first, 7);
        put(&mut flash, other, &second, 8);
        let mut buffer = Buffer::new();
        assert_eq!(open(flash, &mut buffer).current_slot(), Some(other));
        assert_eq!(buffer.as_bytes(), second.as_bytes());
    }
}

/// What was refused must not stay where a caller might take it for the calibrator.
#[test]
fn a_refused_artifact_does_not_stay_in_the_buffer() {
    let mut flash = Flash::erased();
    put(&mut flash, 0, &artifact(1, 0.5, OTHERS), 1);
    let mut buffer = artifact(1, 0.75, OURS);
    let admission = Admission::new(Anybody, OURS);
    let (mut store, loaded) = SlotStore::open(flash, LAYOUT, admission, &mut buffer).unwrap();
    let other = SlotFault::Refused(Refused::OtherClassifier(Some(OTHERS)));
    assert_eq!(loaded.unwrap_err(), [other, SlotFault::Blank]);
    assert_eq!(buffer.as_bytes(), []);
    assert_eq!(store.current_slot(), None);
    assert!(store.load(&mut buffer).is_err());
    assert_eq!(buffer.as_bytes(), []);
}

/// Otherwise it would be acknowledged here, and refused at the next start.
#[test]
fn an_installation_over_bytes_that_an_erase_left_is_not_acknowledged() {
    let (old, new) = (artifact(1, 0.5, OURS), artifact(2, 0.75, OURS));
    let len = new.as_bytes().len();
    // From the first byte after the last unit of the artifact up to the record, and in the record's and mark's place.
    for at in [
        len.next_multiple_of(32),
        512,
        SLOT_LEN - 65,
        SLOT_LEN - 64,
        SLOT_LEN - 33,
        SLOT_LEN - 32,
        SLOT_LEN - 1,
    ] {
        let mut flash = Flash::erased();
        put(&mut flash, 0, &old, 1);
        flash.bytes[SLOT_LEN + at] = 0x7F;
        flash.stuck = Some(SLOT_LEN + at);
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        let error = store.install(new.as_bytes()).unwrap_err();
        assert_eq!(error, InstallError::ReadBack { offset: at as u32 });
        assert_eq!(store.current_counter(), Some(1));
        assert_eq!(store.load(&mut buffer).unwrap().bytes(), old.as_bytes());
    }
}

/// Whenever the caller's bytes become others during an installation: what is acknowledged is what was admitted.
#[test]
fn bytes_that_change_during_an_installation_are_never_in_force() {
    let (old, new, other) = (artifact(1, 0.5, OURS), artifact(2, 0.75, OURS), artifact(2, 0.875, OURS));
    assert_eq!(new.as_bytes().len(), other.as_bytes().len());
    let (mut acknowledged, mut refused) = (0, 0);
    for steps_before in 0..20 {
        let mut flash = Flash::erased();
        put(&mut flash, 0, &old, 1);
        let mut buffer = Buffer::new();
        let mut store = open(flash, &mut buffer);
        let mut install = store.begin(new.as_bytes()).unwrap();
        let ended = (0..).find_map(|step| {
            let bytes = if step < steps_before { &new } else { &other };
            match store.step(&mut install, bytes.as_bytes()) {
                Ok(Progress::Pending { .. }) => None,
                Ok(Progress::Installed(_)) => Some(Ok(())),
                Err(error) => Some(Err(error)),
            }
        });
        let in_force = match ended.unwrap() {
            Ok(()) => {
                acknowledged += 1;
                &new
            }
            Err(error) => {
                let changed = matches!(error, InstallError::OtherArtifact | InstallError::ReadBack { .. });
                assert!(changed, "{error}");
                refused += 1;
                &old
            }
        };
        assert_eq!(
            store.load(&mut buffer).unwrap().bytes(),
            in_force.as_bytes(),
            "after {steps_before} steps"
        );
    }
    // One step before the mark nothing depends on the caller's bytes any more.
    assert!(acknowledged > 0 && refused > 0, "{acknowledged} {refused}");
}
