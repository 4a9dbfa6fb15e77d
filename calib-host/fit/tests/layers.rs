//! The order of the rooms.

use calib_layers::Sources;

/// From the ground up: a room imports rooms to its left only.
const ROOMS: [&str; 14] = [
    "stats",
    "error",
    "points",
    "data",
    "guarantee",
    "binary",
    "fit",
    "reduction",
    "joint",
    "artifact",
    "apply",
    "assess",
    "decide",
    "compare",
];

fn sources() -> Sources {
    Sources::read(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).expect("the sources are there")
}

fn faults(sources: &Sources) -> Vec<String> {
    sources.faults(&ROOMS).iter().map(ToString::to_string).collect()
}

#[test]
fn every_room_imports_rooms_to_its_left_only_and_no_files_make_a_circle() {
    let faults = faults(&sources());
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_planted_fault_is_found() {
    let mut sources = sources();
    sources.add("stats/planted.rs", "use crate::compare::compare_methods;\nuse crate::fit_binary;");
    let found = faults(&sources);
    let wanted = [
        "stats/planted.rs:1: `stats` must not import `compare`, which is to its right",
        "stats/planted.rs:2: `crate::fit_binary` names no room: spell it `crate::<room>::...`",
    ];
    assert_eq!(found, wanted);
}
