//! What the monitors of an artifact compare with.

use super::error::MonitorsError;
use super::header::Reduction;
use super::pool::{Pool, WordWriter};
use crate::monitor::{LogEvidence, Reference};

/// The words before the pool: three alarms, and whether bins are the monitor's own.
const HEAD: usize = 4;

/// The references of an artifact's monitors, one for each table, and how much evidence their alarms take.
///
/// ```
/// use calib_core::Artifact;
/// use calib_core::monitor::ShiftMonitor;
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::monitored();
/// let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let monitors = artifact.monitors().unwrap();
/// let reference = monitors.reference(0).unwrap();
/// let mut shift = ShiftMonitor::<2>::new();
/// (0..40).for_each(|_| shift.count(1));
/// assert!(shift.evidence(&reference) >= monitors.alarms().shift);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Monitors<'a> {
    words: &'a [u32],
    /// Whether a prediction falls into one of the tables, and not into several.
    is_in_one_table: bool,
}

/// How much evidence each alarm of a table takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Alarms {
    /// That scores come from another distribution.
    pub shift: LogEvidence,
    /// That they do from some time on.
    pub change: LogEvidence,
    /// That outcomes are more or less frequent than was guaranteed.
    pub guarantee: LogEvidence,
}

/// What a monitor counts with: the numbers that a [`Monitors`] section has.
///
/// Every table has tests of its own: of several tables, a device's false alarms are up to as many times as frequent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorParts<'p> {
    /// A shift's false alarm in a table has a probability of at most one in this many, at least 2.
    pub shift: u32,
    /// A change's false alarms in a table are this many predictions apart or more, on average; at least 2.
    pub change: u32,
    /// A false alarm about a table's guarantee has a probability of at most one in this many, at least 2.
    pub guarantee: u32,
    /// The gaps of every table's bins; none for a table that is not monitored.
    pub gaps: &'p [&'p [u32]],
    /// The inner edges of every table's bins as keys; `None` where the bins are those of the tables.
    pub edges: Option<&'p [&'p [u32]]>,
}

impl<'a> Monitors<'a> {
    /// Checks the payload of a section. `bins` returns a table's number of bins, and `tables` is the number of tables.
    pub(super) fn parse(
        payload: &'a [u8],
        reduction: Reduction,
        tables: usize,
        bins: impl Fn(usize) -> Option<usize>,
    ) -> Result<Self, MonitorsError> {
        let words = bytemuck::try_cast_slice(payload).map_err(|_| MonitorsError::Length)?;
        let monitors = Self { words, is_in_one_table: reduction.has_one_probability() };
        let &[shift, change, guarantee, own, ..] = words else { return Err(MonitorsError::Length) };
        if shift < 2 || change < 2 || guarantee < 2 || own > 1 {
            return Err(MonitorsError::Alarm);
        }
        let pool = Pool::parse(payload.get(4 * HEAD..).unwrap_or_default(), tables)
            .map_err(|_| MonitorsError::Length)?;
        for table in 0..tables {
            let words = pool.words(table).ok_or(MonitorsError::Length)?;
            if words.is_empty() {
                continue;
            }
            let (gaps, edges) = monitors.parts(words).ok_or(MonitorsError::Gaps(table))?;
            if own == 0 && bins(table) != Some(gaps.len()) || Reference::total(gaps).is_err() {
                return Err(MonitorsError::Gaps(table));
            }
            if !edges.is_sorted_by(|a, b| a < b) {
                return Err(MonitorsError::Edges(table));
            }
        }
        Ok(monitors)
    }

    /// Returns how much evidence each alarm takes. Takes three logarithms.
    pub fn alarms(&self) -> Alarms {
        let level = |at: usize| LogEvidence::of_one_in(self.words.get(at).copied().unwrap_or(u32::MAX));
        Alarms { shift: level(0), change: level(1), guarantee: level(2) }
    }

    /// Returns the numbers of which each table's alarms are made: of shift, change and guarantee.
    pub fn rarities(&self) -> [u32; 3] {
        self.words.first_chunk().copied().unwrap_or([u32::MAX; 3])
    }

    /// Returns how rare the false alarms of a device are, whichever table raises them: [`Monitors::rarities`] divided by the number
    /// of tables that are monitored (Bonferroni's inequality), rounded down. Below 2 nothing is known of how rare they are.
    ///
    /// Where a prediction falls into one of the tables, those of a change are not divided. Until any time a table's evidence of a change is on
    /// average no more than the number of predictions in that table (an e-detector; Shin, Ramdas and Rinaldo), and these numbers add up to the
    /// predictions of the device.
    pub fn rarities_of_device(&self) -> [u32; 3] {
        let tables = u32::try_from(self.monitored()).unwrap_or(u32::MAX).max(1);
        let [shift, change, guarantee] = self.rarities();
        let of_change = if self.is_in_one_table { 1 } else { tables };
        [shift / tables, change / of_change, guarantee / tables]
    }

    /// Returns what a table's monitor compares with; `None` if the table is not monitored. As long as a look at the evidence of a
    /// shift.
    pub fn reference(&self, table: usize) -> Option<Reference<'a>> {
        Reference::new(self.parts(self.table(table)?)?.0).ok()
    }

    /// Returns the same in no time, for whoever counts and seldom looks: see [`Reference::to_count`].
    pub fn to_count(&self, table: usize) -> Option<Reference<'a>> {
        Reference::to_count(self.parts(self.table(table)?)?.0).ok()
    }

    /// Returns the bin of a score with this key in a monitor that has bins of its own; `None` if its bins are those of the
    /// calibrator's table, or the table is not monitored.
    pub fn own_bin(&self, table: usize, key: u32) -> Option<usize> {
        let edges = self.own_edges(table)?;
        Some(edges.partition_point(|&edge| edge <= key))
    }

    /// Returns the inner edges of a monitor that has bins of its own, as keys.
    pub fn own_edges(&self, table: usize) -> Option<&'a [u32]> {
        let words = self.table(table).filter(|words| self.have_own_bins() && !words.is_empty())?;
        Some(self.parts(words)?.1)
    }

    /// Returns the number of tables that are monitored.
    pub fn monitored(&self) -> usize {
        let is_monitored = |&table: &usize| self.table(table).is_some_and(|words| !words.is_empty());
        (0..self.count()).filter(is_monitored).count()
    }

    /// Returns the number of tables.
    pub fn count(&self) -> usize {
        self.words.get(HEAD).map_or(0, |&count| count as usize)
    }

    /// Tells whether the monitors have bins of their own, rather than those of the tables.
    pub fn have_own_bins(&self) -> bool {
        self.words.get(3) == Some(&1)
    }

    fn table(&self, table: usize) -> Option<&'a [u32]> {
        let pool = bytemuck::cast_slice(self.words.get(HEAD..)?);
        Pool::parse(pool, self.count()).ok()?.words(table)
    }

    /// Divides a table's words into gaps and edges.
    fn parts(&self, words: &'a [u32]) -> Option<(&'a [u32], &'a [u32])> {
        let bins = if self.have_own_bins() { words.len().div_ceil(2) } else { words.len() };
        let (gaps, edges) = words.split_at_checked(bins)?;
        (!self.have_own_bins() || edges.len() + 1 == bins).then_some((gaps, edges))
    }
}

impl MonitorParts<'_> {
    /// Writes a payload, and returns its length in bytes; `None` if it does not fit.
    pub(super) fn write(&self, space: &mut [u8]) -> Option<usize> {
        let (head, pool) = space.split_at_mut_checked(4 * HEAD)?;
        WordWriter::new(head).words(&[
            self.shift,
            self.change,
            self.guarantee,
            self.edges.is_some().into(),
        ])?;
        let len = WordWriter::new(pool).tables(self.gaps.len(), |table, out| {
            out.words(self.gaps.get(table)?)?;
            out.words(self.edges.unwrap_or_default().get(table).copied().unwrap_or_default())
        })?;
        Some(4 * HEAD + len)
    }
}
