//! Artifacts over margins and class margins: pinned byte by byte in listings that this crate's writer did not make, and the laws of
//! every form of table.

use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Reduction, Table, TableFault, TableForm, Theorem,
    WriteError,
};
use calib_core::table::{
    CodeTable, CompactTable, InterpolatedMarginTable, MarginFunction, MarginScaling, MarginVennAbersTable,
    RandomizedMarginTable,
};
use calib_core::{
    Artifact, BinFlags, Calibrator, Logits, Margin, MarginTable, Outcome, ParseError, ScoreEncoding,
    StepTable, TopLabelCodeMargin,
};
use proptest::prelude::*;

use crate::forge::{MAX_WORDS, PROVENANCE, aligned, identity, refusal, seal, write};
use crate::golden::hex;

/// A step table over margins, with edges on either side of 0, and the range of its margins.
const STEPS: &str = concat!(
    prefix!("03", "a8 00", "66 1d d8 bf", "fe 01 75 b8  46 5e 6b 53"), // 168 bytes
    // Umd, binary, margins; 58 bytes. Guarantee: Gupta and Ramdas 2021, Theorem 3, alpha 0.1, epsilon 0.125.
    header!("3a", "00 00 06", "02 04 ac 02", "01 00 cd cc cc 3d 00 00 00 3e", "00", "00  00  00 00"),
    "
    02 00  01 00  2c 00 00 00   # tables: kind, mandatory, 44 bytes
    01 00 00 00                 # one table
    00 00 00 00 08 00 00 00     # words 0 to 8
    00 00 00 3e                 # epsilon: 0.125
    00 00 c0 bf 00 00 00 00     # edges: -1.5, 0,
    00 00 10 40                 # 2.25
    00 00 80 3d 00 00 80 3e     # values: 0.0625, 0.25,
    00 00 00 3f 00 00 70 3f     # 0.5, 0.9375

    11 00  00 00  08 00 00 00   # score ranges: kind, optional, 8 bytes
    ff ff 0f 3f                 # -7.5, all bits turned round
    00 00 10 c1                 # 9, with the sign set
"
);

/// Platt scaling of a margin.
const PLATT: &str = concat!(
    prefix!("02", "80 00", "89 42 df fd", "5a 80 00 32  97 1b 62 8c"), // 128 bytes
    // Platt, binary, margins; 49 bytes.
    header!("31", "09 00 06", "02 00 ac 02", "00", "00", "00  00  00 00 00"),
    "
    06 00  01 00  1c 00 00 00   # scaling: kind, mandatory, 28 bytes
    01 00 00 00                 # one table
    00 00 00 00 04 00 00 00     # words 0 to 4
    00 00 c0 7f                 # no epsilon
    04 00 00 00                 # Platt scaling of a margin
    00 00 00 40 00 00 80 bf     # slope 2, intercept -1
"
);

/// The top-two margin of the predicted class among three int8 logits, one table for all classes.
const TOP2_MARGIN: &str = concat!(
    prefix!("02", "8c 00", "09 7c a0 a5", "b8 3b ee d4  71 9a f0 ee"), // 140 bytes
    // Umd, confidence, i8, scale 0.25, zero point 10; 63 bytes. Flags: the top-two margin of the predicted class. Guarantee: Gupta and Ramdas 2021, Theorem 3, alpha 0.1, epsilon 0.125.
    header!(
        "3f",
        "00 02 02 00 00 80 3e 14",
        "03 02 ac 02",
        "01 00 cd cc cc 3d 00 00 00 3e",
        "10",
        "00  00  00"
    ),
    "
    09 00  01 00  1c 00 00 00   # integer steps: kind, mandatory, 28 bytes
    01 00 00 00                 # one table
    00 00 00 00 04 00 00 00     # words 0 to 4
    00 00 00 3e                 # epsilon: 0.125
    0c 00 00 00                 # edge: a top-two margin of 12 codes
    00 00 00 3f 00 00 60 3f     # values: 0.5, 0.875
"
);

const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 0.25, zero_point: 10 };

fn header(method: Method, encoding: ScoreEncoding, bins: u32) -> Header<'static> {
    Header {
        method,
        reduction: Reduction::Binary,
        encoding,
        classes: 2,
        bins,
        n: 300,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: PROVENANCE,
    }
}

fn guaranteed(header: Header<'static>) -> Header<'static> {
    let guarantee = Guarantee { theorem: Theorem::Gr21Theorem3, alpha: 0.1, epsilon: 0.125 };
    Header { guarantee: Some(guarantee), ..header }
}

fn margin(value: f32) -> Margin {
    Margin::new(value).unwrap()
}

#[test]
fn a_step_table_over_margins_is_written_and_read_as_pinned() {
    let golden = hex(STEPS);
    let steps = MarginTable::new(&[-1.5, 0.0, 2.25], &[0.0625, 0.25, 0.5, 0.9375]).unwrap();
    let table = Table { form: TableForm::MarginSteps(steps), epsilon: Some(0.125) };
    let header = guaranteed(header(Method::Umd, ScoreEncoding::Margin, 4));
    let range = [margin(-7.5).key(), margin(9.0).key()];
    let mut buf = vec![0xEE; 4 * MAX_WORDS];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(&header).unwrap();
    writer.tables(&[Some(table)]).unwrap();
    writer.score_ranges(&[Some(range)]).unwrap();
    assert_eq!(writer.finish(identity).unwrap(), golden);

    let bytes = aligned(&golden);
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert_eq!((artifact.header(), artifact.tables().get(0)), (&header, Some(table)));
    assert_eq!(artifact.tables().score_range(0), Some(range));
    let Calibrator::BinaryMargin(calibrator) = artifact.calibrator() else { panic!("not over margins") };
    for (value, bin, outside) in [
        (f32::MIN, 0, true),
        ((-7.5f32).next_down(), 0, true),
        (-7.5, 0, false),
        ((-1.5f32).next_down(), 0, false),
        (-1.5, 1, false),
        (-f32::from_bits(1), 1, false),
        (-0.0, 2, false),
        (0.0, 2, false),
        (2.25, 3, false),
        (9.0, 3, false),
        (9.0f32.next_up(), 3, true),
        (f32::MAX, 3, true),
    ] {
        let got = *calibrator.calibrate(margin(value)).calibrated().unwrap();
        assert_eq!((got.bin, got.flags.contains(BinFlags::OUT_OF_RANGE)), (bin, outside), "{value}");
        assert_eq!((got.prob, got.epsilon), ([0.0625, 0.25, 0.5, 0.9375][usize::from(bin)], Some(0.125)));
    }
}

#[test]
fn platt_scaling_of_a_margin_is_written_and_read_as_pinned() {
    let golden = hex(PLATT);
    let function = MarginFunction::new(MarginScaling::Platt { a: 2.0, b: -1.0 }).unwrap();
    let table = Table { form: TableForm::MarginScaling(function), epsilon: None };
    let header = header(Method::Platt, ScoreEncoding::Margin, 0);
    assert_eq!(write(&header, &[Some(table)], &[]), golden);
    let bytes = aligned(&golden);
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert_eq!(artifact.tables().get(0), Some(table));
    let Calibrator::BinaryMargin(calibrator) = artifact.calibrator() else { panic!("not over margins") };
    for value in [-1e38, -3.0, 0.0, 0.5, 40.0, f32::MAX] {
        let got = calibrator.calibrate(margin(value)).calibrated().unwrap().prob;
        assert_eq!(got, function.prob(margin(value)), "{value}");
    }
}

#[test]
fn the_top2_margin_of_a_code_is_written_and_read_as_pinned() {
    let golden = hex(TOP2_MARGIN);
    let codes = CodeTable::new(&[12], &[0.5, 0.875], I8).unwrap();
    let table = Table { form: TableForm::Codes(codes), epsilon: Some(0.125) };
    let flags = HeaderFlags::TOP2_MARGIN;
    let header = Header { reduction: Reduction::Confidence, classes: 3, flags, ..header(Method::Umd, I8, 2) };
    let header = guaranteed(header);
    assert_eq!(write(&header, &[Some(table)], &[]), golden);
    let bytes = aligned(&golden);
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert_eq!((artifact.header(), artifact.tables().get(0)), (&header, Some(table)));
    let Calibrator::TopLabelCodeMargin(calibrator) = artifact.calibrator() else {
        panic!("not by top-two margin")
    };
    assert_eq!((calibrator.classes(), calibrator.encoding()), (3, I8));
    let prob = |codes: [i8; 3]| {
        let top = TopLabelCodeMargin::new(I8, codes).unwrap();
        calibrator.calibrate(top).unwrap().calibrated().unwrap().prob
    };
    assert_eq!([prob([100, 89, -5]), prob([100, 88, 87]), prob([-128, 127, 127])], [0.5, 0.875, 0.5]);
    let other = ScoreEncoding::I8 { scale: 0.5, zero_point: 10 };
    assert!(calibrator.calibrate(TopLabelCodeMargin::new(other, [1i8, 2, 3]).unwrap()).is_err());
}

/// The bytes with one word of the only table replaced, and the checksum made right.
fn with_word(listing: &str, from_end: usize, word: u32) -> Vec<u8> {
    let mut bytes = hex(listing);
    let at = bytes.len() - from_end;
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    seal(&mut bytes);
    bytes
}

#[test]
fn what_is_no_table_over_margins_is_refused() {
    let content = Some(ParseError::Table { table: 0, fault: TableFault::Content });
    // The first edge is 44 bytes before the end, the range's ends are the last 8.
    for edge in [f32::NEG_INFINITY, f32::NAN, 0.0, 1.0, -0.0] {
        assert_eq!(refusal(&with_word(STEPS, 44, edge.to_bits())), content, "{edge}");
    }
    for edge in [-0.0f32, -2.0] {
        assert_eq!(refusal(&with_word(STEPS, 40, edge.to_bits())), content, "{edge}");
    }
    let ranges = Some(ParseError::Table { table: 0, fault: TableFault::Ranges });
    for (at, key) in [(8, 0x007F_FFFF), (8, 0xF000_0000), (4, 0xFF80_0000), (4, 0)] {
        assert_eq!(refusal(&with_word(STEPS, at, key)), ranges, "{key:x}");
    }
    for (at, word) in [(8, f32::INFINITY.to_bits()), (4, f32::NAN.to_bits())] {
        assert_eq!(refusal(&with_word(PLATT, at, word)), content);
    }
    // Platt scaling of a probability, temperature, and no function.
    for kind in [1, 5, 6] {
        let extent = Some(ParseError::Table { table: 0, fault: TableFault::Extent });
        assert_eq!(refusal(&with_word(PLATT, 12, kind)), extent, "{kind}");
    }
}

/// A header that says what its tables cannot be.
#[test]
fn contradictions_are_refused() {
    let binary = header(Method::Umd, ScoreEncoding::Margin, 1);
    let top = Header { reduction: Reduction::TopLabel, classes: 3, ..binary };
    let of_class = |header| Header { flags: HeaderFlags::TOP2_MARGIN, ..header };
    let mut buf = [0; 1024];
    let mut takes = |header: Header<'_>| ArtifactWriter::new(&mut buf).header(&header).is_ok();
    assert!(takes(binary) && takes(of_class(top)) && takes(of_class(Header { encoding: I8, ..top })));
    assert!(takes(Header { encoding: I8, ..top }));
    assert!(!takes(of_class(binary)) && !takes(of_class(Header { encoding: I8, ..binary })));
    assert!(!takes(top) && !takes(of_class(Header { encoding: ScoreEncoding::F32, ..top })));
    for reduction in [Reduction::ClassWise, Reduction::Normalized, Reduction::TopKLabel { k: 2 }] {
        assert!(!takes(Header { reduction, ..top }) && !takes(of_class(Header { reduction, ..top })));
    }
    assert!(!takes(Header { method: Method::Beta, bins: 0, ..binary }));
    let compact = Header { flags: HeaderFlags::COMPACT, ..binary };
    assert!(!takes(compact) && takes(Header { encoding: ScoreEncoding::RoundedMargin, ..compact }));
    assert!(!takes(Header { encoding: ScoreEncoding::RoundedMargin, ..binary }));
}

/// The edges 0.25 and 0.75 are those of scores and of margins: the bytes do not tell, so the writer has to.
#[test]
fn a_table_of_the_other_kind_is_not_written() {
    let (edges, values) = ([0.25, 0.75], [0.1, 0.2, 0.3]);
    let scores = TableForm::Steps(StepTable::new(&edges, &values).unwrap());
    let margins = TableForm::MarginSteps(MarginTable::new(&edges, &values).unwrap());
    let mut buf = [0; 1024];
    let mut write = |encoding, form| {
        let mut writer = ArtifactWriter::new(&mut buf);
        writer.header(&header(Method::Isotonic, encoding, 3)).unwrap();
        writer.tables(&[Some(Table { form, epsilon: None })])
    };
    assert_eq!(write(ScoreEncoding::F32, scores), Ok(()));
    assert_eq!(write(ScoreEncoding::Margin, margins), Ok(()));
    assert_eq!(write(ScoreEncoding::F32, margins), Err(WriteError::Form));
    assert_eq!(write(ScoreEncoding::Margin, scores), Err(WriteError::Form));
}

/// Ascending edges, no two equal, none `-0.0`.
fn edges() -> impl Strategy<Value = Vec<f32>> {
    let value = prop_oneof![any::<f32>(), -10.0f32..10.0, Just(0.0f32), Just(f32::MAX), Just(f32::MIN)];
    proptest::collection::vec(value, 1..40).prop_map(|edges| {
        let mut edges: Vec<f32> =
            edges.into_iter().filter(|e| e.is_finite()).map(|edge| edge + 0.0).collect();
        edges.sort_by(f32::total_cmp);
        edges.dedup();
        edges
    })
}

fn probes(edges: &[f32], more: &[f32]) -> Vec<Margin> {
    let around = edges.iter().flat_map(|edge| [edge.next_down(), *edge, edge.next_up()]);
    let ends = [0.0, -0.0, f32::from_bits(1), -f32::from_bits(1), f32::MAX, f32::MIN];
    around.chain(ends).chain(more.iter().copied()).filter_map(|value| Margin::new(value).ok()).collect()
}

/// Writes the only table and reads it again.
fn round_trip(header: &Header<'_>, form: TableForm<'_>, check: impl Fn(&Artifact<'_>)) {
    let table = Table { form, epsilon: None };
    let bytes = write(header, &[Some(table)], &[]);
    let bytes = aligned(&bytes);
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert_eq!(artifact.tables().get(0), Some(table));
    check(&artifact);
}

fn calibrated(artifact: &Artifact<'_>, margin: Margin, word: Option<u32>) -> (u16, f32) {
    let Calibrator::BinaryMargin(calibrator) = artifact.calibrator() else { panic!("not over margins") };
    match calibrator.calibrate_with(margin, word) {
        Outcome::Calibrated(calibrated) => (calibrated.bin, calibrated.prob),
        Outcome::Uncalibrated(why) => panic!("{why:?}"),
    }
}

proptest! {
    /// Every form gives in an artifact what the table gives alone, and the bin of a linear scan.
    #[test]
    fn every_form_finds_the_bin_of_a_scan(
        edges in edges(), more in proptest::collection::vec(any::<f32>(), 20), words in proptest::collection::vec(any::<u32>(), 40),
    ) {
        let bins = edges.len() as u32 + 1;
        let values: Vec<f32> = (0..bins).map(|bin| bin as f32 / bins as f32).collect();
        let scan = |margin: Margin| edges.iter().filter(|&&edge| edge <= margin.get()).count();
        let probes = probes(&edges, &more);

        let steps = TableForm::MarginSteps(MarginTable::new(&edges, &values).unwrap());
        round_trip(&header(Method::Isotonic, ScoreEncoding::Margin, bins), steps, |artifact| {
            for &margin in &probes {
                assert_eq!(calibrated(artifact, margin, None), (scan(margin) as u16, values[scan(margin)]));
            }
        });

        let upper: Vec<f32> = values.iter().map(|value| (value + 0.25).min(1.0)).collect();
        let venn_abers = MarginVennAbersTable::new(&edges, &values, &upper).unwrap();
        let form = TableForm::MarginVennAbers(venn_abers);
        round_trip(&header(Method::VennAbers, ScoreEncoding::Margin, bins), form, |artifact| {
            for &margin in &probes {
                let (bin, prob, [p0, p1]) = venn_abers.lookup(margin);
                assert_eq!((usize::from(bin), p0, p1), (scan(margin), values[scan(margin)], upper[scan(margin)]));
                assert_eq!(calibrated(artifact, margin, None), (bin, prob));
            }
        });

        let ties = &words[..edges.len()];
        let randomized = RandomizedMarginTable::new(&edges, ties, &values).unwrap();
        let form = TableForm::MarginRandomized(randomized);
        round_trip(&header(Method::UmdRandomized, ScoreEncoding::Margin, bins), form, |artifact| {
            for &margin in &probes {
                for word in [0, u32::MAX, words[0], words[0].wrapping_sub(1)] {
                    let pairs = edges.iter().zip(ties);
                    let below = pairs.filter(|&(&edge, &tie)| edge < margin.get() || edge == margin.get() && tie <= word);
                    let bin = below.count();
                    assert_eq!(calibrated(artifact, margin, Some(word)), (bin as u16, values[bin]));
                }
                assert_eq!(randomized.is_tied(margin), edges.contains(&margin.get()));
            }
        });

        let y = &values[..edges.len()];
        let slopes: Vec<f32> = InterpolatedMarginTable::slopes_between(&edges, y).collect();
        let interpolated = InterpolatedMarginTable::new(&edges, y, &slopes).unwrap();
        let form = TableForm::MarginInterpolated(interpolated);
        round_trip(&header(Method::IsotonicInterpolated, ScoreEncoding::Margin, bins), form, |artifact| {
            let mut sorted = probes.clone();
            sorted.sort_by_key(|margin| margin.key());
            let mut before = 0.0;
            for margin in sorted {
                let (segment, prob) = calibrated(artifact, margin, None);
                assert_eq!(usize::from(segment), scan(margin));
                // It never falls, and is the knots' own at the knots.
                assert!(prob >= before && prob <= 1.0, "{margin:?}: {prob} {before}");
                if let Some(knot) = edges.iter().position(|&edge| edge == margin.get()) {
                    assert_eq!(prob, y[knot]);
                }
                before = prob;
            }
        });

        let mut keys: Vec<u16> = edges.iter().map(|&edge| margin(edge).rounded_key()).collect();
        keys.dedup();
        let halves: Vec<u16> = (0..=keys.len() as u16).collect();
        let compact = CompactTable::new(&keys, &halves, ScoreEncoding::RoundedMargin).unwrap();
        let of_keys = header(Method::Isotonic, ScoreEncoding::RoundedMargin, halves.len() as u32);
        let of_keys = Header { flags: HeaderFlags::COMPACT, ..of_keys };
        round_trip(&of_keys, TableForm::Compact(compact), |artifact| {
            for &margin in &probes {
                let bin = keys.iter().filter(|&&key| key <= margin.rounded_key()).count();
                assert_eq!(calibrated(artifact, margin, None).0, bin as u16);
                assert_eq!(compact.lookup_score(margin).0, bin as u16);
            }
        });
    }

    /// The top-two margin of logits is looked up as the margin that it is, class by class.
    #[test]
    fn class_margins_are_looked_up_by_the_predicted_class(
        logits in proptest::collection::vec(-20.0f32..20.0, 3), edge in 0.001f32..20.0,
    ) {
        let flags = HeaderFlags::TOP2_MARGIN;
        let of = |class: f32| [0.1 + class / 10.0, 0.5 + class / 10.0];
        let edges = [edge];
        let values = [of(0.0), of(1.0), of(2.0)];
        let tables = [0, 1, 2].map(|class| {
            let steps = MarginTable::new(&edges, &values[class]).unwrap();
            Some(Table { form: TableForm::MarginSteps(steps), epsilon: None })
        });
        let header = Header { reduction: Reduction::TopLabel, classes: 3, flags, ..header(Method::Umd, ScoreEncoding::Margin, 6) };
        let bytes = write(&header, &tables, &[]);
        let bytes = aligned(&bytes);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let Calibrator::TopLabelMargin(calibrator) = artifact.calibrator() else { panic!("not by margin") };
        let (top, outcome) = calibrator.calibrate_logits(Logits::new(&logits).unwrap()).unwrap();
        let mut sorted = logits.clone();
        sorted.sort_by(f32::total_cmp);
        prop_assert_eq!(top.margin.get(), sorted[2] - sorted[1]);
        prop_assert_eq!(logits[usize::from(top.class)], sorted[2]);
        let value = values[usize::from(top.class)][usize::from(top.margin.get() >= edge)];
        prop_assert_eq!(outcome.calibrated().unwrap().prob, value);
        prop_assert!(calibrator.calibrate_logits(Logits::new(&[0.0, 1.0]).unwrap()).is_err());
    }
}
