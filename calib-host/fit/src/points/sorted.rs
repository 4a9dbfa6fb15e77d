//! Points in ascending order.

use rayon::prelude::*;

use super::counted::Counted;
use super::group::Group;
use super::packed::{self, Packed};
use super::passes::Passes;
use super::{Groups, Points, Ranked};
use crate::error::FitError;
use crate::stats::{Sums, mean};

const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Packed points in ascending order, at least one. They are sorted once, and every question is then quick.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sorted {
    /// Neighbouring points in a run each, cut where [`Counted`] cuts its runs. No score is in two runs.
    runs: Vec<Vec<Packed>>,
    /// The points and positives below each run, and in the end those of all.
    below: Vec<(u64, u64)>,
}

impl Sorted {
    /// Sorts at least one point, on all processors.
    pub(crate) fn new(points: Vec<Packed>) -> Self {
        let runs = Counted::new(&points[..]).and_then(|counted| counted.sorted_runs());
        let runs = runs.expect("points in memory are read without a fault");
        let mut below = Vec::with_capacity(runs.len() + 1);
        let mut sum = (0, 0);
        below.push(sum);
        let positives = |run: &Vec<Packed>| run.iter().map(|&point| u64::from(point & 1)).sum::<u64>();
        let positives: Vec<u64> = runs.par_iter().map(positives).collect();
        for (run, positives) in runs.iter().zip(positives) {
            sum = (sum.0 + run.len() as u64, sum.1 + positives);
            below.push(sum);
        }
        Self { runs, below }
    }

    /// All points, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Packed> {
        self.runs.iter().flatten().copied()
    }

    /// The number of points.
    pub(crate) fn len(&self) -> u64 {
        self.totals().0
    }

    /// How many points and positives are below a packed point.
    fn below_packed(&self, key: Packed) -> (u64, u64) {
        let run = self.runs.partition_point(|run| run.last().is_some_and(|&last| last < key));
        let below = self.below[run];
        let Some(points) = self.runs.get(run) else { return below };
        let n = points.partition_point(|&point| point < key);
        (below.0 + n as u64, below.1 + positives(&points[..n]))
    }
}

fn positives(points: &[Packed]) -> u64 {
    points.iter().map(|&point| u64::from(point & 1)).sum()
}

/// Sorts points that are near each other and come in parts: by counting, from the lowest bits in which they differ on.
pub(super) fn sort_run(first: Vec<Packed>, others: Vec<Vec<Packed>>) -> Vec<Packed> {
    /// Fewer points are sorted sooner by comparing them.
    const FEW: usize = 1 << 10;
    let mut parts = others;
    parts.push(first);
    let len = parts.iter().map(Vec::len).sum();
    if len < FEW {
        let mut points = parts.concat();
        points.sort_unstable();
        return points;
    }
    let all = || parts.iter().flatten();
    let (lowest, highest) = all().fold((Packed::MAX, 0), |(lo, hi), &point| (lo.min(point), hi.max(point)));
    let passes = (u32::BITS - (highest - lowest).leading_zeros()).div_ceil(DIGIT_BITS).max(1);
    let digit = |pass: u32| move |point: Packed| ((point - lowest) >> (pass * DIGIT_BITS)) as usize % DIGITS;
    let mut points = vec![0; len];
    by_digit(all(), digit(0), &mut points);
    drop(parts);
    let mut sorted = if passes > 1 { vec![0; len] } else { Vec::new() };
    for pass in 1..passes {
        by_digit(points.iter(), digit(pass), &mut sorted);
        std::mem::swap(&mut points, &mut sorted);
    }
    points
}

/// Puts points in the order of one digit; those with the same keep theirs.
fn by_digit<'p>(
    points: impl Iterator<Item = &'p Packed> + Clone,
    digit: impl Fn(Packed) -> usize,
    sorted: &mut [Packed],
) {
    let mut next = [0u32; DIGITS];
    for &point in points.clone() {
        next[digit(point)] += 1;
    }
    let mut start = 0;
    for next in &mut next {
        start += std::mem::replace(next, start);
    }
    for &point in points {
        let at = &mut next[digit(point)];
        sorted[*at as usize] = point;
        *at += 1;
    }
}
impl Passes for Sorted {
    const BUDGET_LEN_BYTES: u64 = u64::MAX;

    fn fold<T: Send>(
        &self,
        new: &(dyn Fn() -> T + Sync),
        add: &(dyn Fn(&mut T, &[Packed]) + Sync),
        merge: &(dyn Fn(&mut T, T) + Sync),
    ) -> Result<T, FitError> {
        let part = |runs: &[Vec<Packed>]| {
            let mut sum = new();
            runs.iter().for_each(|run| add(&mut sum, run));
            sum
        };
        let parts = self.runs.par_chunks(self.runs.len().div_ceil(rayon::current_num_threads()).max(1));
        let sum = parts.map(part).reduce_with(|mut sum, other| {
            merge(&mut sum, other);
            sum
        });
        Ok(sum.unwrap_or_else(new))
    }
}

impl Points for Sorted {
    fn totals(&self) -> (u64, u64) {
        *self.below.last().expect("one more than there are runs")
    }

    fn at_ranks(&self, ranks: &[u64]) -> Result<Vec<Ranked>, FitError> {
        let at_rank = |&rank: &u64| {
            let run = self.below.partition_point(|below| below.0 < rank) - 1;
            let point = self.runs[run][(rank - 1 - self.below[run].0) as usize];
            let below = self.below_packed(point & !1);
            // Higher than all points with the score, and no higher than any other.
            let through = self.below_packed((point | 1) + 1);
            let group =
                Group { score: packed::score(point), n: through.0 - below.0, positives: through.1 - below.1 };
            Ranked { group, below }
        };
        Ok(ranks.iter().map(at_rank).collect())
    }

    fn below(&self, edges: &[f64]) -> Result<Vec<(u64, u64)>, FitError> {
        Ok(edges.iter().map(|&edge| self.below_packed(packed::first_at_or_above(edge))).collect())
    }

    fn ranges(&self) -> Result<[Option<(f64, f64)>; 2], FitError> {
        let range = |label: bool| {
            let has = |point: &Packed| packed::label(*point) == label;
            let lowest = self.runs.iter().flatten().copied().find(has)?;
            let highest = self.runs.iter().flatten().copied().rfind(has)?;
            Some((packed::score(lowest), packed::score(highest)))
        };
        Ok([range(false), range(true)])
    }

    fn means<const K: usize>(
        &self,
        terms: impl Fn(f64, bool) -> [f64; K] + Sync,
    ) -> Result<[f64; K], FitError> {
        let sums = self.fold(
            &Sums::default,
            &|sums, points| sums.add_all(points, |&point| terms(packed::score(point), packed::label(point))),
            &Sums::merge,
        )?;
        Ok(mean(sums, self.totals().0))
    }

    fn map_runs<T: Send>(&self, map: impl Fn(&mut Groups<'_>) -> T + Sync) -> Result<Vec<T>, FitError> {
        Ok(self.runs.par_iter().map(|run| map(&mut Groups::Sorted(packed::sorted_groups(run)))).collect())
    }

    /// Pairs within a run count as if all were in the wrong order.
    fn auc_at_least(&self) -> f64 {
        super::counted::auc_at_least(&self.below)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_run_is_sorted(
            start in 0u32..1 << 30, spread in 0u32..26, words in proptest::collection::vec(any::<u32>(), 1..5000),
            cut in any::<prop::sample::Index>(),
        ) {
            let points: Vec<Packed> = words.iter().map(|word| start + word % (1 << spread)).collect();
            let mut expected = points.clone();
            expected.sort_unstable();
            let (first, other) = points.split_at(cut.index(points.len()));
            prop_assert_eq!(sort_run(first.to_vec(), vec![other.to_vec()]), expected);
        }
    }
}
