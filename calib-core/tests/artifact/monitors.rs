//! What monitors compare with: pinned bytes, and what goes with what.

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, MonitorParts, MonitorsError, Reduction, SectionKind, Table,
    TableForm,
};
use calib_core::monitor::{LogEvidence, Reference, ShiftMonitor};
use calib_core::{Artifact, ParseError, StepTable};

use crate::forge::{MAX_WORDS, Section, aligned, assemble, disassemble, identity, refusal};
use crate::golden::{binary_header, hex};

/// The gaps of a table of three bins.
const GAPS: &str = "
    14 00 00 00  10 27 00 00  64 00 00 00    # a shift 1 in 20, a change every 10 000, the promise 1 in 100
    00 00 00 00                 # bins of the tables
    01 00 00 00  00 00 00 00  03 00 00 00    # one table, words 0 to 3
    65 00 00 00  64 00 00 00  64 00 00 00    # gaps: 101, 100, 100
";

/// Bins of their own for the same table.
const OWN: &str = "
    14 00 00 00  10 27 00 00  64 00 00 00
    01 00 00 00                 # bins of their own
    01 00 00 00  00 00 00 00  03 00 00 00    # one table, words 0 to 3
    96 00 00 00  97 00 00 00    # gaps: 150, 151
    00 00 00 3f                 # edge: 0.5
";

const PARTS: MonitorParts<'static> =
    MonitorParts { shift: 20, change: 10_000, promise: 100, gaps: &[&[101, 100, 100]], edges: None };

fn steps() -> Option<Table<'static>> {
    let form = TableForm::Steps(StepTable::new(&[0.25, 0.75], &[0.0625, 0.5, 0.9375]).unwrap());
    Some(Table { form, epsilon: Some(0.125) })
}

fn write(header: &Header<'_>, tables: &[Option<Table<'_>>], parts: &MonitorParts<'_>) -> Vec<u8> {
    let mut buf = vec![0xEE; 4 * MAX_WORDS];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(header).unwrap();
    writer.tables(tables).unwrap();
    writer.monitors(parts).unwrap();
    writer.finish(identity).unwrap().to_vec()
}

fn binary(parts: &MonitorParts<'_>) -> Vec<u8> {
    write(&binary_header(), &[steps()], parts)
}

#[test]
fn the_writer_gives_exactly_the_pinned_bytes() {
    let own = MonitorParts { gaps: &[&[150, 151]], edges: Some(&[&[0.5f32.to_bits()]]), ..PARTS };
    for (parts, pinned) in [(PARTS, GAPS), (own, OWN)] {
        let sections = disassemble(&binary(&parts));
        assert_eq!(sections.last(), Some(&Section { kind: 36, flags: 0, payload: hex(pinned) }));
    }
}

#[test]
fn the_parser_reads_the_pinned_bytes() {
    let with = |pinned: &str| {
        let mut sections = disassemble(&binary(&PARTS));
        sections.last_mut().unwrap().payload = hex(pinned);
        aligned(&assemble(&sections))
    };
    let bytes = with(GAPS);
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let monitors = artifact.monitors().unwrap();
    assert_eq!((monitors.count(), monitors.rarities()), (1, [20, 10_000, 100]));
    assert_eq!(monitors.alarms().shift, LogEvidence::of_one_in(20));
    assert_eq!(monitors.alarms().change, LogEvidence::of_one_in(10_000));
    assert_eq!(monitors.alarms().promise, LogEvidence::of_one_in(100));
    assert_eq!(monitors.reference(0), Reference::new(&[101, 100, 100]).ok());
    assert_eq!((monitors.reference(1), monitors.own_bin(0, 0)), (None, None));

    let bytes = with(OWN);
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let monitors = artifact.monitors().unwrap();
    assert_eq!(monitors.reference(0), Reference::new(&[150, 151]).ok());
    // As in a table: an edge belongs to the bin above it.
    let bins = [0.0f32, 0.5f32.next_down(), 0.5, 1.0].map(|score| monitors.own_bin(0, score.to_bits()));
    assert_eq!(bins, [Some(0), Some(0), Some(1), Some(1)]);
    assert_eq!((monitors.own_edges(0), monitors.own_edges(1)), (Some(&[0.5f32.to_bits()][..]), None));
}

#[test]
fn a_table_may_be_without_a_monitor() {
    let flags = HeaderFlags::CLASS_UNCALIBRATED;
    let header = Header { reduction: Reduction::TopLabel, classes: 3, bins: 6, flags, ..binary_header() };
    let parts = MonitorParts { gaps: &[&[], &[], &[7, 8, 9]], ..PARTS };
    let bytes = aligned(&write(&header, &[steps(), None, steps()], &parts));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let monitors = artifact.monitors().unwrap();
    assert_eq!((monitors.count(), monitors.reference(0), monitors.reference(1)), (3, None, None));
    let reference = monitors.reference(2).unwrap();
    assert_eq!(reference.gaps(), 24);
    let mut shift = ShiftMonitor::<3>::new();
    (0..30).for_each(|_| shift.count(0));
    assert!(shift.evidence(&reference) > LogEvidence::NONE);
    // An uncalibrated class has no bins.
    let parts = MonitorParts { gaps: &[&[], &[5, 5, 5], &[7, 8, 9]], ..PARTS };
    let refused = refusal(&write(&header, &[steps(), None, steps()], &parts));
    assert_eq!(refused, Some(ParseError::Monitors(MonitorsError::Gaps(1))));
}

#[test]
fn monitors_that_contradict_themselves_or_the_tables_are_refused() {
    let refused = |parts: MonitorParts<'_>| match refusal(&binary(&parts)) {
        Some(ParseError::Monitors(error)) => error,
        other => panic!("{other:?}"),
    };
    for parts in [
        MonitorParts { shift: 1, ..PARTS },
        MonitorParts { change: 0, ..PARTS },
        MonitorParts { promise: 1, ..PARTS },
    ] {
        assert_eq!(refused(parts), MonitorsError::Alarm, "{parts:?}");
    }
    for gaps in [&[&[101, 100][..]][..], &[&[101, 100, 0]], &[&[101, 100, 50, 50]], &[&[1 << 31, 1, 1]]] {
        assert_eq!(refused(MonitorParts { gaps, ..PARTS }), MonitorsError::Gaps(0), "{gaps:?}");
    }
    for gaps in [&[][..], &[&[101, 100, 100][..]; 2]] {
        assert_eq!(refused(MonitorParts { gaps, ..PARTS }), MonitorsError::Length, "{gaps:?}");
    }
    let own = |gaps: &'static [u32], edges: &[u32]| {
        refused(MonitorParts { gaps: &[gaps], edges: Some(&[edges]), ..PARTS })
    };
    assert_eq!(own(&[9, 9, 9], &[5, 5]), MonitorsError::Edges(0));
    assert_eq!(own(&[9, 9, 9], &[6, 5]), MonitorsError::Edges(0));
    assert_eq!(own(&[9, 9, 9], &[5]), MonitorsError::Gaps(0));
    assert_eq!(own(&[9], &[]), MonitorsError::Gaps(0));

    let cut = |len: usize| {
        let mut sections = disassemble(&binary(&PARTS));
        sections.last_mut().unwrap().payload.truncate(len);
        refusal(&assemble(&sections))
    };
    for len in [0, 4, 12, 15, 16, 24, 36] {
        assert_eq!(cut(len), Some(ParseError::Monitors(MonitorsError::Length)), "{len}");
    }
    let mut sections = disassemble(&binary(&PARTS));
    sections.last_mut().unwrap().payload[12] = 2;
    assert_eq!(refusal(&assemble(&sections)), Some(ParseError::Monitors(MonitorsError::Alarm)));
}

/// Points alone are no calibrator, and have no bins.
#[test]
fn what_has_no_tables_has_no_monitors() {
    let header = Header { method: Method::PredictionSet, bins: 0, guarantee: None, ..binary_header() };
    let mut buf = vec![0; 4 * MAX_WORDS];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(&header).unwrap();
    writer.monitors(&PARTS).unwrap();
    let bytes = writer.finish(identity).unwrap().to_vec();
    assert_eq!(refusal(&bytes), Some(ParseError::UnexpectedSection(SectionKind::Monitors)));
}
