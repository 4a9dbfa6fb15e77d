//! Typed, length-prefixed sections.

use super::error::ParseError;
use super::layout::{
    COUNTER_LEN, MANDATORY, PREFIX_LEN, SECTION_HEAD_LEN, SIGNATURE_LEN, SectionKind, array_at,
};

/// The payloads of the sections whose kinds are known.
#[derive(Default)]
pub(super) struct Payloads<'a>([Option<&'a [u8]>; SectionKind::ALL.len()]);

impl<'a> Payloads<'a> {
    /// Collects the sections of an artifact, after checking that the header is the first and that no kind occurs twice.
    pub(super) fn collect(body: &'a [u8], stated: u16) -> Result<Self, ParseError> {
        let mut payloads = Self::default();
        let mut found = 0;
        let mut signed = false;
        for section in Sections::new(body) {
            let section = section?;
            if found == 0 && section.kind != SectionKind::Header as u16 {
                return Err(ParseError::MissingSection(SectionKind::Header));
            }
            // A section behind the signature would not be signed.
            if signed || !section.has_its_length() {
                return Err(ParseError::Section(section.offset));
            }
            signed = section.kind == SectionKind::Signature as u16;
            found += 1;
            let known = SectionKind::position(section.kind).and_then(|position| payloads.0.get_mut(position));
            if known.is_none() && section.is_mandatory() {
                return Err(ParseError::UnknownSection(section.kind));
            }
            if known.and_then(|known| known.replace(section.payload)).is_some() {
                return Err(ParseError::DuplicateSection(section.kind));
            }
        }
        if found == usize::from(stated) {
            Ok(payloads)
        } else {
            Err(ParseError::SectionCount { stated, found })
        }
    }

    /// Returns the payload of the section of this kind, if there is one.
    pub(super) fn get(&self, kind: SectionKind) -> Option<&'a [u8]> {
        self.0.get(SectionKind::position(kind as u16)?).copied().flatten()
    }

    /// Returns the payload of the section of this kind, which must exist.
    pub(super) fn require(&self, kind: SectionKind) -> Result<&'a [u8], ParseError> {
        self.get(kind).ok_or(ParseError::MissingSection(kind))
    }

    /// Returns the kind of a section that is not expected.
    pub(super) fn unexpected(&self, expected: impl Fn(SectionKind) -> bool) -> Option<SectionKind> {
        SectionKind::ALL.iter().copied().find(|&kind| self.get(kind).is_some() && !expected(kind))
    }
}

/// Returns the payload of the first section of a kind that is not known here, in an artifact that parses; `None` if there is none.
pub(crate) fn optional_section(artifact: &[u8], kind: u16) -> Option<&[u8]> {
    let sections = Sections::new(artifact.get(PREFIX_LEN..)?);
    sections.flatten().find(|section| section.kind == kind).map(|section| section.payload)
}

/// One section as it lies in the artifact.
struct Section<'a> {
    offset: usize,
    kind: u16,
    flags: u16,
    payload: &'a [u8],
}

impl Section<'_> {
    const fn is_mandatory(&self) -> bool {
        self.flags & MANDATORY != 0
    }

    /// Tells whether the payload has the length of its kind, if the kind has one.
    const fn has_its_length(&self) -> bool {
        const COUNTER: u16 = SectionKind::Counter as u16;
        const SIGNATURE: u16 = SectionKind::Signature as u16;
        match self.kind {
            COUNTER => self.payload.len() == COUNTER_LEN,
            SIGNATURE => self.payload.len() == SIGNATURE_LEN,
            _ => true,
        }
    }
}

/// Walks over the sections, and ends after the first malformed one.
struct Sections<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Sections<'a> {
    const fn new(body: &'a [u8]) -> Self {
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
        let offset = self.offset;
        self.offset += section_end;
        Some(Section { offset, kind, flags, payload })
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
