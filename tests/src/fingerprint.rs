//! What a firmware is built of, as a number: another one after every change.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// The sources of a board's firmware, from the folder of its workspace. The crates of others are as `Cargo.lock` has them.
const SOURCES: [&str; 12] = [
    "../Cargo.toml",
    "../calib-core/Cargo.toml",
    "../calib-core/src",
    ".cargo/config.toml",
    "Cargo.lock",
    "Cargo.toml",
    "boards",
    "classifier",
    "device",
    "drivers",
    "rustc-anywhere.sh",
    "twin",
];
/// The names of the variables by which cargo and rustc are told what to build begin with these.
const VARIABLES: [&str; 5] = ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_", "DEFMT_", "RUSTC"];

/// The SHA-256 of what an image is built of.
#[derive(Clone, Debug)]
pub(crate) struct Fingerprint(Sha256);

impl Fingerprint {
    /// Of the sources, the compiler and its settings. What changes while this process runs is not seen.
    pub(crate) fn of(workspace: &Path) -> Result<Self> {
        static READ: OnceLock<Fingerprint> = OnceLock::new();
        if let Some(read) = READ.get() {
            return Ok(read.clone());
        }
        let read = Self::read(workspace)?;
        Ok(READ.get_or_init(|| read).clone())
    }

    /// Adds something.
    pub(crate) fn with(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    fn read(workspace: &Path) -> Result<Self> {
        let mut files = Vec::new();
        for source in SOURCES {
            list(&workspace.join(source), &mut files)?;
        }
        let mut fingerprint = Self(Sha256::new());
        for file in files {
            let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            fingerprint = fingerprint.with(file.as_os_str().as_encoded_bytes()).with(bytes);
        }
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let version = Command::new(rustc).arg("-vV").current_dir(workspace).output();
        fingerprint = fingerprint.with(version.context("rustc was not found")?.stdout);
        let mut variables: Vec<_> = env::vars_os()
            .filter(|(name, _)| {
                let name = name.to_string_lossy();
                VARIABLES.iter().any(|prefix| name.starts_with(prefix)) && name != "CARGO_TARGET_DIR"
            })
            .collect();
        variables.sort();
        for (name, value) in variables {
            fingerprint = fingerprint.with(name.as_encoded_bytes()).with(value.as_encoded_bytes());
        }
        Ok(fingerprint)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.clone().finalize().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Lists a file, or all files below a folder, in a fixed order.
fn list(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.into());
        return Ok(());
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut entries: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    entries.sort();
    entries.iter().try_for_each(|entry| list(entry, files))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_part_or_another_order_is_another_fingerprint() {
        let none = Fingerprint(Sha256::new());
        let all = [
            none.clone(),
            none.clone().with("ab"),
            none.clone().with("a").with("b"),
            none.clone().with("b").with("a"),
            none.clone().with("").with("ab"),
        ];
        let mut texts: Vec<String> = all.iter().map(ToString::to_string).collect();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), all.len());
    }

    #[test]
    fn every_source_is_there_and_counts() {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware");
        let mut files = Vec::new();
        for source in SOURCES {
            let before = files.len();
            list(&workspace.join(source), &mut files).unwrap();
            assert!(files.len() > before, "{source}");
        }
        for part in ["boards/build.rs", "virt/virt.x", "device/src/serve.rs", "src/lib.rs"] {
            assert!(files.iter().any(|file| file.ends_with(part)), "{part}");
        }
        assert_eq!(Fingerprint::read(&workspace).unwrap().to_string().len(), 64);
    }
}
