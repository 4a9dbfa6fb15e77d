//! Artifacts in files.

use std::path::Path;

use calib_core::ParseError;
use calib_core::artifact::{PREFIX_LEN, SIGNATURE_SECTION_LEN};
use calib_fit::artifact::{StoredArtifact, identity};

use super::error::FileError;
use super::location::Location;
use super::problem::Problem;
use super::read::read_limited;

/// The largest artifact file that is read: 65 535 classes of 64 bins take 33 MB.
const MAX_LEN_BYTES: u64 = 64 << 20;

/// Reads and checks an artifact file.
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
/// If it cannot be read, is too large to be an artifact, or is not one.
pub fn read_artifact(path: &Path) -> Result<StoredArtifact, FileError> {
    let fail = |problem| FileError::input(Location::file(path), problem);
    let bytes = read_limited(path, MAX_LEN_BYTES).map_err(|error| match error {
        FileError::Input { .. } => fail(Problem::ArtifactTooLarge { max: MAX_LEN_BYTES }),
        error => error,
    })?;
    artifact_of_bytes(&bytes).map_err(fail)
}

/// Checks an artifact in memory.
pub(crate) fn artifact_of_bytes(bytes: &[u8]) -> Result<StoredArtifact, Problem> {
    let stored = StoredArtifact::from_bytes(bytes).map_err(|cause| {
        // Numbers that contradict each other are most often bytes that were altered.
        let is_altered = cause == ParseError::Counts && !has_own_identity(bytes);
        if is_altered { Problem::Identity } else { Problem::Artifact(cause) }
    })?;
    let artifact = stored.artifact();
    if identity(&bytes[PREFIX_LEN..artifact.unsigned_len_bytes()]) != artifact.identity() {
        return Err(Problem::Identity);
    }
    Ok(stored)
}

/// Whether the content of an artifact that has all its parts is the one that it is named after, with a signature behind it or without.
fn has_own_identity(bytes: &[u8]) -> bool {
    let name = bytes.get(16..24);
    [0, SIGNATURE_SECTION_LEN].into_iter().any(|signature| {
        let content = bytes.get(PREFIX_LEN..bytes.len().saturating_sub(signature));
        content.is_some_and(|content| name == Some(&identity(content).0[..]))
    })
}
