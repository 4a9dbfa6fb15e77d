//! Binary points: scores with labels, grouped, packed, counted, split, on a disk if they are many.
//!
//! What a binary method asks of points is the trait `Points`; how they are kept is nobody else's business. Imports `stats` and
//! `error`.

mod blocks;
mod builder;
mod concordance;
mod counted;
mod group;
pub(crate) mod packed;
mod passes;
mod radix;
mod score_summary;
mod sorted;
mod spill;
mod spill_vec;
mod split;

use crate::cancel;
use crate::error::FitError;
use crate::stats::{Sums, mean};

pub use blocks::{Block, isotonic_blocks};
pub(crate) use blocks::{mean_is_below, pool, pool_groups, pool_onto};
pub(crate) use concordance::Concordance;
pub(crate) use counted::Counted;
pub use group::Group;
pub(crate) use group::{group, totals};
pub(crate) use packed::{BUCKETS, Packed};
pub(crate) use passes::{Arrays, Classes, Passes};
pub use score_summary::ScoreSummary;
pub(crate) use sorted::Sorted;
pub(crate) use spill::{Collected, Collector, Spill};
pub(crate) use spill_vec::{IN_MEMORY, SpillVec};
pub(crate) use split::{sample, split, split_groups};

/// Calibration points, at least one.
///
/// Every binary fit is written in these questions, so that one text serves points in memory, counts aggregated by score,
/// and points on a disk. All answers are exact: none depends on the order of the points or on the number of threads.
pub(crate) trait Points: Sync {
    /// The number of points and of those with label 1.
    fn totals(&self) -> (u64, u64);

    /// The groups that hold the points of these 1-based, ascending ranks in the order of scores.
    fn at_ranks(&self, ranks: &[u64]) -> Result<Vec<Ranked>, FitError>;

    /// How many points and positives have a score below each of these ascending edges.
    fn below(&self, edges: &[f64]) -> Result<Vec<(u64, u64)>, FitError>;

    /// The lowest and the highest score of each label.
    fn ranges(&self) -> Result<[Option<(f64, f64)>; 2], FitError>;

    /// The mean over points of the terms of (score, label), each rounded to a multiple of 2^-40 and summed exactly.
    fn means<const K: usize>(
        &self,
        terms: impl Fn(f64, bool) -> [f64; K] + Sync,
    ) -> Result<[f64; K], FitError>;

    /// Maps runs of groups, which follow each other in ascending order of score. Where runs are cut is left open, and
    /// must not matter for what is done with the results.
    fn map_runs<T: Send>(&self, map: impl Fn(&mut Groups<'_>) -> T + Sync) -> Result<Vec<T>, FitError> {
        self.map_numbered_runs(|_, groups| map(groups))
    }

    /// As [`Points::map_runs`], with the number of each run. Runs are cut in the same places each time.
    fn map_numbered_runs<T: Send>(
        &self,
        map: impl Fn(usize, &mut Groups<'_>) -> T + Sync,
    ) -> Result<Vec<T>, FitError>;

    /// Maps runs as [`Points::map_runs`], and takes the results in order, before many of them are there.
    fn map_runs_in_order<T: Send>(
        &self,
        map: impl Fn(&mut Groups<'_>) -> T + Sync,
        take: impl FnMut(T) -> Result<(), FitError>,
    ) -> Result<(), FitError> {
        self.map_runs(map)?.into_iter().try_for_each(take)
    }

    /// Visits all groups in ascending order of score.
    fn walk(&self, visit: &mut dyn FnMut(Group) -> Result<(), FitError>) -> Result<(), FitError>;

    /// How many of the points a part of them may keep in memory, if a part is kept packed as these are; `None` if as groups.
    fn packed_in_memory(&self) -> Option<usize>;

    /// An area under the ROC curve that the scores' own is not below, as far as what is counted already tells.
    fn auc_at_least(&self) -> f64 {
        0.0
    }

    /// All groups in ascending order of score.
    fn groups(&self) -> Result<Vec<Group>, FitError> {
        Ok(self.map_runs(|groups| groups.collect::<Vec<_>>())?.concat())
    }
}

/// Groups in ascending order of score, from whatever points are kept as.
pub(crate) enum Groups<'p> {
    Slice(std::iter::Copied<std::slice::Iter<'p, Group>>),
    OfPoints(packed::SortedGroups<'p>),
    OfCounts(packed::CountedGroups<'p>),
}

impl<'p> Groups<'p> {
    /// Groups that are in ascending order.
    pub(crate) fn of(groups: &'p [Group]) -> Self {
        Self::Slice(groups.iter().copied())
    }

    /// Visits all groups. What they come from is asked for once and not for each.
    #[inline]
    pub(crate) fn each(&mut self, visit: impl FnMut(Group)) {
        match self {
            Self::Slice(groups) => groups.for_each(visit),
            Self::OfPoints(groups) => groups.for_each(visit),
            Self::OfCounts(groups) => groups.for_each(visit),
        }
    }
}

impl Iterator for Groups<'_> {
    type Item = Group;

    #[inline]
    fn next(&mut self) -> Option<Group> {
        match self {
            Self::Slice(groups) => groups.next(),
            Self::OfPoints(groups) => groups.next(),
            Self::OfCounts(groups) => groups.next(),
        }
    }
}

/// A group and what is below it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) group: Group,
    /// The points and positives with lower scores.
    pub(crate) below: (u64, u64),
}

impl Ranked {
    /// The points and positives up to and with the group.
    pub(crate) fn through(&self) -> (u64, u64) {
        (self.below.0 + self.group.n, self.below.1 + self.group.positives)
    }
}

impl Points for [Group] {
    fn totals(&self) -> (u64, u64) {
        crate::points::group::totals(self)
    }

    fn at_ranks(&self, ranks: &[u64]) -> Result<Vec<Ranked>, FitError> {
        let mut walk = Walk::default();
        let mut rest = self.iter();
        let Some(&first) = rest.next() else { return Ok(Vec::new()) };
        let mut group = first;
        let at_rank = |&rank: &u64| {
            while walk.n + group.n < rank {
                walk.pass(group);
                group = *rest.next().expect("a rank is at most the number of observations");
            }
            Ranked { group, below: (walk.n, walk.positives) }
        };
        Ok(ranks.iter().map(at_rank).collect())
    }

    fn below(&self, edges: &[f64]) -> Result<Vec<(u64, u64)>, FitError> {
        let mut walk = Walk::default();
        let mut rest = self.iter().peekable();
        let below = |&edge: &f64| {
            while let Some(&group) = rest.next_if(|group| group.score < edge) {
                walk.pass(group);
            }
            (walk.n, walk.positives)
        };
        Ok(edges.iter().map(below).collect())
    }

    fn ranges(&self) -> Result<[Option<(f64, f64)>; 2], FitError> {
        let range = |has: fn(&&Group) -> bool| {
            let lowest = self.iter().find(has)?;
            let highest = self.iter().rfind(has)?;
            Some((lowest.score, highest.score))
        };
        Ok([range(|group| group.positives < group.n), range(|group| group.positives > 0)])
    }

    fn means<const K: usize>(
        &self,
        terms: impl Fn(f64, bool) -> [f64; K] + Sync,
    ) -> Result<[f64; K], FitError> {
        let mut sums = Sums::default();
        for groups in self.chunks(cancel::ROWS) {
            cancel::check_canceled();
            for group in groups {
                sums.add(terms(group.score, true), group.positives);
                sums.add(terms(group.score, false), group.n - group.positives);
            }
        }
        Ok(mean(sums, self.totals().0))
    }

    fn map_numbered_runs<T: Send>(
        &self,
        map: impl Fn(usize, &mut Groups<'_>) -> T + Sync,
    ) -> Result<Vec<T>, FitError> {
        cancel::check_canceled();
        Ok(vec![map(0, &mut Groups::of(self))])
    }

    fn walk(&self, visit: &mut dyn FnMut(Group) -> Result<(), FitError>) -> Result<(), FitError> {
        self.iter().copied().try_for_each(visit)
    }

    fn packed_in_memory(&self) -> Option<usize> {
        None
    }
}

/// The points and positives passed in a walk over groups.
#[derive(Default)]
pub(crate) struct Walk {
    pub(crate) n: u64,
    pub(crate) positives: u64,
}

impl Walk {
    pub(crate) fn pass(&mut self, group: Group) {
        self.n += group.n;
        self.positives += group.positives;
    }
}
