//! The flow of `calib flash`, through the debugger interface of an emulated micro:bit: the device's own verdict.

use std::time::Duration;

use calib_core::ClassifierId;
use calib_core::slot::{InstallError, SlotFault};
use calib_host::StoredArtifact;
use calib_host::io::device::probe::{
    FlashAccess, FlashError, Rejection, SlotMap, await_report, deploy, prepare, read_slots, restart,
};
use calib_host::io::files::PrivateKey;
use calib_tests::{Board, GdbProbe, TtyDevice, symbol_addr_of};

use super::setting::{ID, calibrator, microbit, owner, signed};

const MAP: SlotMap = SlotMap { addr: 0x3_C000, len_bytes: 8192 };
const REPORT_ADDR: u64 = 0x2000_0000;
const PATIENCE: Duration = Duration::from_secs(20);

/// Prepares and deploys; the slot that the device says is in force.
fn flash(probe: &mut GdbProbe, artifact: &StoredArtifact) -> Result<Option<u8>, FlashError> {
    let (segment, plan) = prepare(probe, MAP, artifact)?;
    let (written, report) = deploy(probe, (segment, &plan), artifact, Some(REPORT_ADDR), PATIENCE)?;
    assert_eq!((written.sectors, written.written_bytes), (8, 8192));
    Ok(report.and_then(|report| report.slots.in_force))
}

fn device(elf: &std::path::Path) -> TtyDevice {
    assert_eq!(symbol_addr_of(elf, "__calib_slot_start").unwrap(), MAP.addr);
    assert_eq!(symbol_addr_of(elf, "__calib_report_start").unwrap(), REPORT_ADDR);
    let mut device = TtyDevice::new(Board::Microbit, elf).unwrap();
    device.switch_on().unwrap();
    device
}

#[test]
fn a_device_says_whether_it_uses_what_a_probe_wrote() {
    let device = device(microbit());
    let mut probe = device.probe().unwrap();
    let [first, second] = [calibrator(7, 2, Some(ID)), calibrator(30, 2, Some(ID))];
    assert_eq!(flash(&mut probe, &first).unwrap(), Some(0));
    assert_eq!(flash(&mut probe, &second).unwrap(), Some(1));

    let lower = flash(&mut probe, &calibrator(9, 1, Some(ID))).unwrap_err();
    let downgrade = InstallError::Downgrade { held: 2, offered: 1 };
    assert_eq!(lower, FlashError::Refused(downgrade));

    // Only the device knows its classifier.
    let stranger = ClassifierId([9; 8]);
    let refused = flash(&mut probe, &calibrator(9, 2, Some(stranger))).unwrap_err();
    let rejection = Rejection::Classifier { device: ID, artifact: stranger };
    assert_eq!(refused, FlashError::Rejected(rejection));
    // The slot that was not in force was the one to write: the second calibrator still is.
    let survey = read_slots(&mut probe, MAP).unwrap().survey().unwrap();
    assert_eq!(survey[1].map(|content| content.identity), Ok(second.artifact().identity()));
    drop(probe);

    let slots = device.slots().unwrap();
    assert_eq!(slots.in_force, Some(1), "over its serial line it says the same");
}

#[test]
fn a_device_with_a_key_refuses_what_a_probe_wrote_unsigned() {
    let (owner, stranger) = (owner(), PrivateKey::generate().unwrap());
    let device = device(&signed(Board::Microbit));
    let mut probe = device.probe().unwrap();
    let plain = calibrator(9, 0, Some(ID));
    let signed_with = |key: &PrivateKey| StoredArtifact::from_bytes(&key.sign(&plain).unwrap()).unwrap();
    for artifact in [&plain, &signed_with(&stranger)] {
        let refused = flash(&mut probe, artifact).unwrap_err();
        let FlashError::Rejected(Rejection::Key { device, .. }) = &refused else { panic!("{refused}") };
        assert_eq!(*device, owner.public().id());
    }
    assert!(flash(&mut probe, &signed_with(owner)).unwrap().is_some());
}

#[test]
fn what_is_altered_afterwards_and_who_says_nothing_is_told() {
    let device = device(microbit());
    let mut probe = device.probe().unwrap();
    let artifact = calibrator(7, 2, Some(ID));
    let (segment, plan) = prepare(&mut probe, MAP, &artifact).unwrap();
    // A program that leaves no report: nothing is written to this address.
    let elsewhere = Some(REPORT_ADDR + 0x3000);
    let silent = deploy(&mut probe, (segment, &plan), &artifact, elsewhere, Duration::from_millis(300));
    assert!(matches!(silent, Err(FlashError::NoReport { .. })), "{silent:?}");

    // The calibrator in force is altered, and the device restarted.
    let mut byte = [0];
    probe.read(MAP.addr + 100, &mut byte).unwrap();
    probe.write_memory(MAP.addr + 100, &[byte[0] ^ 1]).unwrap();
    restart(&mut probe, Some(REPORT_ADDR)).unwrap();
    let report = await_report(&mut probe, REPORT_ADDR, PATIENCE).unwrap();
    // The emulated flash is zeros at first, as no chip's is.
    let slots = [Err(SlotFault::Altered); 2];
    assert_eq!(report.accepts(&artifact), Err(Rejection::NotThere(slots)));
}
