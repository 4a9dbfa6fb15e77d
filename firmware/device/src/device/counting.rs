//! What a device counts of what it predicts, from outside.

use std::vec::Vec;

use calib_core::artifact::{
    Guarantee, Header, HeaderFlags, MonitorParts, Reduction, Table, TableForm, Theorem,
};
use calib_core::monitor::{GuaranteeMonitor, LogEvidence, Reference, ShiftMonitor};
use calib_core::wire::{
    Counters, CountersRefusal, KnownOutcomes, Persistence, PredictionOutcome, Question, Raised, Refusal,
    ReplyBody, Request, RequestBody, Scores,
};
use calib_core::{Anybody, Artifact, Identity, StepTable};
use embedded_hal::digital::{ErrorType, OutputPin};

use crate::testing::{
    Aligned, BINARY, Dice, ID, OTHER_ID, StopWatch, TERNARY, artifact_with_an_empty_bin, binary_artifact,
    header, values, write_by,
};
use crate::{
    Alarm, AlarmRule, Classifier, Device, LOOK_EVERY, LinearClassifier, Monitors, NoMonitors, Slot, Task,
    Watch,
};

/// What the test artifacts are called.
const HELD: Identity = Identity([1; 8]);

/// A lamp that nobody looks at.
#[derive(Debug)]
struct Lamp;

impl ErrorType for Lamp {
    type Error = core::convert::Infallible;
}

impl OutputPin for Lamp {
    fn set_low(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

type Counting<'a, W, C = &'static LinearClassifier<2, 1>> = Device<'a, C, Lamp, StopWatch, Dice, W>;

fn counting<'a, C: Classifier, W: Watch>(classifier: C, slot: &'a [u8], watch: W) -> Counting<'a, W, C> {
    let alarm = Alarm::new(Lamp, AlarmRule::AtLeast(0.5)).unwrap();
    let slot = Slot::read(slot, Anybody, classifier.id(), classifier.task());
    Device::with_parts((classifier, alarm, StopWatch { ticks: None }, Dice(0), watch), slot)
}

fn ask<C: Classifier, W: Watch>(device: &mut Counting<'_, W, C>, body: RequestBody) -> ReplyBody {
    device.answer(&Request { id: 3, body }).unwrap().body
}

fn counters<C: Classifier, W: Watch>(device: &mut Counting<'_, W, C>, body: RequestBody) -> Counters {
    match ask(device, body) {
        ReplyBody::Counters(counters) => counters,
        other => panic!("{other:?}"),
    }
}

fn refused<C: Classifier, W: Watch>(device: &mut Counting<'_, W, C>, body: RequestBody) -> CountersRefusal {
    match ask(device, body) {
        ReplyBody::Refused(Refusal::Counters(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

const FIRST: RequestBody = RequestBody::Counters { table: 0 };

/// Features of which the binary classifier makes a score in this bin of [`monitored`]: below 0.2, below 0.7, above.
fn in_bin(bin: usize) -> RequestBody {
    RequestBody::predict(Scores::Features(values(&[[-9.0, 0.0, 9.0][bin], 0.0])))
}

const ALARMS: MonitorParts<'_> =
    MonitorParts { shift: 20, change: 1000, guarantee: 100, gaps: &[], edges: None };
const GAPS: [u32; 3] = [30, 41, 30];

/// 0.05 below 0.2, 0.4 below 0.7, then 0.9, each within 0.0625; with monitors.
fn monitored(reduction: Reduction, classes: u16, parts: &MonitorParts<'_>) -> Aligned {
    monitored_with(reduction, classes, HeaderFlags::NONE, parts)
}

fn monitored_with(
    reduction: Reduction,
    classes: u16,
    flags: HeaderFlags,
    parts: &MonitorParts<'_>,
) -> Aligned {
    let steps = StepTable::new(&[0.2, 0.7], &[0.05, 0.4, 0.9]).unwrap();
    let table = Some(Table { form: TableForm::Steps(steps), epsilon: Some(0.0625) });
    let tables = std::vec![table; parts.gaps.len()];
    let guarantee = Some(Guarantee { theorem: Theorem::Gr21Theorem3, alpha: 0.1, epsilon: 0.0625 });
    let header = header(reduction, classes, &tables, Some(ID));
    write_by(&Header { guarantee, flags: header.flags.with(flags), ..header }, |writer| {
        writer.tables(&tables).unwrap();
        if flags == HeaderFlags::GROUPED {
            writer.groups(&["f", "m"]).unwrap();
        }
        writer.monitors(parts).unwrap();
    })
}

fn binary() -> Aligned {
    monitored(Reduction::Binary, 2, &MonitorParts { gaps: &[&GAPS], ..ALARMS })
}

fn told(class: u16, bin: u16, known: u32) -> PredictionOutcome {
    PredictionOutcome { calibrator: HELD, group: None, class, bin, is_positive: true, known }
}

#[test]
fn the_classifiers_own_predictions_are_counted_and_what_the_line_makes_up_is_not() {
    let slot = binary();
    let mut device = counting(&BINARY, slot.as_bytes(), Monitors::<3, 1>::new());
    for bin in [0, 2, 2, 1, 2] {
        assert!(matches!(ask(&mut device, in_bin(bin)), ReplyBody::Answer(_)));
    }
    let question = |word, scores| RequestBody::Predict(Question { group: None, word, scores });
    let features = || Scores::Features(values(&[-9.0, 0.0]));
    assert!(matches!(ask(&mut device, question(None, features())), ReplyBody::Answer(_)));
    for trial in [
        RequestBody::predict(Scores::Score(0.1)),
        RequestBody::Predict(Question { group: None, word: Some(7), scores: Scores::Score(0.1) }),
        question(None, Scores::Score(0.1)),
        question(Some(7), features()),
        // Not answered at all.
        RequestBody::predict(Scores::Features(values(&[0.0]))),
        RequestBody::predict(Scores::Features(values(&[f32::NAN, 0.0]))),
        RequestBody::Measure { features: values(&[0.0, 0.0]), repeat: 9 },
    ] {
        ask(&mut device, trial);
    }
    let found = counters(&mut device, FIRST);
    assert_eq!((found.calibrator, found.table, found.tables), (HELD, 0, 1));
    assert_eq!(found.predictions, [2, 1, 3]);
    assert_eq!(found.outcomes, [KnownOutcomes::default(); 3]);
    assert_eq!(
        (found.persistence, found.takes_outcomes, found.is_full),
        (Persistence::MemoryOnly, true, false)
    );
    assert!(found.shift.raised.is_none() && found.change.raised.is_none());
    assert!(found.guarantee.is_some_and(|guarantee| guarantee.raised.is_none()));
}

/// The alarm of a shift is raised when the device looks, and the evidence is that of the monitor by itself.
#[test]
fn evidence_and_alarms_are_those_of_the_monitors() {
    let slot = binary();
    let mut device = counting(&BINARY, slot.as_bytes(), Monitors::<15, 1>::new());
    let (reference, level) = (Reference::new(&GAPS).unwrap(), LogEvidence::of_one_in(20));
    let mut shift = ShiftMonitor::<15>::new();
    for _ in 0..60 {
        ask(&mut device, in_bin(2));
        shift.count(2);
        if shift.total().is_multiple_of(LOOK_EVERY) {
            shift.look(&reference, level);
        }
    }
    let found = counters(&mut device, FIRST);
    assert_eq!((found.shift.evidence, found.shift.alarm), (shift.evidence(&reference), level));
    let at = shift.alarm_at().unwrap();
    assert!(at.is_multiple_of(LOOK_EVERY) && at < 60);
    assert_eq!(found.shift.raised, Some(Raised::At(at)));
    // e-CUSUM is asked at every prediction, and restarts after its alarm.
    let Some(Raised::At(changed)) = found.change.raised else { panic!("{:?}", found.change) };
    assert!(changed > 5 && changed < 60, "{changed}");
    assert_eq!(found.change.alarm, LogEvidence::of_one_in(1000));
}

#[test]
fn whoever_asks_lets_the_device_look() {
    let slot = binary();
    let mut device = counting(&BINARY, slot.as_bytes(), Monitors::<3, 1>::new());
    (0..LOOK_EVERY - 1).for_each(|_| _ = ask(&mut device, in_bin(2)));
    let raised = counters(&mut device, FIRST).shift.raised;
    assert_eq!(raised, Some(Raised::At(LOOK_EVERY - 1)));
    (0..40).for_each(|_| _ = ask(&mut device, in_bin(0)));
    assert_eq!(counters(&mut device, FIRST).shift.raised, raised, "an alarm stays");
}

#[test]
fn an_outcome_is_counted_once_however_often_it_is_told() {
    let slot = binary();
    let mut device = counting(&BINARY, slot.as_bytes(), Monitors::<3, 1>::new());
    (0..200).for_each(|row| _ = ask(&mut device, in_bin(row % 3)));
    let artifact = Artifact::parse(slot.as_bytes()).unwrap();
    let guaranteed = || (0..3).map(|bin| artifact.tables().guaranteed(0, bin));
    let mut guarantee = GuaranteeMonitor::<3>::new();
    for known in 0..60 {
        // Of what was called 0.9, half is.
        let outcome = PredictionOutcome { is_positive: known % 2 == 0, ..told(1, 2, known) };
        for _ in 0..3 {
            let found = counters(&mut device, RequestBody::Outcome(outcome));
            let positives = known / 2 + 1;
            assert_eq!(found.outcomes[2], KnownOutcomes { labeled: known + 1, positives });
        }
        guarantee.count(2, outcome.is_positive);
        guarantee.look(guaranteed(), LogEvidence::of_one_in(100));
    }
    let found = counters(&mut device, FIRST).guarantee.unwrap();
    assert_eq!(found.evidence, guarantee.evidence(guaranteed()));
    assert_eq!(found.raised, guarantee.alarm_at().map(Raised::At));
    assert!(guarantee.alarm_at().is_some_and(|at| at < 60));
}

#[test]
fn what_is_no_outcome_of_a_prediction_is_refused_and_changes_nothing() {
    let slot = binary();
    let mut device = counting(&BINARY, slot.as_bytes(), Monitors::<3, 1>::new());
    let none = RequestBody::Outcome(told(1, 2, 0));
    assert_eq!(refused(&mut device, none.clone()), CountersRefusal::NoPrediction);
    ask(&mut device, in_bin(2));
    counters(&mut device, none);
    let before = counters(&mut device, FIRST);
    let other = Identity([2; 8]);
    for (outcome, expected) in [
        (told(1, 2, 1), CountersRefusal::NoPrediction),
        (told(1, 0, 0), CountersRefusal::NoPrediction),
        (told(1, 2, 2), CountersRefusal::Known(1)),
        (told(1, 2, 7), CountersRefusal::Known(1)),
        (told(1, 3, 0), CountersRefusal::Bin),
        (told(1, u16::MAX, 0), CountersRefusal::Bin),
        (PredictionOutcome { calibrator: other, ..told(1, 2, 1) }, CountersRefusal::OtherCalibrator(HELD)),
    ] {
        assert_eq!(refused(&mut device, RequestBody::Outcome(outcome)), expected, "{outcome:?}");
    }
    let reset = |calibrator| RequestBody::ResetCounters { calibrator };
    assert_eq!(refused(&mut device, reset(other)), CountersRefusal::OtherCalibrator(HELD));
    assert_eq!(counters(&mut device, FIRST), before);
    let anew = counters(&mut device, reset(HELD));
    assert_eq!((&anew.predictions[..], anew.outcomes[2]), (&[0; 3][..], KnownOutcomes::default()));
}

#[test]
fn a_device_may_take_no_outcomes_and_says_so() {
    let slot = binary();
    let mut device = counting(&BINARY, slot.as_bytes(), Monitors::<3, 1>::new()).taking_outcomes(false);
    ask(&mut device, in_bin(2));
    for change in [RequestBody::Outcome(told(1, 2, 0)), RequestBody::ResetCounters { calibrator: HELD }] {
        assert_eq!(ask(&mut device, change), ReplyBody::Refused(Refusal::SwitchedOff));
    }
    let found = counters(&mut device, FIRST);
    assert_eq!((&found.predictions[..], found.takes_outcomes), (&[0, 0, 1][..], false));
}

#[test]
fn each_class_and_each_group_has_counters_of_its_own() {
    let gaps: &[&[u32]] = &[&GAPS, &[], &GAPS];
    let slot = monitored(Reduction::TopLabel, 3, &MonitorParts { gaps, ..ALARMS });
    let mut device = counting(&TERNARY, slot.as_bytes(), Monitors::<3, 3>::new());
    // Classes 0 and 2 for sure, and class 1, which is not monitored.
    for features in [[9.0, -9.0], [9.0, -9.0], [-9.0, -9.0], [-9.0, 9.0]] {
        ask(&mut device, RequestBody::predict(Scores::Features(values(&features))));
    }
    for (table, expected) in [(0, [0, 0, 2]), (2, [0, 0, 1])] {
        let found = counters(&mut device, RequestBody::Counters { table });
        assert_eq!((&found.predictions[..], found.table, found.tables), (&expected[..], table, 3));
    }
    for table in [1, 3, u16::MAX] {
        let refusal = refused(&mut device, RequestBody::Counters { table });
        assert_eq!(refusal, CountersRefusal::Table { tables: 3 }, "{table}");
    }
    assert_eq!(counters(&mut device, RequestBody::Outcome(told(2, 2, 0))).table, 2);
    assert_eq!(
        refused(&mut device, RequestBody::Outcome(told(1, 2, 0))),
        CountersRefusal::Table { tables: 3 }
    );
    assert_eq!(refused(&mut device, RequestBody::Outcome(told(3, 2, 0))), CountersRefusal::NotMonitored);

    let gaps: &[&[u32]] = &[&GAPS, &GAPS];
    let parts = MonitorParts { gaps, ..ALARMS };
    let slot = monitored_with(Reduction::Binary, 2, HeaderFlags::GROUPED, &parts);
    let mut device = counting(&BINARY, slot.as_bytes(), Monitors::<3, 2>::new());
    for group in [1, 1, 0] {
        let scores = Scores::Features(values(&[9.0, 0.0]));
        ask(&mut device, RequestBody::Predict(Question { group: Some(group), word: None, scores }));
    }
    for (table, expected) in [(0, [0, 0, 1]), (1, [0, 0, 2])] {
        assert_eq!(counters(&mut device, RequestBody::Counters { table }).predictions, expected);
    }
    let of_group = |group| RequestBody::Outcome(PredictionOutcome { group, ..told(1, 2, 0) });
    assert_eq!(counters(&mut device, of_group(Some(1))).table, 1);
    for group in [None, Some(2)] {
        assert_eq!(ask(&mut device, of_group(group)), ReplyBody::Refused(Refusal::Group(2)));
    }
}

/// The tables of a group stand together.
#[test]
fn each_class_of_each_group_has_counters_of_its_own() {
    let gaps: &[&[u32]] = &[&GAPS[..]; 6];
    let parts = MonitorParts { gaps, ..ALARMS };
    let slot = monitored_with(Reduction::TopLabel, 3, HeaderFlags::GROUPED, &parts);
    let mut device = counting(&TERNARY, slot.as_bytes(), Monitors::<3, 6>::new());
    // Classes 0, 2, 1 and 1.
    for (features, group) in [([9.0, -9.0], 0), ([-9.0, -9.0], 1), ([-9.0, 9.0], 1), ([-9.0, 9.0], 1)] {
        let scores = Scores::Features(values(&features));
        ask(&mut device, RequestBody::Predict(Question { group: Some(group), word: None, scores }));
    }
    for (table, expected) in [1, 0, 0, 0, 2, 1].into_iter().enumerate() {
        let found = counters(&mut device, RequestBody::Counters { table: table as u16 });
        assert_eq!(found.predictions.iter().sum::<u32>(), expected, "{table}");
    }
    let of_group =
        |group, class| RequestBody::Outcome(PredictionOutcome { group: Some(group), ..told(class, 2, 0) });
    assert_eq!(counters(&mut device, of_group(1, 2)).table, 5);
    assert_eq!(counters(&mut device, of_group(0, 0)).table, 0);
}

/// A second host that knows as many outcomes and tells another is not taken for the first one, which repeats itself.
#[test]
fn of_two_hosts_no_outcome_is_dropped_without_a_word() {
    let slot = binary();
    let mut device = counting(&BINARY, slot.as_bytes(), Monitors::<3, 1>::new());
    (0..4).for_each(|_| _ = ask(&mut device, in_bin(2)));
    let positive = RequestBody::Outcome(told(1, 2, 0));
    let negative = RequestBody::Outcome(PredictionOutcome { is_positive: false, ..told(1, 2, 0) });
    let once = counters(&mut device, positive.clone());
    assert_eq!(counters(&mut device, positive.clone()), once, "sent again");
    assert_eq!(refused(&mut device, negative), CountersRefusal::Known(1));
    let negative = PredictionOutcome { is_positive: false, known: 1, ..told(1, 2, 0) };
    let both = counters(&mut device, RequestBody::Outcome(negative));
    assert_eq!((both.outcomes[2].labeled, both.outcomes[2].positives), (2, 1));
    // Since then the first one has no other to repeat.
    assert_eq!(refused(&mut device, positive), CountersRefusal::Known(2));
    // In the lowest bin there was no prediction.
    assert_eq!(refused(&mut device, RequestBody::Outcome(told(1, 0, 0))), CountersRefusal::NoPrediction);
}

/// A change alert so long ago that its time is not known is reported as such.
#[test]
fn an_alarm_of_a_change_long_ago_was_by_then() {
    let slot = binary();
    let mut device = counting(&BINARY, slot.as_bytes(), Monitors::<3, 1>::new());
    for since in [1u32, 65_534, 65_535, 65_536] {
        // 200 000 predictions in all, the last alarm so many of `since` less one ago.
        let weights = since.min(0xFFFF) << 16 | 0x8000;
        let words = [200_000, 0, 0, 0, 0, 0, 0, 0, 0, weights].into_iter().chain(core::iter::repeat(0));
        assert!(device.watch_mut().restore(&mut words.take(Monitors::<3, 1>::WORDS)));
        let found = counters(&mut device, FIRST).change.raised;
        let expected = match since {
            1 => Raised::At(200_000),
            65_534 => Raised::At(200_000 - 65_533),
            _ => Raised::By(200_000 - 65_534),
        };
        assert_eq!(found, Some(expected), "{since}");
    }
}

#[test]
fn monitors_may_have_bins_of_their_own() {
    let edges: &[&[u32]] = &[&[0.5f32.to_bits()]];
    let slot =
        monitored(Reduction::Binary, 2, &MonitorParts { gaps: &[&[50, 51]], edges: Some(edges), ..ALARMS });
    let mut device = counting(&BINARY, slot.as_bytes(), Monitors::<3, 1>::new());
    // 0.5 itself is in the upper bin; the table's is the middle one.
    for features in [[0.0, 0.0], [-0.125, 0.0], [9.0, 0.0]] {
        ask(&mut device, RequestBody::predict(Scores::Features(values(&features))));
    }
    let found = counters(&mut device, RequestBody::Outcome(told(1, 1, 0)));
    assert_eq!(found.predictions, [1, 2]);
    assert_eq!(found.outcomes.iter().map(|known| known.labeled).collect::<Vec<_>>(), [0, 1, 0]);

    // There is room for the monitors' bins, and not for the table's: outcomes are not taken.
    let mut device = counting(&BINARY, slot.as_bytes(), Monitors::<2, 1>::new());
    ask(&mut device, in_bin(2));
    let found = counters(&mut device, FIRST);
    assert_eq!((&found.predictions[..], found.outcomes.len(), found.guarantee), (&[0, 1][..], 0, None));
    let room = CountersRefusal::Room { tables: 1, bins: 2 };
    assert_eq!(refused(&mut device, RequestBody::Outcome(told(1, 1, 0))), room);
}

#[test]
fn what_is_not_counted_is_said() {
    let (plain, empty) = (binary_artifact(Some(ID)), artifact_with_an_empty_bin(false));
    let other = binary_artifact(Some(OTHER_ID));
    for slot in [plain.as_bytes(), empty.as_bytes(), other.as_bytes(), &[]] {
        let mut device = counting(&BINARY, slot, Monitors::<3, 1>::new());
        ask(&mut device, in_bin(2));
        assert_eq!(refused(&mut device, FIRST), CountersRefusal::NotMonitored);
        let reset = RequestBody::ResetCounters { calibrator: HELD };
        assert_eq!(refused(&mut device, reset), CountersRefusal::NotMonitored);
    }
    let slot = binary();
    let mut small = counting(&BINARY, slot.as_bytes(), Monitors::<2, 1>::new());
    ask(&mut small, in_bin(0));
    assert_eq!(refused(&mut small, FIRST), CountersRefusal::Room { tables: 1, bins: 2 });
    let gaps: &[&[u32]] = &[&GAPS, &GAPS, &GAPS];
    let top_label = monitored(Reduction::TopLabel, 3, &MonitorParts { gaps, ..ALARMS });
    let mut few = counting(&TERNARY, top_label.as_bytes(), Monitors::<3, 2>::new());
    let third = RequestBody::Counters { table: 2 };
    assert_eq!(refused(&mut few, third), CountersRefusal::Room { tables: 2, bins: 3 });
    // Several probabilities a prediction: they are not independent of each other.
    let class_wise = monitored(Reduction::ClassWise, 3, &MonitorParts { gaps, ..ALARMS });
    let mut several = counting(&TERNARY, class_wise.as_bytes(), Monitors::<3, 3>::new());
    ask(&mut several, RequestBody::predict(Scores::Features(values(&[9.0, -9.0]))));
    assert_eq!(refused(&mut several, FIRST), CountersRefusal::NotMonitored);
    let mut none = counting(&BINARY, slot.as_bytes(), NoMonitors);
    ask(&mut none, in_bin(0));
    assert_eq!(refused(&mut none, FIRST), CountersRefusal::NotBuilt);
}

#[test]
fn counters_go_on_with_the_same_calibrator_and_begin_anew_with_another() {
    let slot = binary();
    let mut monitors = Monitors::<3, 1>::new();
    for expected in [1, 2] {
        let mut device = counting(&BINARY, slot.as_bytes(), &mut monitors);
        ask(&mut device, in_bin(2));
        assert_eq!(counters(&mut device, FIRST).predictions, [0, 0, expected]);
    }
    assert_eq!(monitors.total(), 2);
    // Without a calibrator, for as long as it lasts.
    let mut nothing = counting(&BINARY, &[], &mut monitors);
    ask(&mut nothing, in_bin(2));
    assert_eq!((monitors.total(), monitors.of()), (0, None));
    let mut again = counting(&BINARY, slot.as_bytes(), &mut monitors);
    assert_eq!(counters(&mut again, FIRST).predictions, [0; 3]);
}

#[test]
fn a_full_counter_stops_all_and_says_so() {
    let slot = binary();
    let mut monitors = Monitors::<3, 1>::new();
    let mut words = [0; Monitors::<3, 1>::WORDS];
    let limit = u32::MAX / 3;
    words[0] = limit - 1;
    words[1] = 5;
    monitors.begin(Some(&Artifact::parse(slot.as_bytes()).unwrap()), false);
    assert!(!monitors.restore(&mut words[1..].iter().copied()) && monitors.total() == 0);
    assert!(monitors.restore(&mut words.into_iter()));
    let mut device = counting(&BINARY, slot.as_bytes(), &mut monitors);
    assert!(!counters(&mut device, FIRST).is_full);
    [0, 0, 1].into_iter().for_each(|bin| _ = ask(&mut device, in_bin(bin)));
    let found = counters(&mut device, FIRST);
    assert_eq!((&found.predictions[..], found.is_full), (&[limit, 5, 0][..], true));
    // What was counted is known still.
    assert!(found.shift.raised.is_some());
}

#[test]
fn two_classes_by_confidence_share_a_table() {
    let slot = monitored(Reduction::Confidence, 3, &MonitorParts { gaps: &[&GAPS], ..ALARMS });
    let mut device = counting(&TERNARY, slot.as_bytes(), Monitors::<3, 1>::new());
    assert_eq!(TERNARY.task(), Task::TopLabel { classes: 3 });
    for features in [[9.0, -9.0], [-9.0, 9.0]] {
        ask(&mut device, RequestBody::predict(Scores::Features(values(&features))));
    }
    assert_eq!(counters(&mut device, RequestBody::Outcome(told(1, 2, 0))).predictions, [0, 0, 2]);
}

/// A table that there is no room for is neither counted nor told, and does not stand in the way of setting the others back.
#[test]
fn a_table_without_room_is_not_counted_and_others_are() {
    let gaps: &[&[u32]] = &[&[20, 20, 20, 21], &[30, 51], &[30, 51]];
    let edges: &[&[u32]] = &[&[0.2, 0.5, 0.9999].map(f32::to_bits), &[0.5f32.to_bits()], &[0.5f32.to_bits()]];
    let slot = monitored(Reduction::TopLabel, 3, &MonitorParts { gaps, edges: Some(edges), ..ALARMS });
    let mut monitors = Monitors::<3, 3>::new();
    let mut device = counting(&TERNARY, slot.as_bytes(), &mut monitors);
    for features in [[9.0, -9.0], [9.0, -9.0], [-9.0, -9.0]] {
        ask(&mut device, RequestBody::predict(Scores::Features(values(&features))));
    }
    let room = CountersRefusal::Room { tables: 3, bins: 3 };
    assert_eq!(refused(&mut device, FIRST), room);
    assert_eq!(counters(&mut device, RequestBody::Counters { table: 2 }).predictions, [0, 1]);
    assert_eq!(counters(&mut device, RequestBody::ResetCounters { calibrator: HELD }).table, 1);
    assert_eq!(monitors.total(), 0);
    let mut device = counting(&TERNARY, slot.as_bytes(), &mut monitors);
    // In the third of the first class's four bins.
    ask(&mut device, RequestBody::predict(Scores::Features(values(&[2.0, -2.0]))));
    assert_eq!(monitors.total(), 0);
}
