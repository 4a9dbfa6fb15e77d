//! Chooses the memory map, and links the C functions to compare with, if they were compiled.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

const PEERS: &str = "CALIB_BENCH_PEERS";

fn main() {
    if let Err(error) = run() {
        println!("cargo::error={error}");
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let target = env::var("TARGET")?;
    let map = match target.as_str() {
        "thumbv6m-none-eabi" => "microbit.x",
        "thumbv8m.main-none-eabihf" => "mps2-an505.x",
        "riscv32imac-unknown-none-elf" => "virt.x",
        "thumbv7m-none-eabi" | "thumbv7em-none-eabihf" => "mps2.x",
        _ => return Err(format!("no emulated board has a core for {target}").into()),
    };
    let map = PathBuf::from("../boards/memory").join(map);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", map.display());
    println!("cargo::rustc-link-search={}", out.display());
    fs::copy(&map, out.join("memory.x")).map_err(|error| format!("{}: {error}", map.display()))?;
    if target.starts_with("riscv") {
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
