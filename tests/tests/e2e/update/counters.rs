//! The command and what a device counts: asked, stored, told outcomes, and set back.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use calib_core::wire::{ReplyBody, RequestBody, Scores, Values};
use calib_host::artifact::Monitoring;
use calib_host::io::device::serial::RetryPolicy;
use calib_host::{ArtifactOptions, StoredArtifact};
use calib_tests::{Board, TtyDevice, calib};
use serde_json::Value;
use tempfile::TempDir;

use super::setting::{self, ID, json, owner, signed, virt, with_options, words};

/// A calibrator of four bins with monitors.
pub(super) fn monitored() -> StoredArtifact {
    monitored_with(4)
}

/// A calibrator of so many bins with monitors; every number of bins is another one.
pub(super) fn monitored_with(bins: usize) -> StoredArtifact {
    monitored_by(bins, Monitoring::default())
}

/// The same with these monitors.
pub(super) fn monitored_by(bins: usize, monitors: Monitoring) -> StoredArtifact {
    let monitors = Some(monitors);
    let options = ArtifactOptions::default().classifier(Some(ID)).counter(4).monitors(monitors);
    with_options(bins, &options)
}

/// A folder with `cal.bin`, and a device that is on.
pub(super) fn setting(elf: &Path, artifact: &StoredArtifact) -> (TempDir, TtyDevice) {
    setting_on(Board::Virt, elf, artifact)
}

/// The same on another board.
pub(super) fn setting_on(board: Board, elf: &Path, artifact: &StoredArtifact) -> (TempDir, TtyDevice) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cal.bin"), artifact.as_bytes()).unwrap();
    let mut device = TtyDevice::new(board, elf).unwrap();
    device.switch_on().unwrap();
    device.slots().unwrap();
    (folder, device)
}

/// Runs `calib` on a device.
pub(super) fn run(folder: &Path, args: &[&str], device: &TtyDevice) -> Output {
    setting::run(folder, args, device.port().unwrap())
}

/// Lets the device predict: its classifier gives the sigmoid of what is sent.
pub(super) fn predict(device: &TtyDevice, logits: &[f32]) {
    // A request that is sent again is counted again.
    let once = RetryPolicy { reply: Duration::from_secs(60), tries: 1 };
    let mut link = device.link(once).unwrap();
    for &logit in logits {
        let features: Values = [logit, 0.0].into_iter().collect();
        let reply = link.ask(&RequestBody::predict(Scores::Features(features))).unwrap();
        assert!(matches!(reply, ReplyBody::Answer(_)), "{reply:?}");
    }
}

#[test]
fn counters_are_shown_stored_and_told_outcomes() {
    let artifact = monitored();
    let (folder, device) = setting(virt(), &artifact);
    let run = |args: &[&str]| run(folder.path(), args, &device);
    let none = json(&run(&["status", "--json"]));
    assert_eq!(none["monitors"], Value::Null);
    assert!(none["not_monitored"].as_str().unwrap().contains("no calibrator with monitors"), "{none}");
    let refused = run(&["status", "--counters", "ward-3.json"]);
    assert_eq!(refused.status.code(), Some(5));
    assert!(words(&refused).contains("--monitor"), "{}", words(&refused));

    json(&run(&["push", "cal.bin", "--json"]));
    let quiet = String::from_utf8(run(&["status"]).stdout).unwrap();
    assert!(quiet.contains("monitors    0 predictions, 0 with a known outcome"), "{quiet}");
    assert!(quiet.contains("  scores    nothing to evaluate: no prediction is known\n"), "{quiet}");
    assert!(quiet.contains("  outcomes  nothing to evaluate: no outcome is known\n"), "{quiet}");
    assert!(quiet.contains("counters    all in flash"), "{quiet}");

    // All in the highest bin.
    predict(&device, &[2.0; 15]);
    let status = run(&["status", "--json", "--counters", "ward-3.json"]);
    assert!(
        words(&status).contains("are not distributed like the reference scores: alert since prediction 15")
    );
    let table = json(&status)["monitors"][0].clone();
    assert_eq!(table["predictions"], serde_json::json!([0, 0, 0, 15]));
    assert_eq!(
        (table["shift"]["standing"].as_str(), table["shift"]["raised_at"].as_u64()),
        (Some("alert"), Some(15))
    );
    assert_eq!(
        (table["guarantee"]["standing"].as_str(), table["takes_outcomes"].as_bool()),
        (Some("quiet"), Some(true))
    );
    let shown = String::from_utf8(run(&["status"]).stdout).unwrap();
    assert!(shown.contains("  scores    alert since prediction 15, e-value "), "{shown}");
    let again = run(&["status", "--counters", "ward-3.json"]);
    assert_eq!(again.status.code(), Some(4), "it is there already: {}", words(&again));

    outcomes(folder.path(), &run);
    fleet_agrees(folder.path(), &run);
}

/// Tells outcomes, of which more happen than predictions allow.
fn outcomes(folder: &Path, run: &impl Fn(&[&str]) -> Output) {
    let table = |rows: usize, label: u8| {
        let rows: String = (0..rows).map(|_| format!("1,3,{label}\n")).collect();
        fs::write(folder.join("outcomes.csv"), format!("class,bin,label\n{rows}")).unwrap();
    };
    table(9, 0);
    let told = json(&run(&["label", "outcomes.csv", "--json"]));
    assert_eq!((told["reported"].as_u64(), &told["monitors"][0]["labeled"][3]), (Some(9), &9.into()));
    assert_eq!(told["monitors"][0]["guarantee"]["standing"], "alert");
    table(12, 1);
    let refused = run(&["label", "outcomes.csv"]);
    let said = words(&refused);
    assert_eq!(refused.status.code(), Some(5), "{said}");
    assert!(
        said.contains("outcomes.csv, line 8") && said.contains("6 outcomes before this one were reported"),
        "{said}"
    );
    assert!(said.contains("as many outcomes as it counted predictions"), "{said}");
    let of_another = run(&["label", "outcomes.csv", "--made-by", "00112233445566ff"]);
    assert!(words(&of_another).contains("is in force there"), "{}", words(&of_another));
    fs::write(folder.join("outcomes.csv"), "class,bin,label\n1,9,0\n").unwrap();
    assert!(words(&run(&["label", "outcomes.csv"])).contains("no such bin"));
    fs::write(folder.join("outcomes.csv"), "class,bin,label\n1,-2,0\n").unwrap();
    let wrong = run(&["label", "outcomes.csv"]);
    assert_eq!(wrong.status.code(), Some(3));
    assert!(
        words(&wrong).contains("line 2, column bin") && words(&wrong).contains("-2"),
        "{}",
        words(&wrong)
    );
}

/// What a fleet of this one device says is what the device says.
fn fleet_agrees(folder: &Path, run: &impl Fn(&[&str]) -> Output) {
    let status =
        json(&run(&["status", "--json", "--counters", "ward-3.json", "--force", "--name", "ward 3"]));
    let fleet = ["fleet", "cal.bin", "ward-3.json", "--json"];
    let fleet = json(&Command::new(calib()).current_dir(folder).args(fleet).output().unwrap());
    assert_eq!(fleet["tables"][0]["devices"][0]["device"], "ward 3");
    for monitor in ["shift", "guarantee"] {
        let [device, exact] = [&status["monitors"], &fleet["tables"]]
            .map(|tables| tables[0][monitor]["log_evidence"].as_f64().unwrap());
        assert!(device <= exact && exact - device < 1e-3, "{monitor}: {device} {exact}");
    }
    let reset = json(&run(&["label", "--reset", "--json"]));
    assert_eq!(reset["monitors"][0]["predictions"], serde_json::json!([0, 0, 0, 0]));
    assert_eq!(reset["monitors"][0]["shift"]["standing"], "quiet");
}

#[test]
fn monitor_asks_for_the_counters() {
    let artifact = monitored();
    let (folder, device) = setting(virt(), &artifact);
    json(&run(folder.path(), &["push", "cal.bin", "--json"], &device));
    predict(&device, &[0.0; 7]);
    let watched =
        run(folder.path(), &["monitor", "--watch", "0.2", "--format", "json", "--lines", "2"], &device);
    let lines = String::from_utf8(watched.stdout).unwrap();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["reply"]["monitors"]["predictions"], serde_json::json!([0, 0, 7, 0]), "{line}");
    }
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn a_device_with_a_key_counts_and_takes_no_outcomes() {
    let artifact = monitored();
    let (folder, device) = setting(&signed(Board::Virt), &artifact);
    let signed = owner().sign(&artifact).unwrap();
    fs::write(folder.path().join("cal.bin"), signed).unwrap();
    json(&run(folder.path(), &["push", "cal.bin", "--json"], &device));
    predict(&device, &[2.0; 3]);
    fs::write(folder.path().join("outcomes.csv"), "class,bin,label\n1,3,0\n").unwrap();
    for args in [&["label", "outcomes.csv"][..], &["label", "--reset"]] {
        let refused = run(folder.path(), args, &device);
        assert_eq!(refused.status.code(), Some(5));
        assert!(words(&refused).contains("switched off"), "{}", words(&refused));
    }
    let status = json(&run(folder.path(), &["status", "--json"], &device));
    assert_eq!(status["monitors"][0]["predictions"], serde_json::json!([0, 0, 0, 3]));
    assert_eq!(status["monitors"][0]["takes_outcomes"], false);
    let shown = String::from_utf8(run(folder.path(), &["status"], &device).stdout).unwrap();
    assert!(shown.contains("outcomes and resets are not accepted over this serial link"), "{shown}");
}
