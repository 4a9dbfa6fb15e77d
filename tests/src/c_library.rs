//! Building calib's library for C.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::Board;

/// Where Rust is instrumented for AddressSanitizer, of which the C compiler links the rest.
const SANITIZED: Option<&str> = if cfg!(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))
{
    Some("x86_64-unknown-linux-gnu")
} else if cfg!(all(target_os = "linux", target_env = "gnu", target_arch = "aarch64")) {
    Some("aarch64-unknown-linux-gnu")
} else {
    None
};

/// Whether a program with the library ends where the library reads or writes what the caller did not give it.
pub const SEES_THE_LIBRARY: bool = SANITIZED.is_some();

/// Builds the static library of `firmware/c` for this machine, with these features, all checks of a debug build, and instrumented for
/// AddressSanitizer [where that is possible](SEES_THE_LIBRARY).
///
/// # Errors
///
/// With cargo's own words.
pub fn build_c_library(features: &[&str]) -> Result<PathBuf> {
    let workspace = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware"))?;
    // A library has the same name whatever its features.
    let folder = [&["c-sanitized"], features].concat().join("-");
    let mut target_dir = workspace.join("target").join(folder);
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args(["rustc", "--quiet", "--locked", "--package", "calib-c", "--crate-type", "staticlib"])
        .args(["--features", &features.join(",")])
        .arg("--target-dir")
        .arg(&target_dir)
        .current_dir(&workspace)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    if let Some(target) = SANITIZED {
        // For a target, so that what runs while it is built is not instrumented. The flag is there in every compiler, and is taken by those
        // that are told to.
        build.args(["--target", target]);
        build.envs([("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", "-Zsanitizer=address")]);
        target_dir.push(target);
    }
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
