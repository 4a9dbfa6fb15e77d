//! Rows that look as if they were not independent: copies, or many recordings of few patients.

use std::fmt;

use super::binary::{BinaryData, Form};
use crate::error::FitError;
use crate::points::{Group, Groups, Packed, Sorted, packed};

/// The rows are cut into so many blocks of neighbors in order of score: few enough rows for their labels to be about equally
/// likely, and many enough to be of several patients.
const BLOCKS: u64 = 50;

/// No block has fewer rows.
const FEWEST_ROWS: u64 = 20;

/// Blocks with both labels are at least so many: a sharp step of the truth makes one or two.
const MIXED_BLOCKS: u64 = 4;

/// By chance, changes are hardly ever so many standard deviations too few.
const DEVIATIONS: f64 = 6.0;

/// Fewer changes are missing than this share of those expected where neighbors are not equally likely to be positive, as
/// between the steps of a decision tree.
const SHARE: f64 = 0.6;

/// How often labels change from a row to the next in order of score, against how often they would if rows were independent.
///
/// The rows are taken in about 50 blocks of neighbors, of 20 rows or more. Take a block with `m` rows, `k` of them positive. Independent labels
/// that are equally likely change `2 k (m - k) / m` times on average (the runs test of Wald and Wolfowitz 1940). Rows with equal
/// scores have no order: they count as often as labels change on average over all orders. So codes, rounded scores and
/// the leaves of a tree, whose equal scores have mixed labels, look like any others. Copies of rows, and recordings of a
/// patient with nearly the same score and the patient's label, do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Repeats {
    /// The number of rows.
    pub rows: u64,
    /// How many of them have the score and the label of a row before them.
    pub repeated: u64,
    /// How often labels change.
    pub changes: f64,
    /// How often they would.
    pub expected: f64,
    /// The variance of that, or more.
    #[serde(skip)]
    variance: f64,
    /// The number of blocks with both labels.
    #[serde(skip)]
    mixed: u64,
}

impl Repeats {
    /// Counts the changes of labels. It is `None` if there are not so few that rows are hardly independent, or if the points are more than
    /// fit into memory, which are not looked at.
    ///
    /// ```
    /// use calib_fit::data::{BinaryData, Repeats};
    ///
    /// let label = |i: u32| i.wrapping_mul(2_654_435_769) >> 31 == 1;
    /// let rows = |copies: u32| {
    ///     let row = move |i: u32| (f64::from(i / copies) / 2000.0, label(i / copies));
    ///     let (scores, labels) = (0..2000).map(row).unzip();
    ///     BinaryData::new(scores, labels).expect("scores are in [0, 1]")
    /// };
    /// assert_eq!(Repeats::noticed_in(&rows(1))?, None);
    /// // Each row four times.
    /// assert_eq!(Repeats::noticed_in(&rows(4))?.map(|repeats| repeats.repeated), Some(1500));
    /// # Ok::<(), calib_fit::FitError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// None for points in memory.
    pub fn noticed_in(data: &BinaryData) -> Result<Option<Self>, FitError> {
        match data.form() {
            Form::Spilled(_) => Ok(None),
            _ => Self::noticed_anywhere(data),
        }
    }

    /// As [`Repeats::noticed_in`], also in points that are more than fit into memory.
    ///
    /// # Errors
    ///
    /// If these cannot be read back.
    pub fn noticed_anywhere(data: &BinaryData) -> Result<Option<Self>, FitError> {
        let block = (data.len() / BLOCKS).max(FEWEST_ROWS);
        if let Form::Sorted(points) = data.form()
            && change_often(points, block)
        {
            return Ok(None);
        }
        let of_run = |groups: &mut Groups<'_>| Self::of_run(groups, block);
        let mut all = Self::default();
        let add = |run| {
            all = all.plus(run);
            Ok(())
        };
        data.map_groups_in_order(of_run, add)?;
        Ok(all.is_noticed().then_some(all))
    }

    fn is_noticed(&self) -> bool {
        self.mixed >= MIXED_BLOCKS
            && self.changes < SHARE * self.expected
            && self.changes < self.expected - DEVIATIONS * self.variance.sqrt()
    }

    fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            repeated: self.repeated + other.repeated,
            changes: self.changes + other.changes,
            expected: self.expected + other.expected,
            variance: self.variance + other.variance,
            mixed: self.mixed + other.mixed,
        }
    }

    /// Counts in a run of groups, in blocks of so many rows.
    fn of_run(groups: &mut Groups<'_>, block_rows: u64) -> Self {
        let mut all = Self::default();
        let mut block = Block::default();
        groups.each(|group| {
            let labels = 1 + u64::from(0 < group.positives && group.positives < group.n);
            all.rows += group.n;
            all.repeated += group.n - labels;
            block.add(group);
            if block.rows >= block_rows {
                all = all.plus(std::mem::take(&mut block).repeats());
            }
        });
        if block.rows >= FEWEST_ROWS { all.plus(block.repeats()) } else { all }
    }
}

/// Whether labels change so often from a score to the next that the rows are not noticed, whatever changes where scores are equal:
/// what most data say, and sooner than their groups do.
fn change_often(points: &Sorted, block_rows: u64) -> bool {
    let runs = points.map_points(|run| {
        let changes = changes_between_scores(run).saturating_sub(uncounted(run.len() as u64, block_rows));
        let positives: u64 = run.iter().map(|&point| u64::from(packed::label(point))).sum();
        (changes, changes_expected(run.len() as f64, positives as f64))
    });
    let changes: u64 = runs.iter().map(|run| run.0).sum();
    // A hundredth more is more than rounding can make.
    changes as f64 >= 1.01 * SHARE * runs.iter().map(|run| run.1).sum::<f64>()
}

/// How often, in ascending order, the label changes from a score to the next.
///
/// On average over the orders of rows with equal scores, labels change as often or more. Between two scores that each have rows of one label
/// that is the same count. A score with `n` rows of both labels, `k` of them positive, makes 2 of these changes at most. Its own rows
/// change `2 k (n - k) / n` times, 1 or more. At a side to a score of one label, they also change by chance, `k / n` or
/// `(n - k) / n` times: together 2 of both such sides, 3 / 2 of one, and 1 of none, where a change to another score of both labels is half of
/// each.
fn changes_between_scores(run: &[Packed]) -> u64 {
    let changes = |two: &&[Packed]| !packed::are_tied(two[0], two[1]) & ((two[0] ^ two[1]) & 1 == 1);
    run.windows(2).filter(changes).count() as u64
}

/// So many changes of a run of rows are not counted in blocks at most: from a block to the next, and all in a last one with too few
/// rows.
fn uncounted(rows: u64, block_rows: u64) -> u64 {
    rows / block_rows + FEWEST_ROWS
}

/// Neighbors in order of score.
#[derive(Default)]
struct Block {
    /// The number of scores.
    scores: u64,
    rows: u64,
    positives: u64,
    /// How often labels change between rows with the same score, and from a score to the next.
    within: f64,
    between: f64,
    /// The rate of positives of the last score.
    rate: f64,
}

impl Block {
    fn add(&mut self, group: Group) {
        let (n, k) = (group.n as f64, group.positives as f64);
        let rate = if group.n == 1 { k } else { k / n };
        if self.scores > 0 {
            self.between += self.rate * (1.0 - rate) + rate * (1.0 - self.rate);
        }
        if group.n > 1 {
            self.within += changes_expected(n, k);
        }
        self.scores += 1;
        self.rows += group.n;
        self.positives += group.positives;
        self.rate = rate;
    }

    /// The changes. One score alone says nothing.
    fn repeats(&self) -> Repeats {
        if self.scores < 2 {
            return Repeats::default();
        }
        let (n, k) = (self.rows as f64, self.positives as f64);
        let pairs = 2.0 * k * (n - k);
        Repeats {
            changes: self.within + self.between,
            expected: changes_expected(n, k),
            mixed: u64::from(pairs > 0.0),
            variance: (pairs * (pairs - n) / (n * n * (n - 1.0))).max(0.0),
            ..Repeats::default()
        }
    }
}

/// How often labels change on average over all orders of `n` rows, `k` of them positive.
fn changes_expected(n: f64, k: f64) -> f64 {
    2.0 * k * (n - k) / n
}

impl fmt::Display for Repeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, repeated, changes, expected, .. } = self;
        let share = 100.0 * *repeated as f64 / *rows as f64;
        write!(
            f,
            "These rows do not look independent, and guarantees and intervals are for independent rows. In order of score the \
             label changes {changes:.0} times, and {expected:.0} times are expected. {repeated} of {rows} rows ({share:.1}%) \
             have the score and label of another row. Are there copies, or several rows per patient?"
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    proptest! {
        /// Of singles, pairs and heavier ties, in blocks of any size: the quick count is never above the changes, and changes no answer.
        #[test]
        fn labels_change_at_least_as_often_as_between_scores(
            rows in proptest::collection::vec((0u32..60, any::<bool>()), 1..300), copies in 1u32..4, few in any::<bool>(),
            block in FEWEST_ROWS..200,
        ) {
            let score = |s: u32| if few { 0.5 + (s % 7) as f32 / 1024.0 } else { 0.5 + s as f32 / 1024.0 };
            let all = (0..copies).flat_map(|_| rows.iter()).map(|&(s, label)| (score(s), label));
            let (scores, labels): (Vec<f32>, Vec<bool>) = all.unzip();
            let data = BinaryData::from_device_scores(&scores, &labels).unwrap();
            let sorted = data.clone().sorted();
            let Form::Sorted(points) = sorted.form() else { panic!("they are in memory") };
            for (number, run) in points.map_points(<[Packed]>::to_vec).iter().enumerate() {
                let all = Repeats::of_run(&mut points.run(number), block);
                let counted = changes_between_scores(run).saturating_sub(uncounted(run.len() as u64, block));
                prop_assert!(counted as f64 <= all.changes + 1e-9, "{} {}", counted, all.changes);
                // All rows in one block, nothing of which is lost.
                let all = Repeats::of_run(&mut points.run(number), run.len() as u64);
                prop_assert!(changes_between_scores(run) as f64 <= all.changes + 1e-9, "{}", all.changes);
            }
            prop_assert_eq!(Repeats::noticed_in(&sorted), Repeats::noticed_in(&data));
        }
    }

    fn noticed(rows: &[(f64, bool)]) -> Option<Repeats> {
        let (scores, labels) = rows.iter().copied().unzip();
        let data = BinaryData::new(scores, labels).unwrap();
        let noticed = Repeats::noticed_in(&data).unwrap();
        let packed = Repeats::noticed_in(&data.on_device()).unwrap();
        assert_eq!(packed.is_some(), noticed.is_some());
        noticed
    }

    /// Independent rows, of scores that `score` makes of uniform ones, with label 1 in `truth(score)` of the cases.
    fn rows(n: usize, seed: u64, score: fn(f64) -> f64, truth: fn(f64) -> f64) -> Vec<(f64, bool)> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut row = || {
            let score = score(f64::from(rng.random::<f32>()));
            (score, rng.random::<f64>() < truth(score))
        };
        (0..n).map(|_| row()).collect()
    }

    /// Whatever the scores are like: fine, codes, rounded, a few leaves, rare or certain events, sharp steps.
    #[test]
    fn independent_rows_are_left_alone() {
        let scores: [fn(f64) -> f64; 5] = [
            |s| s,
            |s| (s * 255.0).round() / 255.0,
            |s| (s * 100.0).round() / 100.0,
            |s| (s * 7.0).floor() / 7.0,
            |s| s.powi(8),
        ];
        let truths: [fn(f64) -> f64; 5] = [
            |s| s,
            |_| 0.5,
            |s| 0.02 * s,
            |s| 1.0 / (1.0 + (-80.0 * (s - 0.5)).exp()),
            |s| if s < 0.5 { 0.0 } else { 1.0 },
        ];
        for seed in 0..20 {
            for (n, score) in [60, 400, 3000].into_iter().flat_map(|n| scores.map(|score| (n, score))) {
                for truth in truths {
                    let rows = rows(n, seed, score, truth);
                    assert_eq!(noticed(&rows), None, "{n} {seed}");
                }
            }
        }
    }

    #[test]
    fn copies_and_recordings_of_few_patients_are_noticed() {
        for seed in 0..20 {
            let patients = rows(100, seed, |s| s, |s| s);
            let of = |recordings: u32, spread: f64| {
                let recorded = patients.iter().flat_map(|&(score, label)| {
                    (0..recordings).map(move |i| ((score + spread * f64::from(i)).min(1.0), label))
                });
                recorded.collect::<Vec<_>>()
            };
            let recordings = noticed(&of(20, 1e-5)).expect("recordings of the same patients");
            assert!(recordings.rows == 2000 && recordings.changes < 0.4 * recordings.expected);
            let copies = noticed(&of(20, 0.0)).expect("copies");
            assert!(copies.repeated >= 1900 && copies.to_string().contains("of 2000 rows (9"), "{copies}");
            // Every row twice.
            let twice: Vec<_> = rows(1000, seed, |s| s, |s| s).into_iter().flat_map(|row| [row; 2]).collect();
            assert!(noticed(&twice).is_some_and(|repeats| repeats.repeated >= 1000));
        }
    }
}
