//! A serial line under load.

use std::time::Duration;

use anyhow::{Result, ensure};
use calib_classifier::linear::LinearModel;
use calib_firmware::Classifier;
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary,
};
use calib_tests::build_traced_firmware;
use calib_tests::classifier::Case;
use xtask::root;

/// The most instructions from the last byte of a request for a calibrated score to the last of its reply, on the board's
/// Cortex-M4F, the lines of the log included.
const MAX_INSTRUCTIONS: u64 = 10_000;

/// Puts a device's serial line under load for so many minutes, and replaces its calibrator meanwhile.
pub(crate) fn load(minutes: f64) -> Result<()> {
    let model = Case::breast_cancer()?.model;
    let classifier = root().join("target/classifier.json");
    model.save(&classifier)?;
    let elf = build_traced_firmware(&classifier)?;
    let artifacts = [calibrator(&model, 20)?, calibrator(&model, 60)?];
    let duration = Duration::from_secs_f64(60.0 * minutes);
    let report = calib_tests::load(&elf, [&artifacts[0], &artifacts[1]], duration)?;
    println!("{report}\n  limit of a calibration: {MAX_INSTRUCTIONS}");
    let slowest = report.max_instructions();
    ensure!(
        slowest <= MAX_INSTRUCTIONS,
        "a calibration took {slowest} instructions, at most {MAX_INSTRUCTIONS} are allowed"
    );
    Ok(())
}

/// A calibrator of so many bins for a binary classifier.
pub(crate) fn calibrator(model: &LinearModel, bins: usize) -> Result<StoredArtifact> {
    let scores = (0..2000).map(|i| f64::from(i) / 2000.0).collect();
    let labels = (0..2000).map(|i| i % 50 < i / 40).collect();
    let data = BinaryData::new(scores, labels)?.on_device();
    let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(bins)), 0.1)?;
    let options = ArtifactOptions::default().classifier(Some(model.id()));
    Ok(StoredArtifact::from_bytes(&artifact_bytes(&fit, &options)?)?)
}
