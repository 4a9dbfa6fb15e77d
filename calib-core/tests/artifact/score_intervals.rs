//! Intervals of ranges of the score, beside any calibrator: pinned bytes, look-up, and what is refused.

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, MonitorParts, MonitorsError, Rate, Reduction,
    ScoreIntervalParts, SectionKind, Table, TableFault, TableForm,
};
use calib_core::predict::{Output, Query};
use calib_core::table::{
    CompactTable, InterpolatedMarginTable, MarginFunction, MarginScaling, MarginVennAbersTable,
    RandomizedMarginTable,
};
use calib_core::vector::{Joint, ScalingInput, ScalingShape, VectorScaling};
use calib_core::{
    Artifact, BinFlags, Calibrated, Calibrator, Logits, Margin, MarginTable, Outcome, ParseError,
    ProbInterval, QuantizedScore, Score, ScoreEncoding, TopLabel, TopLabelCodeMargin,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::forge::{MAX_WORDS, Section, aligned, assemble, disassemble, identity, refusal};
use crate::golden::{binary_header, hex};
use crate::golden_forms::{Form, forms};
use crate::listings::PLATT_PROB;
use crate::test_size::step;

/// Platt scaling beside two intervals.
const BESIDE: &str = concat!(
    prefix!("03", "b0 00", "3d fd 38 ff", "0d 8a 93 6d  9f 01 79 78"), // 176 bytes
    // Platt, binary, f32; 49 bytes.
    header!("31", "09 00 00", "02 00 ac 02", "00", "00", "00  00  00 00 00"),
    "
    06 00  01 00  1c 00 00 00   # scaling: kind, mandatory, 28 bytes
    01 00 00 00                 # one table
    00 00 00 00  04 00 00 00    # words 0 to 4
    00 00 c0 7f                 # no epsilon
    01 00 00 00                 # Platt on the probability
    00 00 c0 40  00 00 40 c0    # a: 6, b: -3

    26 00  00 00  28 00 00 00   # score intervals: kind, optional, 40 bytes
    00 00 00 00                 # the rate of the range
    cd cc cc 3d                 # alpha: 0.1
    01 00 00 00                 # one table
    00 00 00 00  05 00 00 00    # words 0 to 5
    00 00 00 3f                 # edge: 0.5
    00 00 00 00  00 00 80 3e    # 0 to 0.25
    00 00 c0 3e  00 00 80 3f    # 0.375 to 1
"
);

const INTERVALS: [ProbInterval; 2] =
    [ProbInterval { lo: 0.0, hi: 0.25 }, ProbInterval { lo: 0.375, hi: 1.0 }];
const FAULT: TableFault = TableFault::ScoreIntervals;

/// The ranges of one table.
#[derive(Clone, Debug)]
struct Ranges {
    edges: Vec<u32>,
    intervals: Vec<ProbInterval>,
}

impl Ranges {
    fn new(edges: &[u32], intervals: &[ProbInterval]) -> Self {
        Self { edges: edges.to_vec(), intervals: intervals.to_vec() }
    }

    /// The range of a key by a scan, with its interval.
    fn scan(&self, key: u32) -> (u16, Option<ProbInterval>) {
        let bin = self.edges.iter().filter(|&&edge| edge <= key).count();
        (bin as u16, Some(self.intervals[bin]))
    }

    /// The keys beside every edge.
    fn probes(&self) -> impl Iterator<Item = u32> + '_ {
        self.edges.iter().flat_map(|&edge| [edge - 1, edge, edge.saturating_add(1)])
    }
}

/// An artifact of these tables and ranges.
fn write(
    header: &Header<'_>,
    tables: &[Option<Table<'_>>],
    ranges: &[Option<Ranges>],
    rate: Rate,
) -> Vec<u8> {
    let mut buf = vec![0xEE; 4 * MAX_WORDS];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(header).unwrap();
    writer.tables(tables).unwrap();
    let ranges: Vec<_> =
        ranges.iter().map(|ranges| ranges.as_ref().map(|r| (&r.edges[..], &r.intervals[..]))).collect();
    writer.score_intervals(&ScoreIntervalParts { rate, alpha: 0.1, tables: &ranges }).unwrap();
    writer.finish(identity).unwrap().to_vec()
}

fn platt() -> Form {
    forms().into_iter().find(|form| form.listing == PLATT_PROB).unwrap()
}

fn two() -> Ranges {
    Ranges::new(&[0.5f32.to_bits()], &INTERVALS)
}

#[test]
fn the_writer_gives_exactly_the_pinned_bytes() {
    let form = platt();
    assert_eq!(write(&form.header(), &[Some(form.table)], &[Some(two())], Rate::OfRange), hex(BESIDE));
    let given_scores = write(&form.header(), &[Some(form.table)], &[Some(two())], Rate::OfCalibrationScores);
    let mut expected = disassemble(&hex(BESIDE));
    expected[2].payload[0] = 1;
    assert_eq!(disassemble(&given_scores), expected);
    // An interval more than edges, or nothing is written.
    let mut buf = [0; 512];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(&form.header()).unwrap();
    let tables = &[Some((&[][..], &INTERVALS[..]))];
    assert!(writer.score_intervals(&ScoreIntervalParts { rate: Rate::OfRange, alpha: 0.1, tables }).is_err());
}

#[test]
fn the_parser_reads_the_pinned_bytes() {
    let bytes = aligned(&hex(BESIDE));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let found = artifact.score_intervals().unwrap();
    assert_eq!((found.rate(), found.alpha(), found.count()), (Rate::OfRange, 0.1, 1));
    let ranges = found.table(0).unwrap();
    assert_eq!((ranges.bins(), ranges.edges()), (2, &[0.5f32.to_bits()][..]));
    assert_eq!(ranges.intervals().collect::<Vec<_>>(), INTERVALS);
    assert_eq!((ranges.interval(2), found.table(1)), (None, None));

    let tables = artifact.tables();
    assert_eq!((tables.bins(0), tables.bins(1), tables.has_intervals()), (Some(2), None, true));
    assert_eq!([0, 1, 2].map(|bin| tables.interval(0, bin)), [Some(INTERVALS[0]), Some(INTERVALS[1]), None]);
    assert_eq!([0, 1, 2].map(|bin| tables.guaranteed(0, bin)), [0, 1, 2].map(|bin| tables.interval(0, bin)));

    // The probability is the function's, the rest is the section's.
    let plain = aligned(&hex(PLATT_PROB));
    let plain = Artifact::parse(plain.as_bytes()).unwrap();
    assert_eq!((plain.score_intervals(), plain.tables().score_bins(0)), (None, None));
    for (score, bin) in [(0.0, 0), (0.5f32.next_down(), 0), (0.5, 1), (1.0, 1)] {
        let [without, with] = [&plain, &artifact].map(|artifact| at(artifact, Score::new(score).unwrap(), 0));
        let interval = Some(INTERVALS[usize::from(bin)]);
        assert_eq!(with, Calibrated { bin, interval, flags: BinFlags::RANGE, ..without });
    }
}

fn at(artifact: &Artifact<'_>, score: Score, word: u32) -> Calibrated {
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("not over floats") };
    *calibrator.calibrate_with(score, word).calibrated().unwrap()
}

/// A table of its own has an epsilon of its own, whose bin the result does not name.
#[test]
fn steps_keep_their_probability_and_epsilon() {
    let form = TableForm::Steps(calib_core::step_table!(&[0.25, 0.75], &[0.0625, 0.5, 0.9375]));
    let table = Table { form, epsilon: Some(0.125) };
    let bytes = aligned(&write(&binary_header(), &[Some(table)], &[Some(two())], Rate::OfRange));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let got = at(&artifact, Score::new(0.8).unwrap(), 0);
    let interval = Some(INTERVALS[1]);
    let flags = BinFlags::RANGE;
    assert_eq!(got, Calibrated { prob: 0.9375, bin: 1, epsilon: Some(0.125), flags, interval });
    assert_eq!(artifact.tables().guaranteed(0, 2), None, "the third bin is not one of the two ranges");
}

/// Without the section and in it: which tables have ranges, of which scores.
#[test]
fn what_goes_with_the_tables_is_read_and_the_rest_refused() {
    let form = platt();
    let refused = |ranges: &[Option<Ranges>]| {
        refusal(&write(&form.header(), &[Some(form.table)], ranges, Rate::OfRange))
    };
    let fault = |table| Some(ParseError::Table { table, fault: FAULT });
    let bits = |edges: &[f32]| edges.iter().map(|edge| edge.to_bits()).collect::<Vec<_>>();
    let any = ProbInterval { lo: 0.0, hi: 1.0 };
    let of = |edges: &[u32]| Some(Ranges::new(edges, &vec![any; edges.len() + 1]));
    assert_eq!(refused(&[of(&[])]), None);
    assert_eq!(refused(&[of(&bits(&[f32::from_bits(1), 0.5, 1.0]))]), None);
    for edges in [
        bits(&[0.0]),
        bits(&[0.5, 0.5]),
        bits(&[0.5, 0.25]),
        bits(&[1.0f32.next_up()]),
        bits(&[f32::NAN]),
        bits(&[-0.5]),
    ] {
        assert_eq!(refused(&[of(&edges)]), fault(0), "{edges:?}");
    }
    assert_eq!(refused(&[]), fault(0));
    assert_eq!(refused(&[None]), fault(0));
    assert_eq!(refused(&[of(&[]), of(&[])]), fault(0));
    for (lo, hi) in [(0.5, 0.25), (-0.5, 0.5), (0.0, 1.5), (f32::NAN, 1.0), (f32::NAN, f32::NAN)] {
        let ranges = Ranges::new(&[], &[ProbInterval { lo, hi }]);
        assert_eq!(refused(&[Some(ranges)]), fault(0), "{lo} {hi}");
    }

    // The head and the length.
    let spoilt = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut sections = disassemble(&hex(BESIDE));
        change(&mut sections[2].payload);
        refusal(&assemble(&sections))
    };
    assert_eq!(spoilt(&|_| ()), None);
    assert_eq!(spoilt(&|payload| payload[0] = 2), fault(0));
    for alpha in [0.0, 1.0, -0.1, f32::NAN, f32::INFINITY] {
        assert_eq!(
            spoilt(&|payload| payload[4..8].copy_from_slice(&alpha.to_le_bytes())),
            fault(0),
            "{alpha}"
        );
    }
    for len in (0..40).filter(|len| len % 4 == 0) {
        assert_eq!(spoilt(&|payload| payload.truncate(len)), fault(0), "{len}");
    }
    // A word more is no interval more.
    for more in 1..3u8 {
        let longer = |payload: &mut Vec<u8>| {
            payload[16] += more;
            payload.extend(vec![0; 4 * usize::from(more)]);
        };
        assert_eq!(spoilt(&longer), fault(0));
    }

    // Which class has ranges.
    let flags = HeaderFlags::CLASS_UNCALIBRATED;
    let header = Header { reduction: Reduction::TopLabel, classes: 3, flags, ..form.header() };
    let tables = [Some(form.table), None, Some(form.table)];
    let of_classes = |ranges: &[Option<Ranges>]| refusal(&write(&header, &tables, ranges, Rate::OfRange));
    assert_eq!(of_classes(&[of(&[]), None, of(&[])]), None);
    assert_eq!(of_classes(&[of(&[]), of(&[]), of(&[])]), fault(1));
    assert_eq!(of_classes(&[of(&[]), None, None]), fault(2));
}

#[test]
fn nothing_is_said_where_nothing_could_be() {
    let form = platt();
    let kind = SectionKind::ScoreIntervals;
    let unexpected = Some(ParseError::UnexpectedSection(kind));
    let with = |header: Header<'_>| write(&header, &[Some(form.table)], &[Some(two())], Rate::OfRange);
    assert_eq!(refusal(&with(Header { flags: HeaderFlags::WEIGHTED, ..form.header() })), unexpected);
    let normalized = Header { reduction: Reduction::Normalized, ..form.header() };
    let bytes = write(&normalized, &[Some(form.table); 2], &[Some(two()), Some(two())], Rate::OfRange);
    assert_eq!(refusal(&bytes), unexpected);
    let class_wise = Header { reduction: Reduction::ClassWise, ..normalized };
    let bytes = write(&class_wise, &[Some(form.table); 2], &[Some(two()), Some(two())], Rate::OfRange);
    assert_eq!(refusal(&bytes), None);
    let payload = disassemble(&hex(BESIDE))[2].payload.clone();
    let beside = Section { kind: kind as u16, flags: 0, payload };
    // A bin has one interval: its own, or the one of its range.
    let exact = hex(crate::listings::INTERVALS);
    let both = [disassemble(&exact), vec![beside]].concat();
    assert_eq!(refusal(&assemble(&both)), Some(ParseError::UnexpectedSection(SectionKind::Intervals)));
}

/// Beside a calibrator of whole vectors: ranges of the classifier's score of the predicted class, for each class separately.
#[test]
fn whole_vectors_have_ranges_for_each_predicted_class() {
    let header = Header {
        method: Method::Blend,
        reduction: Reduction::Joint,
        classes: 3,
        bins: 0,
        guarantee: None,
        ..binary_header()
    };
    let shape = ScalingShape::Temperature { inverse_t: 0.5 };
    let function = Joint::Scaled(VectorScaling::new(3, ScalingInput::Logits, shape).unwrap());
    let write = |header: &Header<'_>, ranges: Option<&[Option<Ranges>]>| {
        let mut buf = vec![0xEE; 4 * MAX_WORDS];
        let mut writer = ArtifactWriter::new(&mut buf);
        writer.header(header).unwrap();
        writer.joint(&function).unwrap();
        if let Some(ranges) = ranges {
            let tables: Vec<_> =
                ranges.iter().map(|r| r.as_ref().map(|r| (&r.edges[..], &r.intervals[..]))).collect();
            let parts = ScoreIntervalParts { rate: Rate::OfRange, alpha: 0.1, tables: &tables };
            writer.score_intervals(&parts).unwrap();
        }
        writer.finish(identity).unwrap().to_vec()
    };
    let whole = Ranges::new(&[], &[ProbInterval { lo: 0.25, hi: 0.75 }]);
    let ranges = [Some(two()), None, Some(whole)];
    let [with, without] = [Some(&ranges[..]), None].map(|ranges| aligned(&write(&header, ranges)));
    let [with, without] = [&with, &without].map(|bytes| Artifact::parse(bytes.as_bytes()).unwrap());
    let tables = with.tables();
    assert_eq!(
        (tables.count(), [0, 1, 2, 3].map(|class| tables.bins(class))),
        (0, [Some(2), None, Some(1), None])
    );
    assert_eq!(tables.guaranteed(0, 1), Some(INTERVALS[1]));
    assert_eq!((without.score_intervals(), without.tables().has_intervals()), (None, false));

    // A softmax of 1/2 is at the edge of class 0; class 1 has no ranges.
    let third = [0.0f32, 0.0, -0.125];
    for (logits, class, range) in [
        ([3.0, 0.0, -3.0], 0, Some((1, INTERVALS[1]))),
        (third, 0, Some((0, INTERVALS[0]))),
        ([0.0, 0.0, f32::MIN], 0, Some((1, INTERVALS[1]))),
        ([0.0, 2.0, 1.0], 1, None),
        ([0.0, 2.0, 2.5], 2, Some((0, ProbInterval { lo: 0.25, hi: 0.75 }))),
    ] {
        let query = Query::from(Output::Logits(Logits::new(&logits).unwrap()));
        let mut space = [0.0; 6];
        let answer = |artifact: &Artifact<'_>, space: &mut [f32]| {
            let (prediction, _) = artifact.predict_classes(&query, space).unwrap();
            assert_eq!(prediction.first.class, class, "{logits:?}");
            *prediction.first.outcome.calibrated().unwrap()
        };
        let plain = answer(&without, &mut space);
        let expected = match range {
            Some((bin, interval)) => {
                Calibrated { bin, interval: Some(interval), flags: BinFlags::RANGE, ..plain }
            }
            None => plain,
        };
        assert_eq!(answer(&with, &mut space), expected, "{logits:?}");
    }

    // Ranges for each class or none, and what they are made of is checked as beside tables.
    let fault = |table| Some(ParseError::Table { table, fault: FAULT });
    let refused = |ranges: &[Option<Ranges>]| refusal(&write(&header, Some(ranges)));
    let unsorted = Ranges::new(&[0.5f32.to_bits(), 0.25f32.to_bits()], &[INTERVALS[0]; 3]);
    assert_eq!(refused(&[None, None, None]), None);
    assert_eq!((refused(&[None, None]), refused(&[const { None }; 4])), (fault(0), fault(0)));
    assert_eq!(refused(&[Some(two()), Some(two()), Some(unsorted)]), fault(2));
    let weighted = Header { flags: HeaderFlags::WEIGHTED, ..header };
    let unexpected = ParseError::UnexpectedSection(SectionKind::ScoreIntervals);
    assert_eq!(refusal(&write(&weighted, Some(&ranges))), Some(unexpected));
}

/// Monitors count the bins of results.
#[test]
fn monitors_count_the_ranges() {
    let form = platt();
    let refused = |gaps: &[u32]| {
        let mut buf = [0; 1024];
        let mut writer = ArtifactWriter::new(&mut buf);
        writer.header(&form.header()).unwrap();
        writer.tables(&[Some(form.table)]).unwrap();
        let tables = &[Some((&[0.5f32.to_bits()][..], &INTERVALS[..]))];
        writer.score_intervals(&ScoreIntervalParts { rate: Rate::OfRange, alpha: 0.1, tables }).unwrap();
        let parts = MonitorParts { shift: 20, change: 10_000, guarantee: 100, gaps: &[gaps], edges: None };
        writer.monitors(&parts).unwrap();
        refusal(writer.finish(identity).unwrap())
    };
    assert_eq!(refused(&[101, 100]), None);
    let gaps = Some(ParseError::Monitors(MonitorsError::Gaps(0)));
    assert_eq!((refused(&[101, 100, 100]), refused(&[101])), (gaps, gaps));
}

#[test]
fn damage_is_refused() {
    let golden = hex(BESIDE);
    for bit in (0..8 * golden.len()).step_by(step(97)) {
        let mut bad = golden.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(refusal(&bad).is_some(), "bit {bit}");
    }
    for len in (1..golden.len()).step_by(step(13)) {
        assert!(refusal(&golden[..len]).is_some(), "{len}");
    }
}

/// Each group has ranges of its own.
#[test]
fn groups_have_their_own_ranges() {
    let form = platt();
    let header = Header { flags: HeaderFlags::GROUPED, ..form.header() };
    let other = [ProbInterval { lo: 0.125, hi: 0.25 }, ProbInterval { lo: 0.5, hi: 0.75 }];
    let ranges = [two(), Ranges::new(&[0.25f32.to_bits()], &other)];
    let mut buf = [0; 1024];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(&header).unwrap();
    writer.tables(&[Some(form.table); 2]).unwrap();
    writer.groups(&["a", "b"]).unwrap();
    let tables = ranges.each_ref().map(|r| Some((&r.edges[..], &r.intervals[..])));
    writer.score_intervals(&ScoreIntervalParts { rate: Rate::OfRange, alpha: 0.1, tables: &tables }).unwrap();
    let bytes = aligned(writer.finish(identity).unwrap());
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    for (group, ranges) in (0..).zip(&ranges) {
        for key in ranges.probes() {
            let score = Score::new(f32::from_bits(key)).unwrap();
            let query = Query { group: Some(group), ..Output::Score(score).into() };
            let outcome = artifact.predict(&query).unwrap().first.outcome;
            let got = outcome.calibrated().unwrap();
            assert_eq!((got.bin, got.interval), ranges.scan(key));
        }
    }
}

/// Margins and 16-bit tables, by the keys of [`Margin`] and of rounded scores.
fn other_forms() -> Vec<(Header<'static>, Table<'static>)> {
    let of = |method, bins, encoding, flags, form| {
        let header = Header { method, bins, encoding, flags, guarantee: None, ..binary_header() };
        (header, Table { form, epsilon: None })
    };
    let x = &[-1.0, 0.0, 2.0];
    let margin = |method, bins, form| of(method, bins, ScoreEncoding::Margin, HeaderFlags::NONE, form);
    let steps = MarginTable::new(&[-1.0, 0.5], &[0.0625, 0.5, 0.9375]).unwrap();
    let randomized = RandomizedMarginTable::new(&[0.5], &[7], &[0.25, 0.75]).unwrap();
    let interpolated = InterpolatedMarginTable::new(x, &[0.25, 0.5, 0.75], &[0.25, 0.125]).unwrap();
    let venn_abers = MarginVennAbersTable::new(&[0.5], &[0.25, 0.5], &[0.5, 0.75]).unwrap();
    let function = MarginFunction::new(MarginScaling::Platt { a: 1.0, b: 0.0 }).unwrap();
    let compact = |encoding| {
        let table = CompactTable::new(&[16_384, 49_152], &[0x800, 0x4000, 0x8000], encoding).unwrap();
        of(Method::Umd, 3, encoding, HeaderFlags::COMPACT, TableForm::Compact(table))
    };
    vec![
        margin(Method::Umd, 3, TableForm::MarginSteps(steps)),
        margin(Method::UmdRandomized, 2, TableForm::MarginRandomized(randomized)),
        margin(Method::IsotonicInterpolated, 4, TableForm::MarginInterpolated(interpolated)),
        margin(Method::VennAbers, 2, TableForm::MarginVennAbers(venn_abers)),
        margin(Method::Platt, 0, TableForm::MarginScaling(function)),
        compact(ScoreEncoding::RoundedF32),
        compact(ScoreEncoding::RoundedMargin),
        compact(ScoreEncoding::U16 { scale: 1.0 / 65_536.0, zero_point: 0 }),
    ]
}

/// The key of what a calibrator is asked, as ranges have it, and the answer.
fn ask(artifact: &Artifact<'_>, word: u32) -> Option<(u32, Outcome)> {
    let is_rounded = artifact.header().flags.contains(HeaderFlags::COMPACT);
    match artifact.calibrator() {
        Calibrator::Binary(calibrator) => {
            let score = Score::new(f32::from_bits(word)).ok()?;
            let key = if is_rounded { score.rounded_key().into() } else { score.to_bits() };
            Some((key, calibrator.calibrate_with(score, word)))
        }
        Calibrator::BinaryMargin(calibrator) => {
            let margin = Margin::new(f32::from_bits(word)).ok()?;
            let key = if is_rounded { margin.rounded_key().into() } else { margin.key() };
            Some((key, calibrator.calibrate_with(margin, word)))
        }
        Calibrator::BinaryCode(calibrator) => {
            let code = QuantizedScore::from_key(calibrator.encoding(), word as u16).ok()?;
            Some((code.key().into(), calibrator.calibrate(code).unwrap()))
        }
        other => panic!("{other:?}"),
    }
}

/// Words that stand for scores beside a key.
fn words_of(header: &Header<'_>, key: u32) -> Vec<u32> {
    match header.encoding {
        ScoreEncoding::F32 => vec![key],
        ScoreEncoding::Margin => {
            Margin::from_key(key).map(|margin| margin.get().to_bits()).into_iter().collect()
        }
        ScoreEncoding::RoundedF32 => {
            let middle = (f64::from(key) / 65_535.0) as f32;
            [middle, middle + 0.000_007, middle - 0.000_007].map(f32::to_bits).to_vec()
        }
        ScoreEncoding::RoundedMargin => [key << 16, key << 16 | 0xFFFF]
            .iter()
            .filter_map(|&key| Margin::from_key(key))
            .map(|margin| margin.get().to_bits())
            .collect(),
        _ => vec![key],
    }
}

fn intervals() -> impl Strategy<Value = Vec<ProbInterval>> {
    let pair = (0.0f32..=1.0, 0.0f32..=1.0);
    vec(pair.prop_map(|(a, b)| ProbInterval { lo: a.min(b), hi: a.max(b) }), 300)
}

proptest! {
    /// Whatever the calibrator: its probability, and the range and interval of a linear scan.
    #[test]
    fn every_form_is_answered_as_a_scan_would(
        shares in prop_oneof![btree_set(1u32..=u32::MAX, 0..16), btree_set(1u32..=u32::MAX, 0..290)],
        intervals in intervals(),
        probes in vec(any::<u32>(), 20),
    ) {
        let own = forms().into_iter().map(|form| (form.header(), form.table));
        for (header, table) in own.chain(other_forms()) {
            let (lowest, highest) = match header.encoding {
                ScoreEncoding::F32 => (0, 1.0f32.to_bits()),
                ScoreEncoding::Margin => (Margin::MIN.key(), Margin::MAX.key()),
                ScoreEncoding::RoundedMargin => (Margin::MIN.rounded_key().into(), Margin::MAX.rounded_key().into()),
                ScoreEncoding::RoundedF32 | ScoreEncoding::U16 { .. } => (0, 65_535),
                _ => (0, 255),
            };
            let key = |share: &u32| lowest + 1 + ((u64::from(*share) * u64::from(highest - lowest - 1)) >> 32) as u32;
            let mut edges: Vec<u32> = shares.iter().map(key).collect();
            edges.dedup();
            let ranges = Ranges::new(&edges, &intervals[..=edges.len()]);
            let plain = aligned(&crate::forge::write(&header, &[Some(table)], &[]));
            let bytes = aligned(&write(&header, &[Some(table)], &[Some(ranges.clone())], Rate::OfCalibrationScores));
            let [plain, beside] = [&plain, &bytes].map(|bytes| Artifact::parse(bytes.as_bytes()).unwrap());
            let keys = ranges.probes().chain(probes.iter().map(key)).chain([lowest, highest]);
            for word in keys.flat_map(|key| words_of(&header, key)) {
                let (Some((key, without)), Some((_, with))) = (ask(&plain, word), ask(&beside, word)) else { continue };
                let without = *without.calibrated().unwrap();
                let (bin, interval) = ranges.scan(key);
                prop_assert_eq!(with, Outcome::Calibrated(Calibrated { bin, interval, flags: BinFlags::RANGE, ..without }), "{} {}", header.method, word);
            }
        }
    }

    /// The predicted class's own ranges, of scores and of the top-two margin of codes.
    #[test]
    fn classes_have_their_own_ranges(key in 0u16..256, class in 0u16..3, score in 0.0f32..=1.0) {
        let form = platt();
        let of = |edge: u32| Ranges::new(&[edge], &INTERVALS);
        let header = Header { reduction: Reduction::TopLabel, classes: 3, ..form.header() };
        let ranges = [0.25f32, 0.5, 0.75].map(|edge| of(edge.to_bits()));
        let bytes = aligned(&write(&header, &[Some(form.table); 3], &ranges.clone().map(Some), Rate::OfRange));
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let Calibrator::TopLabel(calibrator) = artifact.calibrator() else { panic!("not top-label") };
        let score = Score::new(score).unwrap();
        let got = *calibrator.calibrate(TopLabel { class, score }).calibrated().unwrap();
        prop_assert_eq!((got.bin, got.interval), ranges[usize::from(class)].scan(score.to_bits()));

        let form = forms().into_iter().find(|form| form.encoding.is_quantized()).unwrap();
        let flags = HeaderFlags::TOP2_MARGIN;
        let bins = 3 * form.header().bins;
        let header = Header { reduction: Reduction::TopLabel, classes: 3, bins, flags, ..form.header() };
        let ranges = [10, 100, 255].map(of);
        let bytes = aligned(&write(&header, &[Some(form.table); 3], &ranges.clone().map(Some), Rate::OfRange));
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let Calibrator::TopLabelCodeMargin(calibrator) = artifact.calibrator() else { panic!("not top-two margins") };
        let mut keys = [0; 3];
        keys[usize::from(class)] = key;
        let top = TopLabelCodeMargin::from_keys(calibrator.encoding(), &keys).unwrap();
        let got = *calibrator.calibrate(top).unwrap().calibrated().unwrap();
        prop_assert_eq!((got.bin, got.interval), ranges[usize::from(top.class())].scan(top.top2_margin().into()));
    }

    /// Whatever an attacker or a faulty writer puts into the section under a right CRC: it is refused, or it can be used.
    #[test]
    fn mutants_never_panic(
        form in any::<Index>(),
        edits in vec((any::<Index>(), prop_oneof![any::<u32>(), 0u32..=0x3F80_0000, 0u32..300]), 0..4),
        len in prop::option::weighted(0.2, any::<Index>()),
        probes in vec(any::<u32>(), 1..8),
    ) {
        let own = forms().into_iter().map(|form| (form.header(), form.table));
        let all: Vec<_> = own.chain(other_forms()).collect();
        let (header, table) = form.get(&all);
        let edges: Vec<u32> = (1..5).map(|i| i * 30 + if header.encoding == ScoreEncoding::Margin { 1 << 31 } else { 0 }).collect();
        let ranges = Ranges::new(&edges, &[INTERVALS[1]; 5]);
        let mut sections = disassemble(&write(header, &[Some(*table)], &[Some(ranges)], Rate::OfRange));
        let payload = &mut sections.last_mut().unwrap().payload;
        for (at, word) in edits {
            let at = 4 * at.index(payload.len() / 4);
            payload[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        if let Some(len) = len {
            payload.truncate(len.index(payload.len()));
        }
        let bytes = aligned(&assemble(&sections));
        let Ok(artifact) = Artifact::parse(bytes.as_bytes()) else { return Ok(()) };
        let found = artifact.score_intervals().unwrap().table(0).unwrap();
        prop_assert!(found.edges().is_sorted() && found.edges().len() + 1 == found.bins());
        for word in probes.into_iter().chain(edges.iter().flat_map(|&edge| words_of(header, edge))) {
            let Some((key, outcome)) = ask(&artifact, word) else { continue };
            let Outcome::Calibrated(got) = outcome else { continue };
            let bin = found.edges().iter().filter(|&&edge| edge <= key).count();
            prop_assert_eq!((usize::from(got.bin), got.interval), (bin, found.interval(bin)));
        }
    }
}
