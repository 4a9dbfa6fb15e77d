//! The rules that keep the design.
//!
//! 1. Walls are packages: clap is known to calib-cli alone, and calib-fit opens files in `points` alone.
//! 2. An artifact is evaluated in one place, calib-core: elsewhere its tables are seldom matched.
//! 3. Nothing is kept twice: no statics that change in calib-cli, no enums that repeat names of the library, no options in
//!    sentences of the libraries.
//! 4. Rooms and commands do not grow unseen: `tests/rooms.toml` has their numbers.
//! 5. What an addition may touch is stated in CONTRIBUTING.md.
//! 6. Pages, help and messages gain no long sentence and no word that has a plain English one in its place.

mod english;
mod imports;
mod public;
mod rooms;

use std::collections::BTreeMap;

use serde_json::Value;
use xtask::count::{self, Files};
use xtask::{output, root};

use imports::Sources;

/// calib-core from the ground up: a room imports rooms to its left only.
const CORE: [&str; 12] = [
    "score",
    "outcome",
    "table",
    "vector",
    "decision",
    "monitor",
    "artifact",
    "calibrator",
    "predict",
    "slot",
    "journal",
    "wire",
];
/// The same of calib-fit.
const FIT: [&str; 29] = [
    "given",
    "accessors",
    "names",
    "options_error",
    "cancel",
    "parallel",
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
    "intervals",
    "bands",
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
/// Where an artifact's tables may be matched: where they are evaluated, written, exported and adjusted.
const EVALUATORS: [&str; 5] = [
    "calib-core/",
    "calib-host/io/src/export/",
    "calib-host/fit/src/artifact/",
    "calib-host/fit/src/adjust/",
    "tests/",
];
/// Types whose statics can change.
const CHANGING: [&str; 8] =
    ["Mutex<", "RwLock<", "Atomic", "OnceLock<", "LazyLock<", "OnceCell<", "RefCell<", " Cell<"];
/// What CONTRIBUTING.md states a price of.
const PRICED: [&str; 6] =
    ["binary method", "input format", "score type", "option of `fit`", "board", "artifact field"];

const CORE_SRC: &str = "calib-core/src/";
const FIT_SRC: &str = "calib-host/fit/src/";
const IO_SRC: &str = "calib-host/io/src/";
const CLI_SRC: &str = "calib-host/cli/src/";

fn sources() -> Files {
    count::tracked(&root(), &[".rs", ".py", "Cargo.toml", ".md"]).expect("git lists the files")
}

/// The code of files below a folder: path, line number, line.
fn lines<'a>(files: &'a Files, folder: &str) -> impl Iterator<Item = (&'a str, usize, &'a str)> {
    let below = files.iter().filter(move |(path, _)| path.starts_with(folder) && path.ends_with(".rs"));
    let below: Vec<_> = below.filter(|(path, _)| !path.ends_with("/tests.rs")).collect();
    below.into_iter().flat_map(|(path, text)| count::code(text).map(|(at, line)| (path.as_str(), at, line)))
}

/// How many lines of each file hold such code.
fn count_lines<'a>(
    lines: impl Iterator<Item = (&'a str, usize, &'a str)>,
    is_such: impl Fn(&str) -> bool,
) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (path, _, _) in lines.filter(|(_, _, line)| is_such(line)) {
        *counts.entry(path.to_owned()).or_insert(0) += 1;
    }
    counts
}

fn no(breaches: &[String]) {
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
}

// 1. Walls are packages.

/// Dependencies that break a wall, from `cargo metadata`.
fn walls(metadata: &Value) -> Vec<String> {
    let mut breaches = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let dependencies = dependencies.filter(|dependency| dependency["kind"].is_null());
        for other in dependencies.filter_map(|dependency| dependency["name"].as_str()) {
            let is_allowed = match other {
                _ if other.starts_with("clap") => name == "calib-cli",
                "calib-cli" => matches!(name, "calib-host" | "calib-python" | "calib-web"),
                // Fuzz targets call the readers themselves.
                "calib-io" => {
                    matches!(name, "calib-cli" | "calib-host" | "calib-python" | "calib-web" | "calib-fuzz")
                }
                "calib-fit" => name != "calib-core",
                _ => true,
            };
            if !is_allowed {
                breaches.push(format!("{name} depends on {other}"));
            }
        }
    }
    breaches
}

#[test]
fn no_package_depends_on_what_is_above_it() {
    for manifest in ["Cargo.toml", "calib-host/python/Cargo.toml", "calib-host/web/Cargo.toml"] {
        let manifest = root().join(manifest);
        let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"];
        let said = output("cargo", &[&arguments[..], &[&manifest.to_string_lossy()]].concat());
        no(&walls(&serde_json::from_str(&said.expect("cargo knows the packages")).expect("JSON")));
    }
    let planted = r#"{"packages": [
        {"name": "calib-io", "dependencies": [{"name": "clap", "kind": null}, {"name": "calib-cli", "kind": "dev"}]},
        {"name": "calib-cli", "dependencies": [{"name": "clap", "kind": null}, {"name": "calib-fit", "kind": null}]},
        {"name": "calib-core", "dependencies": [{"name": "calib-fit", "kind": null}]}]}"#;
    let found = walls(&serde_json::from_str(planted).unwrap());
    assert_eq!(found, ["calib-io depends on clap", "calib-core depends on calib-fit"]);
}

/// Where calib-fit opens files, but for `points`, which keeps on disk what memory does not hold.
fn opens_files(files: &Files) -> Vec<String> {
    let fit = lines(files, FIT_SRC).filter(|(path, ..)| !path.starts_with("calib-host/fit/src/points/"));
    let fit = fit.filter(|(_, _, line)| line.contains("std::fs") || line.contains("fs::File"));
    fit.map(|(path, at, line)| format!("{path}:{at}: {}", line.trim())).collect()
}

/// Whether a shell does more with the command than run it.
fn reaches_into_the_command(line: &str) -> bool {
    line.replace("calib_cli::run", "").contains("calib_cli")
}

#[test]
fn calib_fit_opens_no_files() {
    no(&opens_files(&sources()));
    let planted = Files::from([
        ("calib-host/fit/src/points/x.rs".into(), "use std::fs;\n".into()),
        ("calib-host/fit/src/data/x.rs".into(), "// std::fs\nuse std::fs::File;\n".into()),
    ]);
    assert_eq!(opens_files(&planted), ["calib-host/fit/src/data/x.rs:2: use std::fs::File;"]);
}

fn of_crate(files: &Files, src: &str) -> Sources {
    let below = files.iter().filter(|(path, _)| path.starts_with(src) && path.ends_with(".rs"));
    // Files that are compiled for tests only.
    let tests: Vec<&str> = below
        .clone()
        .flat_map(|(_, text)| text.split("#[cfg(test)]\nmod ").skip(1))
        .filter_map(|rest| rest.split_once(';').map(|(name, _)| name))
        .collect();
    let is_test = |path: &str| tests.iter().any(|name| path.ends_with(&format!("/{name}.rs")));
    let below = below.filter(|(path, _)| !is_test(path));
    Sources::new(below.map(|(path, text)| (&path[src.len()..], text.as_str())))
}

#[test]
fn rooms_import_to_their_left_and_files_not_each_other() {
    let files = sources();
    for (src, rooms) in [(CORE_SRC, &CORE[..]), (FIT_SRC, &FIT)] {
        let sources = of_crate(&files, src);
        no(&sources.out_of_order(rooms));
        no(&sources.circles());
    }
}

#[test]
fn an_import_to_the_right_and_a_circle_are_found() {
    let planted = Sources::new([
        ("lib.rs", "mod ground;\nmod roof;\npub use roof::Tile;"),
        (
            "ground/mod.rs",
            "mod gravel;\nmod sand;\nmod stone;\npub use sand::Sand;\npub use stone::{Stone, Rock};\n",
        ),
        ("ground/gravel.rs", "use crate::Tile;\n"),
        ("ground/sand.rs", "use super::Stone;\npub struct Sand;\n"),
        ("ground/stone.rs", "use crate::ground::{Sand, self};\npub struct Stone;\npub struct Rock;\n"),
        (
            "roof.rs",
            "use crate::ground::Rock;\npub struct Tile;\n#[cfg(test)]\nmod tests {\n    use crate::x;\n}\n",
        ),
    ]);
    let unspelled = "ground::gravel imports Tile: spell it crate::<room>::...";
    assert_eq!(planted.out_of_order(&["ground", "roof"]), [unspelled]);
    let to_the_right = "roof imports ground::Rock, which is to its right";
    assert_eq!(planted.out_of_order(&["roof", "ground"]), [unspelled, to_the_right]);
    assert_eq!(planted.circles(), ["files import each other: ground::stone -> ground::sand"]);
}

// 2 to 4. Numbers that may only fall.

/// Whether a line matches, or makes, a form of calibrator or table.
fn evaluates(line: &str) -> bool {
    ["Calibrator::", "TableForm::"].iter().any(|path| line.contains(path))
}

/// Whether a line declares a static that can change.
fn is_changing_static(line: &str) -> bool {
    let line = line.trim_start();
    let is_static = line.starts_with("static ") || line.starts_with("pub") && line.contains(" static ");
    is_static && CHANGING.iter().any(|kind| line.contains(kind))
}

/// Whether a line declares an enum of names.
fn is_enum_of_names(line: &str) -> bool {
    let name = line.split("enum ").nth(1).and_then(|rest| rest.split([' ', '<', '{']).next());
    name.is_some_and(|name| name.len() > 4 && name.ends_with("Name"))
}

/// Whether a sentence names an option or the command.
fn names_an_option(line: &str) -> bool {
    let is_option = |at: usize| line[at + 2..].starts_with(|c: char| c.is_ascii_lowercase());
    line.match_indices("--").any(|(at, _)| is_option(at)) || line.contains("`calib ")
}

/// Code lines of each room.
fn rooms_of(files: &Files) -> BTreeMap<String, usize> {
    let mut rooms = BTreeMap::new();
    for (name, src) in [("core", CORE_SRC), ("fit", FIT_SRC), ("io", IO_SRC), ("cli", CLI_SRC)] {
        for (path, _, _) in lines(files, src) {
            let room = path[src.len()..].split('/').next().unwrap_or_default().trim_end_matches(".rs");
            *rooms.entry(format!("{name}/{room}")).or_insert(0) += 1;
        }
    }
    rooms
}

#[test]
fn what_is_counted_has_not_grown() {
    let files = sources();
    let everywhere = || lines(&files, "").filter(|(path, ..)| !path.contains("/tests/"));
    let elsewhere =
        everywhere().filter(|(path, ..)| !EVALUATORS.iter().any(|folder| path.starts_with(folder)));
    let cli = || lines(&files, CLI_SRC);
    let shells =
        ["calib-host/python/src/", "calib-host/web/src/"].into_iter().flat_map(|src| lines(&files, src));
    let libraries = lines(&files, FIT_SRC).chain(lines(&files, IO_SRC));
    no(&rooms::compare(&BTreeMap::from([
        ("lines", rooms_of(&files)),
        ("options", count::options(&files)),
        ("evaluations", count_lines(elsewhere, evaluates)),
        ("statics", count_lines(cli(), is_changing_static)),
        ("circles", BTreeMap::from([("io".to_owned(), of_crate(&files, IO_SRC).circles().len())])),
        ("names", count_lines(lines(&files, "calib-host/"), is_enum_of_names)),
        ("reaches", count_lines(shells, reaches_into_the_command)),
        ("json", count_lines(cli(), |line| line.contains("json!"))),
        ("sentences", count_lines(libraries, names_an_option)),
        ("long-sentences", english::long_sentences(&files)),
        ("odd-words", english::words(&files)),
    ])));
}

#[test]
fn what_grows_is_found() {
    assert!(evaluates("            Calibrator::Binary(tables) => 1,") && !evaluates("struct Calibrator;"));
    assert!(is_changing_static("static ASKED: OnceLock<bool> = OnceLock::new();"));
    assert!(is_changing_static("pub(crate) static N: AtomicU32 = AtomicU32::new(0);"));
    assert!(!is_changing_static("static NAMES: [&str; 1] = [\"Mutex\"];"));
    assert!(is_enum_of_names("pub(crate) enum TiesName {") && !is_enum_of_names("enum Names {"));
    assert!(
        reaches_into_the_command("use calib_cli::options::Fit;")
            && !reaches_into_the_command("calib_cli::run();")
    );
    for planted in ["\"name the patient with --cluster-column\"", "\"`calib fit` states what holds\""] {
        assert!(names_an_option(planted), "{planted}");
    }
    let files =
        Files::from([("calib-host/cli/src/show/x.rs".into(), "fn f() {}\n\n// Why.\nfn g() {}\n".into())]);
    let found = rooms_of(&files);
    assert_eq!(found, BTreeMap::from([("cli/show".into(), 2)]));
    let kept = rooms::section("[options]\n\"cli/show\" = 9\n\n[lines]\n\"cli/show\" = 1\n", "lines");
    let expected = ["lines of cli/show: 2, and tests/rooms.toml allows 1"];
    assert_eq!(rooms::above("lines", &found, &kept), expected);
    assert_eq!(rooms::above("lines", &found, &found), [""; 0]);
    assert_eq!(rooms::above("statics", &found, &BTreeMap::new()).len(), 1);
}

// 5. The price list.

/// What has no price.
fn unpriced(contributing: &str) -> Vec<&'static str> {
    let rows = contributing.lines().filter_map(|line| line.strip_prefix("| "));
    let has_price = |what: &str| {
        rows.clone()
            .filter_map(|row| row.strip_prefix(what)?.strip_prefix(" | "))
            .any(|row| row.split(' ').next().is_some_and(|number| number.parse::<u32>().is_ok()))
    };
    PRICED.into_iter().filter(|what| !has_price(what)).collect()
}

#[test]
fn contributing_states_what_an_addition_may_touch() {
    assert_eq!(unpriced(&sources()["CONTRIBUTING.md"]), [""; 0]);
    assert_eq!(unpriced("| binary method | 6 | x |\n| board | few | y |\n"), PRICED[1..]);
}
