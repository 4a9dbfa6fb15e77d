//! An artefact in a file.

use std::path::{Path, PathBuf};

use calib_core::artifact::PREFIX_LEN;
use calib_core::{Artifact, ParseError};

use crate::compile::identity;
use crate::error::{Error, Place};
use crate::problem::Problem;

/// The largest artefact file that is read: 65 535 classes of 64 bins take 33 MB.
const MAX_LEN_BYTES: u64 = 64 << 20;

/// The length of a section's own head in bytes.
pub(crate) const SECTION_HEAD_LEN: usize = 8;

/// The bytes of an artefact, checked, at an address that can be read in place.
#[derive(Clone, Debug)]
pub struct StoredArtifact {
    words: Vec<u32>,
}

impl StoredArtifact {
    /// Checks an artefact.
    ///
    /// # Errors
    ///
    /// As [`Artifact::parse`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        let mut words = vec![0u32; bytes.len().div_ceil(4)];
        let aligned = &mut bytemuck::cast_slice_mut::<u32, u8>(&mut words)[..bytes.len()];
        aligned.copy_from_slice(bytes);
        Artifact::parse(aligned)?;
        Ok(Self { words })
    }

    /// Reads and checks an artefact file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is too large to be an artefact, or is not one.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let place = || Place::file(path);
        let read_error = |source| Error::Read { path: PathBuf::from(path), source };
        let len = std::fs::metadata(path).map_err(read_error)?.len();
        if len > MAX_LEN_BYTES {
            return Err(Error::input(
                place(),
                Problem::ArtifactTooLarge { len_bytes: len, max: MAX_LEN_BYTES },
            ));
        }
        let bytes = std::fs::read(path).map_err(read_error)?;
        let stored =
            Self::from_bytes(&bytes).map_err(|cause| Error::input(place(), Problem::Artifact(cause)))?;
        if identity(&bytes[PREFIX_LEN..stored.artifact().unsigned_len_bytes()])
            != stored.artifact().identity()
        {
            return Err(Error::input(place(), Problem::Identity));
        }
        Ok(stored)
    }

    /// The artefact.
    pub fn artifact(&self) -> Artifact<'_> {
        Artifact::parse(self.as_bytes()).expect("checked when it was made")
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    /// The sections: kind, whether it is mandatory, payload.
    pub(crate) fn sections(&self) -> impl Iterator<Item = (u16, bool, &[u8])> {
        let mut rest = self.as_bytes().get(PREFIX_LEN..).unwrap_or_default();
        std::iter::from_fn(move || {
            let head: &[u8; SECTION_HEAD_LEN] = rest.first_chunk()?;
            let kind = u16::from_le_bytes([head[0], head[1]]);
            let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
            let payload = rest.get(SECTION_HEAD_LEN..SECTION_HEAD_LEN + len)?;
            rest = rest.get((SECTION_HEAD_LEN + len).next_multiple_of(4)..)?;
            Some((kind, head[2] & 1 == 1, payload))
        })
    }
}
