//! calib's library for C on this machine: the same bits as calib-core, and error codes for callers who err.

mod artifacts;
mod asked;
mod counting;
mod device;
mod firmware;
mod hostile;
mod in_c;
mod mcuboot;
mod page;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::harness::random_inputs;

/// Of each kind of artifact; `cargo xtask test` asks an eighth.
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
        let sources = fs::read_dir(in_c::sources()).unwrap().map(|entry| entry.unwrap().path());
        let sources: Vec<PathBuf> =
            sources.filter(|path| path.extension().is_some_and(|e| e == "c")).collect();
        assert!(sources.len() > 5);
        for source in sources {
            in_c::compile("cc", &[standard, "-fsyntax-only"], &[&source]);
        }
    }
}

#[test]
fn c_gives_the_bits_of_calib_core() {
    let folder = tempfile::tempdir().unwrap();
    let program = in_c::program(folder.path(), "parity.c");
    let [question, answer] = ["asked", "answered"].map(|name| folder.path().join(name));
    let (mut all, mut bands, mut encodings, mut reductions) = (0, 0, BTreeSet::new(), BTreeSet::new());
    let mut tables = BTreeSet::new();
    for (name, stored) in artifacts::all() {
        let artifact = stored.artifact();
        encodings.insert(artifact.header().encoding.to_string());
        reductions.insert(artifact.header().reduction.to_string());
        let asked = asked::questions(&artifact, random_inputs(QUESTIONS));
        fs::write(&question, asked::file(stored.as_bytes(), &artifact, &asked)).unwrap();
        in_c::run(&program, &[question.clone(), answer.clone()]);
        let bytes = fs::read(&answer).unwrap();
        let (words, rest) = bytes.as_chunks::<4>();
        assert!(rest.is_empty());
        let got: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        asked::compare(&name, &artifact, &asked, &got);
        all += asked.len();
        if asked::is_one_table(&artifact) {
            tables.insert(artifact.header().encoding.to_string());
        }
        bands += artifact.band().map_or(0, |_| asked.len());
        println!("{name}: {} questions", asked.len());
    }
    println!("{all} questions in all");
    assert!(bands > 1000, "{bands} questions about bands");
    assert!(tables.len() > 4, "one table over {tables:?}");
    assert!(encodings.len() > 6 && reductions.len() > 6, "{encodings:?} {reductions:?}");
}
