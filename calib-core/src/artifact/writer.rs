//! Writing an artifact into a slice: the host's half of the format, beside the reader.

use core::fmt;

use super::band::BandParts;
use super::form::TableForm;
use super::header::Header;
use super::identity::Identity;
use super::layout::{MANDATORY, PREFIX_LEN, SECTION_HEAD_LEN, SectionKind};
use super::monitor_action::MonitorAction;
use super::monitors::MonitorParts;
use super::pool::{HalfWriter, WordWriter};
use super::score_intervals::ScoreIntervalParts;
use super::tables::{CODES, Table};
use super::{groups, joint, prefix};
use crate::decision::{DecisionError, DecisionParts, DecisionRule, OperatingParts, SetParts};
use crate::outcome::{BinFlags, ProbInterval};
use crate::score::ScoreEncoding;
use crate::vector::Joint;

/// Writes an artifact section by section into a buffer.
///
/// ```
/// use calib_core::artifact::{
///     ArtifactWriter, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm, WriteError,
/// };
/// use calib_core::{Artifact, Identity, ScoreEncoding, StepTable};
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
/// writer.tables(&[Some(Table { form: TableForm::Steps(steps), epsilon: None })])?;
/// let artifact = writer.finish(|sections| Identity([sections.len() as u8; 8]))?;
/// assert_eq!(Artifact::parse(artifact).unwrap().header(), &header);
/// # Ok::<(), WriteError>(())
/// ```
#[derive(Debug)]
pub struct ArtifactWriter<'b> {
    buf: &'b mut [u8],
    len: usize,
    sections: u16,
    /// The kind of section in which the header's tables go.
    tables: Option<SectionKind>,
    /// Whether tables in words are over margins.
    of_margins: bool,
}

/// Why an artifact was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WriteError {
    /// The buffer is too small, or a number does not fit the format.
    TooLarge,
    /// The header contradicts itself.
    Header,
    /// A table's form does not go with the header's method and score encoding, or there is no header yet.
    Form,
    /// The parts are not a decision rule.
    Decision(DecisionError),
}

impl<'b> ArtifactWriter<'b> {
    /// Starts an artifact at the beginning of `buf`.
    pub fn new(buf: &'b mut [u8]) -> Self {
        Self { buf, len: PREFIX_LEN, sections: 0, tables: None, of_margins: false }
    }

    /// Writes the header. It comes first.
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
        self.tables = header.table_section();
        self.of_margins = header.encoding == ScoreEncoding::Margin;
        self.close(SectionKind::Header as u16, MANDATORY, len).ok_or(WriteError::TooLarge)
    }

    /// Writes the tables, `None` for an uncalibrated class.
    ///
    /// # Errors
    ///
    /// If a table's form does not go with the header, or the tables do not fit.
    pub fn tables(&mut self, tables: &[Option<Table<'_>>]) -> Result<(), WriteError> {
        let kind = self.tables.ok_or(WriteError::Form)?;
        // The bytes of both kinds of table are alike: read as the other one, edges would mean something else.
        let fits = |form: &TableForm<'_>| form.section() == kind && form.is_of_margins() == self.of_margins;
        if !tables.iter().flatten().all(|table| fits(&table.form)) {
            return Err(WriteError::Form);
        }
        if kind == SectionKind::CompactSteps {
            let space = self.payload_space().ok_or(WriteError::TooLarge)?;
            let halves = HalfWriter::new(space).pool(tables, |table, out| {
                let epsilon = table.epsilon.unwrap_or(f32::NAN).to_bits();
                out.half(epsilon as u16)?;
                out.half((epsilon >> 16) as u16)?;
                table.form.write_halves(out)
            });
            let len = halves.ok_or(WriteError::TooLarge)?;
            return self.close(kind as u16, MANDATORY, len).ok_or(WriteError::TooLarge);
        }
        self.pool(kind, MANDATORY, tables, |table, out| {
            out.word(table.epsilon.unwrap_or(f32::NAN).to_bits())?;
            table.form.write(out)
        })
    }

    /// Writes a calibrator of whole vectors, in place of tables. The flags of its cells are a
    /// [separate section](ArtifactWriter::bin_flags).
    ///
    /// # Errors
    ///
    /// If the calibrator does not go with the header, or does not fit.
    pub fn joint(&mut self, calibrator: &Joint<'_>) -> Result<(), WriteError> {
        let kind = joint::section(calibrator);
        if self.tables != Some(kind) {
            return Err(WriteError::Form);
        }
        let space = self.payload_space().ok_or(WriteError::TooLarge)?;
        let mut out = WordWriter::new(space);
        joint::write(calibrator, &mut out).ok_or(WriteError::TooLarge)?;
        let len = out.len_bytes();
        self.close(kind as u16, MANDATORY, len).ok_or(WriteError::TooLarge)
    }

    /// Writes the flags of all bins, table by table. The section may be left out if all flags are [`BinFlags::NONE`].
    ///
    /// # Errors
    ///
    /// If the flags do not fit.
    pub fn bin_flags(&mut self, flags: &[BinFlags]) -> Result<(), WriteError> {
        self.bytes(SectionKind::BinFlags, 0, flags.iter().map(|flags| flags.bits()))
    }

    /// Writes the exact intervals of all bins: a list per table, `None` for an uncalibrated class. A bin without a guarantee has no
    /// interval. The caller rounds `lo` down and `hi` up.
    ///
    /// # Errors
    ///
    /// If the intervals do not fit.
    pub fn intervals(&mut self, tables: &[Option<&[Option<ProbInterval>]>]) -> Result<(), WriteError> {
        self.pool(SectionKind::Intervals, 0, tables, |intervals, out| {
            let ends = |interval: &Option<ProbInterval>| match interval {
                Some(ProbInterval { lo, hi }) => [*lo, *hi],
                None => [f32::NAN; 2],
            };
            out.floats(intervals.iter().flat_map(ends))
        })
    }

    /// Writes the bin of every code of an 8-bit encoding, so that a device need not search. `tables` are the ones given to
    /// [`ArtifactWriter::tables`].
    ///
    /// # Errors
    ///
    /// If a table is not over codes, or the bins do not fit.
    pub fn direct_table(&mut self, tables: &[Option<Table<'_>>]) -> Result<(), WriteError> {
        let over_codes = |table: &Table<'_>| matches!(table.form, TableForm::Codes(_));
        if !tables.iter().flatten().all(over_codes) {
            return Err(WriteError::Form);
        }
        let bins = tables.iter().flat_map(|table| {
            (0..CODES as u16).map(move |key| match table {
                // An 8-bit code has at most 256 bins.
                Some(Table { form: TableForm::Codes(codes), .. }) => codes.bin(key) as u8,
                _ => 0,
            })
        });
        self.bytes(SectionKind::DirectTable, 0, bins)
    }

    /// Writes the least and the greatest score of each table's calibration points, `None` for an uncalibrated class: the bits of two
    /// f32 in `[0, 1]`, or two keys of [codes](crate::score::QuantizedScore::key) or [margins](crate::score::Margin::key). The device then marks results for other scores
    /// ([`BinFlags::OUT_OF_RANGE`]).
    ///
    /// # Errors
    ///
    /// If the ranges do not fit.
    pub fn score_ranges(&mut self, ranges: &[Option<[u32; 2]>]) -> Result<(), WriteError> {
        let words = ranges.iter().flat_map(|range| range.unwrap_or_default());
        self.bytes(SectionKind::ScoreRanges, 0, words.flat_map(u32::to_le_bytes))
    }

    /// Writes what monitors compare with, as a section that a reader may skip. [`Artifact::parse`](super::Artifact::parse) checks it.
    ///
    /// # Errors
    ///
    /// If the numbers do not fit.
    pub fn monitors(&mut self, parts: &MonitorParts<'_>) -> Result<(), WriteError> {
        let space = self.payload_space().ok_or(WriteError::TooLarge)?;
        let len = parts.write(space).ok_or(WriteError::TooLarge)?;
        self.close(SectionKind::Monitors as u16, 0, len).ok_or(WriteError::TooLarge)
    }

    /// Writes what is done on an alarm of the monitors, as a mandatory section: a device that does not know it refuses the artifact, rather
    /// than go on. It goes with [`ArtifactWriter::monitors`], as [`Artifact::parse`](super::Artifact::parse) checks.
    ///
    /// # Errors
    ///
    /// If it does not fit.
    pub fn monitor_action(&mut self, action: MonitorAction) -> Result<(), WriteError> {
        self.section(SectionKind::MonitorAction as u16, true, &(action as u32).to_le_bytes())
    }

    /// Writes intervals of ranges of the score, beside any tables, as a section that a reader may skip.
    /// [`Artifact::parse`](super::Artifact::parse) checks it.
    ///
    /// # Errors
    ///
    /// If the intervals do not fit.
    pub fn score_intervals(&mut self, parts: &ScoreIntervalParts<'_>) -> Result<(), WriteError> {
        let space = self.payload_space().ok_or(WriteError::TooLarge)?;
        let len = parts.write(space).ok_or(WriteError::TooLarge)?;
        self.close(SectionKind::ScoreIntervals as u16, 0, len).ok_or(WriteError::TooLarge)
    }

    /// Writes a band around the calibration curve, as a section that a reader may skip. [`Artifact::parse`](super::Artifact::parse) checks it.
    ///
    /// # Errors
    ///
    /// If the band does not fit.
    pub fn band(&mut self, parts: &BandParts<'_>) -> Result<(), WriteError> {
        let space = self.payload_space().ok_or(WriteError::TooLarge)?;
        let len = parts.write(space).ok_or(WriteError::TooLarge)?;
        self.close(SectionKind::Band as u16, 0, len).ok_or(WriteError::TooLarge)
    }

    /// Writes the counter. The section may be left out if the counter is 0.
    ///
    /// # Errors
    ///
    /// If the counter does not fit.
    pub fn counter(&mut self, counter: u32) -> Result<(), WriteError> {
        self.section(SectionKind::Counter as u16, false, &counter.to_le_bytes())
    }

    /// Writes the decision rule as a mandatory section: a device that does not know decision rules refuses the artifact, rather than
    /// decide by itself.
    ///
    /// # Errors
    ///
    /// If the parts are not a rule, or do not fit.
    pub fn decision(&mut self, parts: &DecisionParts<'_>) -> Result<(), WriteError> {
        if parts.intervals.len() != parts.thresholds.len().saturating_add(1) {
            return Err(WriteError::Decision(DecisionError::Length));
        }
        let space = self.payload_space().ok_or(WriteError::TooLarge)?;
        let len = parts.write(space).ok_or(WriteError::TooLarge)?;
        let payload = space.get(..len).unwrap_or_default();
        DecisionRule::check(payload).map_err(WriteError::Decision)?;
        self.close(SectionKind::Decision as u16, MANDATORY, len).ok_or(WriteError::TooLarge)
    }

    /// Writes operating points as a mandatory section. [`Artifact::parse`](super::Artifact::parse) checks them.
    ///
    /// # Errors
    ///
    /// If a number has no place in the format, or they do not fit.
    pub fn operating_points(&mut self, parts: &OperatingParts<'_>) -> Result<(), WriteError> {
        let words = parts.words().ok_or(WriteError::TooLarge)?;
        self.bytes(SectionKind::OperatingPoints, MANDATORY, words.flat_map(u32::to_le_bytes))
    }

    /// Writes prediction sets as a mandatory section. [`Artifact::parse`](super::Artifact::parse) checks them.
    ///
    /// # Errors
    ///
    /// If they do not fit.
    pub fn prediction_sets(&mut self, parts: &SetParts<'_>) -> Result<(), WriteError> {
        self.bytes(SectionKind::PredictionSets, MANDATORY, parts.words().flat_map(u32::to_le_bytes))
    }

    /// Writes the names of the groups as a mandatory section. [`Artifact::parse`](super::Artifact::parse) checks them.
    ///
    /// # Errors
    ///
    /// If a name is too long, there are more than 255, or they do not fit.
    pub fn groups(&mut self, names: &[&str]) -> Result<(), WriteError> {
        let bytes = groups::bytes(names).ok_or(WriteError::TooLarge)?;
        self.bytes(SectionKind::Groups, MANDATORY, bytes)
    }

    /// Writes a section of any kind, with a payload that the writer does not check.
    ///
    /// # Errors
    ///
    /// If the section does not fit.
    pub fn section(&mut self, kind: u16, mandatory: bool, payload: &[u8]) -> Result<(), WriteError> {
        let space = self.payload_space().and_then(|space| space.get_mut(..payload.len()));
        space.ok_or(WriteError::TooLarge)?.copy_from_slice(payload);
        self.close(kind, if mandatory { MANDATORY } else { 0 }, payload.len()).ok_or(WriteError::TooLarge)
    }

    /// Completes the artifact and returns its bytes. `identify` takes all sections and returns the first 8 bytes of their SHA-256.
    ///
    /// # Errors
    ///
    /// If the artifact is longer than 4 GiB or the buffer too small.
    pub fn finish(self, identify: impl FnOnce(&[u8]) -> Identity) -> Result<&'b [u8], WriteError> {
        let bytes = self.buf.get_mut(..self.len).ok_or(WriteError::TooLarge)?;
        let identity = identify(bytes.get(PREFIX_LEN..).unwrap_or_default());
        prefix::write(bytes, self.sections, identity).ok_or(WriteError::TooLarge)?;
        Ok(bytes)
    }

    /// Writes a section that is a ragged pool.
    fn pool<T>(
        &mut self,
        kind: SectionKind,
        flags: u16,
        tables: &[Option<T>],
        put: impl FnMut(&T, &mut WordWriter<'_>) -> Option<()>,
    ) -> Result<(), WriteError> {
        let space = self.payload_space().ok_or(WriteError::TooLarge)?;
        let len = WordWriter::new(space).pool(tables, put).ok_or(WriteError::TooLarge)?;
        self.close(kind as u16, flags, len).ok_or(WriteError::TooLarge)
    }

    /// Writes a section byte by byte.
    fn bytes(
        &mut self,
        kind: SectionKind,
        flags: u16,
        bytes: impl Iterator<Item = u8>,
    ) -> Result<(), WriteError> {
        let mut len = 0;
        let mut space = self.payload_space().ok_or(WriteError::TooLarge)?.iter_mut();
        for byte in bytes {
            *space.next().ok_or(WriteError::TooLarge)? = byte;
            len += 1;
        }
        self.close(kind as u16, flags, len).ok_or(WriteError::TooLarge)
    }

    /// Returns the space for the next section's payload.
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

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("the artifact is too large"),
            Self::Header => f.write_str("the header contradicts itself"),
            Self::Form => f.write_str("a table's form does not go with the header"),
            Self::Decision(cause) => write!(f, "the decision rule: {cause}"),
        }
    }
}

impl core::error::Error for WriteError {}
