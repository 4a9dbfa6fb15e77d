//! Any bytes as an artefact: refused, or safe to calibrate with.
#![no_main]

use calib_core::{Artifact, ArtifactBuffer, Calibrator, Outcome, PREFIX_LEN, Score, TopLabel};
use crc::{CRC_32_ISCSI, Crc};
use libfuzzer_sys::fuzz_target;

/// Room for libFuzzer's default of 4096 bytes.
type Aligned = ArtifactBuffer<1024>;

static CRC_32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

fuzz_target!(|data: &[u8]| {
    // As they lie, which may be misaligned.
    let _ = Artifact::parse(data);

    let mut bytes = data.to_vec();
    check(&bytes, data);
    repair(&mut bytes);
    check(&bytes, data);
});

/// Parses `bytes` both ways and calibrates the scores in `data` with what comes out.
fn check(bytes: &[u8], data: &[u8]) {
    let mut buffer = Aligned::new();
    if buffer.extend_from_slice(bytes).is_err() {
        return;
    }
    let file = Artifact::parse(buffer.as_bytes());
    let slot = Artifact::parse_slot(buffer.as_bytes());
    if let Ok(artifact) = &file {
        assert_eq!(slot.as_ref(), Ok(artifact), "a slot without a tail is a file");
    }
    let Ok(artifact) = slot else { return };
    assert!(artifact.len_bytes() <= bytes.len());
    for score in scores(data) {
        use_all(&artifact, score);
    }
}

/// Gets behind the CRC: makes magic, format, length and CRC right and leaves the rest to the fuzzer.
fn repair(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4).max(PREFIX_LEN), 0);
    let len = bytes.len() as u32;
    bytes[..4].copy_from_slice(b"CALB");
    bytes[4..6].copy_from_slice(&1u16.to_le_bytes());
    bytes[8..12].copy_from_slice(&len.to_le_bytes());
    bytes[24..32].fill(0);
    let mut digest = CRC_32C.digest();
    digest.update(&bytes[..12]);
    digest.update(&bytes[16..]);
    bytes[12..16].copy_from_slice(&digest.finalize().to_le_bytes());
}

/// Both ends, and every word that is a score: the edges of the tables are among them.
fn scores(data: &[u8]) -> impl Iterator<Item = Score> + '_ {
    let words = data.as_chunks::<4>().0.iter().map(|&word| f32::from_le_bytes(word));
    words.rev().take(64).flat_map(|word| Score::new(word).ok()).chain([Score::ZERO, Score::ONE])
}

fn use_all(artifact: &Artifact<'_>, score: Score) {
    let tables = artifact.tables();
    for class in 0..=u16::try_from(tables.count()).unwrap() {
        let outcome = match artifact.calibrator() {
            Calibrator::TopLabel(calibrator) => calibrator.calibrate(TopLabel { class, score }),
            Calibrator::Binary(calibrator) => Outcome::Calibrated(calibrator.calibrate(score)),
            other => unreachable!("{other:?}"),
        };
        let Outcome::Calibrated(got) = outcome else {
            assert!(tables.get(class.into()).is_none());
            continue;
        };
        assert!((0.0..=1.0).contains(&got.prob), "{got:?}");
        assert!(got.epsilon.is_none_or(|epsilon| epsilon > 0.0 && epsilon.is_finite()), "{got:?}");
        if let Some(table) = tables.get(class.into()) {
            let scan = table.steps.edges().iter().filter(|&&edge| edge <= score.get()).count();
            assert_eq!(usize::from(got.bin), scan);
            assert!(scan < table.steps.bins());
            assert_eq!(table.steps.values().nth(scan), Some(got.prob));
        }
    }
}
