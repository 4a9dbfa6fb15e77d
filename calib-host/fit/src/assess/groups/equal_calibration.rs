//! Whether all groups are equally calibrated.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::row_groups::RowGroups;
use crate::assess::bootstrap::generators;
use crate::assess::prediction::Prediction;
use crate::stats::{Clusters, Seed};

/// A bin within which group codes are permuted has at least so many rows, if there are as many.
const BIN_ROWS: usize = 20;

/// The statistic adds up over so many stretches of bins at most.
const STRETCHES: usize = 10;

/// As many permutations, unless there are many rows: then as many as take this many drawn rows, and 99 at least.
const PERMUTATIONS: usize = 999;
const DRAWN_ROWS: usize = 100_000_000;

/// A permutation test of "all groups are equally calibrated".
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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

/// A bin: the groups of its rows, and how many came true.
struct Bin {
    codes: Vec<u32>,
    positives: usize,
    /// The positives of every group.
    of_groups: Vec<u32>,
    /// The rows of every group.
    sizes: Vec<f64>,
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
    let bins = bins(predictions, groups);
    let stretches = stretches(&bins);
    let variances = variances(&bins, &stretches, groups.names().len());
    if variances.iter().flatten().all(|&variance| variance == 0.0) {
        return Err(NotTested::NothingToCompare);
    }
    let statistic = |positives: &[Vec<u32>]| statistic(&bins, &stretches, &variances, positives);
    let observed: Vec<Vec<u32>> = bins.iter().map(|bin| bin.of_groups.clone()).collect();
    let found = statistic(&observed);
    let permutations = (DRAWN_ROWS / predictions.len().max(1)).clamp(99, PERMUTATIONS);
    let permuted = |mut rng: Xoshiro256PlusPlus| {
        let drawn: Vec<Vec<u32>> = bins.iter().map(|bin| bin.permuted(&mut rng)).collect();
        // What is equal but for rounding counts as large.
        statistic(&drawn) >= found * (1.0 - 1e-12)
    };
    let as_large =
        generators(seed, permutations).into_par_iter().map(permuted).filter(|&large| large).count();
    Ok(EqualCalibration {
        p_value: (1 + as_large) as f64 / (1 + permutations) as f64,
        statistic: found,
        permutations,
        bins: bins.len(),
    })
}

/// The bins, in ascending order of probability; the rows of a bin by label and group.
fn bins(predictions: &[Prediction], groups: &RowGroups) -> Vec<Bin> {
    let mut rows: Vec<(u64, bool, u32)> = predictions
        .iter()
        .enumerate()
        .map(|(row, prediction)| ((prediction.prob + 0.0).to_bits(), prediction.hit, groups.of(row) as u32))
        .collect();
    rows.par_sort_unstable();
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    let mut end = 0;
    for tied in rows.chunk_by(|a, b| a.0 == b.0) {
        end += tied.len();
        match runs.last_mut() {
            Some(last) if last.len() < BIN_ROWS => last.end = end,
            _ => runs.push(end - tied.len()..end),
        }
    }
    // The last bin may be too small.
    if let [.., _, last] = &runs[..]
        && last.len() < BIN_ROWS
    {
        runs.pop();
        runs.last_mut().expect("there were two").end = end;
    }
    let bin = |run: std::ops::Range<usize>| {
        let mut rows = rows[run].to_vec();
        rows.sort_unstable_by_key(|&(_, hit, group)| (hit, group));
        let (mut of_groups, mut sizes) = (vec![0; groups.names().len()], vec![0.0; groups.names().len()]);
        rows.iter().for_each(|row| sizes[row.2 as usize] += 1.0);
        rows.iter().filter(|row| row.1).for_each(|row| of_groups[row.2 as usize] += 1);
        Bin {
            positives: rows.iter().filter(|row| row.1).count(),
            codes: rows.into_iter().map(|row| row.2).collect(),
            of_groups,
            sizes,
        }
    };
    runs.into_iter().map(bin).collect()
}

impl Bin {
    /// The positives of every group if the codes are dealt out anew: those of the rows that are drawn without replacement.
    fn permuted(&self, rng: &mut Xoshiro256PlusPlus) -> Vec<u32> {
        let n = self.codes.len();
        if self.positives == 0 || self.positives == n {
            return self.of_groups.clone();
        }
        let mut codes = self.codes.clone();
        let mut of_groups = vec![0; self.of_groups.len()];
        for drawn in 0..self.positives {
            codes.swap(drawn, rng.random_range(drawn..n));
            of_groups[codes[drawn] as usize] += 1;
        }
        of_groups
    }

    fn rate(&self) -> f64 {
        self.positives as f64 / self.codes.len() as f64
    }
}

/// The stretch of every bin: about equal numbers of rows.
fn stretches(bins: &[Bin]) -> Vec<usize> {
    let n: usize = bins.iter().map(|bin| bin.codes.len()).sum();
    let mut passed = 0;
    let stretch = |bin: &Bin| {
        let stretch = passed * STRETCHES / n;
        passed += bin.codes.len();
        stretch
    };
    bins.iter().map(stretch).collect()
}

/// The variance of every group's positives in every stretch, over permutations: hypergeometric in every bin.
fn variances(bins: &[Bin], stretches: &[usize], groups: usize) -> Vec<Vec<f64>> {
    let mut variances = vec![vec![0.0; groups]; STRETCHES];
    for (bin, &stretch) in bins.iter().zip(stretches) {
        let (n, rate) = (bin.codes.len() as f64, bin.rate());
        for (variance, size) in variances[stretch].iter_mut().zip(&bin.sizes) {
            *variance += size * (n - size) / (n - 1.0).max(1.0) * rate * (1.0 - rate);
        }
    }
    variances
}

fn statistic(bins: &[Bin], stretches: &[usize], variances: &[Vec<f64>], positives: &[Vec<u32>]) -> f64 {
    let groups = variances[0].len();
    let mut differences = vec![vec![0.0; groups]; STRETCHES];
    for ((bin, &stretch), positives) in bins.iter().zip(stretches).zip(positives) {
        for (difference, &count) in differences[stretch].iter_mut().zip(positives) {
            *difference += f64::from(count);
        }
        let rate = bin.rate();
        for (difference, size) in differences[stretch].iter_mut().zip(&bin.sizes) {
            *difference -= size * rate;
        }
    }
    let pairs = differences.iter().flatten().zip(variances.iter().flatten());
    pairs
        .filter(|(_, variance)| **variance > 0.0)
        .map(|(difference, variance)| difference * difference / variance)
        .sum()
}
