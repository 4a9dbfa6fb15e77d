//! What the first pass counted.

use super::buckets::Buckets;
use super::error::PassError;
use crate::points::ScoreSummary;

/// What the first pass counted in a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Its number: see [`Buckets::of`].
    pub number: f64,
    /// The number of rows.
    pub n: u64,
    /// How many of them have label 1.
    pub positives: u64,
    /// The lowest score, as an `f32`.
    pub lowest: f64,
    /// The highest score, as an `f32`.
    pub highest: f64,
    /// How often scores repeat, if that was counted.
    pub ties: Option<BucketTies>,
}

/// How often scores repeat in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketTies {
    /// How many rows have a score that another row has, too.
    pub tied: u64,
    /// How many rows have the most frequent score.
    pub heaviest: u64,
}

/// What the first pass counted: at least one row, in buckets of which each is there once.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstPass {
    pub(super) buckets: Buckets,
    /// In ascending order, none without rows.
    pub(super) rows: Vec<Bucket>,
}

/// Counts up to here are exact in an `f64`.
pub(super) const MAX_ROWS: u64 = 1 << 53;

impl FirstPass {
    /// Checks what was counted, in any order. A bucket without rows may be left out.
    ///
    /// # Errors
    ///
    /// No rows, a bucket that is there twice, or counts and scores that no rows of the bucket can have.
    pub fn new(buckets: Buckets, mut rows: Vec<Bucket>) -> Result<Self, PassError> {
        rows.retain(|row| row.n > 0 || row.positives > 0);
        for row in &mut rows {
            // -0.0, which equals 0.0, has another place in the order of bits.
            row.number += 0.0;
            row.lowest += 0.0;
            row.highest += 0.0;
        }
        rows.sort_unstable_by(|a, b| a.number.total_cmp(&b.number));
        if rows.is_empty() {
            return Err(PassError::Empty);
        }
        for row in &rows {
            row.check(buckets).map_err(|fault| PassError::Bucket { bucket: row.number, fault })?;
        }
        if let Some(pair) = rows.windows(2).find(|pair| pair[0].number == pair[1].number) {
            return Err(PassError::Twice(pair[0].number));
        }
        let total = rows.iter().try_fold(0u64, |total, row| total.checked_add(row.n));
        match total {
            Some(total) if total <= MAX_ROWS => Ok(Self { buckets, rows }),
            _ => Err(PassError::TooMany),
        }
    }

    /// Returns how scores are divided.
    pub fn buckets(&self) -> Buckets {
        self.buckets
    }

    /// Returns how many rows were counted, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> u64 {
        self.rows.iter().map(|row| row.n).sum()
    }

    /// Returns how many rows these buckets hold, which ascend: an upper bound of how many scores a second pass finds there.
    pub fn rows_in(&self, buckets: &[f64]) -> u64 {
        self.rows.iter().filter(|row| holds(buckets, row.number)).map(|row| row.n).sum()
    }

    /// Returns where the scores lie, and how often they repeat: NaN if that was not counted.
    pub fn score_summary(&self) -> ScoreSummary {
        let n = self.len() as f64;
        let ties = || self.rows.iter().map(|row| row.ties);
        let tied: Option<u64> = ties().map(|ties| Some(ties?.tied)).sum();
        let heaviest: Option<u64> = ties().try_fold(0, |most, ties| Some(ties?.heaviest.max(most)));
        let share = |count: Option<u64>| count.map_or(f64::NAN, |count| count as f64 / n);
        ScoreSummary {
            lowest: self.rows[0].lowest,
            highest: self.rows[self.rows.len() - 1].highest,
            tied: share(tied),
            heaviest: share(heaviest),
        }
    }
}

impl Bucket {
    /// Whether all of its rows have one score, so that nothing more can be known of it.
    pub(super) fn has_one_score(&self) -> bool {
        self.lowest == self.highest
    }

    fn check(&self, buckets: Buckets) -> Result<(), &'static str> {
        let Self { number, n, positives, lowest, highest, ties } = *self;
        if positives > n {
            return Err("there are more positives than rows");
        }
        if [lowest, highest].iter().any(|&score| !score.is_finite() || f64::from(score as f32) != score) {
            return Err("its lowest and highest score are no 32-bit floats");
        }
        if lowest > highest || [lowest, highest].iter().any(|&score| buckets.of(score) != number) {
            return Err("its lowest and highest score are not of this bucket");
        }
        if buckets == Buckets::Probabilities && !(0.0 <= lowest && highest <= 1.0) {
            return Err("its scores are outside [0, 1]");
        }
        if n == 1 && lowest < highest {
            return Err("a single row has two scores");
        }
        match ties {
            Some(BucketTies { tied, heaviest }) if !are_possible(tied, heaviest, self) => {
                Err("scores cannot repeat as often as it states")
            }
            _ => Ok(()),
        }
    }
}

/// Whether one of these numbers, which ascend, is that of the bucket.
pub(super) fn holds(buckets: &[f64], number: f64) -> bool {
    buckets.binary_search_by(|other| other.total_cmp(&number)).is_ok()
}

/// Whether so many of a bucket's rows can be tied, and so many have the most frequent score.
fn are_possible(tied: u64, heaviest: u64, bucket: &Bucket) -> bool {
    let all_the_same = bucket.has_one_score() == (heaviest == bucket.n);
    (1..=bucket.n).contains(&heaviest)
        && tied <= bucket.n
        && (heaviest > 1) == (tied > 0)
        && all_the_same
        && (heaviest == 1 || heaviest <= tied)
}
