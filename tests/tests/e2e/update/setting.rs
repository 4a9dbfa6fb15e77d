//! What the tests work with.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::Duration;

use calib_classifier::linear::{AlarmRule, LinearModel, LinearParameters};
use calib_core::ClassifierId;
use calib_host::artifact::Monitoring;
use calib_host::io::device::serial::RetryPolicy;
use calib_host::io::files::PrivateKey;
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary,
};
use calib_tests::{Board, build_nrf52840_dk, build_unmonitored_firmware, build_updatable_firmware, calib};

pub(crate) const ID: ClassifierId = ClassifierId(*b"updates!");
/// The classifier of the program that a bootloader puts in place of the other.
pub(crate) const NEXT_ID: ClassifierId = ClassifierId(*b"updates2");

pub(crate) fn retry_policy() -> RetryPolicy {
    RetryPolicy { reply: Duration::from_secs(2), tries: 15 }
}

/// The firmware of a board that takes calibrators from anybody.
pub(crate) fn firmware(board: Board) -> PathBuf {
    with_classifier(ID, |json| build_updatable_firmware(board, json, None))
}

/// The same without monitors.
pub(crate) fn unmonitored(board: Board) -> PathBuf {
    with_classifier(ID, |json| build_unmonitored_firmware(board, json))
}

/// The same with the next classifier.
pub(crate) fn next_firmware(board: Board) -> PathBuf {
    with_classifier(NEXT_ID, |json| build_updatable_firmware(board, json, None))
}

/// The firmware of a board that takes only calibrators that its [`owner`] signed.
pub(crate) fn signed(board: Board) -> PathBuf {
    // Its files are there then.
    owner();
    with_classifier(ID, |json| {
        build_updatable_firmware(board, json, Some(&owner_path().with_extension("pub")))
    })
}

/// The firmware of the board that no emulator runs.
pub(crate) fn nrf52840_dk() -> PathBuf {
    with_classifier(ID, build_nrf52840_dk)
}

fn with_classifier(id: ClassifierId, build: impl FnOnce(&Path) -> anyhow::Result<PathBuf>) -> PathBuf {
    let model = LinearModel::new(LinearParameters {
        name: "updates".into(),
        id,
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

/// The key that signed calibrators are signed with: made once and kept, so that the images with it can be kept, too.
pub(crate) fn owner() -> &'static PrivateKey {
    static OWNER: OnceLock<PrivateKey> = OnceLock::new();
    OWNER.get_or_init(|| {
        let (private, public) = (owner_path(), owner_path().with_extension("pub"));
        let kept = PrivateKey::read(&private).ok();
        let owner = kept.unwrap_or_else(|| {
            let made = PrivateKey::generate().unwrap();
            made.write_pair(&private, &public, true).unwrap();
            made
        });
        owner.public().write(&public, true).unwrap();
        owner
    })
}

fn owner_path() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("owner.pem")
}

pub(crate) fn virt() -> &'static Path {
    static ELF: OnceLock<PathBuf> = OnceLock::new();
    ELF.get_or_init(|| firmware(Board::Virt))
}

pub(crate) fn microbit() -> &'static Path {
    static ELF: OnceLock<PathBuf> = OnceLock::new();
    ELF.get_or_init(|| firmware(Board::Microbit))
}

/// What the host says for a score.
pub(crate) fn prob(artifact: &StoredArtifact, score: f32) -> f32 {
    let artifact = artifact.artifact();
    let calib_core::Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("not binary") };
    calibrator.calibrate(calib_core::Score::new(score).unwrap()).calibrated().unwrap().prob
}

/// A calibrator of so many bins; every number of bins is another one.
pub(crate) fn calibrator(bins: usize, counter: u32, classifier: Option<ClassifierId>) -> StoredArtifact {
    with_options(bins, &ArtifactOptions::default().classifier(classifier).counter(counter))
}

/// The same with monitors.
pub(crate) fn monitored(bins: usize, counter: u32, classifier: Option<ClassifierId>) -> StoredArtifact {
    let monitors = Some(Monitoring::default().change(1000));
    with_options(bins, &ArtifactOptions::default().classifier(classifier).counter(counter).monitors(monitors))
}

/// A calibrator of so many bins with these options.
pub(crate) fn with_options(bins: usize, options: &ArtifactOptions) -> StoredArtifact {
    let scores = (0..2000).map(|i| f64::from(i) / 2000.0).collect();
    let labels = (0..2000).map(|i| i % 50 < i / 40).collect();
    let data = BinaryData::new(scores, labels).unwrap().on_device();
    let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(bins)), 0.1).unwrap();
    StoredArtifact::from_bytes(&artifact_bytes(&fit, options).unwrap()).unwrap()
}

/// Runs `calib` in a folder on the device at a port.
pub(crate) fn run(folder: &Path, args: &[&str], port: &str) -> Output {
    let line = ["--port", port, "--timeout", "2", "--tries", "15"];
    Command::new(calib()).current_dir(folder).args(args).args(line).output().unwrap()
}

/// What it says on standard error.
pub(crate) fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What it says with `--json`, if it succeeded.
pub(crate) fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", words(output));
    serde_json::from_slice(&output.stdout).unwrap()
}
