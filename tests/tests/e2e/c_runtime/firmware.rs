//! The firmware in C on emulated boards: updated over its serial line as the one in Rust, and with the host's bits.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use calib_core::artifact::{MonitorAction, crc32c};
use calib_core::wire::{
    Chunk, MAX_CHUNK, MAX_FRAME, ReplyBody, Request, RequestBody, ScoreEcho, Scores, UpdateStatus, encode,
};
use calib_core::{AlarmRule, Score, Uncalibrated};
use calib_host::StoredArtifact;
use calib_tests::{Board, Emulator, TtyDevice, bare_scores, build_c_firmware, calib};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::harness::random_inputs;
use crate::update::device::updates;
use crate::update::monitor_action::acts_until_it_counts_anew;
use crate::update::setting::{ID, calibrator, json, monitored, retry_policy, run, words};

const RULE: AlarmRule = AlarmRule::AtLeast(0.5);

fn mps2() -> &'static PathBuf {
    static ELF: OnceLock<PathBuf> = OnceLock::new();
    ELF.get_or_init(|| elf(Board::Mps2An386))
}

fn elf(board: Board) -> PathBuf {
    let id = std::str::from_utf8(&ID.0).unwrap();
    build_c_firmware(board, id).unwrap_or_else(|error| panic!("{error:#}"))
}

/// What the firmware's tree says of two features, written once more.
fn tree([first, second]: [f32; 2]) -> f32 {
    match (first < 0.0, second) {
        (true, second) if second < -0.5 => 0.031_25,
        (true, _) if first < -1.25 => 0.187_5,
        (true, _) => 0.437_5,
        (false, second) if second < 0.75 => 0.625,
        (false, _) if first < 1.5 => 0.843_75,
        (false, _) => 0.968_75,
    }
}

/// Sends a calibrator over the line, in whole steps.
fn install(device: &mut Emulator, artifact: &StoredArtifact) {
    let bytes = artifact.as_bytes();
    device.request(RequestBody::Announce { len_bytes: bytes.len() as u32, crc: crc32c(bytes) }).unwrap();
    let parts = bytes.chunks(MAX_CHUNK).enumerate().map(|(index, part)| RequestBody::Chunk {
        offset: (index * MAX_CHUNK) as u32,
        bytes: Chunk::from_slice(part).unwrap(),
    });
    for part in parts {
        device.request(part).unwrap();
    }
    for _ in 0..1000 {
        match device.request(RequestBody::Install).unwrap() {
            ReplyBody::Update(UpdateStatus::Installed(_)) => return,
            ReplyBody::Update(_) => {}
            other => panic!("{other:?}"),
        }
    }
    panic!("it is never installed");
}

#[test]
fn a_calibrator_is_replaced_on_a_cortex_m4() {
    updates(Board::Mps2An386, mps2());
}

#[test]
fn a_calibrator_is_replaced_in_the_flash_of_a_microbit() {
    updates(Board::Microbit, &elf(Board::Microbit));
}

#[test]
fn it_says_uncalibrated_and_then_what_the_host_says() {
    let mut device = Emulator::start_fast(Board::Mps2An386, mps2(), None).unwrap();
    let ReplyBody::Status(status) = device.request(RequestBody::Status).unwrap() else { panic!("no status") };
    assert_eq!((status.classifier.as_str(), status.classifier_id, status.features), ("tree", ID, 2));
    assert!(status.stack_high_water_bytes > 500 && status.calibrator.is_err(), "{status:?}");
    let ReplyBody::Answer(empty) = device.request(RequestBody::predict(Scores::Score(0.25))).unwrap() else {
        panic!("refused")
    };
    assert!(empty.alarm && empty.outcome.calibrated().is_none());
    assert_eq!(empty.outcome, calib_core::Outcome::Uncalibrated(Uncalibrated::NoArtifact));

    let artifact = calibrator(40, 0, Some(ID));
    install(&mut device, &artifact);
    let parity = bare_scores(&mut device, RULE, &artifact.artifact(), random_inputs(10_000), 5).unwrap();
    assert_eq!(parity.differences, [""; 0]);
    assert!(parity.predictions.len() >= random_inputs(10_000));
    assert!(
        parity.predictions.iter().any(|one| one.alarm) && parity.predictions.iter().any(|one| !one.alarm)
    );

    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..random_inputs(800) {
        let row = [rng.random_range(-3.0f32..3.0), rng.random_range(-2.0f32..2.0)];
        let reply =
            device.request(RequestBody::predict(Scores::Features(row.into_iter().collect()))).unwrap();
        let ReplyBody::Answer(prediction) = &reply else { panic!("{reply:?}") };
        assert_eq!(prediction.score, ScoreEcho::F32(Score::new(tree(row)).unwrap()), "{row:?}");
        let of_score = calib_tests::expected(
            RULE,
            &artifact.artifact(),
            &RequestBody::predict(Scores::Score(tree(row))),
        );
        assert_eq!(reply, of_score.unwrap(), "{row:?}");
        seen.insert(tree(row).to_bits());
    }
    assert_eq!(seen.len(), 6, "every leaf");
    let measure = RequestBody::Measure { features: [0.5, 1.0].into_iter().collect(), repeat: 100 };
    let reply = device.request(measure).unwrap();
    assert!(matches!(&reply, ReplyBody::Measurement(measured) if measured.repeat == 100), "{reply:?}");
    let ReplyBody::Status(status) = device.request(RequestBody::Status).unwrap() else { panic!("no status") };
    println!("stack {} bytes", status.stack_high_water_bytes);
    assert!(status.stack_high_water_bytes < 16 * 1024);
}

#[test]
fn the_commands_work_on_it_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = calibrator(11, 4, Some(ID));
    fs::write(folder.path().join("cal.bin"), artifact.as_bytes()).unwrap();
    let mut device = TtyDevice::new(Board::Mps2An386, mps2()).unwrap();
    device.switch_on().unwrap();
    device.slots().unwrap();
    let port = device.port().unwrap().to_owned();
    let run = |args: &[&str]| done(folder.path(), args, &port);
    let empty = json(&run(&["status", "--json"]));
    assert!(empty["slots"]["active"].is_null(), "{empty}");
    run(&["push", "cal.bin"]);
    let identity = artifact.artifact().identity().to_string();
    let status = json(&run(&["status", "--json"]));
    assert_eq!(status["device"]["calibrator"]["identity"].as_str(), Some(&*identity), "{status}");
    assert_eq!(status["device"]["classifier"].as_str(), Some("tree"), "{status}");
    watched(&mut device, &port);
}

/// What it counts is told by `calib status`, takes outcomes by `calib label`, and begins anew with another calibrator.
#[test]
fn what_it_counts_is_shown_by_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = monitored(11, 0, Some(ID));
    for (name, artifact) in [("first.bin", &artifact), ("second.bin", &monitored(12, 0, Some(ID)))] {
        fs::write(folder.path().join(name), artifact.as_bytes()).unwrap();
    }
    let mut device = TtyDevice::new(Board::Mps2An386, mps2()).unwrap();
    device.switch_on().unwrap();
    device.slots().unwrap();
    let port = device.port().unwrap().to_owned();
    let run = |args: &[&str]| done(folder.path(), args, &port);
    let monitors = || {
        let status = json(&run(&["status", "--json"]));
        let stack_bytes = status["device"]["stack_high_water_bytes"].as_u64();
        assert!(stack_bytes.is_some_and(|bytes| bytes < 12 * 1024), "{status}");
        status["monitors"][0].clone()
    };
    run(&["push", "first.bin"]);
    assert_eq!(monitors()["predictions"].as_array().map(|bins| counted(bins)), Some(0));

    let row = [1.0f32, 0.5];
    let calib_core::Calibrator::Binary(binary) = artifact.artifact().calibrator() else {
        panic!("not binary")
    };
    let bin = binary.calibrate(Score::new(tree(row)).unwrap()).calibrated().unwrap().bin;
    let mut link = device.link(retry_policy()).unwrap();
    for _ in 0..60 {
        link.ask(&RequestBody::predict(Scores::Features(row.into_iter().collect()))).unwrap();
        // Nobody knows where this score comes from.
        link.ask(&RequestBody::predict(Scores::Score(0.1))).unwrap();
    }
    drop(link);
    let found = monitors();
    let predictions = found["predictions"].as_array().unwrap();
    assert_eq!((counted(predictions), predictions[usize::from(bin)].as_u64()), (60, Some(60)), "{found}");
    assert!(!found["shift"]["raised_at"].is_null() && !found["change"]["raised_at"].is_null(), "{found}");
    fs::write(folder.path().join("outcomes.csv"), format!("class,bin,label\n1,{bin},0\n1,{bin},1\n"))
        .unwrap();
    run(&["label", "outcomes.csv"]);
    let found = monitors();
    assert_eq!(found["labeled"][usize::from(bin)].as_u64(), Some(2), "{found}");

    run(&["push", "second.bin"]);
    assert_eq!(monitors()["predictions"].as_array().map(|bins| counted(bins)), Some(0));
}

#[test]
fn what_a_calibrator_asks_for_on_an_alarm_is_done() {
    acts_until_it_counts_anew(Board::Mps2An386, mps2(), MonitorAction::Uncalibrated);
}

/// What `calib` says on the device at a port, which must take it.
fn done(folder: &Path, args: &[&str], port: &str) -> Output {
    let output = run(folder, args, port);
    assert!(output.status.success(), "{args:?}: {}", words(&output));
    output
}

fn counted(bins: &[serde_json::Value]) -> u64 {
    bins.iter().map(|bin| bin.as_u64().unwrap()).sum()
}

/// `calib monitor` shows what the device answers to another program on the line.
fn watched(device: &mut TtyDevice, port: &str) {
    let mut monitor = Command::new(calib())
        .args(["monitor", "--format", "csv", "--port", port])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(monitor.stdout.take().unwrap());
    let shown = AtomicBool::new(false);
    let line = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut line = String::new();
            // The first line names the columns.
            for _ in 0..2 {
                line.clear();
                lines.read_line(&mut line).unwrap();
            }
            shown.store(true, Ordering::Relaxed);
            line
        });
        for id in 1..600 {
            if shown.load(Ordering::Relaxed) {
                break;
            }
            let request = Request { id, body: RequestBody::predict(Scores::Score(0.7)) };
            device.send_bytes(encode(&request, &mut [0; MAX_FRAME]).unwrap()).unwrap();
            thread::sleep(Duration::from_millis(100));
        }
        reader.join().unwrap()
    });
    monitor.kill().unwrap();
    monitor.wait().unwrap();
    assert!(line.contains("0.7"), "{line}");
}
