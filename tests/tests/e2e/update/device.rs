//! Calibrators replaced over a terminal.

use std::path::Path;

use calib_core::slot::{Refused, SignatureError, SlotFault};
use calib_core::wire::{
    Answer, Chunk, Questions, ReplyBody, RequestBody, Scores, UpdateRefusal, UpdateStatus,
};
use calib_core::{ClassifierId, Identity, Outcome, Uncalibrated};
use calib_host::StoredArtifact;
use calib_host::io::device::serial::{DeviceError, Link, Stage, push};
use calib_host::io::files::{KeyChain, PrivateKey};
use calib_tests::{Board, TtyDevice, changes, kills};
use serialport::TTYPort;

use super::setting::{
    self, ID, NEXT_ID, calibrator, firmware, next_firmware, owner, retry_policy, signed, virt,
};

/// What the device is asked for a probability of.
const SCORE: RequestBody = RequestBody::predict(Scores::Score(0.7));

fn in_force(link: &mut Link<TTYPort>) -> Option<Identity> {
    let ReplyBody::Slots(slots) = link.ask(&RequestBody::Slots).unwrap() else { panic!("no slots") };
    slots.in_force.map(|slot| slots.slots[usize::from(slot)].unwrap().identity)
}

fn prob(reply: ReplyBody) -> Result<f32, Uncalibrated> {
    match reply {
        ReplyBody::Answer(Answer { outcome: Outcome::Calibrated(calibrated), .. }) => Ok(calibrated.prob),
        ReplyBody::Answer(Answer { outcome: Outcome::Uncalibrated(reason), .. }) => Err(reason),
        other => panic!("no prediction: {other:?}"),
    }
}

/// What the host says for it.
fn expected(artifact: &StoredArtifact) -> f32 {
    setting::prob(artifact, 0.7)
}

/// Announces bytes, without sending any.
fn announce(link: &mut Link<TTYPort>, bytes: &[u8]) {
    let announce =
        RequestBody::Announce { len_bytes: bytes.len() as u32, crc: calib_core::artifact::crc32c(bytes) };
    link.ask(&announce).unwrap();
}

/// Sends the part of the announced bytes that begins at `offset`.
fn send(link: &mut Link<TTYPort>, offset: usize, part: &[u8]) {
    let bytes = Chunk::from_slice(part).unwrap();
    link.ask(&RequestBody::Chunk { offset: offset as u32, bytes }).unwrap();
}

/// Pushes two calibrators, asks for predictions in the middle of the second push, and refuses what is to be refused.
pub(crate) fn updates(board: Board, elf: &Path) {
    let mut device = TtyDevice::new(board, elf).unwrap();
    device.switch_on().unwrap();
    // The emulated nRF51's flash is zeros at first, as no chip's is.
    let (unused, uncalibrated) = match board {
        Board::Microbit => (SlotFault::Altered, Uncalibrated::BadArtifact),
        _ => (SlotFault::Blank, Uncalibrated::NoArtifact),
    };
    assert_eq!(device.slots().unwrap().slots, [Err(unused); 2]);
    let mut link = device.link(retry_policy()).unwrap();
    assert_eq!(prob(link.ask(&SCORE).unwrap()), Err(uncalibrated));

    let [first, second] = [calibrator(7, 2, Some(ID)), calibrator(40, 2, Some(ID))];
    let receipt = push(&mut link, &first, |_| ()).unwrap();
    assert_eq!((receipt.sequence, receipt.identity), (1, first.artifact().identity()));
    assert_eq!(prob(link.ask(&SCORE).unwrap()), Ok(expected(&first)));
    answers_while_it_is_replaced(&mut link, &first, &second);
    refuses(&mut link, &second);
    let third = calibrator(60, 2, Some(ID));
    goes_on(&device, link, &third);
    if board == Board::Virt {
        device.switch_on().unwrap();
        let mut link = device.link(retry_policy()).unwrap();
        assert_eq!(in_force(&mut link), Some(third.artifact().identity()), "flash keeps it without power");
    }
}

/// In the middle of an update the old table answers, until the new one is installed.
fn answers_while_it_is_replaced(link: &mut Link<TTYPort>, old: &StoredArtifact, new: &StoredArtifact) {
    announce(link, new.as_bytes());
    for (index, part) in new.as_bytes().chunks(100).enumerate() {
        send(link, 100 * index, part);
        assert_eq!(prob(link.ask(&SCORE).unwrap()), Ok(expected(old)));
    }
    let mut steps = 0;
    loop {
        let reply = link.ask(&RequestBody::Install).unwrap();
        let now = prob(link.ask(&SCORE).unwrap());
        if matches!(reply, ReplyBody::Update(UpdateStatus::Installed(_))) {
            assert_eq!(now, Ok(expected(new)));
            break;
        }
        assert_eq!(now, Ok(expected(old)));
        steps += 1;
    }
    assert!(steps > 5, "the installation was not in steps: {steps}");
    assert_eq!(in_force(link), Some(new.artifact().identity()));
}

/// A lower counter and another classifier are refused, and what is in force stays.
fn refuses(link: &mut Link<TTYPort>, held: &StoredArtifact) {
    let stranger = ClassifierId([9; 8]);
    let refusals = [
        (calibrator(5, 1, Some(ID)), UpdateRefusal::Downgrade { held: 2, offered: 1 }),
        (calibrator(5, 3, Some(stranger)), UpdateRefusal::Refused(Refused::OtherClassifier(Some(stranger)))),
    ];
    for (artifact, refusal) in refusals {
        match push(link, &artifact, |_| ()) {
            Err(DeviceError::Refused(found)) => assert_eq!(found, refusal),
            other => panic!("not refused: {other:?}"),
        }
    }
    assert_eq!(in_force(link), Some(held.artifact().identity()));
}

/// A push that was left off in the middle goes on where it stopped.
fn goes_on(device: &TtyDevice, mut link: Link<TTYPort>, artifact: &StoredArtifact) {
    let bytes = artifact.as_bytes();
    announce(&mut link, bytes);
    send(&mut link, 0, &bytes[..256]);
    drop(link);
    let mut first_stage = None;
    let mut link = device.link(retry_policy()).unwrap();
    push(&mut link, artifact, |stage| {
        first_stage.get_or_insert(stage);
    })
    .unwrap();
    assert_eq!(first_stage, Some(Stage::Sending { sent: 256, total: bytes.len() as u32 }));
}

#[test]
fn a_calibrator_is_replaced_in_flash() {
    updates(Board::Virt, virt());
}

#[test]
fn a_calibrator_is_replaced_in_memory() {
    updates(Board::Mps2An386, &firmware(Board::Mps2An386));
}

/// Through the driver of Nordic's flash controller, which is that of the nRF52840, too.
#[test]
fn a_calibrator_is_replaced_in_the_flash_of_a_microbit() {
    updates(Board::Microbit, setting::microbit());
}

#[test]
fn a_killed_update_leaves_the_old_calibrator_or_the_new_one() {
    let artifacts = [calibrator(30, 0, Some(ID)), calibrator(50, 0, Some(ID))];
    let report = kills(virt(), [&artifacts[0], &artifacts[1]], 6).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!((report.kills, report.old + report.new), (6, 6), "{report}");
}

/// A bootloader brings another program, with another classifier, over the same slots, and takes it back.
#[test]
fn a_changed_program_is_calibrated_by_its_own_or_says_that_it_is_not() {
    let (old, new) = (virt(), next_firmware(Board::Virt));
    let calibrators = |id: ClassifierId| [calibrator(20, 0, Some(id)), calibrator(35, 0, Some(id))];
    let [first, second] = [ID, NEXT_ID].map(calibrators);
    let mut device = TtyDevice::new(Board::Virt, old).unwrap();
    device.switch_on().unwrap();
    push(&mut device.link(retry_policy()).unwrap(), &first[0], |_| ()).unwrap();

    // The new program with the old calibrator.
    device.replace_program(&new).unwrap();
    device.switch_on().unwrap();
    let mut link = device.link(retry_policy()).unwrap();
    let ReplyBody::Answer(bare) = link.ask(&SCORE).unwrap() else { panic!("refused") };
    assert_eq!(bare.outcome, Outcome::Uncalibrated(Uncalibrated::OtherClassifier));
    assert!(bare.alarm);
    let refused = push(&mut link, &first[0], |_| ());
    let other = UpdateRefusal::Refused(Refused::OtherClassifier(Some(ID)));
    assert!(matches!(&refused, Err(DeviceError::Refused(found)) if *found == other), "{refused:?}");
    push(&mut link, &second[0], |_| ()).unwrap();
    assert_eq!(prob(link.ask(&SCORE).unwrap()), Ok(expected(&second[0])));
    drop(link);

    // The old program again: its calibrator is where it was.
    device.replace_program(old).unwrap();
    device.switch_on().unwrap();
    let mut link = device.link(retry_policy()).unwrap();
    assert_eq!(prob(link.ask(&SCORE).unwrap()), Ok(expected(&first[0])));
    drop((link, device));

    let images = [(old, [&first[0], &first[1]]), (new.as_path(), [&second[0], &second[1]])];
    let report = changes(images, 4).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!((report.kills, report.calibrated + report.uncalibrated), (4, 8), "{report:?}");
    assert!(report.calibrated > 3, "{report:?}");
}

#[test]
fn a_device_with_a_key_takes_what_the_next_key_signs_and_then_refuses_the_first() {
    let (owner, next) = (owner(), PrivateKey::generate().unwrap());
    let chain = KeyChain::default().and(owner, &next.public(), 2).unwrap();
    let by_owner =
        |artifact: &StoredArtifact| StoredArtifact::from_bytes(&owner.sign(artifact).unwrap()).unwrap();
    let by_next = |artifact: &StoredArtifact| {
        let chained = chain.put_into(artifact, &next.public()).unwrap();
        StoredArtifact::from_bytes(&next.sign(&chained).unwrap()).unwrap()
    };
    let mut device = TtyDevice::new(Board::Virt, &signed(Board::Virt)).unwrap();
    device.switch_on().unwrap();
    let mut link = device.link(retry_policy()).unwrap();
    push(&mut link, &by_owner(&calibrator(7, 1, Some(ID))), |_| ()).unwrap();
    let second = by_next(&calibrator(8, 2, Some(ID)));
    push(&mut link, &second, |_| ()).unwrap();
    assert_eq!(in_force(&mut link), Some(second.artifact().identity()));
    drop(link);

    device.switch_off();
    device.switch_on().unwrap();
    let mut link = device.link(retry_policy()).unwrap();
    assert_eq!(in_force(&mut link), Some(second.artifact().identity()));
    let revoked = SignatureError::Revoked(owner.public().id());
    let expected = UpdateRefusal::Refused(Refused::Signature(revoked));
    let refused = push(&mut link, &by_owner(&calibrator(9, 9, Some(ID))), |_| ());
    assert!(matches!(&refused, Err(DeviceError::Refused(found)) if *found == expected), "{refused:?}");
    push(&mut link, &by_next(&calibrator(9, 3, Some(ID))), |_| ()).unwrap();
}

#[test]
fn a_device_with_a_key_takes_only_what_is_signed_with_it() {
    let (owner, stranger) = (owner(), PrivateKey::generate().unwrap());
    let mut device = TtyDevice::new(Board::Virt, &signed(Board::Virt)).unwrap();
    device.switch_on().unwrap();
    assert_eq!(device.slots().unwrap().trusted_key, Some(owner.public().id()));

    let plain = calibrator(9, 1, Some(ID));
    let signed_with = |key: &PrivateKey| StoredArtifact::from_bytes(&key.sign(&plain).unwrap()).unwrap();
    let mut link = device.link(retry_policy()).unwrap();
    for artifact in [&plain, &signed_with(&stranger)] {
        assert!(matches!(push(&mut link, artifact, |_| ()), Err(DeviceError::Key { .. })));
    }
    // The device itself refuses, whatever the host says before.
    announce(&mut link, plain.as_bytes());
    for (index, part) in plain.as_bytes().chunks(256).enumerate() {
        send(&mut link, 256 * index, part);
    }
    let refused = UpdateRefusal::Refused(Refused::Signature(SignatureError::Missing));
    assert!(matches!(link.ask(&RequestBody::Install), Err(DeviceError::Refused(found)) if found == refused));
    push(&mut link, &signed_with(owner), |_| ()).unwrap();
    assert_eq!(in_force(&mut link), Some(plain.artifact().identity()));

    // Signed is not enough: it has a counter, which is no other's.
    let owned =
        |artifact: &StoredArtifact| StoredArtifact::from_bytes(&owner.sign(artifact).unwrap()).unwrap();
    for (artifact, expected) in [
        (calibrator(8, 0, Some(ID)), UpdateRefusal::NoCounter),
        (calibrator(8, 1, Some(ID)), UpdateRefusal::SameCounter { counter: 1 }),
    ] {
        let refused = push(&mut link, &owned(&artifact), |_| ());
        assert!(matches!(&refused, Err(DeviceError::Refused(found)) if *found == expected), "{refused:?}");
    }
    assert!(matches!(link.ask(&SCORE), Err(DeviceError::SwitchedOff)));
    let status = link.status().unwrap();
    assert_eq!(
        status.calibrator.map(|held| (held.identity, held.counter)),
        Ok((plain.artifact().identity(), 1))
    );
    assert_eq!((status.fallback_from, status.questions), (None, Questions::NoTrials));
}
