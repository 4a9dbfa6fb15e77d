//! Callers who err: every call ends with an error code, and none reads or writes what it was not given.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use calib_core::ClassifierId;
use calib_core::artifact::MonitorAction;
use calib_core::wire::{RequestBody, Scores};
use calib_host::StoredArtifact;
use calib_host::io::files::{KeyChain, PrivateKey};
use calib_tests::SEES_THE_LIBRARY;

use super::{artifacts, device, in_c};
use crate::update::monitor_action::with_monitor_action;
use crate::update::setting::{ID, calibrator, monitored, owner};

/// Writes files that the programs read.
fn written(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// The artifact of this name.
fn named(name: &str) -> StoredArtifact {
    let found = artifacts::all().into_iter().find(|(found, _)| found == name);
    found.unwrap_or_else(|| panic!("there is no artifact {name}")).1
}

/// Runs a program; returns how many checks it made.
fn checks(folder: &Path, source: &str, arguments: &[PathBuf]) -> usize {
    checks_with(&["ed25519"], folder, source, arguments)
}

/// The same, with the library of these features.
fn checks_with(features: &[&str], folder: &Path, source: &str, arguments: &[PathBuf]) -> usize {
    let said = in_c::run(&in_c::program_with(features, folder, source), arguments);
    println!("{source}: {said}");
    said.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn callers_who_err_get_error_codes_under_sanitizers() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, artifact: &StoredArtifact| written(folder.path(), name, artifact.as_bytes());
    assert_eq!(ID, ClassifierId(*b"updates!"), "as in hostile.h");
    let plain = write("plain", &calibrator(7, 1, Some(ID)));
    let wide = write("wide", &monitored(40, 2, Some(ID)));
    let large = write("large", &calibrator(600, 0, Some(ID)));
    let [first, second] = [8, 10].map(|bins| write(&bins.to_string(), &monitored(bins, 0, Some(ID))));
    let acting = write("acting", &with_monitor_action(MonitorAction::Alarm));
    for (source, paths) in [
        ("hostile.c", &[plain.clone(), wide.clone(), large][..]),
        ("hostile_monitors.c", &[plain, wide, first, second, acting][..]),
    ] {
        assert!(checks(folder.path(), source, paths) > 1000);
    }
}

#[test]
fn what_is_written_overlaps_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("binary", monitored(8, 1, Some(ID))),
        ("newer", monitored(10, 2, Some(ID))),
        ("confidence", named("confidence")),
        ("class_wise", named("class_wise")),
        ("top_k", named("top_k_label")),
        ("codes_i8", named("sets by Margin of i8 (scale 0.25, zero point 10)")),
        ("codes_u8", named("top_label_u8")),
    ]
    .map(|(name, artifact)| written(folder.path(), name, artifact.as_bytes()));
    assert!(checks(folder.path(), "overlap.c", &files) > 1000);
}

#[test]
fn callbacks_that_call_back_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let features = || [9.0, 0.0].into_iter().collect();
    let requests = [
        vec![RequestBody::Status],
        device::push(named("randomized").as_bytes()),
        vec![
            RequestBody::predict(Scores::Features(features())),
            RequestBody::Measure { features: features(), repeat: 3 },
            RequestBody::Slots,
        ],
    ]
    .concat();
    let files = [
        written(folder.path(), "artifact", monitored(8, 0, Some(ID)).as_bytes()),
        written(folder.path(), "frames", &device::frames(&requests)),
    ];
    assert!(checks(folder.path(), "busy.c", &files) > 500);
}

#[test]
fn functions_for_vectors_and_codes_refuse_what_they_cannot_take() {
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "umd",
        "margins",
        "i8",
        "confidence",
        "class_wise",
        "top_k_label",
        "sets by Margin of i8 (scale 0.25, zero point 10)",
        "top_label_u8",
        "thresholds beside tables of groups",
    ];
    let files = names.map(|name| written(folder.path(), name, named(name).as_bytes()));
    assert!(checks(folder.path(), "hostile_vectors.c", &files) > 200);
}

/// Without this the tests beside it would show less than they say.
#[test]
fn a_sanitizer_sees_what_the_library_reads_and_writes() {
    if !SEES_THE_LIBRARY {
        eprintln!("not run: the library is not instrumented on this machine");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let names = ["umd", "confidence", "class_wise", "top_k_label", "top_label_u8"];
    let files = names.map(|name| written(folder.path(), name, named(name).as_bytes()));
    let program = in_c::program(folder.path(), "beyond.c");
    for which in 0..7 {
        let ran = Command::new(&program).arg(which.to_string()).args(&files).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(!ran.status.success(), "{which} is not seen");
        assert!(said.contains("heap-buffer-overflow"), "{which}: {said}");
        let within = said.lines().find(|line| line.contains("#0 ")).unwrap();
        assert!(!within.contains("beyond.c"), "{which}: {within}");
    }
}

#[test]
fn callbacks_of_a_device_that_fail_leave_it_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let classify = RequestBody::predict(Scores::Features([9.0, 0.0].into_iter().collect()));
    let frames = [
        ("randomized", device::push(named("randomized").as_bytes())),
        ("plain", device::push(calibrator(7, 0, Some(ID)).as_bytes())),
        ("acting", device::push(with_monitor_action(MonitorAction::Uncalibrated).as_bytes())),
        ("classify", vec![classify]),
    ]
    .map(|(name, requests)| written(folder.path(), name, &device::frames(&requests)));
    assert!(checks(folder.path(), "hostile_device.c", &frames) > 30);
}

#[test]
fn slots_with_a_key_take_what_is_signed_and_newer() {
    let folder = tempfile::tempdir().unwrap();
    let stranger = PrivateKey::generate().unwrap();
    let signed = |bins, counter| owner().sign(&calibrator(bins, counter, Some(ID))).unwrap();
    let chain = KeyChain::default().and(owner(), &stranger.public(), 5).unwrap();
    let next = chain.put_into(&calibrator(12, 5, Some(ID)), &stranger.public()).unwrap();
    let files = [
        ("key", owner().public().to_bytes().to_vec()),
        ("other key", stranger.public().to_bytes().to_vec()),
        ("first", signed(7, 3)),
        ("same", signed(8, 3)),
        ("newer", signed(9, 4)),
        ("uncounted", signed(10, 0)),
        ("unsigned", calibrator(11, 5, Some(ID)).as_bytes().to_vec()),
        ("next", stranger.sign(&next).unwrap()),
        ("revoked", signed(13, 6)),
    ]
    .map(|(name, bytes)| written(folder.path(), name, &bytes));
    assert!(checks(folder.path(), "hostile_signed.c", &files) > 15);
    assert!(checks_with(&[], folder.path(), "unsigned.c", &files[..1]) > 5);
}
