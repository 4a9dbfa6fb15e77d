//! What monitors compare with: pinned bytes, and what goes with what.

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, MonitorAction, MonitorParts, MonitorsError, Reduction,
    SectionKind, Table, TableForm,
};
use calib_core::monitor::{LogEvidence, Reference, ShiftMonitor};
use calib_core::slot::{Admission, Anybody, MonitorRoom, Refused};
use calib_core::{Artifact, ClassifierId, ParseError, StepTable};

use crate::forge::{MAX_WORDS, Section, aligned, assemble, disassemble, identity, refusal};
use crate::golden::{binary_header, hex};

/// The gaps of a table of three bins.
const GAPS: &str = "
    14 00 00 00  10 27 00 00  64 00 00 00    # a shift 1 in 20, a change every 10 000, the guarantee 1 in 100
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
    MonitorParts { shift: 20, change: 10_000, guarantee: 100, gaps: &[&[101, 100, 100]], edges: None };

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
    assert_eq!(monitors.alarms().guarantee, LogEvidence::of_one_in(100));
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
    // What no table asks for takes no share of the false alarms.
    assert_eq!((monitors.monitored(), monitors.rarities_of_device()), (1, monitors.rarities()));
    let mut shift = ShiftMonitor::<3>::new();
    (0..30).for_each(|_| shift.count(0));
    assert!(shift.evidence(&reference) > LogEvidence::NONE);
    // Of two tables either may raise one.
    let both = MonitorParts { gaps: &[&[5, 5, 5], &[], &[7, 8, 9]], ..PARTS };
    let both = aligned(&write(&header, &[steps(), None, steps()], &both));
    let both = Artifact::parse(both.as_bytes()).unwrap().monitors().unwrap();
    assert_eq!((both.monitored(), both.rarities_of_device()), (2, [10, 10_000, 50]));
    // And where each prediction is one in every table, any of them may tell a change.
    let all = Header { reduction: Reduction::ClassWise, classes: 3, bins: 9, ..binary_header() };
    let parts = MonitorParts { gaps: &[&[5, 5, 5], &[4, 4, 4], &[7, 8, 9]], ..PARTS };
    let all = aligned(&write(&all, &[steps(), steps(), steps()], &parts));
    let all = Artifact::parse(all.as_bytes()).unwrap().monitors().unwrap();
    assert_eq!((all.monitored(), all.rarities_of_device()), (3, [6, 3333, 33]));
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
        MonitorParts { guarantee: 1, ..PARTS },
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

/// The header, tables, what monitors compare with, and then what is done on their alarm.
fn with_monitor_action(
    header: &Header<'_>,
    tables: &[Option<Table<'_>>],
    parts: &MonitorParts<'_>,
    number: u32,
) -> Vec<u8> {
    let mut sections = disassemble(&write(header, tables, parts));
    sections.push(Section { kind: 37, flags: 1, payload: number.to_le_bytes().to_vec() });
    assemble(&sections)
}

#[test]
fn the_action_on_an_alarm_is_a_mandatory_section_of_four_bytes() {
    for (action, pinned) in
        [(MonitorAction::Alarm, "01 00 00 00"), (MonitorAction::Uncalibrated, "02 00 00 00")]
    {
        let mut buf = vec![0xEE; 4 * MAX_WORDS];
        let mut writer = ArtifactWriter::new(&mut buf);
        writer.header(&binary_header()).unwrap();
        writer.tables(&[steps()]).unwrap();
        writer.monitors(&PARTS).unwrap();
        writer.monitor_action(action).unwrap();
        let bytes = writer.finish(identity).unwrap().to_vec();
        let sections = disassemble(&bytes);
        assert_eq!(sections.last(), Some(&Section { kind: 37, flags: 1, payload: hex(pinned) }));
        let bytes = aligned(&bytes);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        assert_eq!((artifact.monitor_action(), artifact.monitors().is_some()), (Some(action), true));
        let again = with_monitor_action(&binary_header(), &[steps()], &PARTS, action as u32);
        assert_eq!(again, bytes.as_bytes());
    }
    let plain = aligned(&binary(&PARTS));
    assert_eq!(Artifact::parse(plain.as_bytes()).unwrap().monitor_action(), None);
}

#[test]
fn an_action_that_is_none_or_that_nothing_brings_about_is_refused() {
    let unknown = Some(ParseError::Monitors(MonitorsError::Action));
    for number in [0, 3, 1 << 8, 1 << 24, u32::MAX] {
        assert_eq!(
            refusal(&with_monitor_action(&binary_header(), &[steps()], &PARTS, number)),
            unknown,
            "{number}"
        );
    }
    for len in [0, 3, 5, 8] {
        let mut sections = disassemble(&with_monitor_action(&binary_header(), &[steps()], &PARTS, 1));
        sections.last_mut().unwrap().payload.resize(len, 0);
        assert_eq!(refusal(&assemble(&sections)), unknown, "{len}");
    }
    // Without what monitors compare with.
    let mut sections = disassemble(&with_monitor_action(&binary_header(), &[steps()], &PARTS, 1));
    sections.retain(|section| section.kind != 36);
    assert_eq!(refusal(&assemble(&sections)), Some(ParseError::MissingSection(SectionKind::Monitors)));
    // Without a table that is monitored.
    let header = Header { reduction: Reduction::TopLabel, classes: 3, bins: 9, ..binary_header() };
    let parts = |gaps| MonitorParts { gaps, ..PARTS };
    let tables = [steps(), steps(), steps()];
    let none: &[&[u32]] = &[&[], &[], &[]];
    assert_eq!(refusal(&with_monitor_action(&header, &tables, &parts(none), 1)), unknown);
    let one: &[&[u32]] = &[&[], &[7, 8, 9], &[]];
    assert_eq!(refusal(&with_monitor_action(&header, &tables, &parts(one), 1)), None);
    // Of several probabilities a prediction none is counted.
    let tables = tables.map(|table| table.map(|table| Table { epsilon: None, ..table }));
    for reduction in [Reduction::ClassWise, Reduction::Normalized] {
        let header = Header { reduction, guarantee: None, ..header };
        let mut sections = disassemble(&with_monitor_action(&header, &tables, &parts(one), 1));
        let action = Some(ParseError::UnexpectedSection(SectionKind::MonitorAction));
        assert_eq!(refusal(&assemble(&sections)), action, "{reduction:?}");
        sections.pop();
        assert_eq!(refusal(&assemble(&sections)), None, "{reduction:?}");
    }
}

/// What a reader of before does: it knows no section 37.
#[test]
fn a_reader_that_does_not_know_the_action_refuses_the_artifact() {
    let mut sections = disassemble(&with_monitor_action(&binary_header(), &[steps()], &PARTS, 1));
    let last = sections.last_mut().unwrap();
    assert_eq!(last.flags, 1);
    last.kind = 99;
    assert_eq!(refusal(&assemble(&sections)), Some(ParseError::UnknownSection(99)));
    sections.last_mut().unwrap().flags = 0;
    assert_eq!(refusal(&assemble(&sections)), None);
}

#[test]
fn only_a_device_with_room_for_every_monitored_table_admits_an_action() {
    let header = Header { reduction: Reduction::TopLabel, classes: 3, bins: 9, ..binary_header() };
    let gaps: &[&[u32]] = &[&[7, 8, 9], &[7, 8, 9], &[]];
    let tables = [steps(), steps(), steps()];
    let parts = MonitorParts { gaps, ..PARTS };
    let acting = aligned(&with_monitor_action(&header, &tables, &parts, 2));
    let telling = aligned(&write(&header, &tables, &parts));
    let id = header.provenance.classifier.unwrap_or(ClassifierId([0; 8]));
    let plain = Admission::new(Anybody, id);
    assert!(plain.admit(telling.as_bytes()).is_ok());
    assert_eq!(plain.admit(acting.as_bytes()).err(), Some(Refused::Monitors));
    for (tables, bins, is_admitted) in
        [(2, 3, true), (9, 9, true), (1, 3, false), (2, 2, false), (0, 0, false)]
    {
        let admission = plain.watched(MonitorRoom { tables, bins });
        assert_eq!(admission.admit(acting.as_bytes()).is_ok(), is_admitted, "{tables} {bins}");
        assert!(admission.admit(telling.as_bytes()).is_ok());
    }
    // Of bins of the monitors' own outcomes are counted in those of the table.
    let edges: &[&[u32]] = &[&[0.5f32.to_bits()]];
    let own = MonitorParts { gaps: &[&[150, 151]], edges: Some(edges), ..PARTS };
    let own = aligned(&super::monitors::with_monitor_action(&binary_header(), &[steps()], &own, 1));
    let admits = |bins| plain.watched(MonitorRoom { tables: 1, bins }).admit(own.as_bytes()).is_ok();
    assert_eq!([2, 3].map(admits), [false, true]);
    // And predictions in the monitors' own, which may be more.
    let edges: &[&[u32]] = &[&[0.25f32.to_bits(), 0.5f32.to_bits(), 0.75f32.to_bits()]];
    let more = MonitorParts { gaps: &[&[75, 75, 75, 76]], edges: Some(edges), ..PARTS };
    let more = aligned(&super::monitors::with_monitor_action(&binary_header(), &[steps()], &more, 1));
    let admits = |bins| plain.watched(MonitorRoom { tables: 1, bins }).admit(more.as_bytes()).is_ok();
    assert_eq!([3, 4].map(admits), [false, true]);
}
