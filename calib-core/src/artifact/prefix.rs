//! The 32 bytes in front of the sections: magic, format, length, CRC-32C and identity.

use super::crc32c::CRC_32C;
use super::error::ParseError;
use super::identity::Identity;
use super::layout::{FORMAT_VERSION, PREFIX_LEN, array_at};

/// The first bytes of every artifact.
pub(super) const MAGIC: [u8; 4] = *b"CALB";

pub(super) const TOTAL_LEN_AT: usize = 8;
pub(super) const SECTION_COUNT_AT: usize = 6;
pub(super) const CRC_AT: usize = 12;
pub(super) const CRC_END: usize = CRC_AT + 4;
pub(super) const IDENTITY_AT: usize = 16;
const RESERVED_AT: usize = 24;

pub(super) struct Prefix {
    pub(super) total_len: usize,
    pub(super) section_count: u16,
    pub(super) identity: Identity,
}

impl Prefix {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let head = bytes.get(..PREFIX_LEN).unwrap_or(bytes);
        if head.iter().all(|&b| b == 0x00) || head.iter().all(|&b| b == 0xFF) {
            return Err(ParseError::Blank);
        }
        if !bytes.as_ptr().addr().is_multiple_of(4) {
            return Err(ParseError::Misaligned);
        }
        let shown = head.len().min(MAGIC.len());
        if head.get(..shown) != MAGIC.get(..shown) {
            return Err(ParseError::Magic);
        }
        let cut = ParseError::Truncated { needed: PREFIX_LEN, available: bytes.len() };
        let version = u16::from_le_bytes(array_at(bytes, 4).ok_or(cut)?);
        if version != FORMAT_VERSION {
            return Err(ParseError::FormatVersion(version));
        }
        let section_count = u16::from_le_bytes(array_at(bytes, SECTION_COUNT_AT).ok_or(cut)?);
        let stated_len = u32::from_le_bytes(array_at(bytes, TOTAL_LEN_AT).ok_or(cut)?);
        let stored = u32::from_le_bytes(array_at(bytes, CRC_AT).ok_or(cut)?);
        let identity = Identity(array_at(bytes, IDENTITY_AT).ok_or(cut)?);
        let reserved: [u8; 8] = array_at(bytes, RESERVED_AT).ok_or(cut)?;

        let total_len = usize::try_from(stated_len).map_err(|_| ParseError::TotalLength(stated_len))?;
        if total_len < PREFIX_LEN || !total_len.is_multiple_of(4) {
            return Err(ParseError::TotalLength(stated_len));
        }
        let whole = bytes
            .get(..total_len)
            .ok_or(ParseError::Truncated { needed: total_len, available: bytes.len() })?;
        let computed = crc(whole);
        if stored != computed {
            return Err(ParseError::Crc { stored, computed });
        }
        if reserved != [0; 8] {
            return Err(ParseError::Reserved);
        }
        Ok(Self { total_len, section_count, identity })
    }
}

/// Returns the CRC-32C of all bytes of an artifact but the CRC itself.
pub(super) fn crc(artifact: &[u8]) -> u32 {
    let mut digest = CRC_32C.digest();
    digest.update(artifact.get(..CRC_AT).unwrap_or(artifact));
    digest.update(artifact.get(CRC_END..).unwrap_or_default());
    digest.finalize()
}

/// Writes the prefix over the first bytes of `artifact`, which holds its sections already.
pub(super) fn write(artifact: &mut [u8], section_count: u16, identity: Identity) -> Option<()> {
    let total_len = u32::try_from(artifact.len()).ok()?;
    let mut prefix = [0; PREFIX_LEN];
    prefix[..4].copy_from_slice(&MAGIC);
    prefix[4..6].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    prefix[6..8].copy_from_slice(&section_count.to_le_bytes());
    prefix[TOTAL_LEN_AT..CRC_AT].copy_from_slice(&total_len.to_le_bytes());
    prefix[IDENTITY_AT..RESERVED_AT].copy_from_slice(&identity.0);
    *artifact.first_chunk_mut()? = prefix;
    let crc = crc(artifact);
    artifact.get_mut(CRC_AT..CRC_END)?.copy_from_slice(&crc.to_le_bytes());
    Some(())
}
