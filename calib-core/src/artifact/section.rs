//! Typed, length-prefixed sections.

use serde::{Deserialize, Serialize};

use super::array_at;
use super::error::ParseError;
use super::prefix::PREFIX_LEN;

/// The length of a section's own head in bytes.
pub(super) const SECTION_HEAD_LEN: usize = 8;
/// The length of a counter in bytes.
pub(super) const COUNTER_LEN: usize = 4;
/// The length of a signature's payload in bytes: the key's name and the signature.
pub(super) const SIGNATURE_LEN: usize = 8 + 64;
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
    /// Step tables over scores.
    Tables = 2,
    /// A byte of flags per bin.
    BinFlags = 3,
    /// Step tables that divide equal scores by lot.
    RandomizedSteps = 4,
    /// Knots to interpolate between.
    Interpolated = 5,
    /// Scaling functions.
    Scaling = 6,
    /// Step tables with two probabilities per bin.
    VennAbers = 7,
    /// An interval per bin.
    Intervals = 8,
    /// Step tables over integer codes.
    IntegerSteps = 9,
    /// The bin of every 8-bit code.
    DirectTable = 10,
    /// Step tables in 16-bit numbers.
    CompactSteps = 11,
    /// A scaling function of whole vectors.
    VectorScaling = 12,
    /// Cells of Sierpinski binning.
    Sierpinski = 13,
    /// Cells of a grid on the simplex.
    Grid = 14,
    /// Cells between hyperplanes.
    Projection = 15,
    /// Cells of a tree of splits of the simplex.
    SplitTree = 16,
    /// Which action to take at which probability.
    Decision = 32,
    /// How new the artefact is.
    Counter = 64,
    /// Who made it.
    Signature = 65,
}

impl SectionKind {
    /// Every kind.
    pub(super) const ALL: [Self; 19] = [
        Self::Header,
        Self::Tables,
        Self::BinFlags,
        Self::RandomizedSteps,
        Self::Interpolated,
        Self::Scaling,
        Self::VennAbers,
        Self::Intervals,
        Self::IntegerSteps,
        Self::DirectTable,
        Self::CompactSteps,
        Self::VectorScaling,
        Self::Sierpinski,
        Self::Grid,
        Self::Projection,
        Self::SplitTree,
        Self::Decision,
        Self::Counter,
        Self::Signature,
    ];

    /// Where the kind of this number stands in [`SectionKind::ALL`].
    fn position(number: u16) -> Option<usize> {
        Self::ALL.iter().position(|&kind| kind as u16 == number)
    }
}

/// The payloads of the sections whose kinds are known.
#[derive(Default)]
pub(super) struct Payloads<'a>([Option<&'a [u8]>; SectionKind::ALL.len()]);

impl<'a> Payloads<'a> {
    /// Collects the sections of an artefact. The header is the first, and no kind is there twice.
    pub(super) fn collect(body: &'a [u8], stated: u16) -> Result<Self, ParseError> {
        let mut payloads = Self::default();
        let mut found = 0;
        let mut signed = false;
        for section in Sections::new(body) {
            let section = section?;
            if found == 0 && section.kind != SectionKind::Header as u16 {
                return Err(ParseError::MissingSection(SectionKind::Header));
            }
            // What is behind a signature is not signed.
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

    /// The payload of the section of this kind, if there is one.
    pub(super) fn get(&self, kind: SectionKind) -> Option<&'a [u8]> {
        self.0.get(SectionKind::position(kind as u16)?).copied().flatten()
    }

    /// The payload of the section of this kind, which must be there.
    pub(super) fn require(&self, kind: SectionKind) -> Result<&'a [u8], ParseError> {
        self.get(kind).ok_or(ParseError::MissingSection(kind))
    }

    /// The first section that is there though it should not be.
    pub(super) fn unexpected(&self, expected: impl Fn(SectionKind) -> bool) -> Option<SectionKind> {
        SectionKind::ALL.into_iter().find(|&kind| self.get(kind).is_some() && !expected(kind))
    }
}

/// One section as it lies in the artefact.
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

    /// Whether the payload is as long as its kind says, if it does.
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

/// Walks the sections; ends after the first malformed one.
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
