//! `calib monitor --fleet-log`: what a device counts becomes a log that `calib fleet --verify` works out again.

use std::fs;

use calib_core::monitor::{ChangeMonitor, LogEvidence, ShiftMonitor};
use calib_core::wire::{
    Answer, Counters, KnownOutcomes, Persistence, Raised, Ranked, Reply, ReplyBody, Request, RequestBody,
    ScoreEcho, Watched,
};
use calib_core::{BinFlags, Calibrated, Outcome, Score};
use calib_host::StoredArtifact;
use serde_json::Value;

use crate::data::{binary, csv};
use crate::line::with_device;
use crate::transcript::add;
use crate::workplace::{Run, Workplace};

/// A device with a calibrator of four bins, which predicts by itself.
struct Device {
    stored: StoredArtifact,
    shift: ShiftMonitor<4>,
    change: ChangeMonitor<4>,
    labeled: u32,
    /// What it has saved, if it does: it tells nothing else.
    saved: Option<(ShiftMonitor<4>, ChangeMonitor<4>)>,
}

impl Device {
    fn new(place: &Workplace) -> Self {
        let stored = StoredArtifact::from_bytes(&fs::read(place.path().join("cal.bin")).unwrap()).unwrap();
        Self { stored, shift: ShiftMonitor::new(), change: ChangeMonitor::new(), labeled: 0, saved: None }
    }

    /// The same, with counters in flash.
    fn keeping(place: &Workplace) -> Self {
        Self { saved: Some((ShiftMonitor::new(), ChangeMonitor::new())), ..Self::new(place) }
    }

    /// Counts a prediction, as the firmware does.
    fn count(&mut self, bin: u16) -> ReplyBody {
        let artifact = self.stored.artifact();
        let monitors = artifact.monitors().unwrap();
        let (reference, alarms) = (monitors.reference(0).unwrap(), monitors.alarms());
        self.change.count(bin.into(), &self.shift, &reference, alarms.change);
        self.shift.count(bin.into());
        let is_time = match &mut self.saved {
            None => self.shift.total().is_multiple_of(16),
            // After 1, 3, 7 and so on.
            Some(_) => (self.shift.total() + 1).is_power_of_two(),
        };
        if is_time {
            self.shift.look(&reference, alarms.shift);
            self.saved = self.saved.as_ref().map(|_| (self.shift.clone(), self.change.clone()));
        }
        let (prob, flags) = (0.5, BinFlags::NONE);
        let outcome = Outcome::Calibrated(Calibrated { prob, bin, epsilon: None, flags, interval: None });
        let score = ScoreEcho::F32(Score::new(0.5).unwrap());
        ReplyBody::Answer(Answer::new(Ranked { class: 1, score, outcome }, false))
    }

    fn counters(&mut self) -> ReplyBody {
        let artifact = self.stored.artifact();
        let monitors = artifact.monitors().unwrap();
        let (reference, alarms) = (monitors.reference(0).unwrap(), monitors.alarms());
        let watched =
            |evidence, alarm, at: Option<u32>| Watched { evidence, alarm, raised: at.map(Raised::At) };
        if self.saved.is_none() {
            self.shift.look(&reference, alarms.shift);
        }
        let (shift, change) = self.saved.as_ref().map_or((&self.shift, &self.change), |(a, b)| (a, b));
        let changed = change.since_alarm().map(|since| shift.total() - u32::from(since));
        let persistence = self.saved.as_ref().map_or(Persistence::MemoryOnly, |_| {
            Persistence::SavedExcept(self.shift.total() - shift.total())
        });
        ReplyBody::Counters(Counters {
            calibrator: artifact.identity(),
            table: 0,
            tables: 1,
            predictions: shift.counts().iter().copied().collect(),
            outcomes: (0..4).map(|_| KnownOutcomes { labeled: self.labeled, positives: 0 }).collect(),
            shift: watched(shift.evidence(&reference), alarms.shift, shift.alarm_at()),
            change: watched(change.evidence(), alarms.change, changed),
            guarantee: Some(watched(LogEvidence::NONE, alarms.guarantee, None)),
            is_full: false,
            persistence,
            takes_outcomes: true,
            action: None,
        })
    }
    /// Runs the command and writes what it says, without what it counts, into the transcript.
    fn says(&mut self, place: &Workplace, line: &str, bins: &[Option<u16>]) {
        let run = self.run(place, line, bins);
        add(line, &Run { stdout: String::new(), ..run });
    }

    /// Runs the command with this device, which predicts in these bins after it was asked for the first time; those that are `None` are
    /// counted, and lost on the way.
    fn run(&mut self, place: &Workplace, line: &str, bins: &[Option<u16>]) -> Run {
        let line = line.strip_prefix("calib ").unwrap();
        let mut left = Some(bins);
        with_device(place.command(&format!("{line} --watch 0.2 --format json")), |Request { id, body }| {
            assert_eq!(body, RequestBody::Counters { table: 0 });
            let mut replies = vec![Reply { id, body: self.counters() }];
            for &bin in left.take().unwrap_or_default() {
                let body = self.count(bin.unwrap_or(0));
                replies.extend(bin.map(|_| Reply { id: 0, body }));
            }
            replies
        })
    }
}

fn place() -> Workplace {
    let place = Workplace::new().with("data.csv", csv(&binary(1999)));
    place.ok("calib fit data.csv --method umd --bins 4 --monitor --monitor-rarity 20,50,100 -o cal.bin");
    place
}

fn log(place: &Workplace) -> Vec<Value> {
    let text = place.text("ward-3.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const WRITE: &str = "calib monitor --fleet-log ward-3.jsonl --calibrator cal.bin";

#[test]
fn what_a_device_counts_and_answers_is_worked_out_again() {
    let place = place();
    // Every bin alike, and then the highest alone.
    let bins: Vec<Option<u16>> = (0..40).map(|at| Some(at % 4)).chain([Some(3); 60]).collect();
    // The first counters, the predictions, and the counters after them.
    Device::new(&place).says(&place, &format!("{WRITE} --lines 102"), &bins);
    let log = log(&place);
    assert_eq!((&log[0]["begin"]["device"], &log[0]["begin"]["looks_every"]), (&"ward-3".into(), &16.into()));
    let predicted = log.iter().filter(|line| line["predictions"]["bins"][0].is_u64()).count();
    assert_eq!(predicted, 100);
    let last = &log[log.len() - 1]["counters"];
    assert_eq!(last["predictions"], serde_json::json!([10, 10, 10, 70]));
    place.says("calib fleet cal.bin --verify ward-3.jsonl");
    let answers: Vec<&Value> =
        log.iter().map(|line| &line["answer"]).filter(|line| !line["alarm_at"].is_null()).collect();
    assert!(answers.iter().any(|answer| answer["monitor"] == "shift"), "{answers:?}");
    assert!(answers.iter().any(|answer| answer["monitor"] == "change"), "{answers:?}");

    // A log that is there stays.
    Device::new(&place).says(&place, WRITE, &[]);
    Device::new(&place).says(&place, &format!("{WRITE} --force --name a --lines 1"), &[]);
    assert_eq!(place.json("calib fleet cal.bin --verify ward-3.jsonl --json")["verified"][0]["device"], "a");
    said!();
}

/// What came since its last save is written when it is saved.
#[test]
fn of_a_device_that_tells_what_it_has_saved_nothing_else_is_in_the_log() {
    let place = place();
    let bins: Vec<Option<u16>> = (0..40).map(|at| Some(at % 4)).chain([Some(3); 60]).collect();
    let run = Device::keeping(&place).run(&place, &format!("{WRITE} --lines 102"), &bins);
    assert_eq!(run.code, 0, "{run:?}");
    let log = log(&place);
    assert_eq!(log[0]["begin"]["looks_every"], u32::MAX);
    let predicted = log.iter().filter(|line| line["predictions"]["bins"][0].is_u64()).count();
    assert_eq!(predicted, 63);
    assert_eq!(log[log.len() - 1]["counters"]["predictions"], serde_json::json!([10, 10, 10, 33]));
    let alarms = log.iter().filter(|line| line["answer"]["alarm_at"] == 63).count();
    assert!(alarms > 0, "{log:?}");
    let verified = place.ok("calib fleet cal.bin --verify ward-3.jsonl --fail-on-warning").stdout;
    assert!(verified.contains("63 predictions"), "{verified}");
    // A device that answers has looked: an alarm that it keeps to itself is noticed.
    let text = fs::read_to_string(place.path().join("ward-3.jsonl")).unwrap();
    fs::write(place.path().join("silent.jsonl"), text.replace("\"alarm_at\":63", "\"alarm_at\":null"))
        .unwrap();
    let silent = place.run("calib fleet cal.bin --verify silent.jsonl");
    assert_ne!(silent.code, 0, "{silent:?}");
}

#[test]
fn a_log_that_is_not_all_that_was_counted_ends() {
    let place = place();
    let mut device = Device::new(&place);
    device.says(&place, WRITE, &[Some(1), None, Some(3)]);
    // What it has is right.
    place.says("calib fleet cal.bin --verify ward-3.jsonl");

    device.says(&place, &format!("{WRITE} --force"), &[]);
    let mut told = Device::new(&place);
    told.labeled = 2;
    told.says(&place, &format!("{WRITE} --force"), &[]);

    place.ok("calib fit data.csv --method umd --bins 4 --monitor -o other.bin");
    let other = WRITE.replace("cal.bin", "other.bin");
    Device::new(&place).says(&place, &format!("{other} --force"), &[]);
    said!();
}

#[test]
fn a_calibrator_of_which_replies_do_not_tell_what_is_counted_is_refused() {
    let place = place();
    place.ok("calib fit data.csv --method umd --bins 4 -o plain.bin");
    place
        .ok("calib fit data.csv --method umd --bins 4 --monitor --monitor-action uncalibrated -o acting.bin");
    for calibrator in ["plain.bin", "acting.bin"] {
        let line = format!("{} --watch 1 --port none", WRITE.replace("cal.bin", calibrator));
        place.says(&line);
        assert!(!place.path().join("ward-3.jsonl").exists());
    }
    for line in [
        "calib monitor --port none --fleet-log a.jsonl --calibrator cal.bin",
        "calib monitor --port none --watch 1 --fleet-log a.jsonl",
        "calib monitor --port none --watch 1 --calibrator cal.bin",
    ] {
        place.says(line);
    }
    said!();
}
