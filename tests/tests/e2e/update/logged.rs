//! `calib monitor --fleet-log` on a device, and its log worked out again.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use calib_core::wire::{self, MAX_FRAME, Request, RequestBody, Scores, Values};
use calib_tests::calib;
use serde_json::Value;

use super::counters::{monitored, run, setting};
use super::setting::{json, virt, words};

#[test]
fn what_the_firmware_counts_is_worked_out_again() {
    let (folder, mut device) = setting(virt(), &monitored());
    json(&run(folder.path(), &["push", "cal.bin", "--json"], &device));
    let mut monitor = Command::new(calib())
        .current_dir(folder.path())
        .args(["monitor", "--port", device.port().unwrap(), "--watch", "0.5", "--format", "json"])
        .args(["--fleet-log", "ward-3.jsonl", "--calibrator", "cal.bin"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(monitor.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut until = |is: &dyn Fn(&Value) -> bool| lines.find(|line| is(&line["reply"])).unwrap();
    until(&|reply| reply["monitors"]["predictions"].is_array());
    // As another program on the line would: each when the one before is answered.
    for id in 1..=24 {
        let features: Values = [2.0, 0.0].into_iter().collect();
        let request = Request { id, body: RequestBody::predict(Scores::Features(features)) };
        device.send_bytes(wire::encode(&request, &mut [0; MAX_FRAME]).unwrap()).unwrap();
        until(&|reply| reply["prediction"].is_object());
    }
    let told = until(&|reply| reply["monitors"]["predictions"].is_array());
    let counted = &told["reply"]["monitors"];
    assert_eq!(counted["shift"]["standing"], "alert", "{told}");
    assert!(Command::new("kill").args(["-INT", &monitor.id().to_string()]).status().unwrap().success());
    let ended = monitor.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", words(&ended));

    let verify = ["fleet", "cal.bin", "--verify", "ward-3.jsonl", "--json"];
    let verified = Command::new(calib()).current_dir(folder.path()).args(verify).output().unwrap();
    let table = json(&verified)["verified"][0]["tables"][0].clone();
    // Those that were saved: after 1, 3, 7 and 15 of a start.
    assert_eq!(table["predictions"], 15, "{table}");
    assert_eq!(table["shift_alarm_at"], counted["shift"]["raised_at"], "{table}");
    // An alarm that came later than it was due is found.
    let log = fs::read_to_string(folder.path().join("ward-3.jsonl")).unwrap();
    let said = format!("\"shift\",\"alarm_at\":{}", counted["shift"]["raised_at"]);
    assert!(log.contains(&said), "{log}");
    fs::write(folder.path().join("ward-3.jsonl"), log.replace(&said, "\"shift\",\"alarm_at\":1")).unwrap();
    let refused = Command::new(calib()).current_dir(folder.path()).args(verify).output().unwrap();
    assert!(refused.status.code() == Some(1), "{}", words(&refused));
}
