//! Building the firmware: each image once.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use calib_classifier::linear::{AlarmRule, LinearModel};
use calib_firmware::Classifier;

use crate::Board;
use crate::fingerprint::Fingerprint;

/// The package and the binary that hold every board's firmware.
const PACKAGE: &str = "boards";
/// Another flag, so that cargo does not take what was compiled at one level of the log for the same at another: it does not see the
/// variable that defmt reads.
const TRACED: [&str; 2] = ["--config", "target.'cfg(target_os = \"none\")'.rustflags=[\"--cfg=traced\"]"];
/// Compiles our crates to the same code in every folder.
const RUSTC_WRAPPER: &str = "rustc-anywhere.sh";

/// [`build_firmware_for`] Arm's MPS2 board with a Cortex-M4F.
///
/// # Errors
///
/// As [`build_firmware_for`].
pub fn build_firmware(classifier_json: &Path) -> Result<PathBuf> {
    build_firmware_for(Board::Mps2An386, classifier_json)
}

/// Returns the ELF file of an emulated board's firmware with the classifier in a JSON file. It is built unless it is there
/// from the same sources, and no other classifier's build overwrites it.
///
/// # Errors
///
/// If the file holds no classifier, or with cargo's own words.
pub fn build_firmware_for(board: Board, classifier_json: &Path) -> Result<PathBuf> {
    Firmware::of(board).with_linear(&LinearModel::load(classifier_json)?)
}

/// As [`build_firmware_for`], of a classifier that is in no file yet.
///
/// # Errors
///
/// As [`build_firmware_for`].
pub fn build_firmware_of(board: Board, model: &LinearModel) -> Result<PathBuf> {
    Firmware::of(board).with_linear(model)
}

/// As [`build_firmware_for`], of a network in a TFLite file, beside which stands what TensorFlow Lite makes of some rows.
///
/// # Errors
///
/// As [`build_firmware_for`], and if the network gives other codes than TensorFlow Lite.
pub fn build_network_firmware(board: Board, network: &Path, alarm: AlarmRule) -> Result<PathBuf> {
    Firmware::of(board).with_network(network, alarm)
}

/// As [`build_firmware_for`], of the nRF52840-DK, which no emulator runs.
///
/// # Errors
///
/// As [`build_firmware_for`].
pub fn build_nrf52840_dk(classifier_json: &Path) -> Result<PathBuf> {
    let firmware = Firmware { board: "nrf52840-dk", ..Firmware::of(Board::Mps2An386) };
    firmware.with_linear(&LinearModel::load(classifier_json)?)
}

/// As [`build_updatable_firmware`], and the log says when the last byte of each frame was taken from the line, and when each
/// request was answered.
///
/// # Errors
///
/// As [`build_firmware_for`].
pub fn build_traced_firmware(classifier_json: &Path) -> Result<PathBuf> {
    let firmware = Firmware { feature: "slots", trace: true, ..Firmware::of(Board::Mps2An386) };
    firmware.with_linear(&LinearModel::load(classifier_json)?)
}

/// As [`build_firmware_for`], with two slots, whose calibrator is replaced over the serial line: by any other, or, with
/// the PEM file of a public key, by those that are signed with it.
///
/// # Errors
///
/// As [`build_firmware_for`].
pub fn build_updatable_firmware(
    board: Board,
    classifier_json: &Path,
    public_key: Option<&Path>,
) -> Result<PathBuf> {
    let feature = if public_key.is_some() { "signed" } else { "slots" };
    let firmware = Firmware { feature, public_key, ..Firmware::of(board) };
    firmware.with_linear(&LinearModel::load(classifier_json)?)
}

/// As [`build_updatable_firmware`] without a key, and without monitors.
///
/// # Errors
///
/// As [`build_firmware_for`].
pub fn build_unmonitored_firmware(board: Board, classifier_json: &Path) -> Result<PathBuf> {
    let firmware = Firmware { feature: "slots", has_monitors: false, ..Firmware::of(board) };
    firmware.with_linear(&LinearModel::load(classifier_json)?)
}

/// What an image is built of, besides its classifier.
#[derive(Clone, Copy, Debug)]
struct Firmware<'a> {
    /// The feature that chooses the board.
    board: &'a str,
    target: &'a str,
    /// Another feature, or nothing.
    feature: &'a str,
    public_key: Option<&'a Path>,
    /// Whether the log is at its finest level.
    trace: bool,
    /// Whether it counts what it predicts.
    has_monitors: bool,
}

/// What an image classifies with.
struct Classifies {
    /// What it is made of: another content, another image.
    content: Vec<u8>,
    /// What the build script is told.
    variables: Vec<(&'static str, OsString)>,
    /// The feature that it takes, or nothing.
    feature: &'static str,
}

impl Firmware<'_> {
    /// A board's firmware with one slot.
    const fn of(board: Board) -> Self {
        Self {
            board: board.name(),
            target: board.target(),
            feature: "",
            public_key: None,
            trace: false,
            has_monitors: true,
        }
    }

    fn with_linear(self, model: &LinearModel) -> Result<PathBuf> {
        self.build(&format!("{}-{}", file_name(model.name()), model.id()), |stem| {
            let json = stem.with_extension("json");
            model.save(&json)?;
            Ok(Classifies {
                content: fs::read(&json)?,
                variables: vec![("CALIB_CLASSIFIER", json.into())],
                feature: "",
            })
        })
    }

    fn with_network(self, network: &Path, alarm: AlarmRule) -> Result<PathBuf> {
        let alarm = match alarm {
            AlarmRule::AtLeast(threshold) => format!("at-least {threshold}"),
            AlarmRule::Below(threshold) => format!("below {threshold}"),
        };
        let mut content = alarm.clone().into_bytes();
        for extension in ["tflite", "features.npy", "codes.npy"] {
            let path = network.with_extension(extension);
            content.extend(fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?);
        }
        let name = network.file_stem().unwrap_or_default().to_string_lossy();
        self.build(&format!("network-{}", file_name(&name)), |_| {
            let network = fs::canonicalize(network)?;
            let variables = vec![("CALIB_MODEL", network.into()), ("CALIB_ALARM", alarm.into())];
            Ok(Classifies { content, variables, feature: "network" })
        })
    }

    /// Builds the image with a classifier, whose files may be put beside the image.
    fn build(self, classifier: &str, put: impl FnOnce(&Path) -> Result<Classifies>) -> Result<PathBuf> {
        let workspace = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware"))?;
        let target_dir = workspace.join("target");
        let images = target_dir.join("images");
        fs::create_dir_all(&images).with_context(|| format!("cannot create {}", images.display()))?;
        let kind = if self.feature.is_empty() { String::new() } else { format!("-{}", self.feature) };
        let without = if self.has_monitors { "" } else { "-unmonitored" };
        let traced = if self.trace { "-traced" } else { "" };
        let stem = format!("{}{kind}{without}{traced}-{classifier}", self.board);
        let image = images.join(format!("{stem}.elf"));

        // One build for a target at a time: the next one of another classifier overwrites what cargo leaves.
        let lock = File::create(images.join(format!(".{}.lock", self.target)))?;
        lock.lock()?;
        let classifies = put(&images.join(&stem))?;
        let fingerprint = Fingerprint::of(&workspace)?
            .with(format!("{} {} {} {}", self.board, self.target, self.feature, self.trace))
            .with(without)
            .with(&classifies.content)
            .with(self.public_key.map(fs::read).transpose()?.unwrap_or_default());
        let built_of = images.join(format!("{stem}.fingerprint"));
        if image.exists() && fs::read_to_string(&built_of).is_ok_and(|text| text == fingerprint.to_string()) {
            return Ok(image);
        }
        self.compile(&workspace, &target_dir, classifies)?;
        let built = target_dir.join(self.target).join("release").join(PACKAGE);
        // An image that is copied only in part has no fingerprint.
        fs::remove_file(&built_of).or_else(|error| if built_of.exists() { Err(error) } else { Ok(()) })?;
        fs::copy(&built, &image).with_context(|| format!("cannot copy {}", built.display()))?;
        fs::write(&built_of, fingerprint.to_string())?;
        Ok(image)
    }

    fn compile(self, workspace: &Path, target_dir: &Path, classifies: Classifies) -> Result<()> {
        let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--quiet", "--release", "--locked", "--package", PACKAGE])
            .args(["--features", &[self.board, self.feature, classifies.feature].join(",")])
            .args(if self.has_monitors { &[][..] } else { &["--no-default-features"] })
            .args(["--target", self.target])
            .arg("--target-dir")
            .arg(target_dir)
            .current_dir(workspace)
            .env_remove("CALIB_CLASSIFIER")
            .env_remove("CALIB_MODEL")
            .envs(classifies.variables)
            // Without it, what is in `.cargo/config.toml`.
            .envs(self.trace.then_some(("DEFMT_LOG", "trace")))
            .args(self.trace.then_some(TRACED).into_iter().flatten())
            .envs(self.public_key.map(fs::canonicalize).transpose()?.map(|key| ("CALIB_PUBLIC_KEY", key)))
            // Flags meant for the host would replace the device's.
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env("RUSTC_WRAPPER", workspace.join(RUSTC_WRAPPER))
            .arg("--config")
            .arg(remapped_paths(&fs::canonicalize(workspace.join(".."))?, &cargo_home()?))
            .output()
            .context("cargo was not found")?;
        if !output.status.success() {
            bail!(
                "the firmware did not build\n{}hint: run `cargo xtask test`, which sets up the target {}",
                String::from_utf8_lossy(&output.stderr),
                self.target
            );
        }
        Ok(())
    }
}

/// A setting for cargo's `--config` that keeps the folders of the sources and of cargo out of an image.
///
/// The places in the sources that a panic names are part of the program. The flags in `.cargo/config.toml` stay.
pub fn remapped_paths(root: &Path, cargo_home: &Path) -> String {
    // The last that fits counts: cargo's folder may be below the sources'.
    let [root, cargo_home] = [(root, "/calib"), (cargo_home, "/cargo")]
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    format!("target.'cfg(target_os = \"none\")'.rustflags=[{root:?}, {cargo_home:?}]")
}

/// The folder of cargo's downloads.
///
/// # Errors
///
/// If there is no home folder.
pub fn cargo_home() -> Result<PathBuf> {
    let home = || Some(env::home_dir()?.join(".cargo"));
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home).context("there is no home folder")
}

/// `name` without what a file name does not take.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}
