//! The bytes of an artifact.

use std::fmt;

use calib_core::artifact::{PREFIX_LEN, SectionKind, WriteError};
use calib_core::slot::{ROTATION_SECTION, Rotation};
use calib_core::{Artifact, ParseError};

use super::write::written;

/// The length of a section's own head in bytes: kind, flags and length.
pub const SECTION_HEAD_LEN: usize = 8;

self_cell::self_cell!(
    /// Words, and what was parsed from them.
    struct Parsed {
        owner: Vec<u32>,
        #[covariant]
        dependent: Artifact,
    }
);

/// The bytes of an artifact, checked and parsed once, at an address that can be read in place.
pub struct StoredArtifact {
    parsed: Parsed,
}

impl StoredArtifact {
    /// Checks an artifact, and the numbers in it that no device reads.
    ///
    /// # Errors
    ///
    /// As [`Artifact::parse`], and [`ParseError::Counts`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        let mut words = vec![0u32; bytes.len().div_ceil(4)];
        bytemuck::cast_slice_mut::<u32, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        // Bytes that fill no word are a fault of the artifact: what is parsed has as many as there were.
        let parsed =
            Parsed::try_new(words, |words| Artifact::parse(&bytemuck::cast_slice(words)[..bytes.len()]))?;
        let stored = Self { parsed };
        if stored.counts_agree() { Ok(stored) } else { Err(ParseError::Counts) }
    }

    /// The artifact.
    pub fn artifact(&self) -> Artifact<'_> {
        *self.parsed.borrow_dependent()
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self.parsed.borrow_owner())
    }

    /// Returns an artifact with a chain of statements, by which one key takes the place of another, in place of the chain that it has. It
    /// has the same calibrator and counter, another identity, and no signature.
    ///
    /// # Errors
    ///
    /// If it becomes too long.
    pub fn with_rotations(&self, chain: &[Rotation]) -> Result<Self, WriteError> {
        const WRITTEN: [u16; 3] =
            [SectionKind::Header as u16, SectionKind::Signature as u16, ROTATION_SECTION];
        let chain: Vec<u8> = chain.iter().flat_map(Rotation::to_bytes).collect();
        let bytes = written(|writer| {
            writer.header(self.artifact().header())?;
            self.sections()
                .filter(|(kind, ..)| !WRITTEN.contains(kind))
                .try_for_each(|(kind, mandatory, payload)| writer.section(kind, mandatory, payload))?;
            writer.section(ROTATION_SECTION, false, &chain)
        })?;
        Ok(Self::from_bytes(&bytes).expect("only an optional section differs"))
    }

    /// The chain of statements by which one key takes the place of another; empty if there is none.
    pub fn rotations(&self) -> Vec<Rotation> {
        Rotation::chain_of(self.as_bytes()).map(Iterator::collect).unwrap_or_default()
    }

    /// The sections: kind, whether it is mandatory, payload.
    pub fn sections(&self) -> impl Iterator<Item = (u16, bool, &[u8])> {
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

impl Clone for StoredArtifact {
    fn clone(&self) -> Self {
        Self::from_bytes(self.as_bytes()).expect("it was parsed before")
    }
}

impl fmt::Debug for StoredArtifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoredArtifact").field(&self.artifact()).finish()
    }
}
