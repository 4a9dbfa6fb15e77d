//! The proof that calib-core does not panic: a program that links only then.

use anyhow::{Context, Result, ensure};
use calib_tests::Board;

use crate::root;
use crate::run::cargo;

/// One board for every kind of target, with and without a floating-point unit.
const BOARDS: [Board; 4] = [Board::Microbit, Board::Mps2An386, Board::Mps2An505, Board::Virt];
/// The function that the panic handler calls and that does not exist.
const MISSING: &str = "a_function_of_calib_core_can_panic";

/// Links `firmware/proof` for four targets, and sees that the linker would find a panic.
pub(crate) fn prove() -> Result<()> {
    for board in BOARDS {
        let (linked, said) = link(board.target(), false)?;
        ensure!(
            linked,
            "calib-core may panic on {}, or `firmware/proof` does not build:\n{said}",
            board.target()
        );
    }
    let (linked, said) = link(Board::Microbit.target(), true)?;
    ensure!(!linked && said.contains(MISSING), "the proof does not see a function that panics:\n{said}");
    Ok(())
}

fn link(target: &str, control: bool) -> Result<(bool, String)> {
    let mut build = cargo(&root().join("firmware"));
    build
        .args(["build", "--quiet", "--locked", "--release", "--package", "calib-proof", "--target", target])
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    if control {
        build.args(["--features", "control"]);
    }
    let output = build.output().context("cargo was not found")?;
    Ok((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
}
