//! Building calib's library for C.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::Board;

/// Builds the static library of `firmware/c` for this machine, with signatures and all checks of a debug build.
///
/// # Errors
///
/// With cargo's own words.
pub fn build_c_library() -> Result<PathBuf> {
    let workspace = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware"))?;
    let target_dir = workspace.join("target/c");
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args(["rustc", "--quiet", "--locked", "--package", "calib-c", "--crate-type", "staticlib"])
        .args(["--features", "ed25519"])
        .arg("--target-dir")
        .arg(&target_dir)
        .current_dir(&workspace)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = build.output().context("cargo was not found")?;
    ensure!(
        output.status.success(),
        "the library for C did not build\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(target_dir.join("debug/libcalib_c.a"))
}

/// Builds the firmware in C for a board, with CMake, and returns its ELF file. Its classifier has this identity of 8 characters.
///
/// # Errors
///
/// With CMake's own words.
pub fn build_c_firmware(board: Board, id: &str) -> Result<PathBuf> {
    let workspace = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware"))?;
    let target = workspace.join("target");
    let (source, folder) = (workspace.join("c/example"), target.join("c-example/tests").join(board.name()));
    let define = |name: &str, value: &str| format!("-D{name}={value}");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&source).arg("-B").arg(&folder).args([
        define("BOARD", board.name()),
        define("CLASSIFIER_ID", id),
        define("CALIB_CARGO_DIR", &target.join("c").display().to_string()),
        define("CMAKE_TOOLCHAIN_FILE", &source.join("arm-none-eabi.cmake").display().to_string()),
    ]);
    let mut build = Command::new("cmake");
    build.arg("--build").arg(&folder).env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    for command in [&mut configure, &mut build] {
        let output = command.output().context("cmake was not found: `cargo xtask c-firmware` installs it")?;
        let said = [output.stdout, output.stderr].concat();
        ensure!(
            output.status.success(),
            "the firmware in C did not build\n{}",
            String::from_utf8_lossy(&said)
        );
    }
    Ok(folder.join("firmware.elf"))
}
