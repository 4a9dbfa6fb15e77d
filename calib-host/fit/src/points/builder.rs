//! Parts of points, kept as the points are that they come from.

use calib_core::Score;

use super::counted::Counted;
use super::group::{Group, totals};
use super::packed;
use super::sorted::Sorted;
use super::spill::{Collected, Collector, Spill};
use super::{Groups, Points, Ranked};
use crate::error::FitError;

/// Collects points.
pub(crate) enum PointsBuilder {
    /// As groups, which come in ascending order of score.
    Groups(Vec<Group>),
    /// Packed, each separately.
    Packed(Collector),
}

/// Points that were kept; where there are none, they are no groups.
pub(crate) enum BuiltPoints {
    Groups(Vec<Group>),
    Memory(Sorted),
    Disk(Counted<Spill>),
}

impl PointsBuilder {
    /// A place for some of these points.
    pub(crate) fn of(points: &(impl Points + ?Sized)) -> Self {
        let packed = |in_memory| Self::Packed(Collector::new(in_memory));
        points.packed_in_memory().map_or(Self::Groups(Vec::new()), packed)
    }

    /// Adds points of one score, above all that were added.
    pub(crate) fn add(&mut self, group: Group) -> Result<(), FitError> {
        match self {
            Self::Groups(groups) if group.n > 0 => groups.push(group),
            Self::Groups(_) => {}
            Self::Packed(collector) => {
                let score = Score::new(group.score as f32).unwrap_or(Score::ZERO);
                let points = (0..group.n).map(|i| packed::pack(score, i < group.positives));
                collector.extend(points)?;
            }
        }
        Ok(())
    }

    /// The points.
    pub(crate) fn finish(self) -> Result<BuiltPoints, FitError> {
        Ok(match self {
            Self::Groups(groups) => BuiltPoints::Groups(groups),
            Self::Packed(collector) => match collector.finish()? {
                Some(Collected::Memory(points)) => BuiltPoints::Memory(Sorted::new(points)),
                Some(Collected::Spill(spill)) => BuiltPoints::Disk(Counted::new(spill)?),
                None => BuiltPoints::Groups(Vec::new()),
            },
        })
    }
}

/// Calls the same method of what is kept.
macro_rules! of_built {
    ($kept:expr, $points:ident => $call:expr) => {
        match $kept {
            BuiltPoints::Groups(groups) => {
                let $points = &groups[..];
                $call
            }
            BuiltPoints::Memory($points) => $call,
            BuiltPoints::Disk($points) => $call,
        }
    };
}

impl Points for BuiltPoints {
    fn totals(&self) -> (u64, u64) {
        match self {
            Self::Groups(groups) => totals(groups),
            Self::Memory(points) => points.totals(),
            Self::Disk(points) => points.totals(),
        }
    }

    fn at_ranks(&self, ranks: &[u64]) -> Result<Vec<Ranked>, FitError> {
        of_built!(self, points => points.at_ranks(ranks))
    }

    fn below(&self, edges: &[f64]) -> Result<Vec<(u64, u64)>, FitError> {
        of_built!(self, points => Points::below(points, edges))
    }

    fn ranges(&self) -> Result<[Option<(f64, f64)>; 2], FitError> {
        of_built!(self, points => points.ranges())
    }

    fn means<const K: usize>(
        &self,
        terms: impl Fn(f64, bool) -> [f64; K] + Sync,
    ) -> Result<[f64; K], FitError> {
        of_built!(self, points => points.means(terms))
    }

    fn map_numbered_runs<T: Send>(
        &self,
        map: impl Fn(usize, &mut Groups<'_>) -> T + Sync,
    ) -> Result<Vec<T>, FitError> {
        of_built!(self, points => points.map_numbered_runs(map))
    }

    fn walk(&self, visit: &mut dyn FnMut(Group) -> Result<(), FitError>) -> Result<(), FitError> {
        of_built!(self, points => points.walk(visit))
    }

    fn packed_in_memory(&self) -> Option<usize> {
        of_built!(self, points => points.packed_in_memory())
    }

    fn auc_at_least(&self) -> f64 {
        of_built!(self, points => points.auc_at_least())
    }
}
