//! The order of the rooms.

use calib_layers::Sources;

/// From the ground up.
const ROOMS: [&str; 10] = [
    "files",
    "draw",
    "input",
    "output",
    "export",
    "sql",
    "device/serial",
    "device/probe",
    "device",
    "report",
];

#[test]
fn rooms_import_what_is_below_them_only_and_no_files_each_other() {
    let sources = Sources::read(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap();
    let faults = sources.faults(&ROOMS);
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}
