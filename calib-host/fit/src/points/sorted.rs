//! Points in ascending order.

use std::iter;

use super::counted::Counted;
use super::group::Group;
use super::packed::{self, Packed};
use super::passes::{Passes, mean_of};
use super::{Groups, Points, Ranked};
use crate::cancel;
use crate::error::FitError;
use crate::parallel;

const IN_MEMORY: &str = "points in memory are read without a fault";
/// How many neighboring points at most are counted to answer a question.
const BLOCK: usize = 1 << 10;

/// Packed points in ascending order, at least one. They are sorted once, and every question is then quick.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sorted {
    /// Neighboring points in a run each, cut where [`Counted`] cuts its runs. No score is in two runs.
    runs: Vec<Vec<Packed>>,
    /// The points and positives below each run, and in the end those of all.
    below: Vec<(u64, u64)>,
    /// The positives of each run that are below each of its blocks, and in the end those of all its blocks.
    below_blocks: Vec<Vec<u64>>,
}

impl Sorted {
    /// Sorts at least one point, on all processors.
    pub(crate) fn new(points: Vec<Packed>) -> Self {
        Self::of(Counted::new(points).expect(IN_MEMORY))
    }

    /// Sorts points in memory that are counted.
    pub(crate) fn of(points: Counted<impl Passes>) -> Self {
        let runs = points.into_sorted_runs().expect(IN_MEMORY);
        let below_blocks: Vec<Vec<u64>> = parallel::map(&runs, |run| below_blocks(run));
        let mut below = Vec::with_capacity(runs.len() + 1);
        let mut sum = (0, 0);
        below.push(sum);
        for (run, blocks) in runs.iter().zip(&below_blocks) {
            sum = (sum.0 + run.len() as u64, sum.1 + blocks.last().expect("one more than there are blocks"));
            below.push(sum);
        }
        Self { runs, below, below_blocks }
    }

    /// All points, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Packed> {
        self.runs.iter().flatten().copied()
    }

    /// The number of runs.
    pub(crate) fn runs(&self) -> usize {
        self.runs.len()
    }

    /// The groups of a run. No group is in two, and runs ascend.
    pub(crate) fn run(&self, number: usize) -> Groups<'_> {
        groups(&self.runs[number])
    }

    /// Maps the points of each run, in order.
    pub(crate) fn map_points<T: Send>(&self, map: impl Fn(&[Packed]) -> T + Sync) -> Vec<T> {
        parallel::map(&self.runs, |run| map(run))
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
        let through = points.partition_point(|&point| point < key);
        let block = through / BLOCK;
        let positives = self.below_blocks[run][block] + positives(&points[block * BLOCK..through]);
        (below.0 + through as u64, below.1 + positives)
    }
}

fn groups(run: &[Packed]) -> Groups<'_> {
    cancel::check_canceled();
    Groups::OfPoints(packed::sorted_groups(run))
}

/// Counts the positives of at most a block.
fn positives(points: &[Packed]) -> u64 {
    // A processor adds twice as many 32-bit numbers at a time as 64-bit ones.
    u64::from(points.iter().map(|&point| point & 1).sum::<Packed>())
}

fn below_blocks(run: &[Packed]) -> Vec<u64> {
    let mut sum = 0;
    let through = run.chunks(BLOCK).map(|block| {
        sum += positives(block);
        sum
    });
    iter::once(0).chain(through).collect()
}

impl Passes for Sorted {
    const BUDGET_LEN_BYTES: u64 = u64::MAX;
    const IN_MEMORY: usize = usize::MAX;

    fn fold<T: Send>(
        &self,
        new: &(dyn Fn() -> T + Sync),
        add: &(dyn Fn(&mut T, &[Packed]) + Sync),
        merge: &(dyn Fn(&mut T, T) + Sync),
    ) -> Result<T, FitError> {
        let part = |runs: &[Vec<Packed>]| {
            let mut sum = new();
            for run in runs {
                cancel::check_canceled();
                add(&mut sum, run);
            }
            sum
        };
        let parts = self.runs.chunks(self.runs.len().div_ceil(rayon::current_num_threads()).max(1));
        Ok(parallel::merge(parallel::map(parts, part), merge).unwrap_or_else(new))
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
        mean_of(self, self.totals().0, terms)
    }

    fn map_numbered_runs<T: Send>(
        &self,
        map: impl Fn(usize, &mut Groups<'_>) -> T + Sync,
    ) -> Result<Vec<T>, FitError> {
        Ok(parallel::map(self.runs.iter().enumerate(), |(number, run)| map(number, &mut groups(run))))
    }

    fn map_runs_in_order<T: Send>(
        &self,
        map: impl Fn(&mut Groups<'_>) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), FitError>,
    ) -> Result<(), FitError> {
        for runs in self.runs.chunks(rayon::current_num_threads()) {
            let results = parallel::map(runs, |run| map(&mut groups(run)));
            results.into_iter().try_for_each(&mut take)?;
        }
        Ok(())
    }

    fn walk(&self, visit: &mut dyn FnMut(Group) -> Result<(), FitError>) -> Result<(), FitError> {
        self.runs.iter().flat_map(|run| groups(run)).try_for_each(visit)
    }

    fn packed_in_memory(&self) -> Option<usize> {
        Some(Self::IN_MEMORY)
    }

    /// Pairs within a run count as if all were in the wrong order.
    fn auc_at_least(&self) -> f64 {
        super::counted::auc_at_least(&self.below)
    }
}
