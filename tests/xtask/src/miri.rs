//! `cargo xtask miri`

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use xtask::{output, root, run};

/// What a nightly toolchain needs for it.
const INSTALL: &str = "rustup toolchain install nightly --component miri,rust-src";
/// The hosts that Miri stands in for, with a `usize` of 64 bits and of 32, and its flags. proptest asks for the working folder
/// and for random numbers, which an isolated program may not. Aliasing does not depend on the width, and checking it takes
/// most of the time: once is enough.
const TARGETS: [(&str, &str); 2] = [
    ("x86_64-unknown-linux-gnu", "-Zmiri-disable-isolation"),
    ("i686-unknown-linux-gnu", "-Zmiri-disable-isolation -Zmiri-disable-stacked-borrows"),
];
/// A big-endian target that has `core` and `alloc`.
const BIG_ENDIAN: &str = "s390x-unknown-linux-gnu";
/// The only thing that calib-core says there.
const REFUSAL: &str =
    "error: artifacts are read in place and hold little-endian words: big-endian targets are not supported";

/// Runs calib-core's tests under Miri with a `usize` of 64 and of 32 bits, and sees that no big-endian target is served.
pub(crate) fn miri() -> Result<()> {
    let installed = output("rustup", &["component", "list", "--toolchain", "nightly", "--installed"]);
    let installed = installed.unwrap_or_default();
    let has = |wanted| installed.lines().any(|line| line.starts_with(wanted));
    ensure!(has("miri") && has("rust-src"), "Miri is missing: run `{INSTALL}`");
    big_endian_is_refused()?;
    TARGETS.into_iter().try_for_each(|(target, flags)| tests(target, flags))
}

/// Every unit and integration test, with few cases of each property: Miri takes some thousand times as long.
fn tests(target: &str, flags: &str) -> Result<()> {
    let start = Instant::now();
    let arguments =
        ["miri", "test", "--locked", "--package", "calib-core", "--lib", "--tests", "--target", target];
    run(nightly().args(arguments).env("PROPTEST_CASES", "4").env("MIRIFLAGS", flags))?;
    eprintln!("{target}: {} s", start.elapsed().as_secs());
    Ok(())
}

/// calib-core does not compile for a big-endian target, and says why in one sentence.
fn big_endian_is_refused() -> Result<()> {
    let checked = nightly()
        .args(["check", "--locked", "--package", "calib-core", "--target", BIG_ENDIAN])
        .args(["-Zbuild-std=core,alloc", "--color=never", "--target-dir", "target/big-endian"])
        .output()
        .context("cargo was not found")?;
    let said = String::from_utf8_lossy(&checked.stderr);
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error")).collect();
    if let [REFUSAL, _could_not_compile] = errors[..] {
        eprintln!("{BIG_ENDIAN}: refused, as it must be");
        return Ok(());
    }
    bail!("calib-core does not refuse {BIG_ENDIAN} as it should:\n{said}")
}

/// The nightly cargo, whichever toolchain this was built with.
fn nightly() -> Command {
    let mut command = Command::new("rustup");
    command
        .current_dir(root())
        .args(["run", "nightly", "cargo"])
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}
