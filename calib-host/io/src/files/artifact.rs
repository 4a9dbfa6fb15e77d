//! Artefacts in files.

use std::path::Path;

use calib_core::artifact::PREFIX_LEN;
use calib_fit::artifact::{StoredArtifact, identity};

use super::error::FileError;
use super::place::Place;
use super::problem::Problem;
use super::read::read_limited;

/// The largest artefact file that is read: 65 535 classes of 64 bins take 33 MB.
const MAX_LEN_BYTES: u64 = 64 << 20;

/// Reads and checks an artefact file.
///
/// ```
/// use calib_io::files::{FileError, read_artifact};
///
/// let error = read_artifact("no/such/cal.bin".as_ref()).unwrap_err();
/// assert!(matches!(error, FileError::Read { .. }));
/// assert!(error.to_string().starts_with("cannot read no/such/cal.bin: "));
/// ```
///
/// # Errors
///
/// If it cannot be read, is too large to be an artefact, or is not one.
pub fn read_artifact(path: &Path) -> Result<StoredArtifact, FileError> {
    let fail = |problem| FileError::input(Place::file(path), problem);
    let bytes = read_limited(path, MAX_LEN_BYTES)?;
    let stored = StoredArtifact::from_bytes(&bytes).map_err(|cause| fail(Problem::Artifact(cause)))?;
    let artifact = stored.artifact();
    if identity(&bytes[PREFIX_LEN..artifact.unsigned_len_bytes()]) != artifact.identity() {
        return Err(fail(Problem::Identity));
    }
    Ok(stored)
}
