//! Calibrators replaced over a terminal, on emulated boards with two slots.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use calib_core::wire::{Prediction, ReplyBody, RequestBody, UpdateRefusal};
use calib_core::{ClassifierId, Identity, Outcome, Refused, SignatureError, SlotFault, Uncalibrated};
use calib_firmware::{AlarmRule, LinearModel, LinearParameters};
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, DeviceError, Link, Patience, PrivateKey, Stage,
    StoredArtifact, Umd, artifact_bytes, fit_binary, push,
};
use calib_tests::{Board, TtyDevice, build_updatable_firmware, kills};
use serialport::TTYPort;

const ID: ClassifierId = ClassifierId(*b"updates!");

fn patience() -> Patience {
    Patience { reply: Duration::from_secs(2), tries: 15 }
}

/// The firmware of a board, for a classifier of two features.
fn firmware(board: Board, public_key: Option<&Path>) -> PathBuf {
    let model = LinearModel::new(LinearParameters {
        name: "updates".into(),
        id: ID,
        mean: vec![0.0; 2],
        scale: vec![1.0; 2],
        weights: vec![vec![1.0, 1.0]],
        bias: vec![0.0],
        alarm: AlarmRule::AtLeast(0.5),
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("classifier.json");
    model.save(&json).unwrap();
    build_updatable_firmware(board, &json, public_key).unwrap_or_else(|error| panic!("{error:#}"))
}

fn virt() -> &'static Path {
    static ELF: OnceLock<PathBuf> = OnceLock::new();
    ELF.get_or_init(|| firmware(Board::Virt, None))
}

/// A calibrator of so many bins; every number of bins is another one.
fn calibrator(bins: usize, counter: u32, classifier: Option<ClassifierId>) -> StoredArtifact {
    let scores = (0..2000).map(|i| f64::from(i) / 2000.0).collect();
    let labels = (0..2000).map(|i| i % 50 < i / 40).collect();
    let data = BinaryData::new(scores, labels).unwrap().on_device();
    let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(bins)), 0.1).unwrap();
    let options = ArtifactOptions { classifier, counter, ..ArtifactOptions::default() };
    StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap()
}

fn in_force(link: &mut Link<TTYPort>) -> Option<Identity> {
    let ReplyBody::Slots(slots) = link.ask(&RequestBody::Slots).unwrap() else { panic!("no slots") };
    slots.in_force.map(|slot| slots.slots[usize::from(slot)].unwrap().identity)
}

fn prob(reply: ReplyBody) -> Result<f32, Uncalibrated> {
    match reply {
        ReplyBody::Prediction(Prediction { outcome: Outcome::Calibrated(calibrated), .. }) => {
            Ok(calibrated.prob)
        }
        ReplyBody::Prediction(Prediction { outcome: Outcome::Uncalibrated(reason), .. }) => Err(reason),
        other => panic!("no prediction: {other:?}"),
    }
}

/// What the host says for a score.
fn expected(artifact: &StoredArtifact, score: f32) -> f32 {
    let artifact = artifact.artifact();
    let calib_core::Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("not binary") };
    calibrator.calibrate(calib_core::Score::new(score).unwrap()).prob
}

/// Pushes two calibrators, asks for predictions in the middle of the second push, and refuses what is to be refused.
fn updates(board: Board, elf: &Path) {
    let mut device = TtyDevice::new(board, elf).unwrap();
    device.switch_on().unwrap();
    assert_eq!(device.slots().unwrap().slots, [Err(SlotFault::Blank); 2]);
    let mut link = device.link(patience()).unwrap();
    let score = RequestBody::Score(0.7);
    assert_eq!(prob(link.ask(&score).unwrap()), Err(Uncalibrated::NoArtifact));

    let [first, second] = [calibrator(7, 2, Some(ID)), calibrator(40, 2, Some(ID))];
    let receipt = push(&mut link, &first, |_| ()).unwrap();
    assert_eq!((receipt.sequence, receipt.identity), (1, first.artifact().identity()));
    assert_eq!(prob(link.ask(&score).unwrap()), Ok(expected(&first, 0.7)));

    // In the middle of the next update the old table answers, until the new one is installed.
    let bytes = second.as_bytes();
    let announce = RequestBody::Announce { len_bytes: bytes.len() as u32, crc: calib_core::crc32c(bytes) };
    link.ask(&announce).unwrap();
    for (index, part) in bytes.chunks(100).enumerate() {
        let chunk = calib_core::wire::Chunk::from_slice(part).unwrap();
        link.ask(&RequestBody::Chunk { offset: 100 * index as u32, bytes: chunk }).unwrap();
        assert_eq!(prob(link.ask(&score).unwrap()), Ok(expected(&first, 0.7)));
    }
    let mut steps = 0;
    loop {
        let reply = link.ask(&RequestBody::Install).unwrap();
        let now = prob(link.ask(&score).unwrap());
        if matches!(reply, ReplyBody::Update(calib_core::wire::UpdateStatus::Installed(_))) {
            assert_eq!(now, Ok(expected(&second, 0.7)));
            break;
        }
        assert_eq!(now, Ok(expected(&first, 0.7)));
        steps += 1;
    }
    assert!(steps > 5, "the installation was not in steps: {steps}");
    assert_eq!(in_force(&mut link), Some(second.artifact().identity()));

    let refusals = [
        (calibrator(5, 1, Some(ID)), UpdateRefusal::Downgrade { held: 2, offered: 1 }),
        (
            calibrator(5, 3, Some(ClassifierId([9; 8]))),
            UpdateRefusal::Refused(Refused::OtherClassifier(Some(ClassifierId([9; 8])))),
        ),
    ];
    for (artifact, refusal) in refusals {
        match push(&mut link, &artifact, |_| ()) {
            Err(DeviceError::Refused(found)) => assert_eq!(found, refusal),
            other => panic!("not refused: {other:?}"),
        }
    }
    assert_eq!(in_force(&mut link), Some(second.artifact().identity()));
    // A push that was left off in the middle goes on where it stopped.
    let third = calibrator(60, 2, Some(ID));
    let bytes = third.as_bytes();
    link.ask(&RequestBody::Announce { len_bytes: bytes.len() as u32, crc: calib_core::crc32c(bytes) })
        .unwrap();
    let chunk = calib_core::wire::Chunk::from_slice(&bytes[..256]).unwrap();
    link.ask(&RequestBody::Chunk { offset: 0, bytes: chunk }).unwrap();
    drop(link);
    let mut first_stage = None;
    let mut link = device.link(patience()).unwrap();
    push(&mut link, &third, |stage| {
        first_stage.get_or_insert(stage);
    })
    .unwrap();
    assert_eq!(first_stage, Some(Stage::Sending { sent: 256, total: bytes.len() as u32 }));
    drop(link);
    if board == Board::Virt {
        device.switch_on().unwrap();
        let mut link = device.link(patience()).unwrap();
        assert_eq!(in_force(&mut link), Some(third.artifact().identity()), "flash keeps it without power");
    }
}

#[test]
fn a_calibrator_is_replaced_in_flash() {
    updates(Board::Virt, virt());
}

#[test]
fn a_calibrator_is_replaced_in_memory() {
    updates(Board::Mps2An386, &firmware(Board::Mps2An386, None));
}

#[test]
fn a_killed_update_leaves_the_old_calibrator_or_the_new_one() {
    let artifacts = [calibrator(30, 0, Some(ID)), calibrator(50, 0, Some(ID))];
    let report = kills(virt(), [&artifacts[0], &artifacts[1]], 6).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!((report.kills, report.old + report.new), (6, 6), "{report}");
}

#[test]
fn a_device_with_a_key_takes_only_what_is_signed_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let key_path = folder.path().join("key.pub");
    let (owner, stranger) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
    owner.public().write(&key_path, false).unwrap();
    let mut device = TtyDevice::new(Board::Virt, &firmware(Board::Virt, Some(&key_path))).unwrap();
    device.switch_on().unwrap();
    assert_eq!(device.slots().unwrap().trusted_key, Some(owner.public().id()));

    let plain = calibrator(9, 0, Some(ID));
    let signed = |key: &PrivateKey| StoredArtifact::from_bytes(&key.sign(&plain).unwrap()).unwrap();
    let mut link = device.link(patience()).unwrap();
    for artifact in [&plain, &signed(&stranger)] {
        assert!(matches!(push(&mut link, artifact, |_| ()), Err(DeviceError::Key { .. })));
    }
    // The device itself refuses, whatever the host says before.
    let bytes = plain.as_bytes();
    link.ask(&RequestBody::Announce { len_bytes: bytes.len() as u32, crc: calib_core::crc32c(bytes) })
        .unwrap();
    for (index, part) in bytes.chunks(256).enumerate() {
        let chunk = calib_core::wire::Chunk::from_slice(part).unwrap();
        link.ask(&RequestBody::Chunk { offset: 256 * index as u32, bytes: chunk }).unwrap();
    }
    let refused = UpdateRefusal::Refused(Refused::Signature(SignatureError::Missing));
    assert!(matches!(link.ask(&RequestBody::Install), Err(DeviceError::Refused(found)) if found == refused));
    push(&mut link, &signed(&owner), |_| ()).unwrap();
    assert_eq!(in_force(&mut link), Some(plain.artifact().identity()));
}

#[test]
fn the_command_pushes_and_shows_the_status() {
    let Some(calib) = command() else {
        panic!("the command did not build");
    };
    let folder = tempfile::tempdir().unwrap();
    let artifact = calibrator(11, 4, Some(ID));
    std::fs::write(folder.path().join("cal.bin"), artifact.as_bytes()).unwrap();
    let mut device = TtyDevice::new(Board::Virt, virt()).unwrap();
    device.switch_on().unwrap();
    device.slots().unwrap();
    let run = |args: &[&str]| {
        let line = ["--port", device.port().unwrap(), "--timeout", "2", "--tries", "15"];
        Command::new(&calib).current_dir(folder.path()).args(args).args(line).output().unwrap()
    };
    let pushed = run(&["push", "cal.bin", "--json"]);
    assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
    let pushed: serde_json::Value = serde_json::from_slice(&pushed.stdout).unwrap();
    let identity = artifact.artifact().identity().to_string();
    assert_eq!((pushed["identity"].as_str(), pushed["sequence"].as_u64()), (Some(&*identity), Some(1)));

    let status: serde_json::Value = serde_json::from_slice(&run(&["status", "--json"]).stdout).unwrap();
    assert_eq!(status["slots"]["slots"][0]["identity"].as_str(), Some(&*identity));
    assert_eq!(status["slots"]["slots"][0]["counter"].as_u64(), Some(4));
    assert_eq!(status["device"]["calibrator"]["identity"].as_str(), Some(&*identity));
    let shown = String::from_utf8(run(&["status"]).stdout).unwrap();
    assert!(shown.contains("in force") && shown.contains("slot is blank"), "{shown}");

    let lower = calibrator(11, 3, Some(ID));
    std::fs::write(folder.path().join("lower.bin"), lower.as_bytes()).unwrap();
    let refused = run(&["push", "lower.bin"]);
    assert_eq!(refused.status.code(), Some(5));
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(words.contains("counter is 3, below 4") && words.contains("--counter 4"), "{words}");
}

/// Builds `calib`, light.
fn command() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .current_dir(workspace)
        .args(["build", "--quiet", "--locked", "--package", "calib-host", "--no-default-features"])
        .args(["--features", "serial"])
        .status()
        .ok()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(workspace.join("target"), PathBuf::from);
    built.success().then(|| target.join("debug/calib"))
}
