//! What the library for C counts, against the monitors in Rust: the same counts, the same evidence to the last bit, the same alarms.

use std::collections::BTreeMap;
use std::fs;

use calib_core::artifact::{HeaderFlags, Method, MonitorParts, Reduction, Table, TableForm};
use calib_core::predict::{Query, Ranked};
use calib_core::wire::{
    Counters, CountersRefusal, Persistence, PredictionOutcome, Raised, Refusal, ReplyBody, RequestBody,
    Watched,
};
use calib_core::{
    Anybody, Artifact, ClassifierId, Logits, Margin, MarginTable, Outcome, Score, ScoreEncoding, StepTable,
};
use calib_firmware::{Monitors, Output, Slot, Task, Watch};
use calib_host::artifact::Monitoring;
use calib_host::reduction::{Problems, fit_reduction};
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, ReductionOptions, StoredArtifact, Umd, artifact_bytes,
    fit_binary,
};
use calib_tests::overconfident_logits;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::in_c;
use crate::exported::rules::artifact;

/// Predictions like those of the calibration, and then of another population; as many outcomes as of the first.
const STREAM: [usize; 2] = [400, 200];
/// How many tables are read, more than any counters have room for.
const READ: u16 = 11;
const NO_GROUP: u32 = 256;

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    One,
    Many,
}

struct Case {
    name: &'static str,
    shape: Shape,
    stored: StoredArtifact,
    /// A row of scores, of another population if it is shifted.
    row: fn(&mut Xoshiro256PlusPlus, bool) -> Vec<f32>,
}

fn monitored() -> ArtifactOptions {
    let monitors = Some(Monitoring::default().change(1000));
    ArtifactOptions::default().monitors(monitors)
}

fn binary(bins: usize) -> StoredArtifact {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(21);
    let scores: Vec<f64> = (0..3000).map(|_| random.random::<f32>().into()).collect();
    let labels = scores.iter().map(|&score| random.random::<f64>() < score).collect();
    let data = BinaryData::new(scores, labels).unwrap().on_device();
    let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(bins)), 0.1).unwrap();
    StoredArtifact::from_bytes(&artifact_bytes(&fit, &monitored()).unwrap()).unwrap()
}

fn of_classes(reduction: Reduction) -> StoredArtifact {
    let (data, labels) = overconfident_logits(3, 3000).unwrap();
    let problems = Problems::new(&data, &labels, reduction).unwrap();
    let options = ReductionOptions::new(BinaryMethod::Umd(Umd::new(1))).rows_per_bin(Some(150));
    let fit = fit_reduction(&problems, &options, 0.1).unwrap();
    StoredArtifact::from_bytes(&artifact_bytes(&fit, &monitored()).unwrap()).unwrap()
}

/// Margins, with bins of the monitors' own.
fn margins() -> StoredArtifact {
    let steps = MarginTable::new(&[0.0], &[0.25, 0.75]).unwrap();
    let tables = [Some(Table { form: TableForm::MarginSteps(steps), epsilon: None })];
    let key = |margin: f32| Margin::new(margin).unwrap().key();
    let edges = [key(-1.0), key(0.0), key(1.0)];
    let parts = MonitorParts {
        shift: 20,
        change: 1000,
        guarantee: 100,
        gaps: &[&[50, 51, 50, 51]],
        edges: Some(&[&edges]),
    };
    let binary = (Method::Isotonic, Reduction::Binary, 2);
    artifact(binary, ScoreEncoding::Margin, (2, HeaderFlags::NONE), |writer| {
        writer.tables(&tables).unwrap();
        writer.monitors(&parts).unwrap();
    })
}

/// Two groups, with a table for each.
fn groups() -> StoredArtifact {
    let tables = [[0.25f32, 0.75], [0.125, 0.5]].map(|values| {
        let steps = StepTable::new(&[0.5], Box::leak(Box::new(values))).unwrap();
        Some(Table { form: TableForm::Steps(steps), epsilon: None })
    });
    let parts =
        MonitorParts { shift: 20, change: 1000, guarantee: 100, gaps: &[&[50, 51], &[50, 51]], edges: None };
    let binary = (Method::Isotonic, Reduction::Binary, 2);
    artifact(binary, ScoreEncoding::F32, (4, HeaderFlags::GROUPED), |writer| {
        writer.tables(&tables).unwrap();
        writer.groups(&["f", "m"]).unwrap();
        writer.monitors(&parts).unwrap();
    })
}

fn cases() -> Vec<Case> {
    let score = |random: &mut Xoshiro256PlusPlus, shifted| {
        let score: f32 = random.random();
        vec![if shifted { score.sqrt() } else { score }]
    };
    let margin = |random: &mut Xoshiro256PlusPlus, shifted| {
        vec![random.random_range(-2.0f32..2.0) + if shifted { 1.0 } else { 0.0 }]
    };
    let logits = |random: &mut Xoshiro256PlusPlus, shifted| {
        let spread = if shifted { 1.0 } else { 6.0 };
        (0..3).map(|_| random.random_range(-spread..spread)).collect()
    };
    let case = |name, shape, stored, row| Case { name, shape, stored, row };
    vec![
        case("binary", Shape::One, binary(12), score as fn(&mut _, _) -> _),
        case("binary, 32 bins", Shape::One, binary(32), score),
        case("binary among many", Shape::Many, binary(12), score),
        case("by confidence", Shape::One, of_classes(Reduction::Confidence), logits),
        case("by predicted class", Shape::Many, of_classes(Reduction::TopLabel), logits),
        case("margins", Shape::One, margins(), margin),
        case("groups", Shape::Many, groups(), score),
    ]
}

/// The monitors in Rust, and the words that are sent and expected.
struct Both<'a, const BINS: usize, const TABLES: usize> {
    artifact: Artifact<'a>,
    slot: Slot<'a>,
    monitors: Monitors<BINS, TABLES>,
    sent: Vec<u32>,
    expected: Vec<u32>,
    steps: u32,
    alarms: [usize; 3],
    /// How many outcomes were told of each bin.
    known: BTreeMap<(Option<u8>, u16, u16), u32>,
}

impl<const BINS: usize, const TABLES: usize> Both<'_, BINS, TABLES> {
    fn step(&mut self, words: impl IntoIterator<Item = u32>) {
        self.sent.extend(words);
        self.steps += 1;
    }

    fn predict(&mut self, row: &[f32], group: Option<u8>) -> Ranked {
        let (kind, output) = match (row, self.artifact.header().encoding.is_margin()) {
            ([score], false) => (0, Output::Score(Score::new(*score).unwrap())),
            ([margin], true) => (1, Output::Margin(Margin::new(*margin).unwrap())),
            (logits, _) => (2, Output::Logits(Logits::new(logits).unwrap())),
        };
        self.step([0, kind, group.map_or(NO_GROUP, u32::from), row.len() as u32]);
        self.sent.extend(row.iter().map(|value| value.to_bits()));
        let prediction = self.slot.predict(&Query { output, group, word: None }).unwrap();
        self.monitors.count(&self.artifact, prediction.group, &prediction.first);
        self.expected.push(0);
        prediction.first
    }

    fn tell(&mut self, number: usize, group: Option<u8>, prediction: &Ranked, is_positive: bool) {
        self.step([1, number as u32, group.map_or(NO_GROUP, u32::from), is_positive.into()]);
        let calibrator = self.artifact.identity();
        let Outcome::Calibrated(calibrated) = prediction.outcome else {
            return self.expected.push(-73i32 as u32);
        };
        let (class, bin) = (prediction.class, calibrated.bin);
        // By confidence all classes share a table.
        let of_class = if self.artifact.header().reduction == Reduction::TopLabel { class } else { 0 };
        let known = self.known.entry((group, of_class, bin)).or_default();
        let told = PredictionOutcome { calibrator, group, class, bin, is_positive, known: *known };
        let error = match self.monitors.answer(Some(&self.artifact), &RequestBody::Outcome(told), true) {
            ReplyBody::Counters(_) => {
                *known += 1;
                0
            }
            ReplyBody::Refused(Refusal::Counters(CountersRefusal::NoPrediction)) => -74,
            other => panic!("{other:?}"),
        };
        self.expected.push(error as u32);
    }

    fn read(&mut self) {
        self.step([2]);
        for table in 0..READ {
            match self.monitors.answer(Some(&self.artifact), &RequestBody::Counters { table }, true) {
                ReplyBody::Counters(counters) => self.expect(&counters),
                ReplyBody::Refused(Refusal::Counters(CountersRefusal::Room { .. })) => {
                    self.expected.push(-71i32 as u32);
                }
                ReplyBody::Refused(Refusal::Counters(CountersRefusal::Table { .. })) => {
                    self.expected.push(-70i32 as u32);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn expect(&mut self, counters: &Counters) {
        let watched = [Some(counters.shift), Some(counters.change), counters.guarantee];
        for (alarms, watched) in self.alarms.iter_mut().zip(&watched) {
            *alarms += usize::from(watched.is_some_and(|watched| watched.raised.is_some()));
        }
        let words = &mut self.expected;
        words.push(0);
        words.extend(watched.into_iter().flat_map(evidence));
        for bin in 0..32 {
            let known = counters.outcomes.get(bin).copied().unwrap_or_default();
            let predictions = counters.predictions.get(bin).copied().unwrap_or(0);
            words.extend([predictions, known.labeled, known.positives]);
        }
        assert_eq!(counters.persistence, Persistence::MemoryOnly);
        let bins = [counters.predictions.len() as u32, counters.outcomes.len() as u32];
        words.extend([counters.table.into(), counters.tables.into(), bins[0], bins[1], 0]);
        words.push(counters.is_full.into());
    }

    fn reset(&mut self) {
        self.step([3]);
        self.known.clear();
        let request = RequestBody::ResetCounters { calibrator: self.artifact.identity() };
        assert!(matches!(self.monitors.answer(Some(&self.artifact), &request, true), ReplyBody::Counters(_)));
        self.expected.push(0);
    }

    fn restart(&mut self) {
        self.step([4]);
        let words: Vec<u32> = self.monitors.words().collect();
        self.monitors = Monitors::new();
        self.monitors.begin(Some(&self.artifact), false);
        assert!(self.monitors.restore(&mut words.into_iter()));
        self.expected.push(0);
    }
}

fn evidence(watched: Option<Watched>) -> [u32; 9] {
    let Some(Watched { evidence, alarm, raised }) = watched else { return [0; 9] };
    let halves = |units: i64| [units as u32, (units >> 32) as u32];
    let ([low, high], [alarm_low, alarm_high]) = (halves(evidence.units()), halves(alarm.units()));
    let (raised, at) = match raised {
        None => (0, 0),
        Some(Raised::At(at)) => (1, at),
        Some(Raised::By(at)) => (2, at),
    };
    [low, high, alarm_low, alarm_high, evidence.odds(), alarm.odds(), at, raised, 1]
}

/// Plays a stream to the monitors in Rust, and writes it down for those in C.
fn played<const BINS: usize, const TABLES: usize>(case: &Case) -> (Vec<u32>, Vec<u32>, [usize; 3]) {
    let artifact = case.stored.artifact();
    let kind = match artifact.header().reduction {
        Reduction::Binary => Task::Binary,
        _ => Task::TopLabel { classes: artifact.header().classes },
    };
    let slot = Slot::read(case.stored.as_bytes(), Anybody, ClassifierId([0; 8]), kind);
    let mut monitors = Monitors::<BINS, TABLES>::new();
    monitors.begin(Some(&artifact), false);
    let (sent, expected) = (Vec::new(), Vec::new());
    let mut both =
        Both { artifact, slot, monitors, sent, expected, steps: 0, alarms: [0; 3], known: BTreeMap::new() };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let is_grouped = artifact.header().flags.contains(HeaderFlags::GROUPED);
    let mut predictions = Vec::new();
    for (count, shifted) in STREAM.into_iter().zip([false, true]) {
        for place in 0..count {
            let group = is_grouped.then_some((place % 2) as u8);
            let row = (case.row)(&mut random, shifted);
            predictions.push((group, both.predict(&row, group)));
        }
        both.read();
        both.restart();
    }
    for (number, (group, prediction)) in predictions.iter().enumerate().take(STREAM[0]) {
        both.tell(number, *group, prediction, random.random::<f32>() < 0.02);
        if number % 100 == 0 {
            both.read();
        }
    }
    both.restart();
    both.read();
    both.reset();
    both.read();
    // What was predicted before is not counted any more.
    let (group, prediction) = predictions[0];
    both.step([1, 0, group.map_or(NO_GROUP, u32::from), 1]);
    both.expected.push(if prediction.outcome.calibrated().is_some() { -77i32 } else { -73 }.cast_unsigned());
    let bytes = case.stored.as_bytes();
    let mut file = vec![(case.shape == Shape::Many).into(), bytes.len() as u32];
    file.extend(bytes.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    }));
    file.push(both.steps);
    file.append(&mut both.sent);
    (file, both.expected, both.alarms)
}

#[test]
fn c_counts_as_rust_does() {
    let folder = tempfile::tempdir().unwrap();
    let program = in_c::program(folder.path(), "counting.c");
    let [question, answer] = ["asked", "answered"].map(|name| folder.path().join(name));
    let mut all = [0; 3];
    for case in cases() {
        let (file, expected, alarms) = match case.shape {
            Shape::One => played::<32, 1>(&case),
            Shape::Many => played::<15, 10>(&case),
        };
        fs::write(&question, file.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
        in_c::run(&program, &[question.clone(), answer.clone()]);
        let bytes = fs::read(&answer).unwrap();
        let got: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let differs = (0..expected.len().max(got.len())).find(|&at| got.get(at) != expected.get(at));
        assert_eq!(differs, None, "{}: {} words, {} expected", case.name, got.len(), expected.len());
        println!("{}: {} words agree, alarms {alarms:?}", case.name, got.len());
        all.iter_mut().zip(alarms).for_each(|(all, alarms)| *all += alarms);
    }
    assert!(all.into_iter().all(|alarms| alarms > 5), "every alarm is raised: {all:?}");
}
