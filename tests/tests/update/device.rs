//! Calibrators replaced over a terminal.

use std::path::Path;

use calib_core::slot::{Refused, SignatureError, SlotFault};
use calib_core::wire::{Prediction, ReplyBody, RequestBody, UpdateRefusal};
use calib_core::{ClassifierId, Identity, Outcome, Uncalibrated};
use calib_host::{DeviceError, Link, PrivateKey, Stage, StoredArtifact, push};
use calib_tests::{Board, TtyDevice, kills};
use serialport::TTYPort;

use super::setting::{ID, calibrator, firmware, patience, virt};

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
    // The emulated nRF51's flash is zeros at first, as no chip's is.
    let (unused, uncalibrated) = match board {
        Board::Microbit => (SlotFault::Altered, Uncalibrated::BadArtifact),
        _ => (SlotFault::Blank, Uncalibrated::NoArtifact),
    };
    assert_eq!(device.slots().unwrap().slots, [Err(unused); 2]);
    let mut link = device.link(patience()).unwrap();
    let score = RequestBody::Score(0.7);
    assert_eq!(prob(link.ask(&score).unwrap()), Err(uncalibrated));

    let [first, second] = [calibrator(7, 2, Some(ID)), calibrator(40, 2, Some(ID))];
    let receipt = push(&mut link, &first, |_| ()).unwrap();
    assert_eq!((receipt.sequence, receipt.identity), (1, first.artifact().identity()));
    assert_eq!(prob(link.ask(&score).unwrap()), Ok(expected(&first, 0.7)));

    // In the middle of the next update the old table answers, until the new one is installed.
    let bytes = second.as_bytes();
    let announce =
        RequestBody::Announce { len_bytes: bytes.len() as u32, crc: calib_core::artifact::crc32c(bytes) };
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
    link.ask(&RequestBody::Announce {
        len_bytes: bytes.len() as u32,
        crc: calib_core::artifact::crc32c(bytes),
    })
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

/// Through the driver of Nordic's flash controller, which is that of the nRF52840, too.
#[test]
fn a_calibrator_is_replaced_in_the_flash_of_a_microbit() {
    updates(Board::Microbit, super::setting::microbit());
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
    link.ask(&RequestBody::Announce {
        len_bytes: bytes.len() as u32,
        crc: calib_core::artifact::crc32c(bytes),
    })
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
