//! Decision curves (Vickers and Elkin 2006).

use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use super::consistency::positives;
use crate::assess::{Bootstrap, Prediction};
use crate::parallel;
use crate::points::Group;
use crate::stats::{Clusters, Interval, Units};

/// The thresholds of a curve are so many steps of a hundredth, from 0 on.
const STEPS: u32 = 100;

/// The net benefit of treating whom the model says at one threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NetBenefit {
    /// The threshold, below 1: rows with this probability or a higher one are treated.
    pub threshold: f64,
    /// Whether someone named this threshold, such as a decision rule.
    pub marked: bool,
    /// Treated rows with label 1.
    pub true_positives: u64,
    /// Treated rows with label 0.
    pub false_positives: u64,
    /// `(true positives - false positives t / (1 - t)) / n`. To treat none has 0.
    pub net_benefit: f64,
    /// Its bootstrap interval, for this threshold on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The net benefit of treating all.
    pub treat_all: f64,
}

/// The rows between neighboring thresholds: negatives and positives.
type Cells = Vec<[u64; 2]>;

/// The rows between the thresholds, gathered in ascending order.
pub(super) struct Treated {
    thresholds: Vec<f64>,
    cells: Cells,
    /// How many thresholds the last row reaches.
    place: usize,
}

impl Treated {
    /// None yet.
    pub(super) fn new(marked: &[f64]) -> Self {
        let thresholds = thresholds(marked);
        Self { cells: vec![[0; 2]; thresholds.len() + 1], thresholds, place: 0 }
    }

    /// Goes on past all rows of one probability.
    #[inline]
    pub(super) fn pass(&mut self, group: Group) {
        // Both ascend.
        while self.thresholds.get(self.place).is_some_and(|&threshold| threshold <= group.score) {
            self.place += 1;
        }
        let [negatives, positives] = &mut self.cells[self.place];
        (*negatives, *positives) = (*negatives + group.n - group.positives, *positives + group.positives);
    }

    /// Goes on past rows that are all above these.
    pub(super) fn then(&mut self, above: &Self) {
        self.place = above.place;
        for (sum, other) in self.cells.iter_mut().zip(&above.cells) {
            *sum = [sum[0] + other[0], sum[1] + other[1]];
        }
    }
}

/// The decision curve at the thresholds 0, 0.01, ..., 0.99 and the marked ones in `[0, 1)`, ascending.
pub(super) fn decision_curve(
    Treated { thresholds, cells, .. }: &Treated,
    marked: &[f64],
    intervals: Option<Vec<Option<Interval>>>,
) -> Vec<NetBenefit> {
    let all = cells.iter().fold([0; 2], |sum, cell| [sum[0] + cell[0], sum[1] + cell[1]]);
    let (treated, n) = (treated(cells), all[0] + all[1]);
    let point = |(i, &threshold): (usize, &f64)| NetBenefit {
        threshold,
        marked: marked.contains(&threshold),
        true_positives: treated[i][1],
        false_positives: treated[i][0],
        net_benefit: net_benefit(treated[i], n, threshold),
        interval: intervals.as_ref().and_then(|intervals| intervals[i]),
        treat_all: net_benefit(all, n, threshold),
    };
    thresholds.iter().enumerate().map(point).collect()
}

/// The percentile intervals of the net benefit at every threshold, from resamples of the rows, or of whole clusters.
pub(super) fn net_benefit_intervals(
    predictions: &[Prediction],
    Treated { thresholds, cells, .. }: &Treated,
    (bootstrap, clusters): (&Bootstrap, Option<&Clusters>),
) -> Vec<Option<Interval>> {
    let benefits = |cells: &Cells| -> Vec<f64> {
        let n = cells.iter().flatten().sum();
        let treated = treated(cells);
        thresholds
            .iter()
            .zip(treated)
            .map(|(&threshold, treated)| net_benefit(treated, n, threshold))
            .collect()
    };
    if let Some(clusters) = clusters {
        let mut order: Vec<usize> = (0..predictions.len()).collect();
        order.sort_unstable_by_key(|&row| predictions[row].key());
        let same = |a: usize, b: usize| predictions[a].key() == predictions[b].key();
        let units = Units::new(Some(clusters), &mut order, same);
        let place =
            |&row: &usize| (cell_of(thresholds, predictions[row].prob), usize::from(predictions[row].hit));
        let places: Vec<(usize, usize)> = order.iter().map(place).collect();
        let resampled = |counts: &[u32]| {
            let mut cells = vec![[0; 2]; thresholds.len() + 1];
            places
                .iter()
                .zip(counts)
                .for_each(|(&(cell, label), &times)| cells[cell][label] += u64::from(times));
            benefits(&cells)
        };
        return bootstrap.intervals(&units, resampled, |_| true);
    }
    let n = predictions.len() as u64;
    let draw = |mut rng: Xoshiro256PlusPlus| benefits(&redrawn(cells, n, &mut rng));
    let draws: Vec<Vec<f64>> = parallel::map(bootstrap.generators(), draw);
    let at = |i: usize| bootstrap.percentiles(draws.iter().map(|draw| draw[i]).collect());
    (0..thresholds.len()).map(at).collect()
}

/// A resample of `n` rows with replacement, as counts: they are multinomial, so each is binomial given those before.
fn redrawn(cells: &Cells, n: u64, rng: &mut Xoshiro256PlusPlus) -> Cells {
    let (mut rows, mut left) = (n, n);
    let mut draw = |count: u64| {
        if count == 0 {
            return 0;
        }
        let drawn = positives(left, count as f64 / rows as f64, rng);
        (rows, left) = (rows - count, left - drawn);
        drawn
    };
    cells.iter().map(|cell| cell.map(&mut draw)).collect()
}

fn thresholds(marked: &[f64]) -> Vec<f64> {
    let steps = (0..STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let mut all: Vec<f64> =
        steps.chain(marked.iter().copied().filter(|threshold| (0.0..1.0).contains(threshold))).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.dedup();
    all
}

/// How many thresholds a probability reaches.
fn cell_of(thresholds: &[f64], prob: f64) -> usize {
    thresholds.partition_point(|&threshold| threshold <= prob)
}

/// The rows that reach every threshold, from how many reach so many of them.
fn treated(cells: &Cells) -> Vec<[u64; 2]> {
    let mut above = [0; 2];
    let mut treated: Vec<[u64; 2]> = cells[1..]
        .iter()
        .rev()
        .map(|cell| {
            above = [above[0] + cell[0], above[1] + cell[1]];
            above
        })
        .collect();
    treated.reverse();
    treated
}

fn net_benefit([negatives, positives]: [u64; 2], n: u64, threshold: f64) -> f64 {
    (positives as f64 - negatives as f64 * threshold / (1.0 - threshold)) / n as f64
}
