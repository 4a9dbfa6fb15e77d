//! Archives that are the same bytes whenever and by whomever they are made.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, HeaderMode};

/// Packs a folder as `FOLDER.tar.gz` into another one: sorted, with fixed times and owners.
pub(super) fn pack(folder: &Path, into: &Path) -> Result<PathBuf> {
    let name = folder.file_name().context("a folder has a name")?;
    let archive = into.join(format!("{}.tar.gz", name.to_string_lossy()));
    let file = File::create(&archive).with_context(|| format!("cannot create {}", archive.display()))?;
    let mut builder = Builder::new(GzEncoder::new(file, Compression::default()));
    builder.mode(HeaderMode::Deterministic);
    for path in files(folder)? {
        builder.append_path_with_name(folder.join(&path), Path::new(name).join(&path))?;
    }
    builder.into_inner()?.finish()?;
    Ok(archive)
}

/// All files below a folder, sorted, as seen from it.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let listed = folder.join(&below);
        for entry in fs::read_dir(&listed).with_context(|| format!("cannot read {}", listed.display()))? {
            let entry = entry?;
            let kept = if entry.file_type()?.is_dir() { &mut folders } else { &mut found };
            kept.push(below.join(entry.file_name()));
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::super::{empty, write};
    use super::*;

    #[test]
    fn the_same_files_give_the_same_bytes_whenever_they_were_written() {
        let place = empty("test-of-archives").unwrap();
        let packed = |names: [&str; 3], age: u64| {
            let folder = place.join(age.to_string()).join("calib");
            for name in names {
                write(&folder.join(name), name).unwrap();
                let file = File::options().write(true).open(folder.join(name)).unwrap();
                file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(age)).unwrap();
            }
            fs::read(pack(&folder, &place).unwrap()).unwrap()
        };
        let one = packed(["bin/calib", "README.md", "share/doc"], 1_000_000);
        assert!(one == packed(["share/doc", "bin/calib", "README.md"], 2_000_000));
        assert!(one != packed(["share/docs", "bin/calib", "README.md"], 3_000_000));
    }
}
