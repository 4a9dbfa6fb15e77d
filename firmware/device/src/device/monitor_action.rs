//! What a device does on an alarm of its monitors, from outside.

use std::vec::Vec;

use calib_core::artifact::{
    ArtifactWriter, BandParts, Guarantee, Header, MonitorAction, MonitorParts, Reduction, Table, TableForm,
    Theorem,
};
use calib_core::decision::Verdict;
use calib_core::slot::MonitorRoom;
use calib_core::wire::{
    ActionOnAlarm, Answer, Counters, CountersRefusal, Missing, PredictionOutcome, Question, Refusal,
    ReplyBody, Request, RequestBody, Scores,
};
use calib_core::{Anybody, Artifact, BinFlags, Identity, Outcome, StepTable, Uncalibrated};
use embedded_hal::digital::{ErrorType, OutputPin};

use super::rules::{points, thresholds};
use crate::testing::{Aligned, BINARY, Dice, ID, StopWatch, header, values, write_by};
use crate::{Alarm, AlarmRule, Classifier, Device, LinearClassifier, Monitors, NoMonitors, Slot, Watch};

const HELD: Identity = Identity([1; 8]);
const ACTIONS: [MonitorAction; 2] = [MonitorAction::Alarm, MonitorAction::Uncalibrated];
/// The device looks at the evidence every 16 predictions, and 16 in the lowest bin are enough for an alarm of a shift.
const LOOK: usize = 16;
const GAPS: &[&[u32]] = &[&[30, 41, 30]];
/// A change is alarmed of soon.
const PARTS: MonitorParts<'_> = MonitorParts { shift: 20, change: 2, guarantee: 20, gaps: GAPS, edges: None };

/// All states of the pin, one after the other.
#[derive(Debug, Default)]
struct Record(Vec<bool>);

impl ErrorType for Record {
    type Error = core::convert::Infallible;
}

impl OutputPin for Record {
    fn set_low(&mut self) -> Result<(), Self::Error> {
        self.0.push(false);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Self::Error> {
        self.0.push(true);
        Ok(())
    }
}

/// 0.05 below 0.2, 0.4 below 0.7, then 0.9, each within 0.0625; with monitors, what is done on their alarm, and more.
fn artifact(
    action: Option<MonitorAction>,
    parts: &MonitorParts<'_>,
    more: impl FnOnce(&mut ArtifactWriter<'_>),
) -> Aligned {
    let steps = StepTable::new(&[0.2, 0.7], &[0.05, 0.4, 0.9]).unwrap();
    let tables = [Some(Table { form: TableForm::Steps(steps), epsilon: Some(0.0625) })];
    let guarantee = Some(Guarantee { theorem: Theorem::Gr21Theorem3, alpha: 0.1, epsilon: 0.0625 });
    let header = Header { guarantee, ..header(Reduction::Binary, 2, &tables, Some(ID)) };
    write_by(&header, |writer| {
        writer.tables(&tables).unwrap();
        writer.monitors(parts).unwrap();
        if let Some(action) = action {
            writer.monitor_action(action).unwrap();
        }
        more(writer);
    })
}

fn of_action(action: Option<MonitorAction>) -> Aligned {
    artifact(action, &PARTS, |_| {})
}

type ActingDevice<'a, W> = Device<'a, &'static LinearClassifier<2, 1>, Record, StopWatch, Dice, W>;

fn acting_device<'a, W: Watch>(bytes: &'a Aligned, room: MonitorRoom, watch: W) -> ActingDevice<'a, W> {
    let slot = Slot::read_watched(bytes.as_bytes(), Anybody, ID, BINARY.task(), room);
    let alarm = Alarm::new(Record::default(), AlarmRule::AtLeast(0.5)).unwrap();
    Device::with_parts((&BINARY, alarm, StopWatch { ticks: None }, Dice(0), watch), slot)
}

fn watched(bytes: &Aligned) -> ActingDevice<'_, Monitors<3, 1>> {
    let monitors = Monitors::new();
    acting_device(bytes, monitors.room(), monitors)
}

fn ask<W: Watch>(device: &mut ActingDevice<'_, W>, body: RequestBody) -> ReplyBody {
    device.answer(&Request { id: 3, body }).unwrap().body
}

/// The outcome of features in this bin, and whether the alarm is reported as raised.
fn predict<W: Watch>(device: &mut ActingDevice<'_, W>, bin: usize) -> (Result<f32, Uncalibrated>, bool) {
    match ask(device, RequestBody::predict(Scores::Features(values(&[[-9.0, 0.0, 9.0][bin], 0.0])))) {
        ReplyBody::Answer(prediction) => (prob(prediction.outcome), prediction.alarm),
        other => panic!("{other:?}"),
    }
}

fn prob(outcome: Outcome) -> Result<f32, Uncalibrated> {
    match outcome {
        Outcome::Calibrated(calibrated) => Ok(calibrated.prob),
        Outcome::Uncalibrated(reason) => Err(reason),
    }
}

fn counters<W: Watch>(device: &mut ActingDevice<'_, W>, body: RequestBody) -> Counters {
    match ask(device, body) {
        ReplyBody::Counters(counters) => counters,
        other => panic!("{other:?}"),
    }
}

fn states<W: Watch>(device: ActingDevice<'_, W>) -> Vec<bool> {
    device.alarm.free().0
}

const FIRST: RequestBody = RequestBody::Counters { table: 0 };

#[test]
fn from_an_alarm_of_a_shift_on_answers_are_as_the_action_says() {
    for action in ACTIONS {
        let bytes = of_action(Some(action));
        let mut device = watched(&bytes);
        for _ in 0..LOOK - 1 {
            assert_eq!(predict(&mut device, 0), (Ok(0.05), false));
        }
        let answer = match action {
            MonitorAction::Alarm => Ok(0.05),
            MonitorAction::Uncalibrated => Err(Uncalibrated::Alarmed),
        };
        // The one that brings the alarm, and those after it; trials, too.
        assert_eq!(predict(&mut device, 0), (answer, true), "{action:?}");
        assert_eq!(predict(&mut device, 0), (answer, true));
        let ReplyBody::Answer(trial) = ask(&mut device, RequestBody::predict(Scores::Score(0.1))) else {
            panic!("refused")
        };
        assert_eq!((prob(trial.outcome), trial.alarm), (answer, true));
        let found = counters(&mut device, FIRST);
        assert_eq!(found.action, Some(ActionOnAlarm { action, is_done: true }));
        assert_eq!(found.predictions, [LOOK as u32 + 1, 0, 0], "it goes on counting");
        let anew = counters(&mut device, RequestBody::ResetCounters { calibrator: HELD });
        assert_eq!(anew.action, Some(ActionOnAlarm { action, is_done: false }));
        assert_eq!(predict(&mut device, 0), (Ok(0.05), false));
        // Raised at the start, low while all is well, and from the alarm to counting again never low.
        let expected = [&[true][..], &[false; LOOK], &[true; 4], &[false]].concat();
        assert_eq!(states(device), expected);
    }
}

/// The band says something of the probability: what withholds one withholds the other.
#[test]
fn the_band_is_told_until_no_probability_is() {
    let half = 0.5f32.to_bits();
    let band = BandParts { alpha: 0.1, lower: (&[half], &[0.0, 0.25]), upper: (&[half + 1], &[0.375, 1.0]) };
    for action in ACTIONS {
        let bytes = artifact(Some(action), &PARTS, |writer| writer.band(&band).unwrap());
        let mut device = watched(&bytes);
        let mut told = |scores| match ask(&mut device, RequestBody::predict(scores)) {
            ReplyBody::Answer(answer) => answer.band().map(|band| (band.lo, band.hi)),
            other => panic!("{other:?}"),
        };
        let below = Some((0.0, 0.375));
        assert_eq!(
            [0.25, 0.5, 0.75].map(|score| told(Scores::Score(score))),
            [below, Some((0.25, 0.375)), Some((0.25, 1.0))]
        );
        // Of the classifier's own score, too.
        let features = || Scores::Features(values(&[-9.0, 0.0]));
        assert!((1..LOOK).all(|_| told(features()) == below));
        let after = if action == MonitorAction::Alarm { below } else { None };
        assert_eq!([told(features()), told(features()), told(Scores::Score(0.25))], [after; 3], "{action:?}");
    }
}

#[test]
fn an_alarm_that_is_told_alone_does_nothing() {
    let bytes = of_action(None);
    let mut device = watched(&bytes);
    for _ in 0..40 {
        assert_eq!(predict(&mut device, 0), (Ok(0.05), false));
    }
    let found = counters(&mut device, FIRST);
    assert!(found.shift.raised.is_some() && found.action.is_none(), "{found:?}");
    assert_eq!(states(device), [&[true][..], &[false; 40]].concat());
}

#[test]
fn an_alarm_of_a_change_is_told_alone_whatever_the_action() {
    let bytes =
        artifact(Some(MonitorAction::Uncalibrated), &MonitorParts { shift: 1 << 31, ..PARTS }, |_| {});
    let mut device = watched(&bytes);
    for _ in 0..9 {
        assert_eq!(predict(&mut device, 0), (Ok(0.05), false));
    }
    let found = counters(&mut device, FIRST);
    assert!(found.change.raised.is_some() && found.shift.raised.is_none(), "{found:?}");
    assert_eq!(found.action.map(|action| action.is_done), Some(false));
    assert_eq!(states(device), [&[true][..], &[false; 9]].concat());
}

/// Nobody asks for a prediction in between: the pin rises with the outcome that brings the alarm.
#[test]
fn an_alarm_of_the_guarantee_raises_the_pin_at_once() {
    let parts = MonitorParts { shift: 1 << 31, ..PARTS };
    let bytes = artifact(Some(MonitorAction::Uncalibrated), &parts, |_| {});
    let mut device = watched(&bytes);
    (0..12).for_each(|at| _ = predict(&mut device, at % 2));
    let low = device.alarm.pin().0.clone();
    assert_eq!(low.last(), Some(&false));
    let mut raised = 0;
    for known in 0..6 {
        let is_positive = true;
        let told = PredictionOutcome { calibrator: HELD, group: None, class: 1, bin: 0, is_positive, known };
        let found = counters(&mut device, RequestBody::Outcome(told));
        let is_raised = found.guarantee.is_some_and(|guarantee| guarantee.raised.is_some());
        assert_eq!(found.action.map(|action| action.is_done), Some(is_raised));
        raised += usize::from(is_raised);
    }
    assert!((1..6).contains(&raised), "all are positive at 0.05: {raised}");
    assert_eq!(states(device), [&low[..], &std::vec![true; raised]].concat());
}

#[test]
fn a_device_that_could_not_do_it_does_not_use_the_calibrator() {
    let rooms = [MonitorRoom::NONE, MonitorRoom { tables: 0, bins: 3 }, MonitorRoom { tables: 1, bins: 2 }];
    for (action, room) in ACTIONS.into_iter().flat_map(|action| rooms.map(|room| (action, room))) {
        let bytes = of_action(Some(action));
        let mut device = acting_device(&bytes, room, NoMonitors);
        assert_eq!(predict(&mut device, 0), (Err(Uncalibrated::NotMonitored), true));
        let ReplyBody::Status(status) = ask(&mut device, RequestBody::Status) else { panic!("refused") };
        assert_eq!(status.calibrator, Err(Missing::Monitors));
        // Nor does a slot that knows of no monitors.
        let plain = Slot::read(bytes.as_bytes(), Anybody, ID, BINARY.task());
        assert_eq!(plain.status(), Err(Missing::Monitors));
    }
    let bytes = of_action(Some(MonitorAction::Alarm));
    assert!(watched(&bytes).slot.status().is_ok());
    let telling = of_action(None);
    assert!(Slot::read(telling.as_bytes(), Anybody, ID, BINARY.task()).status().is_ok());
}

/// What thresholds say is of the same scores as what is no longer told.
#[test]
fn a_verdict_is_withheld_with_the_probability() {
    for (action, expected) in
        [(MonitorAction::Alarm, Some(Verdict::Negative)), (MonitorAction::Uncalibrated, None)]
    {
        let at = thresholds(0.25f32.to_bits(), 0.75f32.to_bits());
        let bytes = artifact(Some(action), &PARTS, |writer| points(writer, &[at], false));
        let mut device = watched(&bytes);
        let answers: Vec<Answer> = (0..LOOK + 1)
            .map(|_| {
                let scores = Scores::Features(values(&[-9.0, 0.0]));
                match ask(&mut device, RequestBody::Predict(Question { group: None, word: None, scores })) {
                    ReplyBody::Answer(answer) => answer,
                    other => panic!("{other:?}"),
                }
            })
            .collect();
        for (at, answer) in (1..).zip(&answers) {
            let verdict = if at < LOOK { Some(Verdict::Negative) } else { expected };
            assert_eq!((answer.verdict, answer.alarm), (verdict, at >= LOOK), "{at}");
        }
    }
}

/// The middle bin has no calibrated probability; the monitors' bins are the table's, or the same with separate edges.
fn with_an_empty_bin(edges: Option<&[&[u32]]>) -> Aligned {
    let steps = StepTable::new(&[0.2, 0.7], &[0.05, 0.4, 0.9]).unwrap();
    let tables = [Some(Table { form: TableForm::Steps(steps), epsilon: None })];
    write_by(&header(Reduction::Binary, 2, &tables, Some(ID)), |writer| {
        writer.tables(&tables).unwrap();
        writer.bin_flags(&[BinFlags::NONE, BinFlags::EMPTY, BinFlags::NONE]).unwrap();
        writer.monitors(&MonitorParts { edges, ..PARTS }).unwrap();
        writer.monitor_action(MonitorAction::Uncalibrated).unwrap();
    })
}

/// Scores that fall into all bins alike: those of two alone, counted, would be a shift.
#[test]
fn a_bin_without_probability_raises_no_alarm() {
    let edges: &[&[u32]] = &[&[0.2f32.to_bits(), 0.7f32.to_bits()]];
    for edges in [None, Some(edges)] {
        let bytes = with_an_empty_bin(edges);
        let mut device = watched(&bytes);
        for at in 0..1200 {
            let expected = [Ok(0.05), Err(Uncalibrated::EmptyBin), Ok(0.9)][at % 3];
            assert_eq!(predict(&mut device, at % 3).0, expected, "{at}");
        }
        match (edges, ask(&mut device, FIRST)) {
            (Some(_), ReplyBody::Counters(found)) => assert_eq!(found.predictions, [400; 3]),
            (None, refused) => {
                let table = CountersRefusal::Table { tables: 1 };
                assert_eq!(refused, ReplyBody::Refused(Refusal::Counters(table)));
            }
            (_, other) => panic!("{other:?}"),
        }
    }
}

/// What a device counted before it knew better is set back, although it is not told.
#[test]
fn counting_begins_anew_where_counters_are_refused() {
    let bytes = with_an_empty_bin(None);
    let mut monitors = Monitors::<3, 1>::new();
    monitors.begin(Some(&Artifact::parse(bytes.as_bytes()).unwrap()), false);
    // Three counts and an alarm of a shift.
    let words = [100, 0, 100, 38].into_iter().chain(core::iter::repeat(0));
    assert!(monitors.restore(&mut words.take(Monitors::<3, 1>::WORDS)));
    let mut device = acting_device(&bytes, monitors.room(), monitors);
    assert_eq!(predict(&mut device, 0), (Err(Uncalibrated::Alarmed), true));
    let anew = counters(&mut device, RequestBody::ResetCounters { calibrator: HELD });
    assert_eq!((&anew.predictions[..], anew.shift.raised), (&[0; 3][..], None));
    assert_eq!(predict(&mut device, 0), (Ok(0.05), false));
}
