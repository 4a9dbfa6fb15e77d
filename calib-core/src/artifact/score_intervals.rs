//! Intervals of ranges of the score, beside any calibrator.

use serde::{Deserialize, Serialize};

use super::error::TableFault;
use super::header::Header;
use super::layout::{SectionKind, array_at};
use super::pool::{Pool, WordWriter};
use crate::outcome::ProbInterval;
use crate::score::{Margin, Score, ScoreEncoding};
use crate::table::search::bin_of_wide;

/// The bytes before the pool: which rate, and alpha.
const HEAD_LEN: usize = 8;
/// The largest number of ranges of a table: [`Calibrated::bin`](crate::outcome::Calibrated::bin) has 16 bits.
const MAX_BINS: usize = 1 << 16;

/// Intervals of the event rate in ranges of the score, whatever calibrator gives the probability.
///
/// With probability at least `1 - alpha` over the calibration set, the [rate](ScoreIntervals::rate) of every range of every table lies in
/// its interval. Results have the range as their bin and its interval as their interval.
///
/// Beside a calibrator of whole vectors there are ranges for each predicted class, of the classifier's score of it. The rate is how often
/// such predictions are right.
///
/// ```
/// use calib_core::{Artifact, Score};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::with_score_intervals();
/// let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let ranges = artifact.score_intervals().unwrap().table(0).unwrap();
/// assert_eq!(ranges.bin(Score::new(0.7)?.to_bits()), 1);
/// assert_eq!(ranges.interval(1).map(|interval| (interval.lo, interval.hi)), Some((0.5, 1.0)));
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScoreIntervals<'a> {
    rate: Rate,
    alpha: f32,
    pool: Pool<'a>,
}

/// The rate that an interval contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u32)]
pub enum Rate {
    /// The event rate among all scores of the range (Clopper and Pearson 1934, given the edges as in Gupta and Ramdas 2021, Theorem 3):
    /// no scores of the calibration set tie at an edge.
    OfRange = 0,
    /// The event rate among scores that are distributed within the range as in the calibration set (Hoeffding 1956): scores may tie.
    OfCalibrationScores = 1,
}

/// The ranges of one table, in ascending order, with their intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScoreBins<'a> {
    edges: &'a [u32],
    intervals: &'a [[u32; 2]],
}

/// What a [`ScoreIntervals`] section is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreIntervalParts<'p> {
    /// The rate that the intervals contain.
    pub rate: Rate,
    /// The failure probability of all intervals together, in `(0, 1)`.
    pub alpha: f32,
    /// For each table the inner edges as keys, and an interval more than edges; `None` for a table without words. The caller rounds `lo`
    /// down and `hi` up.
    pub tables: &'p [Option<(&'p [u32], &'p [ProbInterval])>],
}

impl Rate {
    const fn of(word: u32) -> Option<Self> {
        match word {
            0 => Some(Self::OfRange),
            1 => Some(Self::OfCalibrationScores),
            _ => None,
        }
    }
}

impl<'a> ScoreIntervals<'a> {
    /// Reads the payload of a section for so many tables, whose content is not checked yet.
    pub(super) fn parse(payload: &'a [u8], tables: usize) -> Result<Self, TableFault> {
        let word = |at| array_at(payload, at).map(u32::from_le_bytes).ok_or(TableFault::ScoreIntervals);
        let rate = Rate::of(word(0)?).ok_or(TableFault::ScoreIntervals)?;
        let alpha = f32::from_bits(word(4)?);
        if !(alpha > 0.0 && alpha < 1.0) {
            return Err(TableFault::ScoreIntervals);
        }
        let pool = Pool::parse(payload.get(HEAD_LEN..).unwrap_or_default(), tables);
        Ok(Self { rate, alpha, pool: pool.map_err(|_| TableFault::ScoreIntervals)? })
    }

    /// Checks a table: there are ranges if and only if it has words, their edges ascend, and intervals are of probabilities.
    pub(super) fn check(&self, header: &Header<'_>, table: usize, has_words: bool) -> Result<(), TableFault> {
        let words = self.pool.words(table).ok_or(TableFault::ScoreIntervals)?;
        let fits = match ScoreBins::of(words) {
            None => words.is_empty() && !has_words,
            Some(bins) => {
                has_words
                    && words.len() == 3 * bins.intervals.len() - 1
                    && bins.bins() <= MAX_BINS
                    && are_edges(bins.edges, keys_of(header))
                    && (0..bins.bins()).all(|bin| bins.interval(bin).is_some())
            }
        };
        if fits { Ok(()) } else { Err(TableFault::ScoreIntervals) }
    }

    /// Returns the intervals with this rate and alpha in a pool that was checked.
    pub(super) const fn trusted(rate: Rate, alpha: f32, pool: Pool<'a>) -> Self {
        Self { rate, alpha, pool }
    }

    pub(super) const fn pool(&self) -> Pool<'a> {
        self.pool
    }

    /// Returns the rate that the intervals contain.
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Returns the failure probability of all intervals of all tables together.
    pub const fn alpha(&self) -> f32 {
        self.alpha
    }

    /// Returns the number of tables.
    pub const fn count(&self) -> usize {
        self.pool.count()
    }

    /// Returns the ranges of a table; `None` for an uncalibrated class, and beyond the last table.
    pub fn table(&self, table: usize) -> Option<ScoreBins<'a>> {
        ScoreBins::of(self.pool.words(table)?)
    }
}

impl<'a> ScoreBins<'a> {
    /// Makes ranges of ascending inner edges and of one interval more, each as the bits of its ends; `None` if they are none. The export for
    /// Rust calls it in constants.
    ///
    /// ```
    /// use calib_core::Score;
    /// use calib_core::artifact::ScoreBins;
    ///
    /// let ends = [[0.0f32.to_bits(), 0.25f32.to_bits()], [0.5f32.to_bits(), 1.0f32.to_bits()]];
    /// let ranges = ScoreBins::new(&[0x3f00_0000], &ends).unwrap();
    /// assert_eq!(ranges.bin(Score::new(0.5)?.to_bits()), 1);
    /// assert_eq!(ranges.interval(1).map(|interval| interval.lo), Some(0.5));
    /// # Ok::<(), calib_core::ScoreError>(())
    /// ```
    pub const fn new(edges: &'a [u32], intervals: &'a [[u32; 2]]) -> Option<Self> {
        let Some((_, but_last)) = intervals.split_last() else { return None };
        if edges.len() != but_last.len() || intervals.len() > MAX_BINS {
            return None;
        }
        let mut rest = edges;
        while let [below, above, ..] = *rest {
            if below >= above {
                return None;
            }
            rest = rest.split_at(1).1;
        }
        let mut ends = intervals;
        while let Some((&[lo, hi], others)) = ends.split_first() {
            if ProbInterval::new(f32::from_bits(lo), f32::from_bits(hi)).is_none() {
                return None;
            }
            ends = others;
        }
        Some(Self { edges, intervals })
    }

    /// Divides a table's words into `B - 1` edges and `B` pairs; `None` if there are none.
    #[inline(always)]
    pub(super) fn of(words: &'a [u32]) -> Option<Self> {
        let (edges, ends) = words.split_at_checked(words.len() / 3)?;
        let (intervals, _) = ends.as_chunks();
        if intervals.is_empty() { None } else { Some(Self { edges, intervals }) }
    }

    /// Returns the number of ranges.
    pub const fn bins(&self) -> usize {
        self.intervals.len()
    }

    /// Returns the inner edges, as keys of scores: the bits of a probability, or the key of a margin or code; of 16-bit tables a rounded key.
    /// A score at an edge belongs to the range above it.
    pub const fn edges(&self) -> &'a [u32] {
        self.edges
    }

    /// Returns the range of a score with this key.
    #[inline]
    pub fn bin(&self, key: u32) -> usize {
        bin_of_wide(self.edges, self.intervals.len(), key)
    }

    /// Returns the interval of a range; `None` beyond the last.
    #[inline]
    pub fn interval(&self, bin: usize) -> Option<ProbInterval> {
        let [lo, hi] = self.intervals.get(bin)?.map(f32::from_bits);
        ProbInterval::new(lo, hi)
    }

    /// Returns the intervals in ascending order of the scores.
    pub fn intervals(&self) -> impl ExactSizeIterator<Item = ProbInterval> + use<'a> {
        self.intervals.iter().map(|ends| {
            let [lo, hi] = ends.map(f32::from_bits);
            ProbInterval { lo, hi }
        })
    }
}

impl ScoreIntervalParts<'_> {
    /// Writes a payload, and returns its length in bytes; `None` if it does not fit, or a table has no interval more than edges.
    pub(super) fn write(&self, space: &mut [u8]) -> Option<usize> {
        let (head, pool) = space.split_at_mut_checked(HEAD_LEN)?;
        WordWriter::new(head).words(&[self.rate as u32, self.alpha.to_bits()])?;
        let len = WordWriter::new(pool).pool(self.tables, |(edges, intervals), out| {
            out.words(edges)?;
            out.floats(intervals.iter().flat_map(|interval| [interval.lo, interval.hi]))?;
            (edges.len() + 1 == intervals.len()).then_some(())
        })?;
        Some(HEAD_LEN + len)
    }
}

/// Tells whether edges ascend strictly, from above the least key of a score up to the greatest.
#[inline(never)]
pub(super) fn are_edges(edges: &[u32], [lowest, highest]: [u32; 2]) -> bool {
    let mut below = lowest;
    edges.iter().all(|&edge| core::mem::replace(&mut below, edge) < edge && edge <= highest)
}

/// Returns the least and the greatest key of a score, as the edges of [`ScoreBins`] and of a [`Band`](super::Band) have them.
pub(super) fn keys_of(header: &Header<'_>) -> [u32; 2] {
    let is_rounded = header.table_section() == Some(SectionKind::CompactSteps);
    match header.encoding {
        encoding if encoding.is_quantized() || !is_rounded => score_keys(encoding),
        encoding if encoding.is_margin() => {
            [Margin::MIN.rounded_key(), Margin::MAX.rounded_key()].map(u32::from)
        }
        _ => [0, Score::ONE.rounded_key().into()],
    }
}

/// Returns the least and the greatest key of a score in an encoding.
pub(super) fn score_keys(encoding: ScoreEncoding) -> [u32; 2] {
    match encoding {
        ScoreEncoding::F32 | ScoreEncoding::RoundedF32 => [0, Score::ONE.to_bits()],
        encoding if encoding.is_margin() => [Margin::MIN.key(), Margin::MAX.key()],
        encoding => [0, encoding.max_key().map_or(0, u32::from)],
    }
}
