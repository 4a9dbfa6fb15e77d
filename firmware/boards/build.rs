//! Puts the memory map where the linker finds it, and the classifier into the program.

#[cfg(not(feature = "network"))]
#[path = "build/linear.rs"]
mod classifier;
#[cfg(feature = "network")]
#[path = "build/network.rs"]
mod classifier;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use calib_classifier::linear::AlarmRule;
use ed25519_dalek::VerifyingKey;
use ed25519_dalek::pkcs8::DecodePublicKey;

const CLASSIFIER: &str = "CALIB_CLASSIFIER";
const MODEL: &str = "CALIB_MODEL";
const PUBLIC_KEY: &str = "CALIB_PUBLIC_KEY";

fn main() {
    if let Err(error) = run() {
        println!("cargo::error={error}");
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let map = memory_map()?;
    println!("cargo::rerun-if-changed={}", map.display());
    println!("cargo::rustc-link-search={}", out.display());
    fs::copy(map, out.join("memory.x"))?;
    if env::var("CARGO_CFG_TARGET_ARCH")? == "riscv32" {
        println!("cargo::rustc-link-arg-bins=-Tmemory.x");
    }
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    if has_feature("DEFMT") {
        println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
    }

    if has_feature("SIGNED") {
        fs::write(out.join("public_key.rs"), public_key()?)?;
    }

    println!("cargo::rustc-check-cfg=cfg(monitored)");
    // The micro:bit's 16 KiB have no room for monitors beside a network.
    if has_feature("MONITORS") && !(has_feature("MICROBIT") && has_feature("NETWORK")) {
        println!("cargo::rustc-cfg=monitored");
    }

    for variable in [CLASSIFIER, MODEL] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    fs::write(out.join("classifier.rs"), classifier::classifier()?)?;
    Ok(())
}

/// The key in the PEM file that `calib keygen` wrote, as Rust.
fn public_key() -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed={PUBLIC_KEY}");
    let path = env::var_os(PUBLIC_KEY)
        .ok_or_else(|| format!("{PUBLIC_KEY} names no public key: make one with `calib keygen`"))?;
    let path = PathBuf::from(path);
    println!("cargo::rerun-if-changed={}", path.display());
    let pem = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let key = VerifyingKey::from_public_key_pem(&pem);
    let key = key.map_err(|_| format!("{}: not a public Ed25519 key in PEM", path.display()))?;
    Ok(format!("const PUBLIC_KEY: [u8; 32] = {:?};\n", key.to_bytes()))
}

/// The memory map of the one board that is chosen: the file beside its sources with the name of its feature, or with that of the
/// feature which it shares with others.
fn memory_map() -> Result<PathBuf, Box<dyn Error>> {
    let mut maps = Vec::new();
    for folder in fs::read_dir("src")?.collect::<Result<Vec<_>, _>>()? {
        let Ok(files) = fs::read_dir(folder.path()) else { continue };
        let files = files.map(|file| Ok(file?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
        maps.extend(files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "x")));
    }
    let stem = |map: &PathBuf| map.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    maps.retain(|map| has_feature(&stem(map).to_uppercase().replace('-', "_")));
    maps.sort_by_key(|map| stem(map).len());
    match maps.pop() {
        Some(map) if maps.iter().all(|shared| stem(&map).starts_with(&stem(shared))) => {
            // Two slots take a chip of its kind with more memory.
            let larger = has_feature("SLOTS").then(|| map.with_file_name("nrf51822-ac.x"));
            Ok(larger.filter(|larger| larger.exists()).unwrap_or(map))
        }
        _ => Err("choose one board by its feature, such as `--features mps2-an386`".into()),
    }
}

fn has_feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

/// When the alarm is raised, as Rust.
fn alarm_rule(rule: AlarmRule) -> String {
    let rule = match rule {
        AlarmRule::AtLeast(threshold) => format!("AtLeast({})", float(threshold)),
        AlarmRule::Below(threshold) => format!("Below({})", float(threshold)),
    };
    format!(
        "\n/// When the alarm is raised.\n\
         pub(crate) const ALARM_RULE: AlarmRule = AlarmRule::{rule};\n"
    )
}

/// How many numbers the classifier gives, as Rust.
fn outputs(count: usize) -> String {
    format!(
        "\n/// How many numbers it gives, and how many tables a calibrator of it has at most.\n\
         #[cfg(monitored)]\n\
         pub(crate) const OUTPUTS: usize = {count};\n"
    )
}

/// By bits: nothing is rounded on the way.
fn float(value: f32) -> String {
    format!("f32::from_bits({:#010x})", value.to_bits())
}
