//! The signature: which bytes it is of, and where it stands.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::identity::{Identity, hex};
use super::layout::{PREFIX_LEN, SECTION_HEAD_LEN, SIGNATURE_LEN, SectionKind, array_at};
use super::prefix::{self, CRC_AT, CRC_END, SECTION_COUNT_AT};
use super::writer::WriteError;

/// How many bytes a signature adds to an artefact.
pub const SIGNATURE_SECTION_LEN: usize = SECTION_HEAD_LEN + SIGNATURE_LEN;
const BYTES_LEN: usize = 64;

/// The name of a public key: the first 8 bytes of the SHA-512 of its 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct KeyId(pub [u8; 8]);

/// An Ed25519 signature as it lies in an artefact, not verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Signature<'a> {
    /// The key that it says to be of.
    pub key: KeyId,
    /// The signature.
    pub bytes: &'a [u8; 64],
}

/// The bytes of an artefact that a signature is of: all but the CRC-32C, which follows from the others, and the
/// signature's own 64.
///
/// What is signed is the SHA-512 of the two parts, one after the other, behind the 16 bytes
/// [`SignedPart::DOMAIN`]: 80 bytes. The prefix, with its format, section count, length and identity, is among them, and
/// so are all sections, with the counter and the key's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedPart<'a> {
    /// The prefix in front of the CRC.
    pub front: &'a [u8],
    /// From behind the CRC up to the signature's bytes.
    pub rest: &'a [u8],
}

impl<'a> Signature<'a> {
    pub(super) fn parse(payload: &'a [u8]) -> Option<Self> {
        let key = KeyId(array_at(payload, 0)?);
        Some(Self { key, bytes: payload.get(key.0.len()..)?.first_chunk()? })
    }
}

impl<'a> SignedPart<'a> {
    /// What sets a signature of an artefact apart from one of anything else that the key signs.
    pub const DOMAIN: [u8; 16] = *b"calib artefact\0\x01";

    /// The signed part of an artefact that ends with its signature; `None` if it is too short for one.
    pub fn of(artifact: &'a [u8]) -> Option<Self> {
        let end = artifact.len().checked_sub(BYTES_LEN)?;
        Some(Self { front: artifact.get(..CRC_AT)?, rest: artifact.get(CRC_END..end)? })
    }
}

/// Adds a signature to the artefact in the first `len_bytes` of `buf`, and returns the signed artefact. `sign` is given
/// what is to be signed, and returns the 64 bytes of the signature. The identity stays as it is.
///
/// The artefact is one that [parses](super::Artifact::parse) and has no signature yet.
///
/// # Errors
///
/// If `buf` is shorter than `len_bytes +` [`SIGNATURE_SECTION_LEN`], or the artefact than its prefix.
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
    // The signature is of the new length and section count; the CRC is of the signature, too.
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
