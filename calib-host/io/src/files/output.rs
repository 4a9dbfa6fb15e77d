//! Writing files so that a failure loses nothing.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

/// Why a file was not written. Unless it says otherwise, the target is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The target exists, and overwriting was not asked for.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// The target is to be a new folder, and something has its name.
    #[error("{} exists already, and what is written is a new folder", .0.display())]
    FolderExists(PathBuf),
    /// The target is a file that is read, under this name or another.
    #[error("{} is an input: writing there would lose it", .0.display())]
    IsInput(PathBuf),
    /// The target is a folder or a device.
    #[error("cannot write {}: it is not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// The disk is full.
    #[error("cannot write {}: the disk is full", .0.display())]
    DiskFull(PathBuf),
    /// A private key is in its place, and its public key is not.
    #[error("{cause}; the private key in {} has no public key beside it", path.display())]
    OnlyPrivateKey {
        /// The private key.
        path: PathBuf,
        /// Why its public key was not written.
        cause: Box<OutputError>,
    },
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
/// use calib_io::files::{OutputError, write_file};
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
    Prepared::new(PUBLIC, path, overwrite, |out| write(out))?.commit()
}

/// A file that is being written, for what must go back in it, or hand it to another thread.
pub type OutputFile<'f> = BufWriter<&'f File>;

/// Where an output goes.
pub enum OutputPlace<'o> {
    /// Into a file, as [`write_file`] writes it.
    File {
        /// The file.
        path: &'o Path,
        /// Whether the file may exist already.
        overwrite: bool,
    },
    /// To a stream, when it is whole: until then it is kept in a temporary file without a name.
    Stream {
        /// What errors call the stream.
        name: &'o Path,
        /// The stream.
        out: &'o mut dyn Write,
    },
}

impl OutputPlace<'_> {
    /// Writes an output with a function that may seek back in it.
    ///
    /// # Errors
    ///
    /// As [`write_file`] and `write`, or if the temporary file or the stream cannot be written.
    pub(crate) fn write(
        self,
        write: impl FnOnce(&mut OutputFile<'_>) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        match self {
            Self::File { path, overwrite } => Prepared::new(PUBLIC, path, overwrite, write)?.commit(),
            Self::Stream { name, out } => send(name, out, write),
        }
    }
}

fn send(
    name: &Path,
    out: &mut dyn Write,
    write: impl FnOnce(&mut OutputFile<'_>) -> io::Result<()>,
) -> Result<(), OutputError> {
    let folder = std::env::temp_dir();
    let kept = || {
        let mut file = tempfile::tempfile_in(&folder)?;
        let mut buffered = BufWriter::new(&file);
        write(&mut buffered)?;
        buffered.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(file)
    };
    let mut file = kept().map_err(|source| OutputError::of(&folder, source))?;
    let sent = io::copy(&mut file, out).and_then(|_| out.flush());
    sent.map_err(|source| OutputError::of(name, source))
}

impl OutputError {
    /// Says why a path cannot be written.
    fn of(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull(path.into()),
            _ => Self::Io { path: path.into(), source },
        }
    }
}

/// Refuses to write where something is read from.
///
/// ```
/// use calib_io::files::{OutputError, check_output};
///
/// let folder = tempfile::tempdir()?;
/// let (data, other) = (folder.path().join("data.csv"), folder.path().join("other.bin"));
/// std::fs::write(&data, "score,label\n")?;
/// assert!(check_output(&other, [&data]).is_ok());
/// assert!(matches!(check_output(&data, [&data]), Err(OutputError::IsInput(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the output is one of the inputs, by whatever name or link, or a device or a pipe.
pub fn check_output(
    output: &Path,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), OutputError> {
    // To compare files they are opened, and a pipe waits for who writes into it.
    if output.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        return Err(OutputError::NotAFile(output.into()));
    }
    let is_input = |input: &Path| {
        input.metadata().is_ok_and(|meta| meta.is_file())
            && same_file::is_same_file(output, input).unwrap_or(false)
    };
    match inputs.into_iter().any(|input| is_input(input.as_ref())) {
        true => Err(OutputError::IsInput(output.into())),
        false => Ok(()),
    }
}

/// Removes the temporary files of outputs that are not finished: for a program that is about to be interrupted.
pub fn remove_unfinished() {
    for path in &*unfinished() {
        // It may be gone already, and there is nobody to tell.
        let _ = fs::remove_file(path);
    }
}

/// The temporary files that exist, or are about to.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> std::sync::MutexGuard<'static, BTreeSet<PathBuf>> {
    // A set of paths is in order whatever panicked.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a new file is opened.
pub(crate) type Open = fn() -> OpenOptions;

/// With the permissions of any new file.
pub(crate) const PUBLIC: Open = || {
    let mut options = File::options();
    options.write(true).create_new(true);
    options
};

/// So that only its owner can read it.
pub(super) const SECRET: Open = || {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "elsewhere the folder has the permissions"))]
    let mut options = PUBLIC();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
};

/// A file that is written completely, but not in its place yet; dropped, it is removed.
pub(crate) struct Prepared {
    file: Option<NamedTempFile>,
    path: PathBuf,
    overwrite: bool,
}

impl Prepared {
    /// Writes the file beside its place.
    pub(crate) fn new(
        open: Open,
        path: &Path,
        overwrite: bool,
        write: impl FnOnce(&mut OutputFile<'_>) -> io::Result<()>,
    ) -> Result<Self, OutputError> {
        if path.metadata().is_ok_and(|meta| !meta.is_file()) {
            return Err(OutputError::NotAFile(path.into()));
        }
        if !overwrite && path.symlink_metadata().is_ok() {
            return Err(OutputError::Exists(path.into()));
        }
        let mut prepared = Self { file: None, path: path.into(), overwrite };
        prepared.write(open, write).map_err(|source| prepared.error(source))?;
        Ok(prepared)
    }

    /// Puts the file in its place.
    pub(crate) fn commit(mut self) -> Result<(), OutputError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let temporary = file.path().to_owned();
        let persisted =
            if self.overwrite { file.persist(&self.path) } else { file.persist_noclobber(&self.path) };
        // If it was not, dropping the error removes it.
        let result = persisted.map(drop).map_err(|failed| self.error(failed.error));
        unfinished().remove(&temporary);
        result
    }

    fn write(
        &mut self,
        open: Open,
        write: impl FnOnce(&mut OutputFile<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // Opened and written as a plain `File`: it gets the permissions of any new file, and the errors name the
        // operating system's reason only, not the temporary file.
        let open = |path: &Path| {
            unfinished().insert(path.into());
            open().open(path).inspect_err(|_| {
                unfinished().remove(path);
            })
        };
        let file =
            tempfile::Builder::new().prefix(".calib-").make_in(folder.unwrap_or(Path::new(".")), open)?;
        let file = self.file.insert(file);
        // What takes the place of a file is as secret as that was.
        if let Ok(meta) = self.path.metadata()
            && is_secret(&meta)
        {
            file.as_file().set_permissions(meta.permissions())?;
        }
        let mut buffered = BufWriter::new(file.as_file());
        write(&mut buffered)?;
        buffered.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }

    fn error(&self, source: io::Error) -> OutputError {
        match source.kind() {
            io::ErrorKind::AlreadyExists if !self.overwrite => OutputError::Exists(self.path.clone()),
            _ => OutputError::of(&self.path, source),
        }
    }
}

/// Makes anyone else who locks the folder of the file wait until what is returned is dropped; where folders cannot be locked, nobody waits.
pub(crate) fn lock_folder_of(path: &Path) -> Option<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new("."))).ok()?;
    folder.lock().ok().map(|()| folder)
}

/// Whether only its owner may read a file.
#[cfg(unix)]
pub(super) fn is_secret(meta: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o077 == 0
}

/// Elsewhere a folder has the permissions.
#[cfg(not(unix))]
pub(super) fn is_secret(_: &fs::Metadata) -> bool {
    false
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let temporary = file.path().to_owned();
            drop(file);
            unfinished().remove(&temporary);
        }
    }
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

    /// A reader gets all or nothing, whatever is written over at the end.
    #[test]
    fn what_is_sent_on_is_whole() {
        let name = Path::new("standard output");
        let mut sent = Vec::new();
        send(name, &mut sent, |file| {
            file.write_all(b"0 rows")?;
            file.rewind()?;
            file.write_all(b"2")
        })
        .unwrap();
        assert_eq!(sent, b"2 rows");
        sent.clear();
        let failed = send(name, &mut sent, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert!(failed.is_err() && sent.is_empty());
        let closed = send(name, &mut &mut [][..], |file| file.write_all(b"x")).unwrap_err();
        assert!(matches!(closed, OutputError::Io { path, .. } if path == name));
    }

    #[cfg(unix)]
    #[test]
    fn an_output_is_an_input_by_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let [data, link, hard, other] =
            ["data", "link", "hard", "other"].map(|name| folder.path().join(name));
        std::fs::write(&data, b"data").unwrap();
        std::fs::write(&other, b"data").unwrap();
        std::os::unix::fs::symlink(&data, &link).unwrap();
        std::fs::hard_link(&data, &hard).unwrap();
        for name in [&data, &link, &hard, &folder.path().join("./data")] {
            assert!(matches!(check_output(name, [&other, &data]), Err(OutputError::IsInput(_))), "{name:?}");
        }
        assert!(check_output(&other, [&data, &link, &folder.path().join("none")]).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn what_replaces_a_secret_file_is_secret() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        for kept in [0o600, 0o400] {
            std::fs::write(&path, b"old").unwrap();
            std::fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
            write_file(&path, true, |out| out.write_all(b"new")).unwrap();
            assert_eq!((mode(), std::fs::read(&path).unwrap()), (kept, b"new".to_vec()));
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_never_replaced() {
        let refused = write_file(Path::new("/dev/null"), true, |w| w.write_all(b"x"));
        assert!(refused.unwrap_err().to_string().contains("not a regular file"));
    }
}
