//! The artefact: what the host writes and the device reads, format 1.
//!
//! ```text
//! prefix, 32 bytes     0 magic "CALB"      4 format u16      6 section count u16
//!                      8 total length u32  12 CRC-32C u32    16 identity, 8 bytes    24 zeros, 8 bytes
//! section, repeated    0 kind u16          2 flags u16       4 payload length u32
//!                      8 payload, then zeros up to a multiple of 4 bytes
//! ```
//!
//! Integers and floats are little-endian. The CRC covers every byte of the artefact but its own four. The
//! identity is the first 8 bytes of the SHA-256 of all sections. Bit 0 of a section's flags marks it
//! mandatory: a reader that does not know its kind refuses the artefact, while unknown optional sections are
//! skipped; a reader that knows the kind needs no such bit. A new capability is a new section; what is written here does not change.
//!
//! | kind | section | payload |
//! |---|---|---|
//! | 1 | header, mandatory, first | [`Header`] in postcard |
//! | 2 | tables, mandatory | u32 count `T`, `T + 1` u32 offsets in words, then the words: for each table of `B` bins `2 B` f32, its epsilon (NaN if nothing is guaranteed), `B - 1` inner edges, `B` values; a table without words is an uncalibrated class |
//! | 3 | bin flags, optional | a byte per bin ([`BinFlags`](crate::BinFlags)); absent if all are zero |

mod error;
mod header;
mod prefix;
mod section;
mod tables;
mod writer;

pub use error::{ParseError, TableFault};
pub use header::{
    ClassifierId, Guarantee, Header, HeaderFlags, Identity, MAX_CLASSES, Method, Provenance, Reduction,
    ScoreEncoding, Theorem,
};
pub use prefix::{FORMAT_VERSION, PREFIX_LEN};
pub use section::SectionKind;
pub use tables::{Table, Tables};
pub use writer::{ArtifactWriter, WriteError};

use prefix::Prefix;
use section::Sections;

/// A checked artefact, borrowing the bytes it was parsed from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Artifact<'a> {
    identity: Identity,
    len_bytes: usize,
    header: Header<'a>,
    tables: Tables<'a>,
}

impl<'a> Artifact<'a> {
    /// Checks an artefact that fills `bytes` exactly, such as a file.
    ///
    /// Everything is checked here, once: magic, format, lengths, CRC-32C, sections, header, counts, edges and
    /// values. Calibrating a valid score with what is returned cannot fail.
    ///
    /// `bytes` must start at a multiple of 4 in memory; see [`ArtifactBuffer`](crate::ArtifactBuffer).
    ///
    /// # Errors
    ///
    /// The first cause found. No input panics, and nothing beyond `bytes` is read.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let artifact = Self::parse_front(bytes)?;
        if artifact.len_bytes == bytes.len() {
            Ok(artifact)
        } else {
            Err(ParseError::TrailingBytes { offset: artifact.len_bytes })
        }
    }

    /// Checks an artefact at the start of a flash slot whose rest is erased: all `0xFF`, or all `0x00` as in
    /// emulated memory that was never programmed.
    ///
    /// # Errors
    ///
    /// As [`Artifact::parse`], and [`ParseError::TrailingBytes`] if the rest of the slot is not erased.
    pub fn parse_slot(slot: &'a [u8]) -> Result<Self, ParseError> {
        let artifact = Self::parse_front(slot)?;
        let tail = slot.get(artifact.len_bytes..).unwrap_or_default();
        let erased = tail.first().copied().unwrap_or(0xFF);
        let dirty =
            if matches!(erased, 0x00 | 0xFF) { tail.iter().position(|&b| b != erased) } else { Some(0) };
        match dirty {
            None => Ok(artifact),
            Some(at) => Err(ParseError::TrailingBytes { offset: artifact.len_bytes + at }),
        }
    }

    fn parse_front(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let prefix = Prefix::parse(bytes)?;
        let body = bytes.get(PREFIX_LEN..prefix.total_len).unwrap_or_default();

        let (mut header, mut tables, mut bin_flags) = (None, None, None);
        let mut count = 0;
        for section in Sections::new(body) {
            let section = section?;
            if count == 0 && section.kind != SectionKind::Header as u16 {
                return Err(ParseError::MissingSection(SectionKind::Header));
            }
            count += 1;
            let known = match SectionKind::from_raw(section.kind) {
                Some(SectionKind::Header) => &mut header,
                Some(SectionKind::Tables) => &mut tables,
                Some(SectionKind::BinFlags) => &mut bin_flags,
                None if section.is_mandatory() => return Err(ParseError::UnknownSection(section.kind)),
                None => continue,
            };
            if known.replace(section.payload).is_some() {
                return Err(ParseError::DuplicateSection(section.kind));
            }
        }
        if count != usize::from(prefix.section_count) {
            return Err(ParseError::SectionCount { stated: prefix.section_count, found: count });
        }

        let header = header.ok_or(ParseError::MissingSection(SectionKind::Header))?;
        let header = Header::parse(header)?;
        let tables = tables.ok_or(ParseError::MissingSection(SectionKind::Tables))?;
        let tables = Tables::parse(tables, bin_flags, &header)?;
        Ok(Self { identity: prefix.identity, len_bytes: prefix.total_len, header, tables })
    }

    /// The artefact's name: a hash of its content, checked by the host.
    pub const fn identity(&self) -> Identity {
        self.identity
    }

    /// The artefact's length in bytes, prefix included.
    pub const fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// What was fitted, how and with which guarantee.
    pub const fn header(&self) -> &Header<'a> {
        &self.header
    }

    /// The tables, one per binary problem of the reduction.
    pub const fn tables(&self) -> &Tables<'a> {
        &self.tables
    }
}

/// The `N` bytes at `offset`, if they are there.
fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}
