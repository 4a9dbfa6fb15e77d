//! The network that `CALIB_MODEL` names, with the alarm's rule in `CALIB_ALARM`.

use std::env;
use std::error::Error;

use calib_classifier::linear::AlarmRule;
use calib_twin::{CLASSIFIER as NETWORK, Reference, SOURCE};

use crate::{CLASSIFIER, MODEL, alarm_rule, outputs};

const ALARM: &str = "CALIB_ALARM";

/// The network, and the alarm's rule, as Rust: if the network gives TensorFlow Lite's codes.
pub(crate) fn classifier() -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed={ALARM}");
    if env::var_os(CLASSIFIER).is_some() {
        return Err(format!(
            "{CLASSIFIER} names a linear classifier: build without the feature `network`, or name a network \
                            in {MODEL} alone"
        )
        .into());
    }
    let text = env::var(ALARM).unwrap_or_default();
    let rule = rule(&text).ok_or_else(|| {
        format!("{ALARM} says when the alarm is raised: `at-least 0.5` or `below 0.9`, not `{text}`")
    })?;
    // The network is the twin's, which this script was built with: another network, another script.
    Reference::files().iter().for_each(|file| println!("cargo::rerun-if-changed={}", file.display()));
    Reference::load()?.check()?;
    Ok(SOURCE.to_owned() + &outputs(NETWORK.outputs()) + &alarm_rule(rule))
}

fn rule(text: &str) -> Option<AlarmRule> {
    let (word, threshold) = text.split_once(' ')?;
    let threshold = threshold.trim().parse().ok().filter(|threshold| (0.0..=1.0).contains(threshold))?;
    match word {
        "at-least" => Some(AlarmRule::AtLeast(threshold)),
        "below" => Some(AlarmRule::Below(threshold)),
        _ => None,
    }
}
