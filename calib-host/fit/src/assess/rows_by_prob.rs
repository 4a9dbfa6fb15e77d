//! What one probability for several scores loses of what the scores tell.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::few_events::FEWEST_EVENTS;
use super::guarantee_test::LEVEL;
use super::prediction::{Prediction, TiedRows};
use crate::stats::{Interval, clopper_pearson};

/// A calibrator that makes more different probabilities of the rows loses almost nothing by them, and is not looked at.
const MOST_PROBS: usize = 4096;

/// Rows of one probability are halved from so many on.
const FEWEST_ROWS: u64 = 20;

/// The rows by the probability that they get, passed in ascending order of their scores.
#[derive(Clone, Debug, Default)]
pub struct RowsByProb {
    hits: u64,
    misses: u64,
    /// By probability, as bits, and table.
    same: BTreeMap<(u64, u16), Same>,
    has_too_many: bool,
}

/// The rows that get one probability.
#[derive(Clone, Debug, Default)]
struct Same {
    /// Of every hit twice the misses with a lower score, and those with the same score once.
    hits: Moments,
    /// Of every miss likewise the hits.
    misses: Moments,
    /// Cells of the score in ascending order, with their rows and hits.
    cells: Vec<(u32, (u64, u64))>,
}

/// A count with the sum of numbers and of their squares.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    n: u64,
    sum: u128,
    squares: u128,
}

/// How the area under the ROC curve changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OrderChange {
    pub(super) before: f64,
    pub(super) after: f64,
    /// Of the change, two-sided at [`LEVEL`] (DeLong, DeLong and Clarke-Pearson 1988), with the quantile of Student's t for the rarer label.
    pub(super) interval: Interval,
}

/// Rows of one probability whose event rates differ, significantly, between lower and higher scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mixed {
    pub(super) prob: f64,
    /// The event rates of the half with the lower scores, and of the other.
    pub(super) rates: [f64; 2],
    /// By so much they are allowed to differ.
    pub(super) epsilon: f64,
    /// By so much they differ at least.
    at_least: f64,
}

impl Moments {
    fn add(&mut self, value: u64, times: u64) {
        let (value, times) = (u128::from(value), u128::from(times));
        self.n += times as u64;
        self.sum += value * times;
        self.squares += value * value * times;
    }

    /// The same of numbers that are larger by this.
    fn moved(self, by: u64) -> Self {
        let (n, by) = (u128::from(self.n), u128::from(by));
        Self { n: self.n, sum: self.sum + n * by, squares: self.squares + 2 * by * self.sum + n * by * by }
    }

    fn and(self, other: Self) -> Self {
        Self { n: self.n + other.n, sum: self.sum + other.sum, squares: self.squares + other.squares }
    }

    /// The sum of the differences from a number, which is subtracted from, and that of their squares.
    fn from(self, value: u64) -> (f64, f64) {
        let (n, value) = (i128::from(self.n), i128::from(value));
        let (sum, squares) = (self.sum as i128, self.squares as i128);
        ((n * value - sum) as f64, (n * value * value - 2 * value * sum + squares) as f64)
    }
}

impl RowsByProb {
    /// Counts the rows of one score, which is above those of all rows before.
    pub fn pass(&mut self, score: f64, rows: impl Iterator<Item = TiedRows> + Clone) {
        let of_label = |label: usize| rows.clone().map(|row| row.by_label[label]).sum::<u64>();
        let (misses, hits) = (of_label(0), of_label(1));
        if !self.has_too_many {
            for TiedRows { prob, class, by_label, .. } in rows {
                let same = self.same.entry((prob.to_bits(), class)).or_default();
                same.misses.add(2 * self.hits + hits, by_label[0]);
                same.hits.add(2 * self.misses + misses, by_label[1]);
                same.pass(cell(score), (by_label[0] + by_label[1], by_label[1]));
            }
        }
        (self.hits, self.misses) = (self.hits + hits, self.misses + misses);
        self.limit();
    }

    /// Counts rows in any order, with their scores.
    pub(super) fn of_rows(before: &[Prediction], after: &[Prediction], rows: &[usize]) -> Self {
        let mut order = rows.to_vec();
        order.sort_unstable_by(|&a, &b| before[a].prob.total_cmp(&before[b].prob));
        let mut told = Self::default();
        for tied in order.chunk_by(|&a, &b| before[a].prob == before[b].prob) {
            told.pass(before[tied[0]].prob, tied.iter().map(|&row| after[row].into()));
        }
        told
    }

    /// Adds rows whose scores are all higher.
    #[must_use]
    pub fn and(mut self, higher: Self) -> Self {
        self.has_too_many |= higher.has_too_many;
        for (place, other) in higher.same {
            let same = self.same.entry(place).or_default();
            same.hits = same.hits.and(other.hits.moved(2 * self.misses));
            same.misses = same.misses.and(other.misses.moved(2 * self.hits));
            other.cells.into_iter().for_each(|(cell, rows)| same.pass(cell, rows));
        }
        (self.hits, self.misses) = (self.hits + higher.hits, self.misses + higher.misses);
        self.limit();
        self
    }

    fn limit(&mut self) {
        self.has_too_many |= self.same.len() > MOST_PROBS;
        if self.has_too_many {
            self.same.clear();
        }
    }

    /// How the area under the ROC curve changes; `None` with too few events, or too many probabilities.
    pub(super) fn order_change(&self) -> Option<OrderChange> {
        let fewer = self.hits.min(self.misses);
        if self.has_too_many || fewer < FEWEST_EVENTS {
            return None;
        }
        // Each hit and each miss has a place among the rows of the other label, before and after: twice the rows below, and those tied once.
        let (mut lower_hits, mut lower_misses) = (0, 0);
        let (mut before, mut after) = (0.0, 0.0);
        let (mut of_hits, mut of_misses) = ((0.0, 0.0), (0.0, 0.0));
        let all: Vec<_> = self.same.iter().collect();
        for tied in all.chunk_by(|a, b| a.0.0 == b.0.0) {
            let hits: u64 = tied.iter().map(|(_, same)| same.hits.n).sum();
            let misses: u64 = tied.iter().map(|(_, same)| same.misses.n).sum();
            for (_, same) in tied {
                let place = 2 * lower_misses + misses;
                before += same.hits.sum as f64;
                after += same.hits.n as f64 * place as f64;
                let (sum, squares) = same.hits.from(place);
                of_hits = (of_hits.0 + sum, of_hits.1 + squares);
                let (sum, squares) = same.misses.from(2 * lower_hits + hits);
                of_misses = (of_misses.0 + sum, of_misses.1 + squares);
            }
            (lower_hits, lower_misses) = (lower_hits + hits, lower_misses + misses);
        }
        let (hits, misses) = (self.hits as f64, self.misses as f64);
        let variance = |(sum, squares): (f64, f64), n: f64, others: f64| {
            (squares - sum * sum / n).max(0.0) / (4.0 * others * others) / (n - 1.0) / n
        };
        let variance = variance(of_hits, hits, misses) + variance(of_misses, misses, hits);
        let quantile = StudentsT::new(0.0, 1.0, fewer as f64 - 1.0).ok()?.inverse_cdf(1.0 - LEVEL / 2.0);
        let area = |places: f64| places / (2.0 * hits * misses);
        let (before, after, reach) = (area(before), area(after), quantile * variance.sqrt());
        let interval = Interval { lo: after - before - reach, hi: after - before + reach };
        Some(OrderChange { before, after, interval })
    }

    /// The probabilities whose rows differ significantly in their event rates, by more than epsilon, between the lower and the higher half of
    /// their scores. Also how many probabilities were tested: at [`LEVEL`] over all, by the interval of the difference that the exact
    /// intervals of
    /// both rates make (square-and-add, Newcombe 1998; Zou and Donner 2008). `epsilon` is by table.
    pub(super) fn mixed(&self, epsilon: impl Fn(u16) -> f64) -> (Vec<Mixed>, u64) {
        let halved: Vec<_> =
            self.same.iter().filter_map(|(&place, same)| Some((place, same.halves()?))).collect();
        let alpha = LEVEL / halved.len() as f64;
        let mixed = |&((bits, class), halves): &((u64, u16), [(u64, u64); 2])| {
            let rates = halves.map(|(n, hits)| hits as f64 / n as f64);
            let intervals = halves.map(|(n, hits)| clopper_pearson(hits, n, alpha));
            let rise = |from: usize, to: usize| {
                rates[to]
                    - rates[from]
                    - (rates[to] - intervals[to].lo).hypot(intervals[from].hi - rates[from])
            };
            let at_least = rise(0, 1).max(rise(1, 0));
            let (prob, epsilon) = (f64::from_bits(bits), epsilon(class));
            (at_least > epsilon).then_some(Mixed { prob, rates, epsilon, at_least })
        };
        let mut found: Vec<Mixed> = halved.iter().filter_map(mixed).collect();
        found.sort_by(|a, b| b.at_least.total_cmp(&a.at_least));
        (found, halved.len() as u64)
    }
}

impl Same {
    /// Counts rows and hits in the last cell, or in one above.
    fn pass(&mut self, cell: u32, (n, hits): (u64, u64)) {
        debug_assert!(self.cells.last().is_none_or(|last| last.0 <= cell), "scores ascend");
        match self.cells.last_mut() {
            Some((last, rows)) if *last == cell => *rows = (rows.0 + n, rows.1 + hits),
            _ => self.cells.push((cell, (n, hits))),
        }
    }

    /// Rows and hits of the half with the lower scores, and of the other, divided between two cells as near to the median as can be. It is `None`
    /// of few rows, or of one cell.
    fn halves(&self) -> Option<[(u64, u64); 2]> {
        let (n, hits) = (self.hits.n + self.misses.n, self.hits.n);
        let mut lower = (0, 0);
        let lower = self
            .cells
            .iter()
            .map(|(_, cell)| {
                lower = (lower.0 + cell.0, lower.1 + cell.1);
                lower
            })
            .filter(|lower| lower.0 < n)
            .min_by_key(|lower| (2 * lower.0).abs_diff(n))?;
        (n >= FEWEST_ROWS).then(|| [lower, (n - lower.0, hits - lower.1)])
    }
}

/// The cell of a score in `[0, 1]`: 128 in each octave of its distance from the nearer end.
fn cell(score: f64) -> u32 {
    let of = |distance: f64| (distance as f32).to_bits() >> 16;
    if score < 0.5 { of(score.max(0.0)) } else { u32::MAX - of((1.0 - score).max(0.0)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn row(prob: f64, hit: bool) -> Prediction {
        Prediction { class: 1, prob, bin: 0, hit }
    }

    fn rows_by_prob(rows: &[(f64, f64, bool)]) -> RowsByProb {
        let before: Vec<_> = rows.iter().map(|&(score, _, hit)| row(score, hit)).collect();
        let after: Vec<_> = rows.iter().map(|&(_, prob, hit)| row(prob, hit)).collect();
        RowsByProb::of_rows(&before, &after, &(0..rows.len()).collect::<Vec<_>>())
    }

    /// The places of all rows among those of the other label, of which DeLong's estimates are mean and variance.
    fn places(rows: &[(f64, bool)]) -> Vec<f64> {
        let place = |&(value, hit): &(f64, bool)| {
            let others: Vec<f64> = rows.iter().filter(|row| row.1 != hit).map(|row| row.0).collect();
            let below = |other: &f64| match other.total_cmp(&value) {
                std::cmp::Ordering::Less => f64::from(u8::from(hit)),
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => f64::from(u8::from(!hit)),
            };
            others.iter().map(below).sum::<f64>() / others.len() as f64
        };
        rows.iter().map(place).collect()
    }

    proptest! {
        #[test]
        fn the_change_of_the_area_is_that_of_all_pairs(
            rows in proptest::collection::vec((0u32..30, 0u32..6), 0..60), cut in 0u32..30,
        ) {
            let hit = |i: usize| i.is_multiple_of(3);
            let events = (0..60).map(|i| (f64::from(i as u32 % 7) / 30.0, f64::from(i as u32 % 5) / 5.0, hit(i)));
            let rows: Vec<(f64, f64, bool)> = rows.iter().enumerate()
                .map(|(i, &(score, prob))| (f64::from(score) / 30.0, f64::from(prob) / 5.0, hit(i + 1)))
                .chain(events).collect();
            let got = rows_by_prob(&rows).order_change().unwrap();
            let [before, after] = [0, 1].map(|side| {
                places(&rows.iter().map(|row| (if side == 0 { row.0 } else { row.1 }, row.2)).collect::<Vec<_>>())
            });
            let of = |hit: bool| -> Vec<(f64, f64)> {
                (0..rows.len()).filter(|&i| rows[i].2 == hit).map(|i| (before[i], after[i])).collect()
            };
            let mut variance = 0.0;
            for places in [of(true), of(false)] {
                let n = places.len() as f64;
                let mean = |side: fn(&(f64, f64)) -> f64| places.iter().map(side).sum::<f64>() / n;
                prop_assert!((mean(|place| place.0) - got.before).abs() < 1e-12);
                prop_assert!((mean(|place| place.1) - got.after).abs() < 1e-12);
                let change = got.after - got.before;
                variance += places.iter().map(|(b, a)| (a - b - change).powi(2)).sum::<f64>() / (n - 1.0) / n;
            }
            let fewer = rows.iter().filter(|row| row.2).count().min(rows.iter().filter(|row| !row.2).count());
            let t = StudentsT::new(0.0, 1.0, fewer as f64 - 1.0).unwrap().inverse_cdf(1.0 - LEVEL / 2.0);
            prop_assert!((got.interval.hi - (got.after - got.before) - t * variance.sqrt()).abs() < 1e-9);
            // In two parts, cut between two scores.
            let part = |low: bool| rows_by_prob(&rows.iter().copied().filter(|row| (row.0 < f64::from(cut) / 30.0) == low).collect::<Vec<_>>());
            let parts = part(true).and(part(false));
            prop_assert_eq!(parts.order_change().unwrap(), got);
            prop_assert_eq!(parts.mixed(|_| 0.0), rows_by_prob(&rows).mixed(|_| 0.0));
        }
    }

    #[test]
    fn cells_ascend_with_the_score() {
        let scores: Vec<f64> = (0..=10_000).map(|i| f64::from(i) / 10_000.0).collect();
        assert!(scores.windows(2).all(|pair| cell(pair[0]) <= cell(pair[1])));
        assert!(cell(1e-6) < cell(1.1e-6) && cell(0.9) < cell(0.91) && cell(0.999_9) < cell(0.999_99));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "scores ascend")]
    fn scores_in_another_order_are_noticed() {
        let row = |hit| Prediction { class: 1, prob: 0.5, bin: 0, hit }.into();
        let mut told = RowsByProb::default();
        told.pass(0.6, [row(true)].into_iter());
        told.pass(0.3, [row(false)].into_iter());
    }

    /// Uniform scores in five bins, whose rates average the prevalence, and which rise within a bin by so much.
    fn rows(n: usize, prevalence: f64, rise: f64, rng: &mut Xoshiro256PlusPlus) -> Vec<(f64, f64, bool)> {
        let mut row = || {
            let score: f64 = rng.random();
            let bin = (5.0 * score).floor();
            let prob = prevalence * (0.2 + 0.4 * bin);
            let rate = prob + rise * (5.0 * score - bin - 0.5);
            (score, prob, rng.random::<f64>() < rate)
        };
        (0..n).map(|_| row()).collect()
    }

    /// How often calib reports a lost order, and rows that differ, although scores carry no information within bins. The number of sets
    /// is given.
    fn false_alarms(sets: usize, n: usize, prevalence: f64) -> [usize; 2] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64((1e6 * prevalence) as u64 + n as u64);
        let mut alarms = [0; 2];
        for _ in 0..sets {
            let told = rows_by_prob(&rows(n, prevalence, 0.0, &mut rng));
            alarms[0] += usize::from(told.order_change().is_some_and(|change| change.interval.hi < 0.0));
            alarms[1] += usize::from(!told.mixed(|_| 0.0).0.is_empty());
        }
        alarms
    }

    /// One side of 1 % for the order, and 1 % for the rates.
    fn assert_rarely(sets: usize, most: [usize; 2], cases: &[(usize, f64)]) {
        for &(n, prevalence) in cases {
            let alarms = false_alarms(sets, n, prevalence);
            assert!(
                alarms[0] <= most[0] && alarms[1] <= most[1],
                "{alarms:?} of {sets}: {n} rows at {prevalence}"
            );
        }
    }

    /// 2 and 4 of 400 on average; more than 8 and 12 with a probability below one in a thousand.
    #[test]
    fn nothing_is_lost_where_scores_tell_nothing() {
        assert_rarely(400, [8, 12], &[(100, 0.5), (1000, 0.01), (2000, 0.5), (5000, 0.003)]);
    }

    #[test]
    #[ignore = "long: 5000 sets of each kind"]
    fn nothing_is_lost_where_scores_tell_nothing_long() {
        let prevalences = [0.003, 0.01, 0.03, 0.5];
        let sizes = [100, 200, 500, 1000, 2000, 5000];
        let cases: Vec<_> =
            sizes.iter().flat_map(|&n| prevalences.map(|prevalence| (n, prevalence))).collect();
        assert_rarely(5000, [45, 75], &cases);
    }

    /// Rates that rise within a bin from .1 to .9 of what they could.
    #[test]
    fn what_bins_hide_is_found() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let told = rows_by_prob(&rows(20_000, 0.5, 0.2, &mut rng));
        let (mixed, tested) = told.mixed(|_| 0.02);
        assert!(!mixed.is_empty() && tested == 5, "{mixed:?}");
        assert!(mixed[0].rates[1] > mixed[0].rates[0] + 0.02);
        let change = told.order_change().unwrap();
        assert!(change.interval.hi < 0.0 && change.after < change.before, "{change:?}");
        // Few rows do not tell.
        let (few, _) = super::tests::rows_by_prob(&rows(60, 0.5, 0.2, &mut rng)).mixed(|_| 0.02);
        assert!(few.is_empty());
    }

    #[test]
    fn very_many_probabilities_lose_nothing() {
        let rows: Vec<_> =
            (0..9000u32).map(|i| (f64::from(i) / 9000.0, f64::from(i) / 9000.0, i % 2 == 0)).collect();
        let told = rows_by_prob(&rows);
        assert_eq!((told.order_change(), told.mixed(|_| 0.0).1), (None, 0));
    }
}
