//! Writing an artefact, into a slice: the host's half of the format, kept beside the reader.

use core::fmt;

use super::header::{Header, Identity};
use super::prefix::{self, PREFIX_LEN};
use super::section::{MANDATORY, SECTION_HEAD_LEN, SectionKind};
use super::tables::Table;

/// Writes an artefact section by section into a buffer.
///
/// ```
/// use calib_core::*;
///
/// let header = Header {
///     method: Method::Umd,
///     reduction: Reduction::Binary,
///     encoding: ScoreEncoding::F32,
///     classes: 2,
///     bins: 2,
///     n: 100,
///     guarantee: None,
///     flags: HeaderFlags::NONE,
///     provenance: Provenance { data_sha256: [0; 32], tool_version: "0.1.0", parameters: "", classifier: None },
/// };
/// let mut words = [0u32; 64];
/// let steps = StepTable::new(&[0.5], &[0.1, 0.8]).unwrap();
/// let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut words));
/// writer.header(&header)?;
/// writer.tables(&[Some(Table { steps, epsilon: None })])?;
/// let artifact = writer.finish(|sections| Identity([sections.len() as u8; 8]))?;
/// assert_eq!(Artifact::parse(artifact).unwrap().header(), &header);
/// # Ok::<(), WriteError>(())
/// ```
#[derive(Debug)]
pub struct ArtifactWriter<'b> {
    buf: &'b mut [u8],
    len: usize,
    sections: u16,
}

/// Why an artefact was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WriteError {
    /// The buffer is too small, or a number does not fit the format.
    TooLarge,
    /// The header contradicts itself.
    Header,
}

impl<'b> ArtifactWriter<'b> {
    /// Starts an artefact at the beginning of `buf`.
    pub fn new(buf: &'b mut [u8]) -> Self {
        Self { buf, len: PREFIX_LEN, sections: 0 }
    }

    /// Writes the header, which comes first.
    ///
    /// # Errors
    ///
    /// If the header contradicts itself or does not fit.
    pub fn header(&mut self, header: &Header<'_>) -> Result<(), WriteError> {
        if !header.is_consistent() {
            return Err(WriteError::Header);
        }
        let space = self.payload_space().ok_or(WriteError::TooLarge)?;
        let len = postcard::to_slice(header, space).map_err(|_| WriteError::TooLarge)?.len();
        self.close(SectionKind::Header as u16, MANDATORY, len).ok_or(WriteError::TooLarge)
    }

    /// Writes the tables, `None` for an uncalibrated class.
    ///
    /// # Errors
    ///
    /// If they do not fit.
    pub fn tables(&mut self, tables: &[Option<Table<'_>>]) -> Result<(), WriteError> {
        self.try_tables(tables).ok_or(WriteError::TooLarge)
    }

    fn try_tables(&mut self, tables: &[Option<Table<'_>>]) -> Option<()> {
        let mut put = Cursor { space: self.payload_space()?, len: 0 };
        put.word(u32::try_from(tables.len()).ok()?.to_le_bytes())?;
        let mut offset = 0u32;
        put.word(offset.to_le_bytes())?;
        for table in tables {
            let words = table.map_or(0, |t| 2 * t.steps.bins());
            offset = offset.checked_add(u32::try_from(words).ok()?)?;
            put.word(offset.to_le_bytes())?;
        }
        for table in tables.iter().flatten() {
            put.word(table.epsilon.unwrap_or(f32::NAN).to_le_bytes())?;
            table.steps.edges().iter().try_for_each(|edge| put.word(edge.to_le_bytes()))?;
            table.steps.values().try_for_each(|value| put.word(value.to_le_bytes()))?;
        }
        let len = put.len;
        self.close(SectionKind::Tables as u16, MANDATORY, len)
    }

    /// Writes a section of any kind; the payload's meaning is the caller's.
    ///
    /// # Errors
    ///
    /// If it does not fit.
    pub fn section(&mut self, kind: u16, mandatory: bool, payload: &[u8]) -> Result<(), WriteError> {
        let space = self.payload_space().and_then(|space| space.get_mut(..payload.len()));
        space.ok_or(WriteError::TooLarge)?.copy_from_slice(payload);
        self.close(kind, if mandatory { MANDATORY } else { 0 }, payload.len()).ok_or(WriteError::TooLarge)
    }

    /// Completes the artefact and returns its bytes. `identify` is given all sections and returns the first 8
    /// bytes of their SHA-256.
    ///
    /// # Errors
    ///
    /// If the artefact is longer than 4 GiB or the buffer too small.
    pub fn finish(self, identify: impl FnOnce(&[u8]) -> Identity) -> Result<&'b [u8], WriteError> {
        let bytes = self.buf.get_mut(..self.len).ok_or(WriteError::TooLarge)?;
        let identity = identify(bytes.get(PREFIX_LEN..).unwrap_or_default());
        prefix::write(bytes, self.sections, identity).ok_or(WriteError::TooLarge)?;
        Ok(bytes)
    }

    /// Where the next section's payload goes.
    fn payload_space(&mut self) -> Option<&mut [u8]> {
        self.buf.get_mut(self.len.checked_add(SECTION_HEAD_LEN)?..)
    }

    /// Puts the head in front of a payload of `len` bytes and zeros behind it.
    fn close(&mut self, kind: u16, flags: u16, len: usize) -> Option<()> {
        let payload_end = self.len.checked_add(SECTION_HEAD_LEN)?.checked_add(len)?;
        let end = payload_end.checked_next_multiple_of(4)?;
        let head = self.buf.get_mut(self.len..)?.first_chunk_mut::<SECTION_HEAD_LEN>()?;
        head[..2].copy_from_slice(&kind.to_le_bytes());
        head[2..4].copy_from_slice(&flags.to_le_bytes());
        head[4..].copy_from_slice(&u32::try_from(len).ok()?.to_le_bytes());
        self.buf.get_mut(payload_end..end)?.fill(0);
        self.sections = self.sections.checked_add(1)?;
        self.len = end;
        Some(())
    }
}

struct Cursor<'s> {
    space: &'s mut [u8],
    len: usize,
}

impl Cursor<'_> {
    fn word(&mut self, word: [u8; 4]) -> Option<()> {
        *self.space.get_mut(self.len..)?.first_chunk_mut()? = word;
        self.len += 4;
        Some(())
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "the artefact is too large",
            Self::Header => "the header contradicts itself",
        })
    }
}

impl core::error::Error for WriteError {}
