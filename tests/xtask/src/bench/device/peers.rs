//! What people write in C, compiled by the cores' own compiler.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use calib_tests::Board;

use crate::root;
use crate::run::{output, run};

/// Whether the C functions are of interest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Yes,
    No,
}

/// Compiles them with everything they call; says why not if there is no compiler.
pub(super) fn compile(board: Board, wanted: Wanted) -> Result<Result<PathBuf, String>> {
    if wanted == Wanted::No {
        return Ok(Err("not asked for".into()));
    }
    let flags: &[&str] = match board {
        Board::Microbit => &["-mcpu=cortex-m0", "-mfloat-abi=soft"],
        Board::Mps2An385 => &["-mcpu=cortex-m3", "-mfloat-abi=soft"],
        Board::Mps2An386 => &["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
        Board::Mps2An500 => &["-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
        Board::Mps2An505 => &["-mcpu=cortex-m33", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        Board::Virt => return Ok(Err("there is no newlib for RISC-V in Debian".into())),
    };
    const GCC: &str = "arm-none-eabi-gcc";
    if output(GCC, &["--version"]).is_none() {
        let install = "`apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi`";
        return Ok(Err(format!("{GCC} is not installed: {install} brings it")));
    }
    let folder = root().join("firmware/target/peers");
    fs::create_dir_all(&folder)?;
    let object = folder.join(format!("{}.o", board.name()));
    let whole = folder.join(format!("{}-whole.o", board.name()));
    run(Command::new(GCC)
        .args(["-O2", "-mthumb", "-ffunction-sections"])
        .args(flags)
        .arg("-c")
        .arg(root().join("firmware/bench/peers/peers.c"))
        .arg("-o")
        .arg(&object))?;
    // With newlib and libgcc inside, so that Rust's own functions do not take their place.
    run(Command::new(GCC)
        .args(["-mthumb", "-r", "-nostdlib"])
        .args(flags)
        .arg(&object)
        .args(["-Wl,--start-group", "-lm", "-lc", "-lgcc", "-Wl,--end-group", "-o"])
        .arg(&whole))?;
    run(Command::new("arm-none-eabi-objcopy").args(["--wildcard", "--keep-global-symbol=c_*"]).arg(&whole))?;
    Ok(Ok(whole))
}
