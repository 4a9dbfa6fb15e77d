//! Format 1, pinned byte by byte: a change that fails here breaks every artifact in the field.

use calib_core::artifact::{
    Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm, Theorem,
};
use calib_core::{
    Artifact, ArtifactBuffer, BinFlags, Calibrator, ClassifierId, Outcome, ParseError, Score, ScoreEncoding,
    StepTable, TopLabel, Uncalibrated,
};

use crate::forge::{PROVENANCE, aligned, identity, write};
use crate::test_size::step;

/// One table with a guarantee, fitted for a stated classifier.
pub(crate) const BINARY: &str = concat!(
    prefix!("02", "a0 00", "35 6e cc 0c", "59 8e e0 c3  f3 cd 4b 93"), // 160 bytes
    umd!()
);

/// Three classes, the second uncalibrated, no guarantee, and an empty bin.
const TOP_LABEL: &str = concat!(
    prefix!("03", "9c 00", "c0 95 67 80", "ed 5d 56 c8  eb 26 2d 39"), // 156 bytes
    // Isotonic, top-label, f32; 49 bytes. Flags: ties merged, class uncalibrated.
    header!("31", "01 01 00", "03 03 c8 01", "00", "03", "00  00  00 00 00"),
    "
    02 00  01 00  2c 00 00 00   # tables: kind, mandatory, 44 bytes
    03 00 00 00                 # three tables
    00 00 00 00  04 00 00 00  04 00 00 00  06 00 00 00    # words 0 to 4, 4 to 4, 4 to 6
    00 00 c0 7f                 # class 0: no epsilon
    00 00 00 3f                 #   edge: 0.5
    00 00 80 3e  00 00 40 3f    #   values: 0.25, 0.75
    00 00 c0 7f                 # class 2: no epsilon
    00 00 80 3f                 #   value: 1

    03 00  00 00  03 00 00 00   # bin flags: kind, optional, 3 bytes
    00 01  00                   # bin 1 of class 0 is empty
    00                          # padding
"
);

/// The bytes of an annotated hex listing.
pub(crate) fn hex(listing: &str) -> Vec<u8> {
    let digits = listing.lines().flat_map(|line| line.split('#').next()).flat_map(str::split_whitespace);
    digits.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

pub(crate) fn binary_header() -> Header<'static> {
    Header {
        method: Method::Umd,
        reduction: Reduction::Binary,
        encoding: ScoreEncoding::F32,
        classes: 2,
        bins: 3,
        n: 300,
        guarantee: Some(Guarantee { theorem: Theorem::Gr21Theorem3, alpha: 0.1, epsilon: 0.125 }),
        flags: HeaderFlags::NONE,
        provenance: Provenance {
            data_sha256: std::array::from_fn(|i| i as u8),
            tool_version: "0.1.0",
            parameters: "n_bins=3",
            classifier: Some(ClassifierId([0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7])),
        },
    }
}

fn top_label_header() -> Header<'static> {
    Header {
        method: Method::Isotonic,
        reduction: Reduction::TopLabel,
        encoding: ScoreEncoding::F32,
        classes: 3,
        bins: 3,
        n: 200,
        guarantee: None,
        flags: HeaderFlags::TIES_MERGED.with(HeaderFlags::CLASS_UNCALIBRATED),
        provenance: PROVENANCE,
    }
}

#[test]
fn the_writer_gives_exactly_the_pinned_bytes() {
    let steps = StepTable::new(&[0.25, 0.75], &[0.0625, 0.5, 0.9375]).unwrap();
    let binary =
        write(&binary_header(), &[Some(Table { form: TableForm::Steps(steps), epsilon: Some(0.125) })], &[]);
    assert_eq!(binary, hex(BINARY));

    let first = StepTable::new(&[0.5], &[0.25, 0.75]).unwrap();
    let third = StepTable::new(&[], &[1.0]).unwrap();
    let tables = [first, third].map(|steps| Table { form: TableForm::Steps(steps), epsilon: None });
    let tables = [Some(tables[0]), None, Some(tables[1])];
    assert_eq!(write(&top_label_header(), &tables, &[0, 1, 0]), hex(TOP_LABEL));
}

#[test]
fn the_parser_reads_the_pinned_binary_artifact() {
    let bytes = aligned(&hex(BINARY));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert_eq!(artifact.header(), &binary_header());
    assert_eq!(artifact.identity(), identity(&bytes.as_bytes()[32..]));
    assert_eq!(artifact.len_bytes(), 160);
    assert!(artifact.is_for(ClassifierId(*b"\xA0\xA1\xA2\xA3\xA4\xA5\xA6\xA7")));
    assert!(!artifact.is_for(ClassifierId([0; 8])));

    let Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("not binary") };
    for (score, bin, prob) in [(0.0, 0, 0.0625), (0.25, 1, 0.5), (0.7, 1, 0.5), (0.75, 2, 0.9375)] {
        let Outcome::Calibrated(got) = calibrator.calibrate(Score::new(score).unwrap()) else {
            panic!("{score} is uncalibrated")
        };
        assert_eq!((got.bin, got.prob, got.epsilon, got.flags), (bin, prob, Some(0.125), BinFlags::NONE));
    }
}

#[test]
fn the_parser_reads_the_pinned_top_label_artifact() {
    let bytes = aligned(&hex(TOP_LABEL));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert_eq!(artifact.header(), &top_label_header());
    assert_eq!(artifact.identity(), identity(&bytes.as_bytes()[32..]));
    assert!(artifact.is_for(ClassifierId([0; 8])));
    assert_eq!(artifact.tables().count(), 3);

    let Calibrator::TopLabel(calibrator) = artifact.calibrator() else { panic!("not top-label") };
    let at = |class, score| match calibrator.calibrate(TopLabel { class, score: Score::new(score).unwrap() })
    {
        Outcome::Calibrated(c) => Ok((c.bin, c.prob, c.epsilon, c.flags)),
        Outcome::Uncalibrated(why) => Err(why),
    };
    assert_eq!(at(0, 0.4), Ok((0, 0.25, None, BinFlags::NONE)));
    // No calibration point was in the bin, whose midpoint is in the artifact.
    assert_eq!(at(0, 0.5), Err(Uncalibrated::EmptyBin));
    assert_eq!(artifact.tables().bin_flags(0, 1), BinFlags::EMPTY);
    assert_eq!(at(1, 0.5), Err(Uncalibrated::Class));
    assert_eq!(at(2, 0.5), Ok((0, 1.0, None, BinFlags::NONE)));
    assert_eq!(at(3, 0.5), Err(Uncalibrated::Class));
}

#[test]
fn the_second_theorem_is_number_one() {
    let guarantee = Guarantee { theorem: Theorem::Gr22Theorem1, alpha: 0.5, epsilon: 1.0 };
    let mut buf = [0; 16];
    let bytes = postcard::to_slice(&guarantee, &mut buf).unwrap();
    assert_eq!(bytes, hex("01  00 00 00 3f  00 00 80 3f"));
}

/// A file, and a slot whose rest is erased or was never programmed.
pub(crate) fn slots(artifact: &[u8]) -> [Vec<u8>; 2] {
    [0xFF, 0x00].map(|erased| [artifact, &[erased; 61]].concat())
}

#[test]
fn every_single_bit_flip_is_refused() {
    for golden in [hex(BINARY), hex(TOP_LABEL)] {
        for bit in (0..8 * golden.len()).step_by(step(97)) {
            let mut bad = golden.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let buffer = aligned(&bad);
            assert!(Artifact::parse(buffer.as_bytes()).is_err(), "bit {bit}");
            for slot in slots(&bad) {
                let buffer = aligned(&slot);
                assert!(Artifact::parse_slot(buffer.as_bytes()).is_err(), "bit {bit} in a slot");
            }
        }
    }
}

#[test]
fn every_truncation_is_refused() {
    for golden in [hex(BINARY), hex(TOP_LABEL)] {
        for len in (0..golden.len()).step_by(step(13)) {
            let cut = aligned(&golden[..len]);
            let needed = if len < 32 { 32 } else { golden.len() };
            let expected = match len {
                0 => ParseError::Blank,
                _ => ParseError::Truncated { needed, available: len },
            };
            assert_eq!(Artifact::parse(cut.as_bytes()), Err(expected));
            assert_eq!(Artifact::parse_slot(cut.as_bytes()), Err(expected));
            // A write that the power cut ended: the rest of the slot is still erased. Bytes that equal the
            // erased state are not missing.
            for (erased, slot) in [0xFF, 0x00].into_iter().zip(slots(&golden[..len])) {
                let mut slot = slot;
                slot.resize(golden.len() + 64, erased);
                let buffer = aligned(&slot);
                let whole = golden[len..].iter().all(|&byte| byte == erased);
                assert_eq!(Artifact::parse_slot(buffer.as_bytes()).is_ok(), whole, "{len} of 0x{erased:02x}");
            }
        }
    }
}

#[test]
fn trailing_bytes_are_refused_where_they_begin() {
    for golden in [hex(BINARY), hex(TOP_LABEL)] {
        let offset = golden.len();
        for slot in slots(&golden) {
            let buffer = aligned(&slot);
            let artifact = Artifact::parse_slot(buffer.as_bytes()).unwrap();
            assert_eq!(artifact.len_bytes(), offset);
            assert_eq!(Artifact::parse(buffer.as_bytes()), Err(ParseError::TrailingBytes { offset }));

            for at in 0..61 {
                let mut dirty = slot.clone();
                dirty[offset + at] ^= 0x10;
                // The first byte of the tail tells which state is the erased one; if it is neither, it is
                // itself what does not belong there.
                let expected = ParseError::TrailingBytes { offset: offset + at };
                let buffer = aligned(&dirty);
                assert_eq!(Artifact::parse_slot(buffer.as_bytes()), Err(expected));
            }
        }
        let mixed = aligned(&[&golden[..], &[0xFF, 0xFF, 0x00]].concat());
        let expected = ParseError::TrailingBytes { offset: offset + 2 };
        assert_eq!(Artifact::parse_slot(mixed.as_bytes()), Err(expected));
    }
}

#[test]
fn misaligned_bytes_are_refused_as_such() {
    let golden = hex(BINARY);
    for shift in 1..4 {
        let mut buffer = ArtifactBuffer::<64>::new();
        buffer.extend_from_slice(&[0xEE; 4][..shift]).unwrap();
        buffer.extend_from_slice(&golden).unwrap();
        let bytes = &buffer.as_bytes()[shift..];
        assert_eq!(Artifact::parse(bytes), Err(ParseError::Misaligned));
        assert_eq!(Artifact::parse_slot(bytes), Err(ParseError::Misaligned));
    }
}

#[test]
fn blank_memory_is_no_artifact() {
    for len in [0, 1, 3, 4, 31, 32, 33, 4096] {
        for erased in [0xFF, 0x00] {
            let blank = aligned(&vec![erased; len]);
            assert_eq!(Artifact::parse(blank.as_bytes()), Err(ParseError::Blank));
            assert_eq!(Artifact::parse_slot(blank.as_bytes()), Err(ParseError::Blank));
        }
    }
    // Blank memory has no alignment to get wrong.
    let blank = aligned(&[0xFF; 64]);
    assert_eq!(Artifact::parse_slot(&blank.as_bytes()[1..]), Err(ParseError::Blank));
}
