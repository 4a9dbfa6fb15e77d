//! The decision section: pinned bytes, contradictions, and what the writer takes.

use calib_core::artifact::{ArtifactWriter, BandParts, Table, TableForm, WriteError};
use calib_core::decision::{Action, DecisionError, DecisionParts, SureBy};
use calib_core::predict::Output;
use calib_core::{Artifact, DecisionRule, ParseError, Score, StepTable};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use crate::forge::{MANDATORY, MAX_WORDS, Section, aligned, assemble, disassemble, identity, refusal};
use crate::golden::{binary_header, hex, slots};
use crate::test_size::step;

const DECISION: u16 = 32;

/// Three actions with two thresholds, in an artifact of one table.
const PAYLOAD: &str = "
    03  02  01  00              # actions, thresholds, the action for the uncalibrated, reserved
    00 00 80 3e  00 00 40 3f    # thresholds: 0.25, 0.75
    00  01  02                  # the actions of [0, 0.25], (0.25, 0.75], (0.75, 1]
    00  02  01                  # flags: none, abstain, alarm
    04  77 61 69 74             # wait
    03  61 73 6b                # ask
    05  61 6c 61 72 6d          # alarm
";

const PARTS: DecisionParts<'static> = DecisionParts {
    thresholds: &[0.25, 0.75],
    intervals: &[0, 1, 2],
    uncalibrated: 1,
    unsure: None,
    actions: &[
        Action { name: "wait", alarm: false, abstain: false, if_sure: None },
        Action { name: "ask", alarm: false, abstain: true, if_sure: None },
        Action { name: "alarm", alarm: true, abstain: false, if_sure: None },
    ],
};

fn with_decision(parts: &DecisionParts<'_>) -> Result<Vec<u8>, WriteError> {
    with_band(parts, None)
}

fn with_band(parts: &DecisionParts<'_>, band: Option<&BandParts<'_>>) -> Result<Vec<u8>, WriteError> {
    let steps = StepTable::new(&[0.25, 0.75], &[0.0625, 0.5, 0.9375]).unwrap();
    let mut buf = vec![0xEE; 4 * MAX_WORDS];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(&binary_header()).unwrap();
    writer.tables(&[Some(Table { form: TableForm::Steps(steps), epsilon: Some(0.125) })]).unwrap();
    band.map_or(Ok(()), |band| writer.band(band))?;
    writer.decision(parts)?;
    Ok(writer.finish(identity).unwrap().to_vec())
}

/// The golden artifact with its decision section changed.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut sections = disassemble(&with_decision(&PARTS).unwrap());
    change(&mut sections.last_mut().unwrap().payload);
    assemble(&sections)
}

#[track_caller]
fn refused(change: impl FnOnce(&mut Vec<u8>)) -> DecisionError {
    match refusal(&changed(change)) {
        Some(ParseError::Decision(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_writer_gives_exactly_the_pinned_bytes() {
    let artifact = with_decision(&PARTS).unwrap();
    let sections = disassemble(&artifact);
    let [_, _, Section { kind, flags, payload }] = &sections[..] else { panic!("{sections:?}") };
    assert_eq!((*kind, *flags, payload), (DECISION, MANDATORY, &hex(PAYLOAD)));
}

#[test]
fn the_parser_reads_the_pinned_bytes() {
    let mut sections = disassemble(&with_decision(&PARTS).unwrap());
    sections.last_mut().unwrap().payload = hex(PAYLOAD);
    let bytes = aligned(&assemble(&sections));
    let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
    let rule = artifact.decision().unwrap();
    assert_eq!(
        (rule.thresholds(), rule.intervals(), rule.uncalibrated()),
        (&[0.25, 0.75][..], &[0, 1, 2][..], 1)
    );
    assert!(rule.actions().eq(PARTS.actions.iter().copied()));
    assert_eq!([0.25, 0.5, 1.0].map(|prob| rule.action_at(prob)), [0, 1, 2]);
}

#[test]
fn an_artifact_without_one_has_no_rule() {
    let mut sections = disassemble(&with_decision(&PARTS).unwrap());
    sections.pop();
    let bytes = aligned(&assemble(&sections));
    assert_eq!(Artifact::parse(bytes.as_bytes()).unwrap().decision(), None);
}

#[test]
fn every_contradiction_has_its_error() {
    use DecisionError as E;
    // Where the fields stand in the payload.
    const THRESHOLDS: usize = 4;
    const INTERVALS: usize = 12;
    const FLAGS: usize = 15;
    const NAMES: usize = 18;
    assert_eq!(refused(|p| p.clear()), E::Length);
    assert_eq!(refused(|p| p[3] = 1), E::Reserved);
    assert_eq!(refused(|p| p[0] = 0), E::Actions);
    assert_eq!(refused(|p| p[0] = 17), E::Actions);
    assert_eq!(refused(|p| p[1] = 255), E::Length);
    assert_eq!(refused(|p| p[2] = 3), E::Uncalibrated);
    assert_eq!(refused(|p| p[THRESHOLDS + 7] = 0xBF), E::ThresholdRange(1));
    assert_eq!(
        refused(|p| p[THRESHOLDS + 4..][..4].copy_from_slice(&1f32.to_le_bytes())),
        E::ThresholdRange(1)
    );
    assert_eq!(refused(|p| p.copy_within(THRESHOLDS..THRESHOLDS + 4, THRESHOLDS + 4)), E::ThresholdOrder(1));
    assert_eq!(refused(|p| p[INTERVALS] = 3), E::Interval(0));
    assert_eq!(refused(|p| p[INTERVALS + 2] = 1), E::Interval(2));
    assert_eq!(refused(|p| p[FLAGS + 2] = 8), E::Flags(2));
    // Evidence is asked for, and no other action stands in.
    assert_eq!(refused(|p| p[FLAGS + 2] = 4), E::Unsure);
    assert_eq!(refused(|p| p[NAMES] = 3), E::Length);
    assert_eq!(refused(|p| p[NAMES + 1] = 0xFF), E::Name(0));
    assert_eq!(refused(|p| p[NAMES + 1] = b'\t'), E::Name(0));
    assert_eq!(refused(|p| p.push(0)), E::Length);
    assert_eq!(refused(|p| p.truncate(p.len() - 1)), E::Length);
    let twice = |p: &mut Vec<u8>| {
        p.splice(NAMES + 5..NAMES + 9, *b"\x04wait");
    };
    assert_eq!(refused(twice), E::Name(1));
    let long = |p: &mut Vec<u8>| {
        p.splice(NAMES..NAMES + 1, [&[29][..], &[b'x'; 25]].concat());
    };
    assert_eq!(refused(long), E::Name(0));
}

#[test]
fn two_rules_are_one_too_many() {
    let mut sections = disassemble(&with_decision(&PARTS).unwrap());
    sections.push(sections.last().unwrap().clone());
    assert_eq!(refusal(&assemble(&sections)), Some(ParseError::DuplicateSection(DECISION)));
}

#[test]
fn the_writer_refuses_what_the_parser_would() {
    let decision = |error| Err(WriteError::Decision(error));
    let write = |parts: &DecisionParts<'_>| with_decision(parts).map(drop);
    assert_eq!(
        write(&DecisionParts { intervals: &[0, 0, 2], ..PARTS }),
        decision(DecisionError::Interval(1))
    );
    assert_eq!(write(&DecisionParts { thresholds: &[0.5], ..PARTS }), decision(DecisionError::Length));
    assert_eq!(write(&DecisionParts { uncalibrated: 3, ..PARTS }), decision(DecisionError::Uncalibrated));
    assert_eq!(write(&DecisionParts { actions: &[], ..PARTS }), decision(DecisionError::Actions));
    let many = DecisionParts { thresholds: &[0.5; 256], intervals: &[0; 257], ..PARTS };
    assert_eq!(write(&many), Err(WriteError::TooLarge));
}

#[test]
fn every_single_bit_flip_and_every_truncation_is_refused() {
    let golden = with_decision(&PARTS).unwrap();
    for bit in (0..8 * golden.len()).step_by(step(97)) {
        let mut bad = golden.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(Artifact::parse(aligned(&bad).as_bytes()).is_err(), "bit {bit}");
        for slot in slots(&bad) {
            assert!(Artifact::parse_slot(aligned(&slot).as_bytes()).is_err(), "bit {bit} in a slot");
        }
    }
    for len in (0..golden.len()).step_by(step(13)) {
        assert!(Artifact::parse(aligned(&golden[..len]).as_bytes()).is_err(), "{len}");
    }
}

proptest! {
    /// What is written is read, and no action changes at any threshold or beside it.
    #[test]
    fn a_rule_comes_back_as_it_was(
        thresholds in btree_set(0u32..0x3F80_0000, 0..30 / step(5)),
        steps in vec(1u8..5, 31),
        flags in vec(any::<(bool, bool)>(), 6),
        uncalibrated in 0u8..6,
    ) {
        let thresholds: Vec<f32> = thresholds.into_iter().map(f32::from_bits).collect();
        let mut last = 0;
        let intervals: Vec<u8> =
            steps.iter().take(thresholds.len() + 1).map(|step| { last = (last + step) % 6; last }).collect();
        let names = ["a", "second", "3", "vierte", "cinquième", "6"];
        let actions: Vec<_> = names.iter().zip(flags)
            .map(|(name, (alarm, abstain))| Action { name, alarm, abstain, if_sure: None }).collect();
        let parts = DecisionParts { thresholds: &thresholds, intervals: &intervals, uncalibrated, unsure: None, actions: &actions };
        let bytes = aligned(&with_decision(&parts).unwrap());
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let rule: &DecisionRule<'_> = artifact.decision().unwrap();
        prop_assert_eq!(rule.thresholds(), &thresholds);
        prop_assert_eq!(rule.intervals(), &intervals);
        prop_assert_eq!(rule.uncalibrated(), uncalibrated);
        prop_assert!(rule.actions().eq(actions.iter().copied()));
        for (i, &t) in thresholds.iter().enumerate() {
            prop_assert_eq!(rule.action_at(t), intervals[i]);
            prop_assert_eq!(rule.action_at(t.next_up()), intervals[i + 1]);
        }
    }

    /// An action that asks for the band is taken exactly where the probability and everything within the band at the score lead to it. So if the
    /// band holds, the action is the one that the true probability of the score leads to.
    #[test]
    fn an_action_by_the_band_is_that_of_every_probability_within(
        edges in vec(1u32..0x3F80_0000, 12),
        values in vec(0.0f32..=1.0, 14),
        thresholds in btree_set(1u32..1024, 1..6),
        by_band in vec(any::<bool>(), 6),
        scores in vec(0.0f32..=1.0, 40),
        truths in vec(0.0f32..=1.0, 40),
    ) {
        let side = |from: usize| {
            let mut edges = edges[6 * from..6 * (from + 1)].to_vec();
            edges.sort_unstable();
            edges.dedup();
            edges
        };
        // Both sides rise, and the lower one is nowhere above: all of its values are below those of the other.
        let mut values = values;
        values.sort_by(f32::total_cmp);
        let (lower, upper) = (side(0), side(1));
        let values = (&values[..lower.len() + 1], &values[13 - upper.len()..]);
        let band = BandParts { alpha: 0.1, lower: (&lower, values.0), upper: (&upper, values.1) };
        let thresholds: Vec<f32> = thresholds.into_iter().map(|threshold| threshold as f32 / 1024.0).collect();
        let names = ["a", "b", "c", "d", "e", "f", "refer"];
        let action = |(at, name): (usize, &'static str)| Action {
            name,
            alarm: at % 2 == 0,
            abstain: at == 6,
            if_sure: by_band.get(at).filter(|&&by_band| by_band).map(|_| SureBy::Band),
        };
        let actions: Vec<_> = names.into_iter().enumerate().map(action).collect();
        let intervals: Vec<u8> = (0..=thresholds.len() as u8).collect();
        let asks = by_band.contains(&true);
        let unsure = asks.then_some(6);
        let parts = DecisionParts { thresholds: &thresholds, intervals: &intervals, uncalibrated: 6, unsure, actions: &actions };
        let bytes = aligned(&with_band(&parts, Some(&band)).unwrap());
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let bytes = aligned(&with_decision(&parts).unwrap());
        let without = Artifact::parse(bytes.as_bytes()).unwrap();
        let leads_to = |prob: f32| thresholds.iter().filter(|&&threshold| threshold < prob).count();
        for (score, truth) in scores.into_iter().zip(truths) {
            let output = Output::Score(Score::new(score).unwrap());
            let found = artifact.predict(&output.into()).unwrap();
            let prob = found.first.outcome.calibrated().unwrap().prob;
            let band = artifact.band_at(&output).unwrap();
            let at = leads_to(prob);
            let is_sure = leads_to(band.lo) == at && leads_to(band.hi) == at;
            let expected = if by_band[at] && !is_sure { 6 } else { at };
            prop_assert_eq!((found.action, found.alarm), (Some(expected as u8), Some(expected % 2 == 0)));
            if by_band[at] && expected == at {
                prop_assert_eq!(leads_to(band.lo + truth * (band.hi - band.lo)), at);
            }
            // Without a band nothing is sure of a score.
            let expected = if by_band[at] { 6 } else { at };
            prop_assert_eq!(without.predict(&output.into()).unwrap().action, Some(expected as u8));
        }
    }
}
