//! The order of the rooms.
//!
//! Not under Miri, which would take minutes to read the sources and find nothing in them.
#![cfg(not(miri))]

use calib_layers::Sources;

/// A room may import those to its left only.
const ROOMS: [&str; 11] = [
    "score",
    "outcome",
    "table",
    "vector",
    "decision",
    "monitor",
    "artifact",
    "calibrator",
    "slot",
    "journal",
    "wire",
];

#[test]
fn rooms_import_to_the_left_and_files_not_in_circles() {
    let sources = Sources::read(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap();
    let faults: Vec<String> = sources.faults(&ROOMS).iter().map(ToString::to_string).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}
