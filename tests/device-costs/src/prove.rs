//! The proof that calib-core and the firmware's library do not panic: a program that links only then.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use calib_tests::Board;
use xtask::{cargo, root};

use crate::device::{OptLevel, STACK_SIZES};

/// The crates that hold no unsafe code.
const SAFE: [&str; 4] = [
    "calib-core/src/lib.rs",
    "calib-host/fit/src/lib.rs",
    "calib-host/src/lib.rs",
    "firmware/device/src/lib.rs",
];
/// The function that the panic handler calls and that does not exist.
const MISSING: &str = "a_function_of_calib_core_can_panic";

/// Links `firmware/proof` for every target, and sees that the linker would find a panic.
pub(crate) fn prove() -> Result<()> {
    for crate_root in SAFE {
        let text = fs::read_to_string(root().join(crate_root))?;
        ensure!(text.contains("#![forbid(unsafe_code)]"), "{crate_root} does not forbid unsafe code");
    }
    Board::one_of_each(Board::target).try_for_each(|board| image(board.target()).map(drop))?;
    let (said, linked) = link(Board::Microbit.target(), &["--features", "control"])?;
    ensure!(
        linked.is_none() && said.contains(MISSING),
        "the proof does not see a function that panics:\n{said}"
    );
    Ok(())
}

/// Builds the program, which proves it, with the sizes of its functions' stack frames. It is optimized as the firmware is:
/// for size, the compiler leaves checks in place that cannot fail.
pub(crate) fn image(target: &str) -> Result<PathBuf> {
    let (said, linked) = link(target, &[])?;
    linked.with_context(|| {
        format!("a function may panic on {target}, or `firmware/proof` does not build:\n{said}")
    })
}

/// What cargo said, and the program, if it was linked.
fn link(target: &str, features: &[&str]) -> Result<(String, Option<PathBuf>)> {
    let firmware = root().join("firmware");
    let target_dir = OptLevel::Speed.target_dir();
    let output = cargo(&firmware)
        .args(["build", "--quiet", "--locked", "--release", "--package", "calib-proof", "--target", target])
        .arg("--target-dir")
        .arg(&target_dir)
        .args(features)
        .envs(STACK_SIZES)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .context("cargo was not found")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let elf = target_dir.join(target).join("release/calib-proof");
    Ok((said, output.status.success().then_some(elf)))
}
