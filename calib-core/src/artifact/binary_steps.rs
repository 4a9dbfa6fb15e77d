//! A binary step table alone, for programs with little flash.

use core::fmt;

use super::band::Band;
use super::error::{ParseError, TableFault};
use super::header::{Header, HeaderFlags, Reduction};
use super::header_bytes;
use super::identity::Identity;
use super::layout::{PREFIX_LEN, SectionKind, array_at};
use super::parsed::erased_behind;
use super::pool::Pool;
use super::prefix::Prefix;
use super::score_intervals::{ScoreBins, ScoreIntervals, score_keys};
use super::section::Payloads;
use super::tables::{guaranteed, joined};
use crate::outcome::{BinFlags, Calibrated, Outcome, ProbInterval, Uncalibrated};
use crate::score::{FloatScore, QuantizedScore, ScoreEncoding, key_of_bits};
use crate::table::search::count_up_to;
use crate::table::{CodeTable, CompactTable, MarginTable, StepTable};

/// A binary artifact whose calibrator is one step table: umd and its relatives, isotonic, and everything that was fitted as steps.
///
/// It gives what [`Artifact`](super::Artifact) gives, to the bit. It reads no other kind of artifact, so a program that calls nothing else
/// takes a quarter of the flash. It refuses what it does not read and would have to heed: other forms and reductions, groups,
/// thresholds, prediction sets, decision rules, and actions on alarms.
///
/// ```
/// use calib_core::Score;
/// use calib_core::artifact::BinarySteps;
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::binary();
/// let steps = BinarySteps::parse_slot(bytes.as_bytes()).unwrap();
/// let outcome = steps.calibrate(Score::new(0.93)?).unwrap();
/// assert_eq!(outcome.calibrated().map(|calibrated| calibrated.prob), Some(0.8));
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BinarySteps<'a> {
    identity: Identity,
    len_bytes: usize,
    counter: u32,
    header: Header<'a>,
    epsilon: Option<f32>,
    steps: Steps<'a>,
    /// Empty, or a byte per bin.
    bin_flags: &'a [u8],
    /// Empty, or an interval per bin.
    intervals: &'a [[u32; 2]],
    /// Ranges of the score that have their own intervals.
    ranges: Option<ScoreBins<'a>>,
    /// The least and the greatest score of the calibration points.
    extremes: Option<[u32; 2]>,
    /// The words of the band; none if there is no band.
    band: &'a [u32],
}

/// The table: its edges, and one value more.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
enum Steps<'a> {
    /// Edges are keys, or the bits of margins; values are the bits of probabilities.
    Words {
        edges: &'a [u32],
        values: &'a [u32],
        are_margins: bool,
    },
    Halves(CompactTable<'a>),
}

/// Why bytes are not a [`BinarySteps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BinaryStepsError {
    /// They are no artifact.
    Parse(ParseError),
    /// They are an artifact of another kind, or one with a section that must be heeded: [`Artifact`](super::Artifact) reads it.
    OtherKind,
}

impl From<ParseError> for BinaryStepsError {
    fn from(error: ParseError) -> Self {
        Self::Parse(error)
    }
}

impl From<TableFault> for BinaryStepsError {
    fn from(fault: TableFault) -> Self {
        Self::Parse(ParseError::Table { table: 0, fault })
    }
}

/// What must be heeded and is not read here.
const UNREAD: [SectionKind; 5] = [
    SectionKind::Decision,
    SectionKind::OperatingPoints,
    SectionKind::PredictionSets,
    SectionKind::Groups,
    SectionKind::MonitorAction,
];

impl<'a> BinarySteps<'a> {
    /// Checks an artifact at the start of a flash slot whose rest is erased, as [`Artifact::parse_slot`](super::Artifact::parse_slot).
    ///
    /// Monitors and direct tables are not read, so they are not checked.
    ///
    /// # Errors
    ///
    /// The first cause found. No input panics, and nothing beyond `slot` is read.
    pub fn parse_slot(slot: &'a [u8]) -> Result<Self, BinaryStepsError> {
        let prefix = Prefix::parse(slot)?;
        erased_behind(slot, prefix.total_len)?;
        let body = slot.get(PREFIX_LEN..prefix.total_len).unwrap_or_default();
        let sections = Payloads::collect(body, prefix.section_count)?;
        let header = header_bytes::parse(sections.require(SectionKind::Header)?)?;
        header.check_sections(&sections)?;
        let kind = header.table_section().ok_or(BinaryStepsError::OtherKind)?;
        if header.reduction != Reduction::Binary
            || header.method.has_no_calibrator()
            || UNREAD.iter().any(|&kind| sections.get(kind).is_some())
            || header.flags.contains(HeaderFlags::GROUPED)
        {
            return Err(BinaryStepsError::OtherKind);
        }
        let (epsilon, steps) = Steps::parse(kind, sections.require(kind)?, &header)?;
        // The header states the epsilon of its only table.
        if !header.guarantee.map_or(epsilon.is_nan(), |guarantee| guarantee.epsilon == epsilon) {
            return Err(TableFault::Epsilon.into());
        }
        if header.flags.contains(HeaderFlags::CLASS_UNCALIBRATED) {
            return Err(TableFault::Missing.into());
        }
        if u32::try_from(steps.bins()) != Ok(header.bins) {
            return Err(TableFault::Bins.into());
        }
        let counter = sections.get(SectionKind::Counter).and_then(|payload| array_at(payload, 0));
        let mut read = Self {
            identity: prefix.identity,
            len_bytes: prefix.total_len,
            counter: counter.map_or(0, u32::from_le_bytes),
            header,
            epsilon: guaranteed(epsilon),
            steps,
            bin_flags: &[],
            intervals: &[],
            ranges: None,
            extremes: None,
            band: &[],
        };
        read.put_beside(&sections)?;
        if let Some(payload) = sections.get(SectionKind::Band) {
            read.band = Band::parse(payload, &header)?;
        }
        Ok(read)
    }

    /// Reads and checks what lies beside the table.
    fn put_beside(&mut self, sections: &Payloads<'a>) -> Result<(), BinaryStepsError> {
        if let Some(flags) = sections.get(SectionKind::BinFlags) {
            if flags.len() != self.steps.bins() || flags.iter().any(|&b| BinFlags::from_bits(b).is_none()) {
                return Err(TableFault::Flags.into());
            }
            self.bin_flags = flags;
        }
        if let Some(payload) = sections.get(SectionKind::ScoreRanges) {
            let [lowest, highest] = score_keys(self.header.encoding);
            match bytemuck::try_cast_slice::<_, [u32; 2]>(payload) {
                Ok(&[[lo, hi]]) if lowest <= lo && lo <= hi && hi <= highest => {
                    self.extremes = Some([lo, hi]);
                }
                _ => return Err(TableFault::Ranges.into()),
            }
        }
        let intervals = sections.get(SectionKind::Intervals);
        if let Some(payload) = sections.get(SectionKind::ScoreIntervals) {
            let ranges = ScoreIntervals::parse(payload, 1)?;
            if intervals.is_some() {
                return Err(ParseError::UnexpectedSection(SectionKind::Intervals).into());
            }
            ranges.check(&self.header, 0, true)?;
            self.ranges = ranges.table(0);
        }
        if let Some(payload) = intervals {
            let pool = Pool::<u32>::parse(payload, 1).map_err(|_| TableFault::Intervals)?;
            let (pairs, rest) = pool.words(0).unwrap_or_default().as_chunks();
            let are_all = rest.is_empty() && pairs.len() == self.steps.bins();
            if !are_all || !(0..).zip(pairs).all(|(bin, &pair)| self.may_have_interval(bin, pair)) {
                return Err(TableFault::Intervals.into());
            }
            self.intervals = pairs;
        }
        Ok(())
    }

    /// Tells whether the interval of a bin is none, or one that contains the bin's probability.
    fn may_have_interval(&self, bin: usize, pair: [u32; 2]) -> bool {
        let [lo, hi] = pair.map(f32::from_bits);
        lo.is_nan() && hi.is_nan()
            || self.epsilon.is_some()
                && !self.is_empty(bin)
                && ProbInterval::new(lo, hi).is_some_and(|ends| ends.contains(self.steps.value(bin)))
    }

    fn is_empty(&self, bin: usize) -> bool {
        self.bin_flags.get(bin).is_some_and(|&flags| flags == BinFlags::EMPTY.bits())
    }

    /// Returns the artifact's name, a hash of its content.
    pub const fn identity(&self) -> Identity {
        self.identity
    }

    /// Returns the artifact's length in bytes, with the prefix.
    pub const fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Returns the artifact's counter; 0 if it has none.
    pub const fn counter(&self) -> u32 {
        self.counter
    }

    /// Returns what was fitted, how and with which guarantee.
    pub const fn header(&self) -> &Header<'a> {
        &self.header
    }

    /// Returns the band around the calibration curve, if there is one.
    pub fn band(&self) -> Option<Band<'a>> {
        Band::trusted(self.band, self.header.encoding)
    }

    /// Calibrates a score or a margin; `None` if the artifact takes other scores.
    pub fn calibrate<S: FloatScore>(&self, score: S) -> Option<Outcome> {
        let is_rounded = match self.header.encoding {
            ScoreEncoding::F32 if !S::IS_MARGIN => false,
            ScoreEncoding::Margin if S::IS_MARGIN => false,
            ScoreEncoding::RoundedF32 if !S::IS_MARGIN => true,
            ScoreEncoding::RoundedMargin if S::IS_MARGIN => true,
            _ => return None,
        };
        let key = if is_rounded { score.rounded_key().into() } else { score.key() };
        Some(self.outcome(key, score.key()))
    }

    /// Calibrates the code of a score; `None` if the artifact takes other scores.
    pub fn calibrate_code(&self, code: QuantizedScore) -> Option<Outcome> {
        let key = code.key().into();
        (code.encoding() == self.header.encoding).then(|| self.outcome(key, key))
    }

    /// Returns the outcome at a key of the table. The other key is that of section 17, which is never rounded.
    // One for all kinds of scores: a search takes flash.
    #[inline(never)]
    fn outcome(&self, key: u32, exact: u32) -> Outcome {
        let bin = self.steps.bin(key);
        if self.is_empty(bin) {
            return Outcome::Uncalibrated(Uncalibrated::EmptyBin);
        }
        let mut flags = BinFlags::NONE;
        if self.extremes.is_some_and(|[lo, hi]| exact < lo || exact > hi) {
            flags = flags.with(BinFlags::OUT_OF_RANGE);
        }
        let prob = self.steps.value(bin);
        let (bin, interval) = match self.ranges {
            Some(ranges) => {
                let range = count_up_to(ranges.edges(), key);
                flags = flags.with(BinFlags::RANGE);
                (range, ranges.interval(range))
            }
            None => {
                let ends = self.intervals.get(bin).filter(|_| self.epsilon.is_some());
                (
                    bin,
                    ends.and_then(|ends| ProbInterval::new(f32::from_bits(ends[0]), f32::from_bits(ends[1]))),
                )
            }
        };
        Outcome::Calibrated(Calibrated { prob, bin: bin as u16, epsilon: self.epsilon, flags, interval })
    }
}

impl<'a> Steps<'a> {
    /// Reads and checks the only table of a section, and returns it behind its epsilon.
    fn parse(
        kind: SectionKind,
        payload: &'a [u8],
        header: &Header<'_>,
    ) -> Result<(f32, Self), BinaryStepsError> {
        if kind == SectionKind::CompactSteps {
            let halves = Pool::<u16>::parse(payload, 1)?.words(0).ok_or(TableFault::Extent)?;
            let (epsilon, halves) = halves.split_first_chunk().ok_or(TableFault::Extent)?;
            let (edges, values) = edges_and_values(halves)?;
            let table = CompactTable::new(edges, values, header.encoding);
            return Ok((joined(*epsilon), Self::Halves(table.map_err(|_| TableFault::Content)?)));
        }
        if !matches!(kind, SectionKind::Tables | SectionKind::IntegerSteps) {
            return Err(BinaryStepsError::OtherKind);
        }
        let words = Pool::<u32>::parse(payload, 1)?.words(0).ok_or(TableFault::Extent)?;
        let (&epsilon, words) = words.split_first().ok_or(TableFault::Missing)?;
        let (edges, values) = edges_and_values(words)?;
        let (floats, probs) = (bytemuck::must_cast_slice(edges), bytemuck::must_cast_slice(values));
        let checked = match header.encoding {
            ScoreEncoding::F32 => StepTable::new(floats, probs).map(drop),
            ScoreEncoding::Margin => MarginTable::new(floats, probs).map(drop),
            encoding => CodeTable::new(edges, probs, encoding).map(drop),
        };
        checked.map_err(|_| TableFault::Content)?;
        let are_margins = header.encoding == ScoreEncoding::Margin;
        Ok((f32::from_bits(epsilon), Self::Words { edges, values, are_margins }))
    }

    const fn bins(&self) -> usize {
        match self {
            Self::Words { values, .. } => values.len(),
            Self::Halves(table) => table.bins(),
        }
    }

    /// Returns the bin of a key: the number of edges at or below the key.
    fn bin(&self, key: u32) -> usize {
        match self {
            Self::Words { edges, are_margins: false, .. } => count_up_to(edges, key),
            Self::Words { edges, .. } => edges.partition_point(|&edge| key_of_bits(edge) <= key),
            Self::Halves(table) => table.edges().partition_point(|&edge| u32::from(edge) <= key),
        }
    }

    /// Returns the probability of a bin; 0 beyond the last bin, which no search finds.
    fn value(&self, bin: usize) -> f32 {
        match self {
            Self::Words { values, .. } => f32::from_bits(values.get(bin).copied().unwrap_or_default()),
            Self::Halves(table) => table.value(bin),
        }
    }
}

/// Divides words into edges and values, one more.
fn edges_and_values<W>(words: &[W]) -> Result<(&[W], &[W]), TableFault> {
    let (edges, values) = words.split_at_checked(words.len() / 2).unwrap_or_default();
    if values.len() == edges.len() + 1 { Ok((edges, values)) } else { Err(TableFault::Extent) }
}

impl fmt::Display for BinaryStepsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parse(error) => error.fmt(f),
            Self::OtherKind => f.write_str("the artifact is not one binary step table without rules"),
        }
    }
}

impl core::error::Error for BinaryStepsError {}
