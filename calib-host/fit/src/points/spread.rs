//! Where scores lie, and how often they repeat.

use super::{Group, Points};
use crate::error::FitError;

/// Where the scores of points lie, and how often they repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The lowest score.
    pub lowest: f64,
    /// The highest score.
    pub highest: f64,
    /// The share of points whose score another point has, too, in `[0, 1]`.
    pub tied: f64,
    /// The share of points with the most frequent score, in `(0, 1]`.
    pub heaviest: f64,
}

/// The counts behind a [`Spread`].
#[derive(Clone, Copy)]
struct Tally {
    lowest: f64,
    highest: f64,
    n: u64,
    tied: u64,
    heaviest: u64,
}

impl Tally {
    const NONE: Self = Self { lowest: f64::INFINITY, highest: f64::NEG_INFINITY, n: 0, tied: 0, heaviest: 0 };

    fn of(group: Group) -> Self {
        let (lowest, highest) = (group.score, group.score);
        let tied = if group.n > 1 { group.n } else { 0 };
        Self { lowest, highest, n: group.n, tied, heaviest: group.n }
    }

    /// Adds a group above all that was added.
    #[inline]
    fn add_above(&mut self, group: Group) {
        if self.n == 0 {
            self.lowest = group.score;
        }
        self.highest = group.score;
        self.n += group.n;
        self.tied += if group.n > 1 { group.n } else { 0 };
        self.heaviest = self.heaviest.max(group.n);
    }

    fn merge(self, other: Self) -> Self {
        Self {
            lowest: self.lowest.min(other.lowest),
            highest: self.highest.max(other.highest),
            n: self.n + other.n,
            tied: self.tied + other.tied,
            heaviest: self.heaviest.max(other.heaviest),
        }
    }
}

impl From<Tally> for Spread {
    fn from(Tally { lowest, highest, n, tied, heaviest }: Tally) -> Self {
        let share = |some: u64| some as f64 / n as f64;
        Self { lowest, highest, tied: share(tied), heaviest: share(heaviest) }
    }
}

impl Spread {
    /// Looks at at least one point.
    pub(crate) fn of(points: &(impl Points + ?Sized)) -> Result<Self, FitError> {
        let runs = points.map_runs(|groups| {
            let mut tally = Tally::NONE;
            groups.each(|group| tally.add_above(group));
            tally
        })?;
        Ok(runs.into_iter().fold(Tally::NONE, Tally::merge).into())
    }

    /// Looks at groups; `None` if there are none.
    pub(crate) fn of_groups(groups: &[Group]) -> Option<Self> {
        let tally = groups.iter().copied().map(Tally::of).fold(Tally::NONE, Tally::merge);
        (tally.n > 0).then(|| tally.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::{Collected, Collector, Counted, group, packed};

    #[test]
    fn shares_are_of_points_however_these_are_kept() {
        let score = |i: u32| calib_core::Score::new((i % 600) as f32 / 1024.0).unwrap();
        // 700 points: the first hundred scores twice, and 0 three times.
        let points: Vec<u32> = (0..700u32).chain([600]).map(|i| packed::pack(score(i), i % 3 == 0)).collect();
        let expected =
            Spread { lowest: 0.0, highest: 599.0 / 1024.0, tied: 201.0 / 701.0, heaviest: 3.0 / 701.0 };
        assert_eq!(Spread::of(&Counted::new(&points[..]).unwrap()), Ok(expected));
        let rows = points.iter().map(|&point| (packed::score(point), 1, packed::label(point).into()));
        assert_eq!(Spread::of(&group(rows.collect())[..]), Ok(expected));
        let mut collector = Collector::new(0);
        collector.extend(points.iter().copied()).unwrap();
        let Some(Collected::Spill(spill)) = collector.finish().unwrap() else { panic!("there is no room") };
        assert_eq!(Spread::of(&Counted::new(&spill).unwrap()), Ok(expected));
    }
}
