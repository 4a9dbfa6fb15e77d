//! Puts the memory map where the linker finds it, and the classifier into the program.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use calib_firmware::{AlarmRule, LinearModel, LinearParameters};

const CLASSIFIER: &str = "CALIB_CLASSIFIER";

fn main() {
    if let Err(error) = run() {
        println!("cargo::error={error}");
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=memory.x");
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
    fs::copy("memory.x", out.join("memory.x"))?;

    println!("cargo::rerun-if-env-changed={CLASSIFIER}");
    let Some(path) = env::var_os(CLASSIFIER) else {
        return Err(format!("{CLASSIFIER} names no classifier file: run `cargo xtask demo`").into());
    };
    let path = fs::canonicalize(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("cargo::rerun-if-changed={}", path.display());
    fs::write(out.join("classifier.rs"), source(&LinearModel::load(&path)?))?;
    Ok(())
}

/// The classifier as Rust.
fn source(model: &LinearModel) -> String {
    let LinearParameters { name, id, mean, weights, bias, alarm, .. } = model.parameters();
    let rows: Vec<String> = weights.iter().map(|row| floats(row)).collect();
    let alarm = match alarm {
        AlarmRule::AtLeast(threshold) => format!("AtLeast({})", float(threshold)),
        AlarmRule::Below(threshold) => format!("Below({})", float(threshold)),
    };
    format!(
        "/// The classifier.\n\
         pub(crate) static CLASSIFIER: LinearClassifier<{features}, {outputs}> = LinearClassifier::new(\n\
         {name:?}, ClassifierId({id:?}), {mean}, {inv_scale}, [{weights}], {bias});\n\
         /// When the alarm is raised.\n\
         pub(crate) const ALARM_RULE: AlarmRule = AlarmRule::{alarm};\n",
        features = mean.len(),
        outputs = bias.len(),
        id = id.0,
        mean = floats(mean),
        inv_scale = floats(model.inv_scale()),
        weights = rows.join(", "),
        bias = floats(bias),
    )
}

fn floats(values: &[f32]) -> String {
    let values: Vec<String> = values.iter().map(float).collect();
    format!("[{}]", values.join(", "))
}

/// By bits: nothing is rounded on the way.
fn float(value: &f32) -> String {
    format!("f32::from_bits({:#010x})", value.to_bits())
}
