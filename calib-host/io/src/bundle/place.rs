//! Bundles in folders and archives.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::content::{Bundle, BundleFile, MAX_BUNDLE_LEN_BYTES};
use super::lie::Lie;
use crate::files::{FileError, OutputError, read_limited, write_file};

/// Why a bundle was not read.
#[derive(Debug, thiserror::Error)]
pub enum BundleReadError {
    /// The folder or archive cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// What it holds is no bundle.
    #[error(transparent)]
    Lie(#[from] Lie),
}

/// Reads a bundle from a folder, or from an archive.
///
/// # Errors
///
/// If it cannot be read, or holds anything but the files of a bundle: links, folders, or more than
/// [`MAX_BUNDLE_LEN_BYTES`].
pub fn read_bundle(path: &Path) -> Result<Bundle, BundleReadError> {
    let read_error = |source| FileError::Read { path: path.into(), source };
    let meta = fs::metadata(path).map_err(read_error)?;
    match meta.is_dir() {
        true => read_folder(path),
        false => {
            let file = fs::File::open(path).map_err(read_error)?;
            Ok(Bundle::from_archive(io::BufReader::new(file))?)
        }
    }
}

fn read_folder(folder: &Path) -> Result<Bundle, BundleReadError> {
    let read_error = |source| FileError::Read { path: folder.into(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(read_error)? {
        let entry = entry.map_err(read_error)?;
        names.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
    }
    // Which lie is found first does not depend on the disk.
    names.sort();
    let mut bundle = Bundle::default();
    let mut left = MAX_BUNDLE_LEN_BYTES;
    for (name, path) in names {
        let meta = fs::symlink_metadata(&path).map_err(read_error)?;
        if !meta.is_file() {
            return Err(Lie::NotAFile(name).into());
        }
        let Some(file) = BundleFile::of(&name) else { return Err(Lie::StrayFile(name).into()) };
        if meta.len() > left {
            return Err(Lie::TooLarge(name).into());
        }
        let bytes = read_limited(&path, left)?;
        left -= bytes.len() as u64;
        bundle.files.insert(file, bytes);
    }
    Ok(bundle)
}

impl Bundle {
    /// Writes the files into a new folder: all of them, or none. They are written beside it, and the folder is renamed.
    ///
    /// # Errors
    ///
    /// If the folder exists already, or cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), OutputError> {
        if folder.symlink_metadata().is_ok() {
            return Err(OutputError::FolderExists(folder.into()));
        }
        let error = |source| OutputError::Io { path: folder.into(), source };
        let parent =
            folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // What the operating system says, without the name of a folder that nobody asked for.
        let not_made = |source: io::Error| error(source.kind().into());
        let unfinished = tempfile::Builder::new().prefix(".calib-").tempdir_in(parent).map_err(not_made)?;
        for (file, bytes) in self.files() {
            write_file(&unfinished.path().join(file.name()), false, |out| out.write_all(bytes))?;
        }
        readable(unfinished.path()).map_err(error)?;
        fs::rename(unfinished.path(), folder).map_err(error)?;
        // Its place is empty now: nothing is left to be removed.
        let _: PathBuf = unfinished.keep();
        Ok(())
    }
}

/// A temporary folder is its owner's alone, a bundle is to be handed on.
fn readable(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let _ = folder;
    Ok(())
}
