//! Typed, length-prefixed sections.

use serde::{Deserialize, Serialize};

use super::array_at;
use super::error::ParseError;
use super::prefix::PREFIX_LEN;

/// The length of a section's own head in bytes.
pub(super) const SECTION_HEAD_LEN: usize = 8;
/// The flag of a section that a reader must understand.
pub(super) const MANDATORY: u16 = 1;

/// The kinds of section that this version of calib knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u16)]
#[non_exhaustive]
pub enum SectionKind {
    /// What was fitted and how.
    Header = 1,
    /// Edges and values.
    Tables = 2,
    /// A byte of flags per bin.
    BinFlags = 3,
}

impl SectionKind {
    pub(super) const fn from_raw(kind: u16) -> Option<Self> {
        match kind {
            1 => Some(Self::Header),
            2 => Some(Self::Tables),
            3 => Some(Self::BinFlags),
            _ => None,
        }
    }
}

/// One section as it lies in the artefact.
pub(super) struct Section<'a> {
    pub(super) kind: u16,
    flags: u16,
    pub(super) payload: &'a [u8],
}

impl Section<'_> {
    pub(super) const fn is_mandatory(&self) -> bool {
        self.flags & MANDATORY != 0
    }
}

/// Walks the sections; ends after the first malformed one.
pub(super) struct Sections<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Sections<'a> {
    pub(super) const fn new(body: &'a [u8]) -> Self {
        Self { rest: body, offset: PREFIX_LEN }
    }

    fn take(&mut self) -> Option<Section<'a>> {
        let kind = u16::from_le_bytes(array_at(self.rest, 0)?);
        let flags = u16::from_le_bytes(array_at(self.rest, 2)?);
        let len = usize::try_from(u32::from_le_bytes(array_at(self.rest, 4)?)).ok()?;
        let payload_end = SECTION_HEAD_LEN.checked_add(len)?;
        let section_end = payload_end.checked_next_multiple_of(4)?;
        let payload = self.rest.get(SECTION_HEAD_LEN..payload_end)?;
        let padding = self.rest.get(payload_end..section_end)?;
        if padding.iter().any(|&b| b != 0) || flags & !MANDATORY != 0 {
            return None;
        }
        self.rest = self.rest.get(section_end..)?;
        self.offset += section_end;
        Some(Section { kind, flags, payload })
    }
}

impl<'a> Iterator for Sections<'a> {
    type Item = Result<Section<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let at = self.offset;
        let section = self.take().ok_or(ParseError::Section(at));
        if section.is_err() {
            self.rest = &[];
        }
        Some(section)
    }
}
