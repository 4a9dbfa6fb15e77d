//! Callers who err: every call ends with an error code, and none reads or writes what it was not given.

use std::fs;
use std::path::{Path, PathBuf};

use calib_core::ClassifierId;
use calib_core::artifact::MonitorAction;
use calib_core::wire::RequestBody;
use calib_host::StoredArtifact;

use super::{artifacts, device, in_c};
use crate::update::acting::acting;
use crate::update::setting::{ID, calibrator, monitored};

/// Writes files that the programs read.
fn written(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// The artefact of this name.
fn named(name: &str) -> StoredArtifact {
    let found = artifacts::all().into_iter().find(|(found, _)| found == name);
    found.unwrap_or_else(|| panic!("there is no artefact {name}")).1
}

/// Runs a program; returns how many checks it made.
fn checks(folder: &Path, source: &str, arguments: &[PathBuf]) -> usize {
    let said = in_c::run(&in_c::program(folder, source), arguments);
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
    let acting = write("acting", &acting(MonitorAction::Alarm));
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
            RequestBody::Classify(features()),
            RequestBody::Measure { features: features(), repeat: 3 },
            RequestBody::Slots,
        ],
    ]
    .concat();
    let files = [
        written(folder.path(), "artefact", monitored(8, 0, Some(ID)).as_bytes()),
        written(folder.path(), "frames", &device::frames(&requests)),
    ];
    assert!(checks(folder.path(), "busy.c", &files) > 500);
}
