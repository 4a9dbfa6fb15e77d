//! The signature of an artifact: which bytes are signed, and where the signature stands.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::identity::{Identity, hex};
use super::layout::{PREFIX_LEN, SECTION_HEAD_LEN, SIGNATURE_LEN, SectionKind, array_at};
use super::prefix::{self, CRC_AT, CRC_END, SECTION_COUNT_AT};
use super::writer::WriteError;

/// The number of bytes that a signature adds to an artifact.
pub const SIGNATURE_SECTION_LEN: usize = SECTION_HEAD_LEN + SIGNATURE_LEN;
const BYTES_LEN: usize = 64;

/// The name of a public key: the first 8 bytes of the SHA-512 of its 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct KeyId(pub [u8; 8]);

/// An Ed25519 signature in an artifact, not verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Signature<'a> {
    /// The name of the key that made the signature, as the artifact states it.
    pub key: KeyId,
    /// The signature's bytes.
    pub bytes: &'a [u8; 64],
}

/// The signed bytes of an artifact: all but the CRC-32C, which follows from the others, and the 64 bytes of the signature.
///
/// The signed bytes include the prefix, with its format, section count, length and identity, and all sections, with the counter and
/// the key's name. The signed message has 80 bytes: [`SignedPart::DOMAIN`], then the SHA-512 of both parts, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedPart<'a> {
    /// The prefix up to the CRC.
    pub front: &'a [u8],
    /// The bytes from after the CRC up to the signature's bytes.
    pub rest: &'a [u8],
}

impl<'a> Signature<'a> {
    pub(super) fn parse(payload: &'a [u8]) -> Option<Self> {
        let key = KeyId(array_at(payload, 0)?);
        Some(Self { key, bytes: payload.get(key.0.len()..)?.first_chunk()? })
    }
}

impl<'a> SignedPart<'a> {
    /// The bytes that tell the message of an artifact from anything else that the key signs. They belong to format 1, in the spelling in which
    /// they were written first: with others no signature from before would hold.
    pub const DOMAIN: [u8; 16] = *b"calib artefact\0\x01";

    /// Returns the signed part of an artifact that ends with its signature; `None` if it is too short for a signature.
    pub fn of(artifact: &'a [u8]) -> Option<Self> {
        let end = artifact.len().checked_sub(BYTES_LEN)?;
        Some(Self { front: artifact.get(..CRC_AT)?, rest: artifact.get(CRC_END..end)? })
    }
}

/// Adds a signature to the artifact in the first `len_bytes` of `buf`, and returns the signed artifact.
///
/// The artifact is one that [parses](super::Artifact::parse) and has no signature yet. `sign` takes the signed part and returns
/// the 64 bytes of the signature. The identity does not change.
///
/// ```
/// use calib_core::Artifact;
/// use calib_core::artifact::{KeyId, SIGNATURE_SECTION_LEN, sign};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let mut buffer = sample::binary();
/// # let len_bytes = buffer.as_bytes().len();
/// # buffer.extend_from_slice(&[0; SIGNATURE_SECTION_LEN]).unwrap();
/// # let mut bytes = buffer.as_bytes().to_vec();
/// # let buf = &mut bytes[..];
/// # let ed25519 = |_message: &[u8]| [0x5A; 64];
/// let key = KeyId(*b"key name");
/// let signed = sign(buf, len_bytes, key, |part| ed25519(&[part.front, part.rest].concat()))?;
/// # let mut buffer = calib_core::ArtifactBuffer::<128>::new();
/// # buffer.extend_from_slice(signed).unwrap();
/// # let signed = buffer.as_bytes();
/// assert_eq!(Artifact::parse(signed).unwrap().signature().unwrap().key, key);
/// # Ok::<(), calib_core::artifact::WriteError>(())
/// ```
///
/// # Errors
///
/// If `buf` is shorter than `len_bytes +` [`SIGNATURE_SECTION_LEN`], or the artifact is shorter than its prefix.
pub fn sign(
    buf: &mut [u8],
    len_bytes: usize,
    key: KeyId,
    sign: impl FnOnce(SignedPart<'_>) -> [u8; 64],
) -> Result<&[u8], WriteError> {
    let end = len_bytes.checked_add(SIGNATURE_SECTION_LEN).ok_or(WriteError::TooLarge)?;
    let bytes = buf.get_mut(..end).ok_or(WriteError::TooLarge)?;
    complete(bytes, len_bytes, key, sign).ok_or(WriteError::TooLarge)?;
    Ok(bytes)
}

fn complete(
    bytes: &mut [u8],
    len_bytes: usize,
    key: KeyId,
    sign: impl FnOnce(SignedPart<'_>) -> [u8; 64],
) -> Option<()> {
    let sections = u16::from_le_bytes(array_at(bytes, SECTION_COUNT_AT)?).checked_add(1)?;
    let identity = Identity(array_at(bytes.get(..PREFIX_LEN)?, prefix::IDENTITY_AT)?);
    let mut section = [0; SIGNATURE_SECTION_LEN];
    section[..2].copy_from_slice(&(SectionKind::Signature as u16).to_le_bytes());
    section[4..SECTION_HEAD_LEN].copy_from_slice(&(SIGNATURE_LEN as u32).to_le_bytes());
    section[SECTION_HEAD_LEN..SECTION_HEAD_LEN + 8].copy_from_slice(&key.0);
    *bytes.get_mut(len_bytes..)?.first_chunk_mut()? = section;
    // The new length and section count are signed; the CRC covers the signature.
    prefix::write(bytes, sections, identity)?;
    let signature = sign(SignedPart::of(bytes)?);
    *bytes.last_chunk_mut()? = signature;
    prefix::write(bytes, sections, identity)
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}
