//! What reads one binary step table alone gives what reads every artifact, and refuses what it does not read.

use calib_core::artifact::{
    BinarySteps, BinaryStepsError, Guarantee, Header, HeaderFlags, Method, Reduction, TableFault, TableForm,
    Theorem,
};
use calib_core::{
    Artifact, Calibrator, Margin, Outcome, ParseError, ProbInterval, QuantizedScore, Score, ScoreEncoding,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::forge::{BIN_FLAGS, MANDATORY, PROVENANCE, Section, aligned, assemble, seal};
use crate::golden::hex;
use crate::golden_forms::forms;

const INTERVALS: u16 = 8;
const RANGES: u16 = 17;
const SCORE_INTERVALS: u16 = 38;
const BAND: u16 = 39;
const ENCODINGS: [ScoreEncoding; 8] = [
    ScoreEncoding::F32,
    ScoreEncoding::Margin,
    ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 },
    ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 },
    ScoreEncoding::U16 { scale: 1.0 / 65_536.0, zero_point: 0 },
    ScoreEncoding::I16 { scale: 0.5, zero_point: 3 },
    ScoreEncoding::RoundedF32,
    ScoreEncoding::RoundedMargin,
];

/// Numbers that are as good as random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (self.0 >> 33) as u32
    }

    fn below(&mut self, end: u32) -> u32 {
        self.next() % end
    }

    fn ascending(&mut self, count: u32, [lowest, highest]: [u32; 2]) -> Vec<u32> {
        let mut keys: Vec<u32> = (0..count)
            .map(|_| lowest + 1 + ((u64::from(self.next()) * u64::from(highest - lowest)) >> 31) as u32)
            .map(|key| key.min(highest))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    fn prob(&mut self) -> f32 {
        self.below(32_769) as f32 / 32_768.0
    }
}

fn words(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn optional(kind: u16, payload: Vec<u8>) -> Section {
    Section { kind, flags: 0, payload }
}

/// The least and the greatest key of a score, and of the table.
fn keys(encoding: ScoreEncoding) -> [[u32; 2]; 2] {
    let margins = [Margin::new(f32::MIN).unwrap(), Margin::new(f32::MAX).unwrap()];
    match encoding {
        ScoreEncoding::F32 => [[0, 1.0f32.to_bits()]; 2],
        ScoreEncoding::RoundedF32 => [[0, 1.0f32.to_bits()], [0, 65_535]],
        ScoreEncoding::Margin => [margins.map(Margin::key); 2],
        ScoreEncoding::RoundedMargin => {
            [margins.map(Margin::key), margins.map(|margin| margin.rounded_key().into())]
        }
        _ => {
            let (lowest, highest) = encoding.code_range().unwrap();
            [[0, (highest - lowest) as u32]; 2]
        }
    }
}

/// The bits of a margin with a key.
fn bits_of_margin(key: u32) -> u32 {
    Margin::from_key(key).unwrap().get().to_bits()
}

/// An artifact with a step table, and beside it what these numbers say.
fn artifact(numbers: &mut Numbers) -> Vec<u8> {
    let encoding = ENCODINGS[numbers.below(8) as usize];
    let [exact, table] = keys(encoding);
    let is_float = matches!(encoding, ScoreEncoding::F32 | ScoreEncoding::Margin);
    let is_rounded = matches!(encoding, ScoreEncoding::RoundedF32 | ScoreEncoding::RoundedMargin);
    let is_compact = is_rounded || !is_float && numbers.below(2) == 0;
    let count = [0, 1, 5, 40][numbers.below(4) as usize];
    let edges = numbers.ascending(count, table);
    let values: Vec<f32> = edges.iter().map(|_| numbers.prob()).chain([0.5]).collect();
    let has_epsilon = numbers.below(2) == 0;
    let epsilon = if has_epsilon { 0.25f32 } else { f32::NAN };
    let guarantee =
        has_epsilon.then_some(Guarantee { theorem: Theorem::ClopperPearson, alpha: 0.1, epsilon });
    let header = Header {
        method: Method::Umd,
        reduction: Reduction::Binary,
        encoding,
        classes: 2,
        bins: values.len() as u32,
        n: 77,
        guarantee,
        flags: if is_compact { HeaderFlags::COMPACT } else { HeaderFlags::NONE },
        provenance: PROVENANCE,
    };
    let (kind, payload) = if is_compact {
        let bits = epsilon.to_bits();
        let halves = [1, 0, 2 * values.len() as u16 + 1, bits as u16, (bits >> 16) as u16];
        let edges = edges.iter().map(|&edge| edge as u16);
        let values = values.iter().map(|value| (value * 32_768.0) as u16);
        (11, halves.into_iter().chain(edges).chain(values).flat_map(u16::to_le_bytes).collect())
    } else {
        let edge = |&key: &u32| if encoding == ScoreEncoding::Margin { bits_of_margin(key) } else { key };
        let head = [1, 0, 2 * values.len() as u32, epsilon.to_bits()];
        let words =
            words(head.into_iter().chain(edges.iter().map(edge)).chain(values.iter().map(|v| v.to_bits())));
        (if is_float { 2 } else { 9 }, words)
    };
    let mut buf = [0; 256];
    let header = postcard::to_slice(&header, &mut buf).unwrap().to_vec();
    let mut sections = vec![
        Section { kind: 1, flags: MANDATORY, payload: header },
        Section { kind, flags: MANDATORY, payload },
    ];
    let empty: Vec<u8> = values.iter().map(|_| (numbers.below(4) == 0).into()).collect();
    let has_empty = numbers.below(2) == 0;
    if has_empty {
        sections.push(optional(BIN_FLAGS, empty.clone()));
    }
    if numbers.below(2) == 0 {
        let mut range = numbers.ascending(2, exact);
        range.resize(2, exact[1]);
        sections.push(optional(RANGES, words(range)));
    }
    match numbers.below(3) {
        0 => {
            let edges = numbers.ascending(6, table);
            let pairs = (0..=edges.len()).flat_map(|bin| [bin as f32 / 64.0, 0.5]).map(f32::to_bits);
            let head = [numbers.below(2), 0.1f32.to_bits(), 1, 0, 3 * edges.len() as u32 + 2];
            let payload = words(head.into_iter().chain(edges.iter().copied()).chain(pairs));
            sections.push(optional(SCORE_INTERVALS, payload));
        }
        1 if has_epsilon => {
            let pairs =
                values.iter().zip(&empty).flat_map(|(&value, &empty)| match has_empty && empty == 1 {
                    true => [f32::NAN; 2],
                    false => [value / 2.0, 1.0],
                });
            let head = [1, 0, 2 * values.len() as u32];
            sections.push(optional(INTERVALS, words(head.into_iter().chain(pairs.map(f32::to_bits)))));
        }
        _ => {}
    }
    if numbers.below(2) == 0 {
        let [lower, upper] = [numbers.ascending(5, table), numbers.ascending(9, table)];
        let side = |edges: &[u32], from: f32| -> Vec<u32> {
            let values = (0..=edges.len()).map(|step| (from + step as f32 / 32.0).to_bits());
            edges.iter().copied().chain(values).collect()
        };
        let head = [0.05f32.to_bits(), lower.len() as u32];
        let sides = side(&lower, 0.0).into_iter().chain(side(&upper, 0.5));
        sections.push(optional(BAND, words(head.into_iter().chain(sides))));
    }
    assemble(&sections)
}

/// Whether the artifact is one that `BinarySteps` reads.
fn is_read(artifact: &Artifact<'_>) -> bool {
    let is_step = matches!(
        artifact.tables().get(0).map(|table| table.form),
        Some(TableForm::Steps(_) | TableForm::MarginSteps(_) | TableForm::Codes(_) | TableForm::Compact(_))
    );
    let has_rule = artifact.decision().is_some()
        || artifact.operating_points().is_some()
        || artifact.prediction_sets().is_some()
        || artifact.monitor_action().is_some();
    artifact.header().reduction == Reduction::Binary && is_step && !has_rule && artifact.groups().is_none()
}

/// What the artifact says of a score that is made of a word, with the band; nothing if the word is no score.
fn by_artifact(artifact: &Artifact<'_>, word: u32) -> Option<(Outcome, Option<ProbInterval>)> {
    let band = artifact.band();
    Some(match artifact.calibrator() {
        Calibrator::Binary(binary) => {
            let score = Score::new(f32::from_bits(word)).ok()?;
            (binary.calibrate(score), band.and_then(|band| band.at(score)))
        }
        Calibrator::BinaryMargin(binary) => {
            let margin = Margin::new(f32::from_bits(word)).ok()?;
            (binary.calibrate(margin), band.and_then(|band| band.at(margin)))
        }
        Calibrator::BinaryCode(binary) => {
            let code = QuantizedScore::from_key(binary.encoding(), word as u16).ok()?;
            (binary.calibrate(code).unwrap(), band.and_then(|band| band.at_code(code)))
        }
        _ => unreachable!("{artifact:?}"),
    })
}

fn by_steps(steps: &BinarySteps<'_>, word: u32) -> Option<(Outcome, Option<ProbInterval>)> {
    let (encoding, band) = (steps.header().encoding, steps.band());
    let (outcome, band) = if encoding.is_quantized() {
        let code = QuantizedScore::from_key(encoding, word as u16).ok()?;
        assert_eq!(steps.calibrate(Score::ONE), None);
        (steps.calibrate_code(code), band.and_then(|band| band.at_code(code)))
    } else if encoding.is_margin() {
        let margin = Margin::new(f32::from_bits(word)).ok()?;
        assert_eq!(steps.calibrate(Score::ONE), None);
        (steps.calibrate(margin), band.and_then(|band| band.at(margin)))
    } else {
        let score = Score::new(f32::from_bits(word)).ok()?;
        assert_eq!(steps.calibrate(Margin::new(0.0).unwrap()), None);
        (steps.calibrate(score), band.and_then(|band| band.at(score)))
    };
    Some((outcome.unwrap(), band))
}

/// Reads bytes in both ways, and compares what comes out.
fn compare(bytes: &[u8], probes: impl IntoIterator<Item = u32>) -> bool {
    let bytes = aligned(bytes);
    match (Artifact::parse_slot(bytes.as_bytes()), BinarySteps::parse_slot(bytes.as_bytes())) {
        (Ok(artifact), Ok(steps)) => {
            assert!(is_read(&artifact), "{artifact:?}");
            assert_eq!(steps.header(), artifact.header());
            assert_eq!(
                (steps.identity(), steps.len_bytes(), steps.counter()),
                (artifact.identity(), artifact.len_bytes(), artifact.counter())
            );
            for probe in probes {
                assert_eq!(by_steps(&steps, probe), by_artifact(&artifact, probe), "{probe:x}");
            }
            true
        }
        (Ok(artifact), Err(error)) => {
            assert_eq!((is_read(&artifact), error), (false, BinaryStepsError::OtherKind), "{artifact:?}");
            false
        }
        // What is not read is not checked.
        (Err(error), Ok(_)) => {
            let of_direct = ParseError::Table { table: 0, fault: TableFault::Direct };
            assert!(matches!(error, ParseError::Monitors(_)) || error == of_direct, "{error}");
            false
        }
        (Err(_), Err(_)) => false,
    }
}

/// Every word of an artifact and its neighbors: the edges are among them.
fn around(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word));
    let halves = bytes.as_chunks::<2>().0.iter().map(|&half| u16::from_le_bytes(half).into());
    words
        .chain(halves)
        .flat_map(|word| [word.wrapping_sub(1), word, word.wrapping_add(1), bits_near(word)])
        .collect()
}

/// The bits of the float whose key is a word, if there is one.
fn bits_near(word: u32) -> u32 {
    Margin::from_key(word).map_or(word, |margin| margin.get().to_bits())
}

#[test]
fn every_form_is_read_or_refused() {
    let read = forms().iter().filter(|form| compare(&hex(form.listing), around(&hex(form.listing)))).count();
    assert!(read >= 2, "{read} forms are read");
}

proptest! {
    /// The same outcome and band, to the bit, for every score.
    #[test]
    fn gives_what_the_artifact_gives(seed in any::<u64>(), probes in vec(any::<u32>(), 50)) {
        let bytes = artifact(&mut Numbers(seed));
        let around = around(&bytes);
        let near = |&probe: &u32| [probe, f32::to_bits(probe as f32 / u32::MAX as f32), probe & 0xFFFF];
        let probes: Vec<u32> = probes.iter().flat_map(near).chain(around).collect();
        prop_assert!(compare(&bytes, probes), "is not read");
    }

    /// Damage under a right CRC is refused alike.
    #[test]
    fn refuses_what_the_artifact_refuses(
        seed in any::<u64>(),
        form in any::<Index>(),
        edits in vec((any::<Index>(), any::<u8>()), 1..4),
        words in vec((any::<Index>(), prop_oneof![any::<u32>(), 0..=0x3F80_0000u32, 0u32..300]), 0..3),
        probes in vec(any::<u32>(), 8),
    ) {
        let forms = forms();
        let mut bytes =
            if seed % 4 == 0 { hex(form.get(&forms).listing) } else { artifact(&mut Numbers(seed)) };
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
        }
        for (at, word) in words {
            let at = 4 * at.index(bytes.len() / 4);
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        seal(&mut bytes);
        compare(&bytes, probes.into_iter().chain(around(&bytes)));
    }
}
