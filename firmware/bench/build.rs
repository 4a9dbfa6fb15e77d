//! Chooses the memory map, and links the C functions to compare with, if they were compiled.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

const MEMORY: &str = "CALIB_BENCH_MEMORY";
const PEERS: &str = "CALIB_BENCH_PEERS";

fn main() {
    if let Err(error) = run() {
        println!("cargo::error={error}");
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let map =
        PathBuf::from(env::var_os(MEMORY).ok_or_else(|| format!("{MEMORY} names no memory map of a board"))?);
    println!("cargo::rerun-if-env-changed={MEMORY}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", map.display());
    println!("cargo::rustc-link-search={}", out.display());
    fs::copy(&map, out.join("memory.x")).map_err(|error| format!("{}: {error}", map.display()))?;
    if env::var("CARGO_CFG_TARGET_ARCH")? == "riscv32" {
        println!("cargo::rustc-link-arg-bins=-Tmemory.x");
    }
    println!("cargo::rustc-link-arg-bins=-Tlink.x");

    println!("cargo::rustc-check-cfg=cfg(peers)");
    println!("cargo::rerun-if-env-changed={PEERS}");
    if let Some(object) = env::var_os(PEERS) {
        let object = PathBuf::from(object);
        println!("cargo::rerun-if-changed={}", object.display());
        println!("cargo::rustc-link-arg-bins={}", object.display());
        println!("cargo::rustc-cfg=peers");
    }
    Ok(())
}
