//! What the tests work with.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use calib_core::ClassifierId;
use calib_firmware::{AlarmRule, LinearModel, LinearParameters};
use calib_host::device::serial::Patience;
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary,
};
use calib_tests::{Board, build_nrf52840_dk, build_updatable_firmware};

pub(crate) const ID: ClassifierId = ClassifierId(*b"updates!");

pub(crate) fn patience() -> Patience {
    Patience { reply: Duration::from_secs(2), tries: 15 }
}

/// The firmware of a board, for a classifier of two features.
pub(crate) fn firmware(board: Board, public_key: Option<&Path>) -> PathBuf {
    with_classifier(|json| build_updatable_firmware(board, json, public_key))
}

/// The firmware of the board that no emulator runs.
pub(crate) fn nrf52840_dk() -> PathBuf {
    with_classifier(build_nrf52840_dk)
}

fn with_classifier(build: impl FnOnce(&Path) -> anyhow::Result<PathBuf>) -> PathBuf {
    let model = LinearModel::new(LinearParameters {
        name: "updates".into(),
        id: ID,
        mean: vec![0.0; 2],
        scale: vec![1.0; 2],
        weights: vec![vec![1.0, 1.0]],
        bias: vec![0.0],
        alarm: AlarmRule::AtLeast(0.5),
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("classifier.json");
    model.save(&json).unwrap();
    build(&json).unwrap_or_else(|error| panic!("{error:#}"))
}

pub(crate) fn virt() -> &'static Path {
    static ELF: OnceLock<PathBuf> = OnceLock::new();
    ELF.get_or_init(|| firmware(Board::Virt, None))
}

/// A calibrator of so many bins; every number of bins is another one.
pub(crate) fn calibrator(bins: usize, counter: u32, classifier: Option<ClassifierId>) -> StoredArtifact {
    let scores = (0..2000).map(|i| f64::from(i) / 2000.0).collect();
    let labels = (0..2000).map(|i| i % 50 < i / 40).collect();
    let data = BinaryData::new(scores, labels).unwrap().on_device();
    let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(bins)), 0.1).unwrap();
    let options = ArtifactOptions { classifier, counter, ..ArtifactOptions::default() };
    StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap()
}

pub(crate) fn microbit() -> &'static Path {
    static ELF: OnceLock<PathBuf> = OnceLock::new();
    ELF.get_or_init(|| firmware(Board::Microbit, None))
}
