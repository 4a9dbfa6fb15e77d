//! calib's library for C on this machine: the same bits as calib-core, and error codes for callers who err.

mod artifacts;
mod asked;
mod counting;
mod device;
mod firmware;
mod in_c;

use std::fs;

use calib_core::ClassifierId;
use calib_core::artifact::MonitorAction;
use calib_host::StoredArtifact;

use crate::harness::random_inputs;
use crate::update::acting::acting;
use crate::update::setting::{ID, calibrator, monitored};

/// Of each kind of artefact; `cargo xtask test` asks an eighth.
const QUESTIONS: usize = 10_000;

#[test]
fn the_header_is_c99_c11_and_cpp_without_a_warning() {
    for (compiler, standard) in [("cc", "c99"), ("cc", "c11"), ("c++", "c++11"), ("c++", "c++17")] {
        let language = if compiler == "cc" { "c" } else { "c++" };
        let (standard, folder) = (format!("-std={standard}"), tempfile::tempdir().unwrap());
        let source = folder.path().join("header");
        fs::write(&source, "#include \"calib.h\"\n#include \"calib.h\"\nint calib_used;\n").unwrap();
        in_c::compile(compiler, &[&standard, "-fsyntax-only", "-x", language], &[&source]);
    }
    for standard in ["-std=c99", "-std=c11"] {
        for source in ["parity.c", "hostile.c", "hostile_monitors.c", "counting.c", "device.c"] {
            in_c::compile("cc", &[standard, "-fsyntax-only"], &[&in_c::sources().join(source)]);
        }
    }
}

#[test]
fn callers_who_err_get_error_codes_under_sanitizers() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, artifact: &StoredArtifact| {
        let path = folder.path().join(name);
        fs::write(&path, artifact.as_bytes()).unwrap();
        path
    };
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
        let said = in_c::run(&in_c::program(folder.path(), source), paths);
        println!("{source}: {said}");
        let checks: usize = said.split_whitespace().next().unwrap().parse().unwrap();
        assert!(checks > 1000, "{said}");
    }
}

#[test]
fn c_gives_the_bits_of_calib_core() {
    let folder = tempfile::tempdir().unwrap();
    let program = in_c::program(folder.path(), "parity.c");
    let [question, answer] = ["asked", "answered"].map(|name| folder.path().join(name));
    let mut all = 0;
    for (name, stored) in artifacts::all() {
        let artifact = stored.artifact();
        let asked = asked::questions(&artifact, random_inputs(QUESTIONS));
        fs::write(&question, asked::file(stored.as_bytes(), &artifact, &asked)).unwrap();
        in_c::run(&program, &[question.clone(), answer.clone()]);
        let bytes = fs::read(&answer).unwrap();
        let (words, rest) = bytes.as_chunks::<4>();
        assert!(rest.is_empty());
        let got: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        asked::compare(&name, &artifact, &asked, &got);
        all += asked.len();
        println!("{name}: {} questions", asked.len());
    }
    println!("{all} questions in all");
}
