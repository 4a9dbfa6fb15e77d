//! Operating points, prediction sets and groups: pinned bytes, and what goes with what.

use calib_core::artifact::{
    ArtifactWriter, GroupsError, Header, HeaderFlags, Method, Reduction, SectionKind, Table, TableFault,
    TableForm, Theorem,
};
use calib_core::decision::{
    Accuracy, AccuracyGuarantee, Action, Conformity, DecisionParts, OperatingParts, OperatingPointError,
    Quantile, Quantiles, SetError, SetParts, Threshold, Thresholds, Verdict,
};
use calib_core::predict::{Mismatch, Output, Query};
use calib_core::table::{CodeTable, CompactTable};
use calib_core::{
    Artifact, BinFlags, Calibrator, Logits, Margin, MarginTable, ParseError, Probs, QuantizedScore, Score,
    ScoreEncoding, StepTable,
};

use crate::forge::{MANDATORY, MAX_WORDS, Section, aligned, assemble, disassemble, identity, refusal};
use crate::golden::{binary_header, hex};

/// Two thresholds for each of two groups, with two guarantees.
const POINTS: &str = "
    02  02  01  02              # groups, thresholds a group, a referral raises the alarm, guarantees
    00 00 80 3e  3b 00 00 00  3b 00 00 00  64 00 00 00  32 00 00 00    # 0.25: 59 of 59, 50 of 100
    00 00 20 3f  3b 00 00 00  1e 00 00 00  64 00 00 00  00 00 00 00    # 0.625: 30 of 59, 0 of 100
    00 00 00 3f  3d 00 00 00  3c 00 00 00  65 00 00 00  0a 00 00 00    # 0.5: 60 of 61, 10 of 101
    01 00 80 3f  3d 00 00 00  00 00 00 00  65 00 00 00  00 00 00 00    # never: 0 of 61, 0 of 101
    00 00 00 00  00 00 60 3f  00 00 40 3f  00 00 00 00    # sensitivity 0.875 at 0.75
    02 00 00 00  00 00 00 3f  00 00 40 3f  00 00 80 3d    # predictive value 0.5 at 0.75, prevalence 0.0625
";

const GROUPS: &str = "
    02                          # groups
    01  66                      # f
    06  6d c3 a4 6e 6e 65       # männe
";

/// A threshold for each of three classes' margins of codes.
const SETS: &str = "
    01  03  00  00              # margin, never empty and by class
    00 00 00 3e                 # alpha: 0.125
    00 00 40 3f                 # confidence: 0.75
    0a 00 00 00  00 00 01 00    # class 0, 10 rows: a difference of 0
    0b 00 00 00  fd ff 00 00    # class 1, 11 rows: of -3
    00 00 00 00  00 00 00 00    # class 2, no rows: always
";

const fn threshold(key: u32, counts: [u32; 4]) -> Threshold {
    let [positives, positives_above, negatives, negatives_above] = counts;
    Threshold { key, positives, positives_above, negatives, negatives_above }
}

const POINT_GROUPS: [Thresholds; 2] = [
    Thresholds {
        lower: threshold(0x3E80_0000, [59, 59, 100, 50]),
        upper: threshold(0x3F20_0000, [59, 30, 100, 0]),
    },
    Thresholds {
        lower: threshold(0x3F00_0000, [61, 60, 101, 10]),
        upper: threshold(0x3F80_0001, [61, 0, 101, 0]),
    },
];

const GUARANTEES: [AccuracyGuarantee; 2] = [
    AccuracyGuarantee { accuracy: Accuracy::Sensitivity, level: 0.875, confidence: 0.75, prevalence: None },
    AccuracyGuarantee {
        accuracy: Accuracy::PositivePredictiveValue,
        level: 0.5,
        confidence: 0.75,
        prevalence: Some(0.0625),
    },
];

const POINT_PARTS: OperatingParts<'static> =
    OperatingParts { groups: &POINT_GROUPS, refer_raises: true, guarantees: &GUARANTEES };

const SET_PARTS: SetParts<'static> = SetParts {
    conformity: Conformity::Margin,
    never_empty: true,
    alpha: 0.125,
    confidence: Some(0.75),
    quantiles: Quantiles::ByClass(&[
        Quantile { rows: 10, key: 65_536 },
        Quantile { rows: 11, key: 65_533 },
        Quantile { rows: 0, key: 0 },
    ]),
};

const NAMES: &[&str] = &["f", "männe"];
const CODES: ScoreEncoding = ScoreEncoding::I8 { scale: 0.25, zero_point: 0 };

fn header(method: Method, reduction: Reduction, classes: u16, encoding: ScoreEncoding) -> Header<'static> {
    Header { method, reduction, classes, encoding, bins: 0, guarantee: None, ..binary_header() }
}

fn write(header: &Header<'_>, fill: impl FnOnce(&mut ArtifactWriter<'_>)) -> Vec<u8> {
    let mut buf = vec![0xEE; 4 * MAX_WORDS];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(header).unwrap();
    fill(&mut writer);
    writer.finish(identity).unwrap().to_vec()
}

fn points_alone() -> Vec<u8> {
    write(&header(Method::OperatingPoint, Reduction::Binary, 2, ScoreEncoding::F32), |writer| {
        writer.operating_points(&POINT_PARTS).unwrap();
        writer.groups(NAMES).unwrap();
    })
}

fn sets_alone() -> Vec<u8> {
    write(&header(Method::PredictionSet, Reduction::Joint, 3, CODES), |writer| {
        writer.prediction_sets(&SET_PARTS).unwrap();
    })
}

fn steps() -> Table<'static> {
    let form = TableForm::Steps(StepTable::new(&[0.25, 0.75], &[0.0625, 0.5, 0.9375]).unwrap());
    Table { form, epsilon: Some(0.125) }
}

/// The binary artifact with further sections.
fn beside(fill: impl FnOnce(&mut ArtifactWriter<'_>)) -> Vec<u8> {
    write(&binary_header(), |writer| {
        writer.tables(&[Some(steps())]).unwrap();
        fill(writer);
    })
}

#[test]
fn the_writer_gives_exactly_the_pinned_bytes() {
    let sections = disassemble(&points_alone());
    let [head, points, groups] = &sections[..] else { panic!("{sections:?}") };
    assert_eq!((head.kind, head.payload[0]), (1, 20));
    assert_eq!(points, &Section { kind: 33, flags: MANDATORY, payload: hex(POINTS) });
    assert_eq!(groups, &Section { kind: 34, flags: MANDATORY, payload: hex(GROUPS) });
    let sections = disassemble(&sets_alone());
    let [head, sets] = &sections[..] else { panic!("{sections:?}") };
    assert_eq!((head.kind, head.payload[0]), (1, 21));
    assert_eq!(sets, &Section { kind: 35, flags: MANDATORY, payload: hex(SETS) });
}

#[test]
fn the_parser_reads_the_pinned_bytes() {
    let mut sections = disassemble(&points_alone());
    (sections[1].payload, sections[2].payload) = (hex(POINTS), hex(GROUPS));
    let bytes = aligned(&assemble(&sections));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert_eq!(artifact.calibrator(), Calibrator::None);
    let points = artifact.operating_points().unwrap();
    assert!(points.all().eq(POINT_GROUPS));
    assert!(points.guarantees().eq(GUARANTEES));
    assert!(artifact.groups().unwrap().names().eq(NAMES.iter().copied()));
    let verdict = |group, score| points.point::<Score>(group).unwrap().verdict(Score::new(score).unwrap());
    assert_eq!(
        [0.2, 0.25, 0.625].map(|s| verdict(0, s)),
        [Verdict::Negative, Verdict::Refer, Verdict::Positive]
    );
    assert_eq!([0.4, 0.5, 1.0].map(|s| verdict(1, s)), [Verdict::Negative, Verdict::Refer, Verdict::Refer]);

    let mut sections = disassemble(&sets_alone());
    sections[1].payload = hex(SETS);
    let bytes = aligned(&assemble(&sections));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let sets = artifact.prediction_sets().unwrap();
    assert_eq!((sets.alpha(), sets.confidence(), sets.classes()), (0.125, Some(0.75), 3));
    // Class 2 is always there, and the predicted one.
    assert!(sets.of_keys(&[9, 6, 0]).unwrap().classes().eq([0, 1, 2]));
    assert!(sets.of_keys(&[8, 9, 0]).unwrap().classes().eq([1, 2]));
    assert!(sets.of_keys(&[9, 5, 0]).unwrap().classes().eq([0, 2]));
    assert!((artifact.operating_points(), artifact.decision(), artifact.groups()) == (None, None, None));
}

#[test]
fn points_stand_beside_a_calibrator() {
    let bytes = aligned(&beside(|writer| {
        let alone = OperatingParts { groups: &POINT_GROUPS[..1], ..POINT_PARTS };
        writer.operating_points(&alone).unwrap();
    }));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert!(matches!(artifact.calibrator(), Calibrator::Binary(_)));
    assert_eq!(artifact.operating_points().unwrap().thresholds(0), Some(POINT_GROUPS[0]));
}

#[test]
fn an_artifact_says_in_one_way_what_is_done() {
    let act = Action { name: "act", alarm: true, abstain: false, if_sure: None };
    let decision =
        DecisionParts { thresholds: &[], intervals: &[0], uncalibrated: 0, unsure: None, actions: &[act] };
    let one = OperatingParts { groups: &POINT_GROUPS[..1], ..POINT_PARTS };
    let score = SetParts {
        conformity: Conformity::Score,
        quantiles: Quantiles::All(Quantile { rows: 1, key: 1 }),
        ..SET_PARTS
    };
    let unexpected = |kind| Some(ParseError::UnexpectedSection(kind));
    let both = beside(|writer| {
        writer.decision(&decision).unwrap();
        writer.operating_points(&one).unwrap();
    });
    assert_eq!(refusal(&both), unexpected(SectionKind::OperatingPoints));
    let both = beside(|writer| {
        writer.prediction_sets(&score).unwrap();
        writer.operating_points(&one).unwrap();
    });
    assert_eq!(refusal(&both), unexpected(SectionKind::PredictionSets));
    let both = beside(|writer| {
        writer.prediction_sets(&score).unwrap();
        writer.decision(&decision).unwrap();
    });
    assert_eq!(refusal(&both), unexpected(SectionKind::PredictionSets));
    assert_eq!(refusal(&beside(|writer| writer.prediction_sets(&score).unwrap())), None);
}

#[test]
fn without_a_calibrator_there_is_one_rule_and_nothing_else() {
    let missing = |method, reduction, classes| {
        refusal(&write(&header(method, reduction, classes, ScoreEncoding::F32), |_| {}))
    };
    assert_eq!(
        missing(Method::OperatingPoint, Reduction::Binary, 2),
        Some(ParseError::MissingSection(SectionKind::OperatingPoints))
    );
    assert_eq!(
        missing(Method::PredictionSet, Reduction::Joint, 3),
        Some(ParseError::MissingSection(SectionKind::PredictionSets))
    );
    for (kind, section) in [
        (2, SectionKind::Tables),
        (3, SectionKind::BinFlags),
        (8, SectionKind::Intervals),
        (10, SectionKind::DirectTable),
        (12, SectionKind::VectorScaling),
        (17, SectionKind::ScoreRanges),
        (32, SectionKind::Decision),
        (35, SectionKind::PredictionSets),
    ] {
        let mut sections = disassemble(&points_alone());
        sections.push(Section { kind, flags: 0, payload: vec![0; 8] });
        assert_eq!(refusal(&assemble(&sections)), Some(ParseError::UnexpectedSection(section)), "{kind}");
    }
    let refused = |header: Header<'_>| ArtifactWriter::new(&mut [0; 512]).header(&header).is_err();
    let point = header(Method::OperatingPoint, Reduction::Binary, 2, ScoreEncoding::F32);
    let set = header(Method::PredictionSet, Reduction::Joint, 3, ScoreEncoding::F32);
    assert!(!refused(point) && !refused(set));
    assert!(!refused(Header { encoding: ScoreEncoding::Margin, ..point }));
    assert!(!refused(Header { encoding: CODES, ..point }));
    assert!(!refused(Header { encoding: CODES, ..set }));
    for bad in [
        Header { bins: 1, ..point },
        Header { guarantee: binary_header().guarantee, ..point },
        Header { flags: HeaderFlags::GROUPED, ..point },
        Header { encoding: ScoreEncoding::RoundedF32, ..point },
        Header { encoding: ScoreEncoding::U8 { scale: 0.0, zero_point: 0 }, ..point },
        Header { reduction: Reduction::Joint, classes: 3, ..point },
        Header { reduction: Reduction::Confidence, classes: 3, ..point },
        Header { classes: 3, ..point },
        Header { n: 0, ..point },
        Header { encoding: ScoreEncoding::Margin, ..set },
        Header { reduction: Reduction::TopLabel, ..set },
        Header { classes: 1, ..set },
    ] {
        assert!(refused(bad), "{bad:?}");
    }
}

#[test]
fn contradictions_have_their_errors() {
    let changed = |artifact: &[u8], section: usize, change: &dyn Fn(&mut Vec<u8>)| {
        let mut sections = disassemble(artifact);
        change(&mut sections[section].payload);
        refusal(&assemble(&sections)).unwrap()
    };
    let points = points_alone();
    let of_points = |error| ParseError::OperatingPoints(error);
    assert_eq!(changed(&points, 1, &|p| p[0] = 3), of_points(OperatingPointError::Length));
    assert_eq!(changed(&points, 1, &|p| p[64] = 2), of_points(OperatingPointError::Threshold(1)));
    let groups = |error| ParseError::Groups(error);
    assert_eq!(changed(&points, 2, &|p| p[2] = 0), groups(GroupsError::Name(0)));
    assert_eq!(changed(&points, 2, &|p| p.extend([1, b'x'])), groups(GroupsError::Length));
    let three = |p: &mut Vec<u8>| {
        p[0] = 3;
        p.extend([1, b'x']);
    };
    assert_eq!(changed(&points, 2, &three), groups(GroupsError::Count));
    let mut without = disassemble(&points);
    without.pop();
    assert_eq!(refusal(&assemble(&without)), Some(groups(GroupsError::Count)));
    let idle = beside(|writer| writer.groups(NAMES).unwrap());
    assert_eq!(refusal(&idle), Some(groups(GroupsError::Count)));
    let sets = sets_alone();
    let of_sets = |error| ParseError::PredictionSets(error);
    assert_eq!(changed(&sets, 1, &|p| p[0] = 2), of_sets(SetError::Kind));
    assert_eq!(changed(&sets, 1, &|p| p.truncate(28)), of_sets(SetError::Length));
    // Margins of binary probabilities are none.
    let binary = header(Method::PredictionSet, Reduction::Binary, 2, ScoreEncoding::F32);
    let binary = write(&binary, |writer| writer.prediction_sets(&SET_PARTS).unwrap());
    assert_eq!(refusal(&binary), Some(of_sets(SetError::Kind)));
    // Whole vectors have no groups, and several classes no thresholds.
    let top_label = Header { reduction: Reduction::TopLabel, classes: 3, bins: 9, ..binary_header() };
    let with_points = write(&top_label, |writer| {
        writer.tables(&[Some(steps()); 3]).unwrap();
        writer.operating_points(&OperatingParts { groups: &POINT_GROUPS[..1], ..POINT_PARTS }).unwrap();
    });
    let unexpected = ParseError::UnexpectedSection(SectionKind::OperatingPoints);
    assert_eq!(refusal(&with_points), Some(unexpected));
    let class_wise = Header { flags: HeaderFlags::GROUPED, reduction: Reduction::ClassWise, ..top_label };
    assert!(ArtifactWriter::new(&mut [0; 512]).header(&class_wise).is_err());
}

/// A group of a grouped artifact is calibrated as by an artifact of that group's tables alone.
#[track_caller]
fn same_as_alone<T: Copy>(
    header: Header<'static>,
    tables: &[Option<Table<'static>>],
    flags: Option<&[BinFlags]>,
    scores: &[T],
    output: impl Fn(T) -> Output<'static>,
) {
    let per_group = tables.len() / 2;
    let bins = |tables: &[Option<Table<'_>>]| tables.iter().flatten().map(|t| t.form.bins()).sum::<usize>();
    let of = |tables: &[Option<Table<'static>>], flags: Option<&[BinFlags]>, grouped: bool| {
        let uncalibrated = if tables.iter().any(Option::is_none) {
            HeaderFlags::CLASS_UNCALIBRATED
        } else {
            HeaderFlags::NONE
        };
        let group = if grouped { HeaderFlags::GROUPED } else { HeaderFlags::NONE };
        let flags_of = header.flags.with(uncalibrated).with(group);
        let guarantee =
            tables.iter().flatten().any(|t| t.epsilon.is_some()).then_some(header.guarantee).flatten();
        let header = Header { bins: bins(tables) as u32, flags: flags_of, guarantee, ..header };
        aligned(&write(&header, |writer| {
            writer.tables(tables).unwrap();
            if let Some(flags) = flags {
                writer.bin_flags(flags).unwrap();
            }
            if header.encoding.max_key_is_8_bits() && !header.flags.contains(HeaderFlags::COMPACT) {
                writer.direct_table(tables).unwrap();
            }
            let range = |table: &Option<Table<'_>>| table.map(|_| [1, 200]);
            writer.score_ranges(&tables.iter().map(range).collect::<Vec<_>>()).unwrap();
            if grouped {
                writer.groups(NAMES).unwrap();
            }
        }))
    };
    let together = of(tables, flags, true);
    let together = Artifact::parse(together.as_bytes()).unwrap();
    assert_eq!(together.calibrator(), Calibrator::Grouped);
    let first = |artifact: &Artifact<'_>, score, group| {
        artifact.predict(&Query { group, ..output(score).into() }).map(|prediction| prediction.first)
    };
    for group in 0..2u8 {
        let part = usize::from(group) * per_group..(usize::from(group) + 1) * per_group;
        let before = bins(&tables[..part.start]);
        let own = flags.map(|flags| &flags[before..before + bins(&tables[part.clone()])]);
        let alone = of(&tables[part], own, false);
        let alone = Artifact::parse(alone.as_bytes()).unwrap();
        for &score in scores {
            let expected = first(&alone, score, None).unwrap();
            assert_eq!(first(&together, score, Some(group)), Ok(expected), "group {group}");
        }
    }
    for none in [None, Some(2)] {
        assert_eq!(first(&together, scores[0], none), Err(Mismatch::Group(2)));
    }
}

trait EightBits {
    fn max_key_is_8_bits(&self) -> bool;
}

impl EightBits for ScoreEncoding {
    fn max_key_is_8_bits(&self) -> bool {
        self.code_range().is_some_and(|(lowest, highest)| highest - lowest == 255)
    }
}

#[test]
fn a_group_answers_as_if_it_were_alone() {
    let scores = [0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 0.9, 1.0].map(|score| Score::new(score).unwrap());
    let form = StepTable::new(&[0.5], &[0.25, 0.75]).unwrap();
    let other = Some(Table { form: TableForm::Steps(form), epsilon: None });
    let flags = [BinFlags::NONE, BinFlags::EMPTY, BinFlags::NONE, BinFlags::EMPTY, BinFlags::NONE];
    same_as_alone(binary_header(), &[Some(steps()), other], Some(&flags), &scores, Output::Score);

    let guarantee = binary_header()
        .guarantee
        .map(|g| calib_core::artifact::Guarantee { theorem: Theorem::Gr22Theorem1, ..g });
    let top_label = Header { reduction: Reduction::TopLabel, classes: 2, guarantee, ..binary_header() };
    let tables = [Some(steps()), None, other, Some(steps())];
    static ROWS: [[f32; 2]; 7] =
        [[0.0, 1.0], [1.0, 0.0], [0.25, 0.75], [0.75, 0.25], [0.5, 0.5], [0.4, 0.6], [0.9, 0.1]];
    let rows = ROWS.each_ref().map(|row| Probs::new(row).unwrap());
    same_as_alone(top_label, &tables, None, &rows, Output::Probs);

    let none = Header { guarantee: None, ..binary_header() };
    let compact = |edges: &'static [u16], values: &'static [u16]| {
        let table = CompactTable::new(edges, values, ScoreEncoding::RoundedF32).unwrap();
        Some(Table { form: TableForm::Compact(table), epsilon: None })
    };
    let header = Header { encoding: ScoreEncoding::RoundedF32, flags: HeaderFlags::COMPACT, ..none };
    let tables = [compact(&[9, 30_000], &[1, 2, 3]), compact(&[40_000], &[1000, 20_000])];
    same_as_alone(header, &tables, Some(&flags), &scores, Output::Score);

    let codes = |edges: &'static [u32], values: &'static [f32]| {
        let table = CodeTable::new(edges, values, CODES).unwrap();
        Some(Table { form: TableForm::Codes(table), epsilon: None })
    };
    let header = Header { encoding: CODES, ..none };
    let tables = [codes(&[9, 100], &[0.1, 0.2, 0.3]), codes(&[40], &[0.5, 0.75])];
    let keys: Vec<u16> = (0..256).collect();
    let code = |key| Output::Code(QuantizedScore::from_key(CODES, key).unwrap());
    same_as_alone(header, &tables, Some(&flags), &keys, code);
}

#[test]
fn groups_of_margins_and_their_faults() {
    let form = MarginTable::new(&[-1.0], &[0.25, 0.75]).unwrap();
    let table = Some(Table { form: TableForm::MarginSteps(form), epsilon: None });
    let header = Header {
        encoding: ScoreEncoding::Margin,
        guarantee: None,
        bins: 4,
        flags: HeaderFlags::GROUPED,
        ..binary_header()
    };
    let grouped = write(&header, |writer| {
        writer.tables(&[table, table]).unwrap();
        writer.groups(NAMES).unwrap();
        let groups = [-1.0f32, 2.0].map(|at| {
            let threshold = threshold(Margin::new(at).unwrap().key(), [60, 60, 9, 3]);
            Thresholds { lower: threshold, upper: threshold }
        });
        writer.operating_points(&OperatingParts { groups: &groups, ..POINT_PARTS }).unwrap();
    });
    let bytes = aligned(&grouped);
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let points = artifact.operating_points().unwrap();
    let verdict = |group| points.point::<Margin>(group).unwrap().verdict(Margin::ZERO);
    assert_eq!((verdict(0), verdict(1)), (Verdict::Positive, Verdict::Negative));
    assert!(points.point::<Score>(0).is_none());

    // A table too few, and groups that nobody names.
    let one = write(&header, |writer| {
        writer.tables(&[table]).unwrap();
        writer.groups(NAMES).unwrap();
    });
    assert_eq!(refusal(&one), Some(ParseError::Table { table: 0, fault: TableFault::Count }));
    let nameless = write(&header, |writer| writer.tables(&[table, table]).unwrap());
    assert_eq!(refusal(&nameless), Some(ParseError::Groups(GroupsError::Count)));
    // One threshold for all groups is as good.
    let mut sections = disassemble(&grouped);
    sections[3].payload.drain(24..44);
    sections[3].payload[0] = 1;
    assert_eq!(refusal(&assemble(&sections)), None);
}

/// Older firmware knows neither the sections nor the flag: each of them is mandatory, and so is the header.
#[test]
fn what_older_readers_meet_is_mandatory() {
    for artifact in [points_alone(), sets_alone()] {
        assert!(disassemble(&artifact).iter().all(|section| section.flags == MANDATORY));
    }
}

#[test]
fn sets_are_beside_a_calibrator_of_logits() {
    let header =
        Header { reduction: Reduction::TopLabel, classes: 3, bins: 9, guarantee: None, ..binary_header() };
    let table = Some(Table { epsilon: None, ..steps() });
    let key = Margin::new(-1.0).unwrap().key();
    let quantiles = Quantiles::All(Quantile { rows: 60, key });
    let parts = SetParts { never_empty: false, quantiles, ..SET_PARTS };
    let bytes = aligned(&write(&header, |writer| {
        writer.tables(&[table; 3]).unwrap();
        writer.prediction_sets(&parts).unwrap();
    }));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    assert!(matches!(artifact.calibrator(), Calibrator::TopLabel(_)));
    let logits = Logits::new(&[0.0, 0.75, -5.0]).unwrap();
    let set = artifact.prediction_sets().unwrap().of_logits(logits).unwrap();
    assert!(set.classes().eq([0, 1]));
}
