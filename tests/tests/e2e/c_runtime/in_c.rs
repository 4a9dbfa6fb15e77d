//! Compiling and running programs in C.

use std::path::{Path, PathBuf};
use std::process::Command;

use calib_tests::build_c_library;

/// What callers in C compile with.
const WARNINGS: [&str; 6] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wcast-align", "-Werror"];
/// What finds their mistakes, and the library's, while they run.
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/c")
}

/// The folder of the programs.
pub(crate) fn sources() -> PathBuf {
    library().join("tests")
}

/// Compiles, without a warning.
pub(crate) fn compile(compiler: &str, arguments: &[&str], inputs: &[&Path]) {
    let built = Command::new(compiler)
        .args(WARNINGS)
        .arg("-I")
        .arg(library().join("include"))
        .args([Path::new("-I"), &library().join("zephyr"), Path::new("-I"), &sources().join("zephyr")])
        .args(arguments)
        .args(inputs)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(built.status.success(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
}

/// Builds a program with the library, under sanitizers.
pub(crate) fn program(folder: &Path, source: &str) -> PathBuf {
    program_with(&["ed25519"], folder, source)
}

/// The same, with the library of these features.
pub(crate) fn program_with(features: &[&str], folder: &Path, source: &str) -> PathBuf {
    let library = build_c_library(features).unwrap_or_else(|error| panic!("{error:#}"));
    let program = folder.join("program");
    let out = program.display().to_string();
    let own = ["-std=c99", "-g", "-O1", "-o", &out];
    let system = ["-lpthread", "-ldl", "-lm"].map(Path::new);
    let source = sources().join(source);
    let inputs = [&[&*source, &*library], &system[..]].concat();
    compile("cc", &[&own[..], &SANITIZERS].concat(), &inputs);
    program
}

/// Runs it, and returns what it says.
pub(crate) fn run(program: &Path, arguments: &[PathBuf]) -> String {
    let ran = Command::new(program).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{}: {}\n{said}", program.display(), ran.status);
    String::from_utf8(ran.stdout).unwrap()
}
