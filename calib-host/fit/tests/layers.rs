//! The order of the rooms.

use std::fs;
use std::path::Path;

use calib_layers::Sources;

/// From the ground up: a room imports rooms to its left only.
const ROOMS: [&str; 24] = [
    "names",
    "options_error",
    "stop",
    "stats",
    "error",
    "points",
    "data",
    "dataset",
    "guarantee",
    "operating",
    "sets",
    "binary",
    "fit",
    "reduction",
    "joint",
    "artifact",
    "passes",
    "adjust",
    "apply",
    "assess",
    "decide",
    "compare",
    "fleet",
    "job",
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

/// Who embeds the library has another way to say such things than the command's options.
#[test]
fn no_sentence_names_an_option_or_the_command() {
    fn named_in(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                named_in(&path, found);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            found.extend(
                code.filter(|line| names_an_option(line)).map(|line| format!("{}: {line}", path.display())),
            );
        }
    }
    let mut found = Vec::new();
    named_in(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut found);
    assert!(found.is_empty(), "\n{}", found.join("\n"));
    for planted in ["\"name the patient with --cluster-column\"", "\"`calib fit` states what holds\""] {
        assert!(names_an_option(planted), "{planted}");
    }
}

fn names_an_option(line: &str) -> bool {
    let option = |(at, _): (usize, &str)| line[at + 2..].starts_with(|c: char| c.is_ascii_lowercase());
    line.match_indices("--").any(option) || line.contains("`calib ")
}
