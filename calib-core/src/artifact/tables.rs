//! The tables section and the flags that go with it, read in place.

use core::ops::Range;

use super::error::{ParseError, TableFault};
use super::header::{Header, HeaderFlags, Reduction, is_epsilon};
use crate::{BinFlags, Calibrated, Score, StepTable};

/// The tables of an artefact, one per binary problem of its reduction.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Tables<'a> {
    /// `count + 1` ascending offsets into `words`.
    offsets: &'a [u32],
    words: &'a [f32],
    /// Empty, or one per bin.
    bin_flags: &'a [u8],
}

/// A table and what is guaranteed for it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Table<'a> {
    /// Edges and probabilities.
    pub steps: StepTable<'a>,
    /// The largest deviation of a probability at the header's alpha; `None` if nothing is guaranteed.
    pub epsilon: Option<f32>,
}

impl<'a> Tables<'a> {
    pub(super) fn parse(
        payload: &'a [u8],
        bin_flags: Option<&'a [u8]>,
        header: &Header<'_>,
    ) -> Result<Self, ParseError> {
        let at = |fault| ParseError::Table { table: 0, fault };
        let expected = match header.reduction {
            Reduction::Binary => 1,
            Reduction::TopLabel => usize::from(header.classes),
        };
        let words: &[u32] = bytemuck::try_cast_slice(payload).map_err(|_| at(TableFault::Extent))?;
        let (&count, words) = words.split_first().ok_or(at(TableFault::Count))?;
        if usize::try_from(count) != Ok(expected) {
            return Err(at(TableFault::Count));
        }
        let (offsets, words) = words.split_at_checked(expected + 1).ok_or(at(TableFault::Extent))?;
        let ends = (offsets.first().copied(), offsets.last().copied());
        if ends != (Some(0), u32::try_from(words.len()).ok()) {
            return Err(at(TableFault::Extent));
        }
        let words = bytemuck::cast_slice(words);
        let tables = Self { offsets, words, bin_flags: bin_flags.unwrap_or_default() };
        let bins = tables.check(header)?;
        let flags_fit = bin_flags.is_none_or(|flags| flags.len() == bins);
        if !flags_fit || tables.bin_flags.iter().any(|&b| BinFlags::from_bits(b).is_none()) {
            return Err(at(TableFault::Flags));
        }
        Ok(tables)
    }

    /// Checks the tables against the header and returns their number of bins.
    fn check(&self, header: &Header<'_>) -> Result<usize, ParseError> {
        let may_miss = header.flags.contains(HeaderFlags::CLASS_UNCALIBRATED);
        let mut missing = false;
        let mut largest = 0.0f32;
        let mut bins = 0usize;
        for table in 0..self.count() {
            let at = |fault| ParseError::Table { table, fault };
            let words = self.words(table).ok_or(at(TableFault::Extent))?;
            let Some((&epsilon, words)) = words.split_first() else {
                if may_miss && header.reduction != Reduction::Binary {
                    missing = true;
                    continue;
                }
                return Err(at(TableFault::Missing));
            };
            let steps = steps(words).ok_or(at(TableFault::Extent))?;
            bins += StepTable::new(steps.0, steps.1).map_err(|_| at(TableFault::Content))?.bins();
            // NaN says that nothing is guaranteed; whatever is guaranteed is not above the header's.
            let guaranteed = header.guarantee.is_some_and(|g| is_epsilon(epsilon) && epsilon <= g.epsilon);
            if !(epsilon.is_nan() || guaranteed) {
                return Err(at(TableFault::Epsilon));
            }
            largest = largest.max(epsilon);
        }
        if header.guarantee.is_some_and(|g| g.epsilon != largest) {
            return Err(ParseError::Table { table: 0, fault: TableFault::Epsilon });
        }
        if may_miss != missing {
            return Err(ParseError::Table { table: 0, fault: TableFault::Missing });
        }
        if u32::try_from(bins) != Ok(header.bins) {
            return Err(ParseError::Table { table: 0, fault: TableFault::Bins });
        }
        Ok(bins)
    }

    /// The number of tables, uncalibrated classes included.
    pub const fn count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The table of this index; `None` for an uncalibrated class and beyond the last table.
    #[inline]
    pub fn get(&self, table: usize) -> Option<Table<'a>> {
        let (&epsilon, words) = self.words(table)?.split_first()?;
        let (edges, values) = steps(words)?;
        let steps = StepTable::trusted(edges, values)?;
        Some(Table { steps, epsilon: if epsilon.is_nan() { None } else { Some(epsilon) } })
    }

    /// Calibrates a score with a table; `None` for an uncalibrated class and beyond the last table.
    pub fn calibrate(&self, table: usize, score: Score) -> Option<Calibrated> {
        let Table { steps, epsilon } = self.get(table)?;
        let (bin, prob) = steps.lookup(score);
        let flags = self.bin_flags(table, bin);
        let epsilon = if flags.contains(BinFlags::EMPTY) { None } else { epsilon };
        Some(Calibrated { prob, bin, epsilon, flags })
    }

    /// The flags of a bin of a table; [`BinFlags::NONE`] for a bin or table that is not there.
    pub fn bin_flags(&self, table: usize, bin: u16) -> BinFlags {
        // Two words a bin, so half an offset is the number of bins before it.
        let flags = self.extent(table).and_then(|words| self.bin_flags.get(words.start / 2..words.end / 2));
        let bits = flags.and_then(|flags| flags.get(usize::from(bin))).copied().unwrap_or_default();
        BinFlags::from_bits(bits).unwrap_or_default()
    }

    fn words(&self, table: usize) -> Option<&'a [f32]> {
        self.words.get(self.extent(table)?)
    }

    /// Which words are the table's.
    fn extent(&self, table: usize) -> Option<Range<usize>> {
        let start = *self.offsets.get(table)?;
        let end = *self.offsets.get(table.checked_add(1)?)?;
        Some(start as usize..end as usize)
    }
}

/// By bits, so that a table without a guarantee equals itself.
impl PartialEq for Tables<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.offsets == other.offsets
            && self.bin_flags == other.bin_flags
            && bytemuck::cast_slice::<f32, u32>(self.words) == bytemuck::cast_slice::<f32, u32>(other.words)
    }
}

/// Splits the words behind a table's epsilon into `B - 1` edges and `B` values.
fn steps(words: &[f32]) -> Option<(&[f32], &[f32])> {
    if words.len().is_multiple_of(2) {
        return None;
    }
    words.split_at_checked(words.len() / 2)
}
