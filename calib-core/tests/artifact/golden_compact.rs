//! Tables in 16-bit numbers, pinned byte by byte; the listing was not made by this crate's writer.

use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Reduction, SectionKind, Table, TableFault,
    TableForm, Theorem,
};
use calib_core::table::CompactTable;
use calib_core::{
    Artifact, BinFlags, Calibrator, Outcome, ParseError, Probs, ScoreEncoding, Uncalibrated, VectorCalibrator,
};

use crate::forge::{PROVENANCE, aligned, assemble, disassemble, identity, refusal};
use crate::golden::hex;
use crate::test_size::step;

/// Three classes of which the second is uncalibrated.
const COMPACT: &str = concat!(
    prefix!("02", "90 00", "88 e0 01 ff", "27 5d 79 ff  b7 bb a2 56"), // 144 bytes
    // Umd, class-wise, f32 rounded to 16 bits; 58 bytes. Flags: a class is uncalibrated, compact. Guarantee: Gupta and Ramdas 2021, Theorem 3, alpha 0.1, epsilon 0.125.
    header!("3a", "00 03 04", "03 05 ac 02", "01 00 cd cc cc 3d 00 00 00 3e", "0a", "00  00  00 00"),
    "
    0b 00  01 00  22 00 00 00   # compact steps: kind, mandatory, 34 bytes
    03 00                       # three tables
    00 00  07 00  07 00  0c 00  # halves 0 to 7, none, 7 to 12
    00 00 00 3e                 # epsilon: 0.125
    00 40  00 c0                # edges: the keys 16384, 49152
    00 08  00 40  00 80         # values: 0.0625, 0.5, 1
    00 00 c0 7f                 # no epsilon
    00 80                       # edge: the key 32768
    00 10  00 78                # values: 0.125, 0.9375
    00 00                       # padding
"
);

fn header() -> Header<'static> {
    Header {
        method: Method::Umd,
        reduction: Reduction::ClassWise,
        encoding: ScoreEncoding::RoundedF32,
        classes: 3,
        bins: 5,
        n: 300,
        guarantee: Some(Guarantee { theorem: Theorem::Gr21Theorem3, alpha: 0.1, epsilon: 0.125 }),
        flags: HeaderFlags::CLASS_UNCALIBRATED.with(HeaderFlags::COMPACT),
        provenance: PROVENANCE,
    }
}

fn tables() -> [Option<Table<'static>>; 3] {
    let table = |edges, values, epsilon| {
        let compact = CompactTable::new(edges, values, ScoreEncoding::RoundedF32).unwrap();
        Some(Table { form: TableForm::Compact(compact), epsilon })
    };
    [
        table(&[16_384, 49_152], &[0x800, 0x4000, 0x8000], Some(0.125)),
        None,
        table(&[32_768], &[0x1000, 0x7800], None),
    ]
}

fn write(flags: &[BinFlags]) -> Vec<u8> {
    let mut buf = vec![0xEE; 1024];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(&header()).unwrap();
    writer.tables(&tables()).unwrap();
    if !flags.is_empty() {
        writer.bin_flags(flags).unwrap();
    }
    writer.finish(identity).unwrap().to_vec()
}

#[test]
fn writer_and_parser_agree_with_the_listing() {
    assert_eq!(write(&[]), hex(COMPACT));
    let bytes = aligned(&hex(COMPACT));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert_eq!(artifact.header(), &header());
    assert_eq!((0..3).map(|table| artifact.tables().get(table)).collect::<Vec<_>>(), tables());
    assert_eq!(artifact.tables().get(3), None);
}

#[test]
fn scores_are_rounded_and_looked_up() {
    let bytes = aligned(&hex(COMPACT));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let Calibrator::Vector(VectorCalibrator::ClassWise(calibrator)) = artifact.calibrator() else {
        panic!("not class-wise")
    };
    // 16384 / 65535 is just above a quarter: the key of 0.25 is 16384 after rounding.
    for (row, probs) in [
        ([0.0, 0.25, 0.75], [0.0625, 0.9375]),
        ([0.25, 0.25, 0.5], [0.5, 0.9375]),
        ([1.0, 0.0, 0.0], [1.0, 0.125]),
    ] {
        let vector = Probs::new(&row).unwrap().into();
        let outcomes: Vec<Outcome> = calibrator.calibrate_all(vector, None).unwrap().collect();
        let [Outcome::Calibrated(first), second, Outcome::Calibrated(third)] = outcomes[..] else {
            panic!("{outcomes:?}")
        };
        assert_eq!([first.prob, third.prob], probs);
        assert_eq!((first.epsilon, third.epsilon), (Some(0.125), None));
        assert_eq!(second, Outcome::Uncalibrated(Uncalibrated::Class));
    }
}

#[test]
fn flags_are_those_of_their_own_table() {
    let flags = [0, 1, 0, 0, 1].map(|bits| BinFlags::from_bits(bits).unwrap());
    let bytes = aligned(&write(&flags));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let of = |table: usize, bins: u16| -> Vec<BinFlags> {
        (0..bins).map(|bin| artifact.tables().bin_flags(table, bin)).collect()
    };
    assert_eq!(of(0, 3), flags[..3]);
    assert_eq!(of(1, 1), [BinFlags::NONE]);
    assert_eq!(of(2, 2), flags[3..]);
}

#[test]
fn damage_and_contradictions_are_refused() {
    let golden = hex(COMPACT);
    for bit in (0..8 * golden.len()).step_by(step(97)) {
        let mut bad = golden.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(refusal(&bad).is_some(), "bit {bit}");
    }
    let with = |at: usize, half: u16| {
        let mut sections = disassemble(&golden);
        sections[1].payload[2 * at..2 * at + 2].copy_from_slice(&half.to_le_bytes());
        refusal(&assemble(&sections))
    };
    let fault = |table, fault| Some(ParseError::Table { table, fault });
    assert_eq!(with(0, 4), fault(0, TableFault::Count));
    assert_eq!(with(1, 1), fault(0, TableFault::Extent));
    // The second table begins after its end.
    assert_eq!(with(2, 8), fault(0, TableFault::Extent));
    assert_eq!(with(3, 9), fault(1, TableFault::Extent));
    // Edges: 0, not ascending; values: above 1.
    assert_eq!(with(7, 0), fault(0, TableFault::Content));
    assert_eq!(with(8, 0x4000), fault(0, TableFault::Content));
    assert_eq!(with(11, 0x8001), fault(0, TableFault::Content));
    // An epsilon above the header's.
    assert_eq!(with(6, 0x3F00), fault(0, TableFault::Epsilon));

    // Words and halves are not taken for each other.
    let mut sections = disassemble(&golden);
    sections[1].kind = SectionKind::Tables as u16;
    assert_eq!(refusal(&assemble(&sections)), Some(ParseError::UnexpectedSection(SectionKind::Tables)));
    let refused = |change: fn(&mut Header<'static>)| {
        let mut header = header();
        change(&mut header);
        ArtifactWriter::new(&mut [0; 1024]).header(&header).is_err()
    };
    assert!(refused(|header| header.flags = HeaderFlags::CLASS_UNCALIBRATED));
    assert!(refused(|header| header.encoding = ScoreEncoding::F32));
    assert!(refused(|header| {
        header.method = Method::UmdRandomized;
        header.guarantee = None;
    }));
    assert!(!refused(|_| ()));
}
