//! Whether all groups are equally calibrated.

use std::ops::Range;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use crate::assess::bootstrap::generators;
use crate::assess::prediction::Prediction;
use crate::binary::{BinaryMethod, Model, ScalingMethod, ScalingModel};
use crate::cancel;
use crate::data::{BinaryData, RowGroups};
use crate::fit::fit_binary;
use crate::parallel;
use crate::stats::{Clusters, Seed, logit};

/// A bin within which labels are dealt out has at least so many rows, if there are as many.
const BIN_ROWS: usize = 20;

/// The statistic adds up over so many stretches of bins at most.
const STRETCHES: usize = 10;

/// Labels are dealt out as often, unless there are many rows: then as often as takes this many drawn rows, and 99 times at least.
const DEALS: usize = 999;
const DRAWN_ROWS: usize = 100_000_000;

/// Within a bin no row's logit differs more from the others' mean than this: the sums over ways to deal out stay finite.
const MOST_APART: f64 = 8.0;

/// A test of "all groups are equally calibrated".
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EqualCalibration {
    /// How often equally calibrated groups would differ as much: at most alpha with probability at most alpha, if the curve that all groups
    /// share is about as steep within a bin as over all bins.
    pub p_value: f64,
    /// The statistic: squared differences of a group's positives from those expected of it, in units of their variance, over stretches of
    /// bins and groups.
    pub statistic: f64,
    /// How often labels were dealt out.
    pub permutations: usize,
    /// The bins within which they were.
    pub bins: usize,
}

/// Why there is no test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotTested {
    /// All rows are of one group.
    #[error("all rows are of one group")]
    OneGroup,
    /// Rows belong together, and a row cannot change its label alone.
    #[error("the rows of a cluster belong together, and their labels cannot be assigned row by row")]
    Clusters,
    /// No bin holds rows of two groups and of both labels.
    #[error("no bin of probabilities holds rows of two groups with different labels")]
    NothingToCompare,
}

impl Serialize for NotTested {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Tests whether the groups of rows are equally calibrated: whether all share one curve from the stated probability to the true one.
///
/// Rows are binned by probability, 20 rows or more to a bin. The positives of a bin are dealt out to its rows again and again, each time
/// as rows of one curve would have them: given their number, with odds that grow with a row's logit as they do over all rows (Platt's
/// slope, with his targets). So two groups that sit at the two ends of a wide bin may differ as their probabilities do. Dealing labels out over
/// all rows would test whether the groups have the same distribution of probabilities, too.
///
/// ```
/// use calib_fit::assess::{Prediction, RowGroups, test_equal_calibration};
///
/// // 0.5 is predicted for all. Group a has 60 events in 100 rows, group b 40.
/// let rows: Vec<Prediction> =
///     (0..200).map(|row| Prediction { class: 1, prob: 0.5, bin: 0, hit: row % 100 < if row < 100 { 60 } else { 40 } }).collect();
/// let groups = RowGroups::new((0..200).map(|row| if row < 100 { "a" } else { "b" }));
/// let test = test_equal_calibration(&rows, &groups, None, 1)?;
/// assert!(test.p_value < 0.02);
/// # Ok::<(), calib_fit::assess::NotTested>(())
/// ```
///
/// # Errors
///
/// If there is one group, rows belong together, or nothing can be compared.
///
/// # Panics
///
/// If the groups are those of another number of rows.
pub fn test_equal_calibration(
    predictions: &[Prediction],
    groups: &RowGroups,
    clusters: Option<&Clusters>,
    seed: Seed,
) -> Result<EqualCalibration, NotTested> {
    assert_eq!(predictions.len(), groups.rows(), "every row has a group");
    let count = groups.names().len();
    if count < 2 {
        return Err(NotTested::OneGroup);
    }
    if clusters.is_some_and(|clusters| clusters.count() < clusters.rows()) {
        return Err(NotTested::Clusters);
    }
    let mut rows: Vec<Row> =
        predictions.iter().zip(0..).map(|(row, n)| Row::new(row, groups.of(n))).collect();
    rows.par_sort_unstable();
    let runs = runs(&rows);
    if !runs.iter().any(|run| is_mixed(&rows[run.clone()])) {
        return Err(NotTested::NothingToCompare);
    }
    let deals = (DRAWN_ROWS / rows.len()).clamp(99, DEALS);
    let slope = slope(predictions);
    // About equal numbers of rows in every stretch, and a generator for each.
    let stretch_of = |run: &Range<usize>| run.start * STRETCHES / rows.len();
    let stretches: Vec<&[Range<usize>]> = runs.chunk_by(|a, b| stretch_of(a) == stretch_of(b)).collect();
    let of_stretch = |(stretch, mut rng): (&&[Range<usize>], Xoshiro256PlusPlus)| {
        let mut counts = Counts::new(deals, count);
        for run in *stretch {
            cancel::check_canceled();
            counts.deal(&rows[run.clone()], slope, &mut rng);
        }
        counts.squares()
    };
    let streams = generators(seed, stretches.len());
    let squares: Vec<Vec<f64>> = parallel::map(stretches.iter().zip(streams), of_stretch);
    let statistic = |deal: usize| squares.iter().map(|of_stretch| of_stretch[deal]).sum::<f64>();
    let found = statistic(0);
    // What is equal except for rounding counts as large.
    let as_large = (1..=deals).filter(|&deal| statistic(deal) >= found * (1.0 - 1e-9)).count();
    Ok(EqualCalibration {
        p_value: (1 + as_large) as f64 / (1 + deals) as f64,
        statistic: found,
        permutations: deals,
        bins: runs.len(),
    })
}

/// A row by its probability, with its group and label. Probabilities are not below 0, and so in the order of their bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    prob_bits: u64,
    group: u32,
    hit: bool,
}

impl Row {
    fn new(row: &Prediction, group: usize) -> Self {
        Self { prob_bits: (row.prob + 0.0).to_bits(), group: group as u32, hit: row.hit }
    }

    fn prob(&self) -> f64 {
        f64::from_bits(self.prob_bits)
    }
}

/// How the logit of the truth grows with that of the probability, over all rows.
fn slope(predictions: &[Prediction]) -> f64 {
    let (probs, hits) = predictions.iter().map(|row| (row.prob, row.hit)).unzip();
    let platt = BinaryMethod::BayesianTargets(ScalingMethod::PlattLogit);
    let fitted = BinaryData::new(probs, hits).ok().and_then(|data| fit_binary(&data, &platt, 0.5).ok());
    match fitted.as_ref().and_then(|fit| fit.tables()[0].as_ref()).map(|table| table.model()) {
        Some(Model::Scaling(ScalingModel::PlattLogit { a, .. })) => *a,
        // All probabilities are equal, and no row is at an end of a bin.
        _ => 0.0,
    }
}

/// The positives of every group in a stretch of bins: as they are, and each time that labels were dealt out.
struct Counts {
    groups: usize,
    /// First the observed ones.
    deals: Vec<u64>,
    /// The mean of what is dealt to each.
    means: Vec<f64>,
}

impl Counts {
    fn new(deals: usize, groups: usize) -> Self {
        Self { groups, deals: vec![0; (1 + deals) * groups], means: vec![0.0; groups] }
    }

    /// Adds a bin: its labels, and those that are dealt out.
    fn deal(&mut self, rows: &[Row], slope: f64, rng: &mut Xoshiro256PlusPlus) {
        let (observed, dealt) = self.deals.split_at_mut(self.groups);
        for row in rows {
            observed[row.group as usize] += u64::from(row.hit);
        }
        let positives = rows.iter().filter(|row| row.hit).count();
        let of_deals = dealt.chunks_exact_mut(self.groups);
        if rows.first().map(Row::prob) == rows.last().map(Row::prob) {
            let mut sizes = vec![0; self.groups];
            rows.iter().for_each(|row| sizes[row.group as usize] += 1);
            let share = positives as f64 / rows.len() as f64;
            self.means.iter_mut().zip(&sizes).for_each(|(mean, &size)| *mean += share * size as f64);
            let mut left = sizes.clone();
            of_deals.for_each(|counts| deal_evenly(&sizes, positives as u64, (counts, &mut left), rng));
        } else {
            let ways = Ways::new(rows, slope, positives);
            rows.iter().zip(ways.shares()).for_each(|(row, share)| self.means[row.group as usize] += share);
            of_deals.for_each(|counts| ways.deal(rows, counts, rng));
        }
    }

    /// Of every deal the squared differences of its counts from their mean, in units of their variance over all deals.
    fn squares(&self) -> Vec<f64> {
        let deals = || self.deals.chunks_exact(self.groups);
        let n = deals().count() as f64;
        let mut squares = vec![0.0; deals().count()];
        for group in 0..self.groups {
            let apart = |counts: &[u64]| (counts[group] as f64 - self.means[group]).powi(2);
            let variance = deals().map(apart).sum::<f64>() / n;
            if variance > 0.0 {
                squares.iter_mut().zip(deals()).for_each(|(sum, counts)| *sum += apart(counts) / variance);
            }
        }
        squares
    }
}

/// Deals positives out to rows of equal probability: as many of every group as come.
fn deal_evenly(
    sizes: &[u64],
    positives: u64,
    (counts, left): (&mut [u64], &mut Vec<u64>),
    rng: &mut Xoshiro256PlusPlus,
) {
    left.copy_from_slice(sizes);
    let n: u64 = sizes.iter().sum();
    // Of positives and negatives the fewer are drawn.
    let is_few = positives <= n - positives;
    let drawn = if is_few { positives } else { n - positives };
    (0..drawn).for_each(|earlier| draw(left, rng.random_range(0..n - earlier)));
    for ((count, size), left) in counts.iter_mut().zip(sizes).zip(&**left) {
        *count += if is_few { size - left } else { *left };
    }
}

/// Takes one of the rows that are left, that of this number, from its group.
fn draw(left: &mut [u64], mut number: u64) {
    for rows in left {
        if number < *rows {
            *rows -= 1;
            return;
        }
        number -= *rows;
    }
}

/// The ways to deal positives out to the rows of a bin, by their odds: conditional Bernoulli sampling (Chen and Liu 1997).
struct Ways {
    odds: Vec<f64>,
    positives: usize,
    /// For every row and every number of positives up to all: the sum over the ways to give as many to this row and those behind it, of the
    /// products of their odds.
    sums: Vec<f64>,
}

impl Ways {
    fn new(rows: &[Row], slope: f64, positives: usize) -> Self {
        let logits: Vec<f64> = rows.iter().map(|row| slope * logit(row.prob())).collect();
        let mean = logits.iter().sum::<f64>() / logits.len() as f64;
        let apart = |logit: &f64| (logit - mean).clamp(-MOST_APART, MOST_APART).exp();
        let odds: Vec<f64> = logits.iter().map(apart).collect();
        let width = positives + 1;
        let mut sums = vec![0.0; (odds.len() + 1) * width];
        sums[odds.len() * width] = 1.0;
        for row in (0..odds.len()).rev() {
            for given in 0..width {
                let without = sums[(row + 1) * width + given];
                let with = if given > 0 { odds[row] * sums[(row + 1) * width + given - 1] } else { 0.0 };
                sums[row * width + given] = without + with;
            }
        }
        Self { odds, positives, sums }
    }

    /// How likely the row in this place is to be given a positive if so many are left, at least one.
    fn share(&self, place: usize, left: usize) -> f64 {
        let width = self.positives + 1;
        self.odds[place] * self.sums[(place + 1) * width + left - 1] / self.sums[place * width + left]
    }

    /// How likely each row is to be given a positive.
    fn shares(&self) -> Vec<f64> {
        // How likely so many are left.
        let mut left = vec![0.0; self.positives + 1];
        left[self.positives] = 1.0;
        let of_place = |place: usize| {
            let mut given = 0.0;
            for some in 1..left.len() {
                let moved = if left[some] > 0.0 { left[some] * self.share(place, some) } else { 0.0 };
                left[some] -= moved;
                left[some - 1] += moved;
                given += moved;
            }
            given
        };
        (0..self.odds.len()).map(of_place).collect()
    }

    fn deal(&self, rows: &[Row], counts: &mut [u64], rng: &mut Xoshiro256PlusPlus) {
        let mut left = self.positives;
        for (place, row) in rows.iter().enumerate() {
            if left == 0 {
                return;
            }
            if rng.random::<f64>() < self.share(place, left) {
                counts[row.group as usize] += 1;
                left -= 1;
            }
        }
    }
}

/// Whether a bin holds rows of two groups and of both labels.
fn is_mixed(rows: &[Row]) -> bool {
    let differs = |of: fn(&Row) -> u32| rows.iter().any(|row| of(row) != of(&rows[0]));
    differs(|row| row.group) && differs(|row| row.hit.into())
}

/// The bins of rows in ascending order of probability. As many rows of one probability as make a bin are a separate one, so that no other
/// bin has more than thrice as many.
fn runs(rows: &[Row]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let (mut end, mut is_open) = (0, false);
    for tied in rows.chunk_by(|a, b| a.prob_bits == b.prob_bits) {
        let start = end;
        end += tied.len();
        let is_bin = tied.len() >= BIN_ROWS;
        match runs.last_mut() {
            Some(last) if is_open && !is_bin => last.end = end,
            _ => runs.push(start..end),
        }
        is_open = !is_bin && runs.last().is_some_and(|last| last.len() < BIN_ROWS);
    }
    // The last bin may be too small, and so may one before a tie.
    let is_tie = |run: &Range<usize>| rows[run.start].prob_bits == rows[run.end - 1].prob_bits;
    if let [.., before, last] = &mut runs[..]
        && last.len() < BIN_ROWS
        && !(is_tie(before) && before.len() >= BIN_ROWS)
    {
        before.end = last.end;
        runs.pop();
    }
    runs
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn row(prob: f64, group: u32, hit: bool) -> Row {
        Row { prob_bits: prob.to_bits(), group, hit }
    }

    /// Three rows, of which two are positive: every pair comes as often as the product of its odds says.
    #[test]
    fn labels_are_dealt_out_by_the_odds() {
        let rows = [row(0.2, 0, true), row(0.5, 1, true), row(0.8, 2, false)];
        let ways = Ways::new(&rows, 1.0, 2);
        // Odds of 1/4, 1 and 4.
        let pairs = [0.25, 1.0, 4.0];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut without = [0u32; 3];
        for _ in 0..20_000 {
            let mut counts = [0u64; 3];
            ways.deal(&rows, &mut counts, &mut rng);
            assert_eq!(counts.iter().sum::<u64>(), 2);
            without[counts.iter().position(|&count| count == 0).unwrap()] += 1;
        }
        let total: f64 = pairs.iter().sum();
        for (share, pair) in ways.shares().iter().zip(pairs.iter().rev()) {
            assert!((share - (1.0 - pair / total)).abs() < 1e-12, "{share}");
        }
        // The pair without a row is that of the inverse odds.
        for (found, share) in without.iter().zip(pairs.iter().rev().map(|pair| pair / total)) {
            assert!((f64::from(*found) / 20_000.0 - share).abs() < 0.015, "{without:?}");
        }
    }

    #[test]
    fn bins_hold_all_rows_and_ties_are_bins_of_their_own() {
        let probs = (0..30)
            .map(|i| f64::from(i) / 100.0)
            .chain([0.5; 50])
            .chain((0..5).map(|i| 0.9 + f64::from(i) / 100.0));
        let rows: Vec<Row> = probs.map(|prob| row(prob, 0, false)).collect();
        assert_eq!(runs(&rows), [0..20, 20..30, 30..80, 80..85]);
        assert_eq!(runs(&rows[..30]), vec![0..rows[..30].len()]);
        assert_eq!(runs(&rows[..5]), vec![0..rows[..5].len()]);
    }
}
