//! Puts the network that `CALIB_MODEL` names into the twin.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use calib_classifier::tflite::{Network, source};

const MODEL: &str = "CALIB_MODEL";

fn main() {
    if let Err(error) = run() {
        println!("cargo::error={error}");
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={MODEL}");
    let path = env::var_os(MODEL)
        .ok_or_else(|| format!("{MODEL} names no network: run `cargo xtask twin --model network.tflite`"))?;
    let path = fs::canonicalize(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("cargo::rerun-if-changed={}", path.display());
    let network = Network::load(&path)?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // microflow's macro reads a copy, which is no other file than the one that was looked at.
    let copy = out.join("network.tflite");
    fs::write(&copy, &network.bytes)?;
    fs::write(out.join("classifier.rs"), source(&network, &copy))?;
    println!("cargo::rustc-env={MODEL}={}", path.display());
    Ok(())
}
