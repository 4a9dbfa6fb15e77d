//! Building the firmware, and what stands in its ELF file.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use calib_firmware::Classifier;
use calib_linear::LinearModel;
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SectionKind, elf};

use crate::Board;

/// The package and the binary that hold every board's firmware.
const PACKAGE: &str = "boards";
/// Compiles our crates to the same code in every folder.
const RUSTC_WRAPPER: &str = "rustc-anywhere.sh";

/// What a firmware image takes on a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSize {
    /// Code, constants and the initial values of variables.
    pub flash_bytes: u64,
    /// Variables; the stack comes on top.
    pub static_ram_bytes: u64,
}

/// [`build_firmware_for`] Arm's MPS2 board with a Cortex-M4F.
///
/// # Errors
///
/// As [`build_firmware_for`].
pub fn build_firmware(classifier_json: &Path) -> Result<PathBuf> {
    build_firmware_for(Board::Mps2An386, classifier_json)
}

/// Builds the firmware for an emulated board with the classifier in a JSON file, and returns its ELF file,
/// which no other classifier's build overwrites.
///
/// # Errors
///
/// If the file holds no classifier, or with cargo's own words.
pub fn build_firmware_for(board: Board, classifier_json: &Path) -> Result<PathBuf> {
    build((board.name(), board.target()), classifier_json, "", None, false)
}

/// Builds the firmware for the nRF52840-DK, which no emulator runs.
///
/// # Errors
///
/// As [`build_firmware_for`].
pub fn build_nrf52840_dk(classifier_json: &Path) -> Result<PathBuf> {
    build(("nrf52840-dk", "thumbv7em-none-eabihf"), classifier_json, "", None, false)
}

/// As [`build_updatable_firmware`], and the log says when the last byte of each frame was taken from the line, and when each
/// request was answered.
///
/// # Errors
///
/// As [`build_firmware_for`].
pub fn build_traced_firmware(classifier_json: &Path) -> Result<PathBuf> {
    let board = Board::Mps2An386;
    build((board.name(), board.target()), classifier_json, "slots", None, true)
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
    build((board.name(), board.target()), classifier_json, feature, public_key, false)
}

fn build(
    (board, target): (&str, &str),
    classifier_json: &Path,
    feature: &str,
    public_key: Option<&Path>,
    trace: bool,
) -> Result<PathBuf> {
    let model = LinearModel::load(classifier_json)?;
    let classifier_json = fs::canonicalize(classifier_json)?;
    let workspace = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware"))?;
    let target_dir = workspace.join(if trace { "target/trace" } else { "target" });
    let images = target_dir.join("demo");
    fs::create_dir_all(&images).with_context(|| format!("cannot create {}", images.display()))?;
    // Held until the image is copied, so that no other build of the same board comes between.
    let lock = File::create(images.join(".lock"))?;
    lock.lock()?;

    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--release", "--locked", "--package", PACKAGE])
        .args(["--features", &format!("{board},{feature}"), "--target", target])
        .arg("--target-dir")
        .arg(&target_dir)
        .current_dir(&workspace)
        .env("CALIB_CLASSIFIER", &classifier_json)
        // Without it, what is in `.cargo/config.toml`.
        .envs(trace.then_some(("DEFMT_LOG", "trace")))
        .envs(public_key.map(fs::canonicalize).transpose()?.map(|key| ("CALIB_PUBLIC_KEY", key)))
        // Flags meant for the host would replace the device's.
        .env_remove("RUSTFLAGS")
        .env("RUSTC_WRAPPER", workspace.join(RUSTC_WRAPPER))
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            remapped_paths(&fs::canonicalize(workspace.join(".."))?, &cargo_home()?),
        )
        .output()
        .context("cargo was not found")?;
    if !output.status.success() {
        bail!(
            "the firmware did not build\n{}hint: run `cargo xtask test`, which sets up the target {}",
            String::from_utf8_lossy(&output.stderr),
            target
        );
    }
    let kind = if feature.is_empty() { String::new() } else { format!("-{feature}") };
    let image = images.join(format!("{board}{kind}-{}-{}.elf", file_name(model.name()), model.id()));
    let built = target_dir.join(target).join("release").join(PACKAGE);
    fs::copy(&built, &image).with_context(|| format!("cannot copy {}", built.display()))?;
    Ok(image)
}

/// rustc's flags that keep the folders of the sources and of cargo out of an image: for `CARGO_ENCODED_RUSTFLAGS`.
///
/// The places in the sources that a panic names are part of the program.
pub fn remapped_paths(root: &Path, cargo_home: &Path) -> OsString {
    let mut flags = OsString::new();
    // The last that fits counts: cargo's folder may be below the sources'.
    for (from, to) in [(root, "/calib"), (cargo_home, "/cargo")] {
        if !flags.is_empty() {
            flags.push("\x1f");
        }
        flags.push("--remap-path-prefix=");
        flags.push(from);
        flags.push("=");
        flags.push(to);
    }
    flags
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

/// Adds up the sections of an ELF file that a device holds.
///
/// # Errors
///
/// If the file cannot be read, or is no ELF file.
pub fn image_size(elf: &Path) -> Result<ImageSize> {
    let bytes = read(elf)?;
    let mut size = ImageSize { flash_bytes: 0, static_ram_bytes: 0 };
    for section in object::File::parse(&*bytes)?.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        if sh_flags & u64::from(elf::SHF_ALLOC) == 0 {
            continue;
        }
        // What is left of the memory, which riscv-rt gives sections of their own.
        if matches!(section.name(), Ok(".heap" | ".stack")) {
            continue;
        }
        let zeroed = section.kind() == SectionKind::UninitializedData;
        if !zeroed {
            size.flash_bytes += section.size();
        }
        if zeroed || sh_flags & u64::from(elf::SHF_WRITE) != 0 {
            size.static_ram_bytes += section.size();
        }
    }
    Ok(size)
}

/// What an ELF file puts into a device's flash: each section's address, and its bytes.
///
/// # Errors
///
/// If the file cannot be read, or is no ELF file.
pub fn flashed_bytes(elf: &Path) -> Result<Vec<u8>> {
    let bytes = read(elf)?;
    let mut flashed = Vec::new();
    for section in object::File::parse(&*bytes)?.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        if sh_flags & u64::from(elf::SHF_ALLOC) != 0 && section.kind() != SectionKind::UninitializedData {
            flashed.extend(section.address().to_le_bytes());
            flashed.extend(section.data()?);
        }
    }
    Ok(flashed)
}

/// The sizes of the functions and constants of an ELF file, by their symbols.
///
/// # Errors
///
/// If the file cannot be read, or is no ELF file.
pub fn symbol_sizes(elf: &Path) -> Result<BTreeMap<String, u64>> {
    let bytes = read(elf)?;
    let file = object::File::parse(&*bytes)?;
    let symbols = file.symbols().filter(|symbol| symbol.size() > 0);
    Ok(symbols.filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.size()))).collect())
}

/// The instructions of a function of an Arm ELF file, one a line, without addresses, as arm-none-eabi-objdump shows them.
///
/// # Errors
///
/// If there is no such program or no such function.
pub fn function_assembly(elf: &Path, name: &str) -> Result<String> {
    let output = Command::new("arm-none-eabi-objdump")
        .args(["--disassemble", "--no-show-raw-insn", "--no-addresses"])
        .arg(format!("--disassemble={name}"))
        .arg(elf)
        .output()
        .context("arm-none-eabi-objdump was not found")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut assembly = String::from(".syntax unified\n");
    for line in text.lines().filter_map(|line| line.strip_prefix('\t')) {
        // Places in the code are named by address and symbol, which an assembler does not take.
        let line = line.split(&['@', ';'][..]).next().unwrap_or(line).trim();
        if line.starts_with('.') || line.contains('<') || line.is_empty() {
            continue;
        }
        assembly.push_str(line);
        assembly.push('\n');
    }
    ensure!(assembly.lines().count() > 1, "{} has no function {name}", elf.display());
    Ok(assembly)
}

/// The address of a symbol of an ELF file.
pub(crate) fn symbol_addr(elf: &[u8], name: &str) -> Result<u64> {
    let file = object::File::parse(elf)?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
    Ok(symbol.with_context(|| format!("the firmware has no symbol {name}"))?.address())
}

/// The address of a symbol of the program in an ELF file.
///
/// # Errors
///
/// If the file cannot be read, is no ELF file, or has no such symbol.
pub fn symbol_addr_of(elf: &Path, name: &str) -> Result<u64> {
    symbol_addr(&read(elf)?, name)
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
