//! Writing files so that a failure loses nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Why a file was not written. The target is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The target exists, and overwriting was not asked for.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// The target is a folder or a device.
    #[error("cannot write {}: it is not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// The disk is full.
    #[error("cannot write {}: the disk is full", .0.display())]
    DiskFull(PathBuf),
    /// Anything else that the operating system refuses.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The target.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
}

/// Writes a file completely or not at all: into a temporary file beside it, which is then renamed.
///
/// ```
/// use calib_host::files::{OutputError, write_file};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("cal.bin");
/// write_file(&path, false, |out| out.write_all(b"one"))?;
/// let again = write_file(&path, false, |out| out.write_all(b"two"));
/// assert!(matches!(again, Err(OutputError::Exists(_))));
/// assert_eq!(std::fs::read(&path)?, b"one");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the target exists and `overwrite` is false, or anything fails; the temporary file is gone then.
pub fn write_file(
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    write_with(File::options().write(true).create_new(true), path, overwrite, write)
}

/// As [`write_file`]; only the file's owner can read it.
pub(crate) fn write_secret_file(
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    write_with(options.write(true).create_new(true), path, overwrite, write)
}

fn write_with(
    options: &OpenOptions,
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    if path.metadata().is_ok_and(|meta| !meta.is_file()) {
        return Err(OutputError::NotAFile(path.into()));
    }
    let exists = || OutputError::Exists(path.into());
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(exists());
    }
    try_write(options, path, overwrite, write).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists if !overwrite => exists(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => OutputError::DiskFull(path.into()),
        _ => OutputError::Io { path: path.into(), source },
    })
}

fn try_write(
    options: &OpenOptions,
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Opened and written as a plain `File`: it gets the permissions of any new file, and the errors name the
    // operating system's reason only, not the temporary file.
    let open = |path: &Path| options.open(path);
    let file: NamedTempFile = tempfile::Builder::new().prefix(".calib-").make_in(folder, open)?;
    let mut buffered = BufWriter::new(file.as_file());
    write(&mut buffered)?;
    buffered.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    let persisted = if overwrite { file.persist(path) } else { file.persist_noclobber(path) };
    persisted.map(|_| ()).map_err(|failed| failed.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            folder.read_dir().unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_existing_file_is_kept_unless_told_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        write_file(&path, false, |w| w.write_all(b"one")).unwrap();
        let refused = write_file(&path, false, |w| w.write_all(b"two"));
        assert!(matches!(refused, Err(OutputError::Exists(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        write_file(&path, true, |w| w.write_all(b"two")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(entries(folder.path()), ["out"]);
    }

    #[test]
    fn a_full_disk_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        std::fs::write(&path, b"old").unwrap();
        let full = write_file(&path, true, |w| {
            w.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(matches!(full, Err(OutputError::DiskFull(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(entries(folder.path()), ["out"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_never_replaced() {
        let refused = write_file(Path::new("/dev/null"), true, |w| w.write_all(b"x"));
        assert!(refused.unwrap_err().to_string().contains("not a regular file"));
    }
}
