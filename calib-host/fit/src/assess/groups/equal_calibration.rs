//! Whether all groups are equally calibrated.

use std::ops::Range;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use crate::assess::bootstrap::generators;
use crate::assess::prediction::Prediction;
use crate::data::RowGroups;
use crate::stats::{Clusters, Seed};
use crate::stop;

/// A bin within which group codes are permuted has at least so many rows, if there are as many.
const BIN_ROWS: usize = 20;

/// The statistic adds up over so many stretches of bins at most.
const STRETCHES: usize = 10;

/// As many permutations, unless there are many rows: then as many as take this many drawn rows, and 99 at least.
const PERMUTATIONS: usize = 999;
const DRAWN_ROWS: usize = 100_000_000;

/// A permutation test of "all groups are equally calibrated".
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EqualCalibration {
    /// How often equally calibrated groups would differ as much: at most alpha with probability at most alpha.
    pub p_value: f64,
    /// The statistic: squared differences of a group's positives from its share of the bin's, in units of their variance, over
    /// stretches of bins and groups.
    pub statistic: f64,
    /// The permutations.
    pub permutations: usize,
    /// The bins within which group codes were permuted.
    pub bins: usize,
}

/// Why there is no test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotTested {
    /// All rows are of one group.
    #[error("all rows are of one group")]
    OneGroup,
    /// Rows belong together, and a row cannot change its group alone.
    #[error("the rows of a cluster belong together, and their groups cannot be permuted row by row")]
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

/// A bin of probabilities.
struct Bin {
    /// The stretch that it is in.
    stretch: usize,
    /// How many of its rows came true.
    positives: u64,
    /// The rows of every group.
    sizes: Vec<u64>,
}

/// The bins, and what is summed up over the bins of a stretch, for every stretch and group.
struct Bins {
    bins: Vec<Bin>,
    groups: usize,
    observed: Vec<u64>,
    /// The mean over permutations.
    expected: Vec<f64>,
    /// The variance over permutations: hypergeometric in every bin.
    variances: Vec<f64>,
}

/// Tests whether the groups of rows are equally calibrated: whether among rows with about the same probability every group's
/// come true as often.
///
/// Group codes are permuted within each bin of probabilities. Permuting them over all rows would test whether the groups have the
/// same distribution of probabilities, too, and reject equally calibrated groups that differ in risk. Equal probabilities are in one
/// bin, which has 20 rows or more; within a bin probabilities are taken as equal.
///
/// ```
/// use calib_fit::assess::{Prediction, RowGroups, test_equal_calibration};
///
/// // 0.5 is said of all; of group a 60 of 100 come true, of group b 40 of 100.
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
    if groups.names().len() < 2 {
        return Err(NotTested::OneGroup);
    }
    if clusters.is_some_and(|clusters| clusters.count() < clusters.rows()) {
        return Err(NotTested::Clusters);
    }
    let bins = Bins::new(predictions, groups);
    if bins.variances.iter().all(|&variance| variance == 0.0) {
        return Err(NotTested::NothingToCompare);
    }
    let found = bins.statistic(&bins.observed);
    let permutations = (DRAWN_ROWS / predictions.len().max(1)).clamp(99, PERMUTATIONS);
    // What is equal but for rounding counts as large.
    let permuted = |mut rng: Xoshiro256PlusPlus| {
        stop::check();
        bins.statistic(&bins.permuted(&mut rng)) >= found * (1.0 - 1e-12)
    };
    let as_large =
        generators(seed, permutations).into_par_iter().map(permuted).filter(|&large| large).count();
    Ok(EqualCalibration {
        p_value: (1 + as_large) as f64 / (1 + permutations) as f64,
        statistic: found,
        permutations,
        bins: bins.bins.len(),
    })
}

impl Bins {
    fn new(predictions: &[Prediction], groups: &RowGroups) -> Self {
        let mut rows: Vec<(u64, u32, bool)> = predictions
            .iter()
            .enumerate()
            .map(|(row, prediction)| {
                ((prediction.prob + 0.0).to_bits(), groups.of(row) as u32, prediction.hit)
            })
            .collect();
        rows.par_sort_unstable();
        let count = groups.names().len();
        let mut all = Self {
            bins: Vec::new(),
            groups: count,
            observed: vec![0; STRETCHES * count],
            expected: vec![0.0; STRETCHES * count],
            variances: vec![0.0; STRETCHES * count],
        };
        for run in runs(&rows) {
            // About equal numbers of rows in every stretch.
            let stretch = run.start * STRETCHES / rows.len();
            let mut bin = Bin { stretch, positives: 0, sizes: vec![0; count] };
            for &(_, group, hit) in &rows[run] {
                bin.sizes[group as usize] += 1;
                bin.positives += u64::from(hit);
                all.observed[stretch * count + group as usize] += u64::from(hit);
            }
            all.add(bin);
        }
        all
    }

    fn add(&mut self, bin: Bin) {
        let n = bin.sizes.iter().sum::<u64>() as f64;
        let rate = bin.positives as f64 / n;
        for (group, &size) in bin.sizes.iter().enumerate() {
            let (place, size) = (bin.stretch * self.groups + group, size as f64);
            self.expected[place] += size * rate;
            self.variances[place] += size * (n - size) / (n - 1.0).max(1.0) * rate * (1.0 - rate);
        }
        self.bins.push(bin);
    }

    /// The positives of every stretch and group if the codes are dealt out anew within every bin.
    fn permuted(&self, rng: &mut Xoshiro256PlusPlus) -> Vec<u64> {
        let mut counts = vec![0; self.observed.len()];
        let mut left = vec![0; self.groups];
        for bin in &self.bins {
            let counts = &mut counts[bin.stretch * self.groups..][..self.groups];
            left.copy_from_slice(&bin.sizes);
            let n: u64 = left.iter().sum();
            // Of positives and negatives the fewer are drawn.
            let is_few = bin.positives <= n - bin.positives;
            let drawn = if is_few { bin.positives } else { n - bin.positives };
            (0..drawn).for_each(|earlier| draw(&mut left, rng.random_range(0..n - earlier)));
            for ((count, size), left) in counts.iter_mut().zip(&bin.sizes).zip(&left) {
                *count += if is_few { size - left } else { *left };
            }
        }
        counts
    }

    fn statistic(&self, counts: &[u64]) -> f64 {
        let terms = counts.iter().zip(&self.expected).zip(&self.variances);
        let square = |((&count, expected), variance): ((&u64, &f64), &f64)| {
            let difference = count as f64 - expected;
            if *variance > 0.0 { difference * difference / variance } else { 0.0 }
        };
        terms.map(square).sum()
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

/// The bins of rows in ascending order of probability.
fn runs(rows: &[(u64, u32, bool)]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut end = 0;
    for tied in rows.chunk_by(|a, b| a.0 == b.0) {
        end += tied.len();
        match runs.last_mut() {
            Some(last) if last.len() < BIN_ROWS => last.end = end,
            _ => runs.push(end - tied.len()..end),
        }
    }
    // The last bin may be too small.
    if let [.., before, last] = &mut runs[..]
        && last.len() < BIN_ROWS
    {
        before.end = last.end;
        runs.pop();
    }
    runs
}
