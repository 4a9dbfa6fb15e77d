//! What a device does on an alarm of its monitors, as its calibrator says.

use std::fs;
use std::path::Path;

use calib_core::artifact::MonitorAction;
use calib_core::wire::{Answer, ReplyBody, RequestBody, Scores, Values};
use calib_core::{Outcome, Uncalibrated};
use calib_host::StoredArtifact;
use calib_host::artifact::Monitoring;
use calib_tests::{Board, TtyDevice};
use serde_json::Value;

use super::counters::{monitored_by, monitored_with, predict, run, setting, setting_on};
use super::persistent::restart;
use super::setting::{firmware, json, retry_policy, unmonitored, virt, words};

/// With what is done on an alarm.
pub(crate) fn with_monitor_action(action: MonitorAction) -> StoredArtifact {
    monitored_by(4, Monitoring::default().action(Some(action)))
}

/// Of two predictions, and whether the alarm is raised.
type Answers = [(Result<f32, Uncalibrated>, bool); 2];

/// The answer to a score in the highest bin, and to one in the lowest.
fn answers(device: &TtyDevice) -> Answers {
    let mut link = device.link(retry_policy()).unwrap();
    [2.0, -2.0].map(|logit| {
        let features: Values = [logit, 0.0].into_iter().collect();
        match link.ask(&RequestBody::predict(Scores::Features(features))).unwrap() {
            ReplyBody::Answer(Answer { outcome, alarm, .. }) => match outcome {
                Outcome::Calibrated(calibrated) => (Ok(calibrated.prob), alarm),
                Outcome::Uncalibrated(reason) => (Err(reason), alarm),
            },
            other => panic!("{other:?}"),
        }
    })
}

fn status(folder: &Path, device: &TtyDevice) -> Value {
    json(&run(folder, &["status", "--json"], device))["monitors"][0].clone()
}

/// Puts another program into the device.
fn change(device: &mut TtyDevice, elf: &Path) {
    device.replace_program(elf).unwrap();
    device.switch_on().unwrap();
    device.slots().unwrap();
}

fn acts_on_a_shift(board: Board, elf: &Path, action: MonitorAction) {
    let (folder, mut device) = setting_on(board, elf, &with_monitor_action(action));
    let folder = folder.path();
    let [before, held] = shifted(folder, &device, action);

    // A restart does not help, and counting anew does.
    restart(board, &mut device);
    assert_eq!(answers(&device), held);
    json(&run(folder, &["label", "--reset", "--json"], &device));
    assert_eq!(answers(&device), before);
}

/// What is answered before a shift, and after it.
fn shifted(folder: &Path, device: &TtyDevice, action: MonitorAction) -> [Answers; 2] {
    json(&run(folder, &["push", "cal.bin", "--json"], device));
    let before = answers(device);
    let [(Ok(high), true), (Ok(low), false)] = before else { panic!("{before:?}") };
    let quiet = status(folder, device);
    assert_eq!((&quiet["action"], &quiet["action_is_done"]), (&action.to_string().into(), &false.into()));

    // All in the highest bin: the shift is seen at the 32nd prediction at the latest.
    predict(device, &[2.0; 30]);
    let held = match action {
        MonitorAction::Alarm => [(Ok(high), true), (Ok(low), true)],
        MonitorAction::Uncalibrated => [(Err(Uncalibrated::Alarmed), true); 2],
    };
    assert_eq!(answers(device), held);
    let alarmed = status(folder, device);
    assert_eq!((&alarmed["shift"]["standing"], &alarmed["action_is_done"]), (&"alert".into(), &true.into()));
    let shown = String::from_utf8(run(folder, &["status"], device).stdout).unwrap();
    assert!(shown.contains("in effect since a shift or guarantee alert"), "{shown}");
    [before, held]
}

/// Of a device that counts in memory alone.
pub(crate) fn acts_until_it_counts_anew(board: Board, elf: &Path, action: MonitorAction) {
    let (folder, device) = setting_on(board, elf, &with_monitor_action(action));
    let [before, _] = shifted(folder.path(), &device, action);
    json(&run(folder.path(), &["label", "--reset", "--json"], &device));
    assert_eq!(answers(&device), before);
}

#[test]
fn after_a_shift_no_probability_is_answered() {
    acts_on_a_shift(Board::Virt, virt(), MonitorAction::Uncalibrated);
}

#[test]
fn after_a_shift_the_alarm_stays_raised() {
    acts_on_a_shift(Board::Mps2An386, &firmware(Board::Mps2An386), MonitorAction::Alarm);
}

/// A calibrator with an alarm that is told alone is taken by any firmware.
#[test]
fn a_firmware_without_monitors_refuses_what_it_could_not_do() {
    let telling = monitored_with(3);
    let (folder, mut device) = setting(&unmonitored(Board::Virt), &telling);
    let folder = folder.path();
    json(&run(folder, &["push", "cal.bin", "--json"], &device));
    let before = answers(&device);
    assert!(before.iter().all(|(answer, _)| answer.is_ok()), "{before:?}");
    fs::write(folder.join("acting.bin"), with_monitor_action(MonitorAction::Uncalibrated).as_bytes())
        .unwrap();
    let refused = run(folder, &["push", "acting.bin"], &device);
    let said = words(&refused);
    assert_eq!(refused.status.code(), Some(5), "{said}");
    assert!(said.contains("requires an action after an alert of its monitors"), "{said}");
    assert!(said.contains("hint: fit without --monitor-action"), "{said}");
    assert_eq!(answers(&device), before, "what is in force stays");

    // Another program brings it into force, and this one over the same slots falls back to what it can do.
    change(&mut device, virt());
    json(&run(folder, &["push", "acting.bin", "--json"], &device));
    change(&mut device, &unmonitored(Board::Virt));
    assert_eq!(answers(&device), before);
    // Where there is nothing else it is uncalibrated.
    change(&mut device, virt());
    let other = Monitoring::default().action(Some(MonitorAction::Alarm));
    fs::write(folder.join("other.bin"), monitored_by(5, other).as_bytes()).unwrap();
    json(&run(folder, &["push", "other.bin", "--json"], &device));
    change(&mut device, &unmonitored(Board::Virt));
    assert_eq!(answers(&device), [(Err(Uncalibrated::NotMonitored), true); 2]);
}
