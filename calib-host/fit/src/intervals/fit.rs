//! Fitting the intervals.

use calib_core::artifact::Rate;

use super::cut::nearest_edges;
use crate::accessors::getters;
use crate::binary::Umd;
use crate::data::{BinaryData, with_points};
use crate::error::FitError;
use crate::fit::{Fit, check_alpha, stated_alpha};
use crate::guarantee::exact_interval;
use crate::points::Points;
use crate::reduction::Problems;
use crate::stats::Interval;

/// Above this probability the tail of unequal probabilities is not known to be bounded by that of equal ones.
pub(crate) const LARGEST_LEVEL: f64 = 0.499;

/// Intervals of the event rate in ranges of the score, of one table or of several.
///
/// All of them hold simultaneously with probability at least `1 - alpha` over the draw of the calibration set.
///
/// ```
/// use calib_fit::{BinaryData, intervals};
///
/// let scores: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
/// let labels: Vec<bool> = (0..1000).map(|i| i % 40 < i / 50).collect();
/// let found = intervals::fit(&BinaryData::new(scores, labels)?, 0.1)?;
/// let ranges = found.tables()[0].as_ref().unwrap();
/// assert_eq!((ranges.bins().len(), ranges.edges()[0]), (10, 0.1));
/// assert!(ranges.bins().iter().all(|bin| bin.interval.hi - bin.interval.lo < 0.29));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    rate: Rate,
    alpha: f64,
    tables: Vec<Option<TableIntervals>>,
}

getters! {
    Intervals {
        /// The rate that the intervals contain: of the range if no scores of any table tie at an edge.
        rate: Rate,
        /// The failure probability of all intervals of all tables together.
        alpha: f64,
        ;
        /// The ranges of each table, `None` for one that stays uncalibrated.
        tables: [Option<TableIntervals>],
    }
}

/// The ranges of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableIntervals {
    edges: Vec<f64>,
    bins: Vec<RangeBin>,
}

getters! {
    TableIntervals {
        ;
        /// The inner edges, ascending: a score at an edge belongs to the range above it.
        edges: [f64],
        /// The ranges, one more than edges.
        bins: [RangeBin],
    }
}

/// A range of the score.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RangeBin {
    /// The rows that count: without those at the edges if no scores tie there.
    pub n: u64,
    /// How many of them have label 1.
    pub positives: u64,
    /// The interval of the event rate.
    pub interval: Interval,
}

/// The ranges of one table before alpha is divided among them.
struct Cut {
    edges: Vec<f64>,
    /// Rows and positives of each range.
    counts: Vec<(u64, u64)>,
    is_tied: bool,
}

/// Returns into how many ranges so many rows are divided: [`Umd::suitable_bins`], or 1 of fewer than 4 rows, where a range would have no row
/// besides the edge.
pub fn number_of_bins(rows: u64) -> usize {
    if rows < 4 { 1 } else { Umd::suitable_bins(rows) }
}

/// Fits intervals to one score.
///
/// The ranges are those of [`Umd`]: their edges are order statistics of the scores, and the rows at the edges do not count. If scores tie at an edge, each
/// range ends at the nearest boundary between two different scores, and every row counts.
///
/// # Errors
///
/// If alpha is not in `(0, 1)`, or points on a disk cannot be read.
pub fn fit(data: &BinaryData, alpha: f64) -> Result<Intervals, FitError> {
    check_alpha(alpha)?;
    let cut = with_points!(data, |points| Cut::of(points));
    Ok(Intervals::of(vec![Some(cut?)], alpha))
}

/// Fits intervals to each problem of a reduction that has a calibrator. Alpha is shared by the ranges of all of them.
///
/// # Errors
///
/// As [`fit`].
pub fn fit_problems(problems: &Problems, fit: &Fit, alpha: f64) -> Result<Intervals, FitError> {
    fit_some(problems, |table| fit.tables()[table].is_some(), alpha)
}

/// Fits intervals beside a calibrator of whole vectors: the problems are those of top-label, and every class that is predicted has ranges.
///
/// # Errors
///
/// As [`fit`].
pub fn fit_predicted(problems: &Problems, alpha: f64) -> Result<Intervals, FitError> {
    fit_some(problems, |class| problems.table_len(class) > 0, alpha)
}

fn fit_some(problems: &Problems, has: impl Fn(usize) -> bool, alpha: f64) -> Result<Intervals, FitError> {
    check_alpha(alpha)?;
    let cut = |table| has(table).then(|| Cut::of(&problems.groups(table)[..])).transpose();
    let cuts = (0..problems.tables()).map(cut).collect::<Result<_, _>>()?;
    Ok(Intervals::of(cuts, alpha))
}

impl Cut {
    fn of(points: &(impl Points + ?Sized)) -> Result<Self, FitError> {
        let totals = points.totals();
        let bins = number_of_bins(totals.0);
        if bins == 1 {
            return Ok(Self { edges: Vec::new(), counts: vec![totals], is_tied: false });
        }
        let model = Umd::new(bins).fit(points)?;
        if !model.ties_merged {
            let counts = model.bins.iter().map(|bin| (bin.n, bin.positives)).collect();
            return Ok(Self { edges: model.edges, counts, is_tied: false });
        }
        let edges = nearest_edges(points, bins as u64)?;
        let mut below = (0, 0);
        let ends = points.below(&edges)?.into_iter().chain([totals]);
        let between = ends.map(|end| {
            let start = std::mem::replace(&mut below, end);
            (end.0 - start.0, end.1 - start.1)
        });
        let counts = between.collect();
        Ok(Self { edges, counts, is_tied: true })
    }
}

impl Intervals {
    fn of(cuts: Vec<Option<Cut>>, alpha: f64) -> Self {
        let of_scores = cuts.iter().flatten().any(|cut| cut.is_tied);
        let rate = if of_scores { Rate::OfCalibrationScores } else { Rate::OfRange };
        let bins: usize = cuts.iter().flatten().map(|cut| cut.counts.len()).sum();
        let level = stated_alpha(alpha) / bins as f64;
        let bin = |&(n, positives): &(u64, u64)| {
            let level = if rate == Rate::OfRange { level } else { level.min(LARGEST_LEVEL) };
            RangeBin { n, positives, interval: exact_interval(positives, n, level) }
        };
        let table =
            |cut: Cut| TableIntervals { bins: cut.counts.iter().map(bin).collect(), edges: cut.edges };
        Self { rate, alpha, tables: cuts.into_iter().map(|cut| cut.map(table)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::stats::clopper_pearson;

    fn data(rows: &[(f64, bool)]) -> BinaryData {
        let (scores, labels) = rows.iter().copied().unzip();
        BinaryData::new(scores, labels).unwrap().on_device()
    }

    #[test]
    fn the_number_of_bins_depends_on_the_rows_alone() {
        for (rows, bins) in [
            (1, 1),
            (3, 1),
            (4, 2),
            (60, 2),
            (90, 3),
            (149, 4),
            (150, 5),
            (200, 6),
            (1000, 10),
            (3375, 15),
            (1_000_000, 15),
        ] {
            assert_eq!(number_of_bins(rows), bins, "{rows}");
        }
        assert!((0..5000).all(|rows| number_of_bins(rows) <= number_of_bins(rows + 1)));
        assert!((60..5000).all(|rows| rows / number_of_bins(rows) as u64 >= 30));
    }

    /// The ranges and counts, one row after the other.
    fn by_definition(rows: &[(f64, bool)]) -> (Rate, Vec<f64>, Vec<(u64, u64)>) {
        let mut sorted = rows.to_vec();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (n, bins) = (sorted.len(), number_of_bins(rows.len() as u64));
        let ranks: Vec<usize> = (1..bins).map(|b| (b * (n + 1)).div_ceil(bins)).collect();
        let tied = |rank: &usize| sorted.iter().filter(|row| row.0 == sorted[rank - 1].0).count() > 1;
        let is_tied = ranks.iter().any(tied);
        let mut edges: Vec<f64> = if is_tied {
            let boundaries: Vec<usize> = (1..n).filter(|&at| sorted[at - 1].0 < sorted[at].0).collect();
            let nearest =
                |b: usize| boundaries.iter().min_by_key(|&&at| (b * n).abs_diff(at * bins)).copied();
            (1..bins).filter_map(nearest).map(|at| sorted[at].0).collect()
        } else {
            ranks.iter().map(|rank| sorted[rank - 1].0).collect()
        };
        edges.dedup();
        let mut counts = vec![(0, 0); edges.len() + 1];
        for &(score, label) in &sorted {
            if is_tied || !edges.contains(&score) {
                let bin = edges.iter().filter(|&&edge| edge <= score).count();
                counts[bin] = (counts[bin].0 + 1, counts[bin].1 + u64::from(label));
            }
        }
        (if is_tied { Rate::OfCalibrationScores } else { Rate::OfRange }, edges, counts)
    }

    proptest! {
        #[test]
        fn ranges_are_those_of_the_definition(
            raw in prop_oneof![
                proptest::collection::vec((0u32..1 << 20, any::<bool>()), 1..400),
                proptest::collection::vec((0u32..20, any::<bool>()), 1..400),
            ],
            seed in any::<u64>(),
        ) {
            let mut rows: Vec<(f64, bool)> = raw.iter().map(|&(s, y)| (f64::from(s) / f64::from(1 << 20), y)).collect();
            let found = fit(&data(&rows), 0.1).unwrap();
            let (rate, edges, counts) = by_definition(&rows);
            prop_assert_eq!(found.rate(), rate);
            let table = found.tables()[0].as_ref().unwrap();
            prop_assert_eq!(table.edges(), &edges[..]);
            let level = stated_alpha(0.1) / counts.len() as f64;
            for (bin, &(n, positives)) in table.bins().iter().zip(&counts) {
                prop_assert_eq!((bin.n, bin.positives), (n, positives));
                let usual = clopper_pearson(positives, n, level);
                prop_assert!(bin.interval.lo <= usual.lo && usual.hi <= bin.interval.hi);
                // Rounding, and Markov's ends with one label of a kind: a / m is below 1 - (1 - a)^(1 / m) by less than a^2 / m.
                prop_assert!(usual.lo - bin.interval.lo < 1.3e-3 && bin.interval.hi - usual.hi < 1.3e-3);
            }
            // The order of the rows does not matter, nor do labels for the edges, nor how points are kept.
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            for at in (1..rows.len()).rev() {
                rows.swap(at, rng.random_range(0..=at));
            }
            prop_assert_eq!(&fit(&data(&rows), 0.1).unwrap(), &found);
            prop_assert_eq!(&fit(&data(&rows).sorted(), 0.1).unwrap(), &found);
            let counts = BinaryData::from_counts(rows.iter().map(|&(s, y)| (s, 1, y.into())).collect()).unwrap();
            prop_assert_eq!(&fit(&counts, 0.1).unwrap(), &found);
            let flipped: Vec<_> = rows.iter().map(|&(score, label)| (score, !label)).collect();
            let flipped = fit(&data(&flipped), 0.1).unwrap();
            prop_assert_eq!(flipped.tables()[0].as_ref().unwrap().edges(), &edges[..]);
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same() {
        let rows: Vec<(f64, bool)> =
            (0..40_000u32).map(|i| (f64::from(i * 7919 % 39_989) / 65_536.0, i % 3 == 0)).collect();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&data(&rows), 0.1).unwrap())
        };
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn a_bad_alpha_is_refused() {
        for alpha in [0.0, 1.0, f64::NAN] {
            assert!(matches!(fit(&data(&[(0.5, true)]), alpha), Err(FitError::Alpha(_))));
        }
    }

    /// In how many of some draws some range's rate lies outside of its interval. `scores` draws a score from numbers below 2^20, whose mass
    /// is equal, and `curve` is the truth.
    fn failures(
        n: usize,
        alpha: f64,
        draws: u64,
        score: impl Fn(u32) -> f64,
        curve: impl Fn(f64) -> f64,
    ) -> f64 {
        const GRID: u32 = 1 << 14;
        let score = |at: u32| f64::from(score(at) as f32);
        let population: Vec<(f64, f64)> =
            (0..GRID).map(|at| score(at * 64 + 32)).map(|s| (s, curve(s))).collect();
        let mut failed = 0;
        for seed in 0..draws {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let rows: Vec<(f64, bool)> = (0..n)
                .map(|_| {
                    let score = score(rng.random_range(0..1 << 20));
                    (score, rng.random_bool(curve(score)))
                })
                .collect();
            let found = fit(&data(&rows), alpha).unwrap();
            let table = found.tables()[0].as_ref().unwrap();
            let mut sums = vec![(0.0, 0.0); table.bins().len()];
            for &(score, rate) in &population {
                let sum = &mut sums[table.edges().partition_point(|&edge| edge <= score)];
                *sum = (sum.0 + 1.0, sum.1 + rate);
            }
            let outside = |(bin, sum): (&RangeBin, &(f64, f64))| {
                // A range narrower than the grid has no rate there.
                sum.0 > 0.0 && !(bin.interval.lo - 2e-3..=bin.interval.hi + 2e-3).contains(&(sum.1 / sum.0))
            };
            failed += u64::from(table.bins().iter().zip(&sums).any(outside));
        }
        failed as f64 / draws as f64
    }

    /// All intervals together fail rarely enough, whatever the curve, with ties and without. The chance of a failure is below alpha, and the
    /// share in 300 draws at most three standard errors above.
    #[test]
    fn all_intervals_hold_with_the_stated_probability() {
        const UNIT: f64 = (1u32 << 20) as f64;
        let draws = 300;
        let uniform = |at: u32| f64::from(at) / UNIT;
        let votes = |at: u32| (f64::from(at) / UNIT * 21.0).floor() / 20.0;
        let zeros = |at: u32| (f64::from(at) / UNIT / 0.6 - 0.4 / 0.6).max(0.0);
        for alpha in [0.1, 0.5] {
            let most = alpha + 3.0 * (alpha * (1.0 - alpha) / draws as f64).sqrt();
            let check = |name: &str, share: f64| assert!(share <= most, "{name} at {alpha}: {share}");
            for n in [200, 1000] {
                check(
                    "logistic",
                    failures(n, alpha, draws, uniform, |s| 1.0 / (1.0 + (4.0 - 8.0 * s).exp())),
                );
                check("flat", failures(n, alpha, draws, uniform, |_| 0.3));
                check("rare", failures(n, alpha, draws, uniform, |s| 0.02 * s));
                check("votes", failures(n, alpha, draws, votes, |s| s));
                check(
                    "votes in turn",
                    failures(n, alpha, draws, votes, |s| {
                        0.2 + 0.6 * f64::from((20.0 * s).round() as u32 % 2)
                    }),
                );
                check("40 % zeros", failures(n, alpha, draws, zeros, |s| (3.0 * s).min(0.95)));
            }
        }
        // And not because they are of no use: at 0.5 some fail.
        assert!(failures(1000, 0.5, draws, uniform, |_| 0.3) > 0.05);
    }

    /// Given the scores, whatever the labels' probabilities: all outcomes of a range.
    #[test]
    fn intervals_of_scores_hold_for_unequal_probabilities() {
        let grid = [0.02, 0.1, 0.3, 0.5, 0.7, 0.95];
        for n in 1..=5usize {
            for level in [0.1, 0.4, 0.499] {
                let intervals: Vec<Interval> = (0..=n as u64)
                    .map(|k| exact_interval(k, n as u64, f64::min(level, LARGEST_LEVEL)))
                    .collect();
                for choice in 0..grid.len().pow(n as u32) {
                    let probs: Vec<f64> =
                        (0..n).map(|i| grid[choice / grid.len().pow(i as u32) % grid.len()]).collect();
                    let mean = probs.iter().sum::<f64>() / n as f64;
                    let mut counts = vec![1.0];
                    for prob in &probs {
                        let mut next = vec![0.0; counts.len() + 1];
                        for (k, mass) in counts.iter().enumerate() {
                            next[k] += mass * (1.0 - prob);
                            next[k + 1] += mass * prob;
                        }
                        counts = next;
                    }
                    let outside = |of: fn(Interval, f64) -> bool| -> f64 {
                        counts
                            .iter()
                            .zip(&intervals)
                            .filter(|(_, i)| of(**i, mean))
                            .map(|(mass, _)| mass)
                            .sum()
                    };
                    let (above, below) = (outside(|i, mean| mean < i.lo), outside(|i, mean| mean > i.hi));
                    assert!(above <= level / 2.0 && below <= level / 2.0, "{probs:?}: {above} {below}");
                }
            }
        }
    }
}
