//! What people write in C, compiled by the cores' own compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use calib_tests::Board;

use xtask::{output, root, run};

/// Whether the C functions are of interest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Peers {
    Yes,
    No,
}

/// Compiles them with everything they call, in a folder of their own; says why not if there is no compiler.
pub(super) fn compile(board: Board, wanted: Peers, folder: &Path) -> Result<Result<PathBuf, String>> {
    if wanted == Peers::No {
        return Ok(Err("not asked for".into()));
    }
    let (tools, flags) = board.c_compiler();
    let (packages, libraries): (_, &[&str]) = match board {
        Board::Virt => ("gcc-riscv64-unknown-elf", &["-lgcc"]),
        _ => ("gcc-arm-none-eabi libnewlib-arm-none-eabi", &["-lm", "-lc", "-lgcc"]),
    };
    let gcc = format!("{tools}-gcc");
    if output(&gcc, &["--version"]).is_none() {
        return Ok(Err(format!("{gcc} is not installed: `apt-get install {packages}` brings it")));
    }
    fs::create_dir_all(folder)?;
    let object = folder.join(format!("{}.o", board.name()));
    let whole = folder.join(format!("{}-whole.o", board.name()));
    run(Command::new(&gcc)
        .args(["-O2", "-ffunction-sections"])
        .args(flags)
        .arg("-c")
        .arg(root().join("firmware/bench/peers/peers.c"))
        .arg("-o")
        .arg(&object))?;
    // With the library inside, so that Rust's own functions do not take their place.
    run(Command::new(&gcc)
        .args(["-r", "-nostdlib"])
        .args(flags)
        .arg(&object)
        .arg("-Wl,--start-group")
        .args(libraries)
        .args(["-Wl,--end-group", "-o"])
        .arg(&whole))?;
    run(Command::new(format!("{tools}-objcopy"))
        .args(["--wildcard", "--keep-global-symbol=c_*"])
        .arg(&whole))?;
    Ok(Ok(whole))
}
