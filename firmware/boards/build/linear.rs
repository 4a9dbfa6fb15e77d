//! The linear classifier that `CALIB_CLASSIFIER` names.

use std::error::Error;
use std::{env, fs};

use calib_classifier::linear::{LinearModel, LinearParameters};

use crate::{CLASSIFIER, MODEL, alarm_rule, float, outputs};

/// The classifier, and its alarm's rule, as Rust.
pub(crate) fn classifier() -> Result<String, Box<dyn Error>> {
    if env::var_os(MODEL).is_some() {
        return Err(format!("{MODEL} names a network: build with the feature `network`").into());
    }
    let Some(path) = env::var_os(CLASSIFIER) else {
        return Err(format!("{CLASSIFIER} names no classifier file: run `cargo xtask demo`").into());
    };
    let path = fs::canonicalize(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("cargo::rerun-if-changed={}", path.display());
    let model = LinearModel::load(&path)?;
    let LinearParameters { bias, alarm, .. } = model.parameters();
    Ok(source(&model) + &outputs(bias.len()) + &alarm_rule(*alarm))
}

fn source(model: &LinearModel) -> String {
    let LinearParameters { name, id, mean, weights, bias, .. } = model.parameters();
    let rows: Vec<String> = weights.iter().map(|row| floats(row)).collect();
    format!(
        "/// The classifier.\n\
         pub(crate) static CLASSIFIER: LinearClassifier<{features}, {outputs}> = LinearClassifier::new(\n\
         {name:?}, ClassifierId({id:?}), {mean}, {inv_scale}, [{weights}], {bias});\n",
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
    let values: Vec<String> = values.iter().copied().map(float).collect();
    format!("[{}]", values.join(", "))
}
