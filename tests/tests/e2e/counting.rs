//! What a device counts, against the monitors and the definition on the host.

use calib_core::monitor::{LogEvidence, TableMonitors};
use calib_core::wire::{
    Counters, PredictionOutcome, Raised, ReplyBody, RequestBody, ScoreEcho, Scores, Values, Watched,
};
use calib_core::{Artifact, Calibrator, Score};
use calib_firmware::LOOK_EVERY;
use calib_host::artifact::Monitoring;
use calib_host::fleet::{DeviceCounters, FleetTable, aggregate};
use calib_host::io::device::serial::stored_counters;
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary,
};
use calib_tests::{Board, Emulator};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::harness::{ID, Image};

const BINS: usize = 12;
/// Predictions like those of the calibration, and then of another population.
const STREAM: [(usize, f32); 2] = [(400, 0.0), (200, 1.5)];
const OUTCOMES: usize = 350;

/// A feature of a population.
fn feature(random: &mut Xoshiro256PlusPlus, shift: f32) -> f32 {
    random.random_range(-3.0..3.0) + shift
}

/// A calibrator with monitors, of the scores that the classifier of one feature gives.
fn calibrator(image: &Image) -> StoredArtifact {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(21);
    let features: Vec<f32> = (0..3000).map(|_| feature(&mut random, 0.0)).collect();
    let scores = features.iter().map(|&x| f64::from(image.model.score(&[x]).unwrap().get())).collect();
    let labels = features.iter().map(|&x| random.random::<f32>() < 0.5 + x / 12.0).collect();
    let data = BinaryData::new(scores, labels).unwrap().on_device();
    let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(BINS)), 0.1).unwrap();
    let monitors = Some(Monitoring::default().change(1000));
    let options = ArtifactOptions::default().classifier(Some(ID)).monitors(monitors);
    StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap()
}

/// The host's monitors, which do what a device does.
struct Host<'a> {
    artifact: Artifact<'a>,
    monitors: TableMonitors<BINS>,
    changed_at: Option<u32>,
}

impl Host<'_> {
    fn bin(&self, score: Score) -> usize {
        let Calibrator::Binary(calibrator) = self.artifact.calibrator() else { panic!("not binary") };
        calibrator.calibrate(score).calibrated().unwrap().bin.into()
    }

    fn count(&mut self, score: Score) {
        let section = self.artifact.monitors().unwrap();
        let (reference, alarms) = (section.reference(0).unwrap(), section.alarms());
        let bin = self.bin(score);
        if self.monitors.count(bin, &reference, alarms.change) {
            self.changed_at = Some(self.monitors.shift().total());
        }
        if self.monitors.shift().total() % LOOK_EVERY == 0 {
            self.monitors.look_for_shift(&reference, alarms.shift);
        }
    }

    fn tell(&mut self, bin: usize, outcome: bool) -> LogEvidence {
        assert!(self.monitors.tell(bin, outcome));
        let tables = *self.artifact.tables();
        let guaranteed = (0..BINS as u16).map(|bin| tables.guaranteed(0, bin));
        self.monitors.look_at_guarantee(guaranteed, self.artifact.monitors().unwrap().alarms().guarantee)
    }
}

fn counters(device: &mut Emulator, request: RequestBody) -> Counters {
    match device.request(request).unwrap() {
        ReplyBody::Counters(counters) => counters,
        other => panic!("{other:?}"),
    }
}

/// By how much a device's evidence is below what the definition gives in doubles: never above, and hardly below.
fn below(watched: Watched, exact: f64, most: f64) -> f64 {
    let found = watched.evidence.units() as f64 / LogEvidence::UNITS as f64;
    assert!(found <= exact + 1e-9 && exact - found < most, "{found} {exact}");
    exact - found
}

/// The same stream on a device and on the host: the same counts, the same evidence to the last bit, and the same alarms; and as much
/// evidence as the definition gives, but for what fixed point rounds down.
fn counts_agree(board: Board) {
    let image = Image::stand_in(board, 1);
    let stored = calibrator(&image);
    let artifact = stored.artifact();
    let mut device = image.start_fast(stored.as_bytes());
    let mut host = Host { artifact, monitors: TableMonitors::new(), changed_at: None };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let stream: Vec<f32> = STREAM
        .iter()
        .flat_map(|&(count, shift)| (0..count).map(|_| feature(&mut random, shift)).collect::<Vec<_>>())
        .collect();
    // Between them trials, which are not counted.
    let requests = stream.iter().flat_map(|&x| {
        let features: Values = [x].into_iter().collect();
        [RequestBody::predict(Scores::Features(features)), RequestBody::predict(Scores::Score(0.99))]
    });
    let replies = device.pipeline(requests).unwrap();
    for (&x, reply) in stream.iter().zip(replies.iter().step_by(2)) {
        let score = image.model.score(&[x]).unwrap();
        let ReplyBody::Answer(prediction) = reply else { panic!("{reply:?}") };
        assert_eq!(prediction.score, ScoreEcho::F32(score));
        host.count(score);
    }
    let found = counters(&mut device, RequestBody::Counters { table: 0 });
    let section = artifact.monitors().unwrap();
    let alarms = section.alarms();
    let shift = host.monitors.look_for_shift(&section.reference(0).unwrap(), alarms.shift);
    assert_eq!((found.calibrator, found.table, found.tables), (artifact.identity(), 0, 1));
    assert_eq!(found.predictions[..], host.monitors.shift().counts()[..]);
    assert_eq!((found.shift.evidence, found.shift.alarm), (shift, alarms.shift));
    assert_eq!(found.shift.raised, host.monitors.shift().alarm_at().map(Raised::At));
    assert_eq!(found.change.evidence, host.monitors.change().evidence());
    assert_eq!(found.change.raised, host.changed_at.map(Raised::At));
    assert!(found.shift.raised.is_some() && found.change.raised.is_some(), "{found:?}");

    // Outcomes of before the shift: fewer happen than was guaranteed, and none is told twice.
    let mut known = [0; BINS];
    for &x in stream.iter().take(OUTCOMES) {
        let bin = host.bin(image.model.score(&[x]).unwrap());
        let is_positive = random.random::<f32>() < 0.05;
        let told = PredictionOutcome {
            calibrator: artifact.identity(),
            group: None,
            class: 1,
            bin: bin as u16,
            is_positive,
            known: known[bin],
        };
        known[bin] += 1;
        let evidence = host.tell(bin, is_positive);
        let once = counters(&mut device, RequestBody::Outcome(told));
        assert_eq!(counters(&mut device, RequestBody::Outcome(told)), once);
        assert_eq!(once.guarantee.unwrap().evidence, evidence);
    }
    let found = counters(&mut device, RequestBody::Counters { table: 0 });
    let outcomes = found.outcomes.iter().map(|known| (known.labeled, known.positives));
    assert!(outcomes.eq(host.monitors.guarantee().counts()));
    let guarantee = found.guarantee.unwrap();
    assert_eq!(guarantee.raised, host.monitors.guarantee().alarm_at().map(Raised::At));
    assert!(guarantee.raised.is_some(), "{guarantee:?}");

    let of_fleet = aggregated(&artifact, &found);
    let (shift, guaranteed) = (of_fleet.shift.log, of_fleet.guarantee.unwrap().log);
    println!(
        "{}: below the definition by {:.1e} (shift) and {:.1e} (guarantee)",
        board.name(),
        below(found.shift, shift, 1e-3),
        below(guarantee, guaranteed, 1e-3),
    );
}

/// What `calib fleet` makes of the counters.
fn aggregated(artifact: &Artifact<'_>, counters: &Counters) -> FleetTable {
    let stored: DeviceCounters = stored_counters("one", &[Some(counters.clone())]).unwrap();
    aggregate(artifact, &[stored], 0.05).unwrap().remove(0)
}

#[test]
fn a_core_with_a_floating_point_unit_counts_as_the_host_does() {
    counts_agree(Board::Mps2An386);
}

#[test]
fn every_other_core_does_so() {
    Board::ALL.iter().copied().filter(|&board| board != Board::Mps2An386).for_each(counts_agree);
}
