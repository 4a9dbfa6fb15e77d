//! Where scores lie, and how often they repeat.

use super::packed::{self, Packed, are_tied};
use super::{Group, Points, Sorted};
use crate::error::FitError;

/// Where the scores of points lie, and how often they repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScoreSummary {
    /// The lowest score.
    pub lowest: f64,
    /// The highest score.
    pub highest: f64,
    /// The share of points whose score another point has, too, in `[0, 1]`.
    pub tied: f64,
    /// The share of points with the most frequent score, in `(0, 1]`.
    pub heaviest: f64,
}

/// The counts behind a [`ScoreSummary`].
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

    /// Of a run of points in ascending order, at least one.
    fn of_run(run: &[Packed]) -> Self {
        let (first, last) = (run[0], run[run.len() - 1]);
        let has_twin = |three: &&[Packed]| are_tied(three[0], three[1]) | are_tied(three[1], three[2]);
        let ends = match run {
            [_] => 0,
            [first, second, ..] => {
                let before_last = run[run.len() - 2];
                u64::from(are_tied(*first, *second)) + u64::from(are_tied(before_last, last))
            }
            [] => unreachable!("there is an observation"),
        };
        Self {
            lowest: packed::score(first),
            highest: packed::score(last),
            n: run.len() as u64,
            tied: run.windows(3).filter(has_twin).count() as u64 + ends,
            heaviest: heaviest(run) as u64,
        }
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

/// How many points of a run in ascending order have the most frequent score.
fn heaviest(run: &[Packed]) -> usize {
    let (mut rest, mut heaviest) = (run, 1);
    // More points than the most so far have a score exactly if two of them are that far apart.
    while let Some(far) = rest.get(heaviest..)
        && let Some(start) = rest.iter().zip(far).position(|(&point, &far)| are_tied(point, far))
    {
        rest = &rest[start..];
        heaviest = rest.partition_point(|&point| point <= rest[0] | 1);
        rest = &rest[heaviest..];
    }
    heaviest
}

impl From<Tally> for ScoreSummary {
    fn from(Tally { lowest, highest, n, tied, heaviest }: Tally) -> Self {
        let share = |some: u64| some as f64 / n as f64;
        Self { lowest, highest, tied: share(tied), heaviest: share(heaviest) }
    }
}

impl ScoreSummary {
    /// Looks at at least one point.
    pub(crate) fn of(points: &(impl Points + ?Sized)) -> Result<Self, FitError> {
        let runs = points.map_runs(|groups| {
            let mut tally = Tally::NONE;
            groups.each(|group| tally.add_above(group));
            tally
        })?;
        Ok(runs.into_iter().fold(Tally::NONE, Tally::merge).into())
    }

    /// Looks at points in ascending order.
    pub(crate) fn of_sorted(points: &Sorted) -> Self {
        points.map_points(Tally::of_run).into_iter().fold(Tally::NONE, Tally::merge).into()
    }

    /// Looks at groups; `None` if there are none.
    pub(crate) fn of_groups(groups: &[Group]) -> Option<Self> {
        let tally = groups.iter().copied().map(Tally::of).fold(Tally::NONE, Tally::merge);
        (tally.n > 0).then(|| tally.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::{Collected, Collector, Counted, group, packed};

    proptest! {
        /// With ties of all sizes, at both ends and in several runs.
        #[test]
        fn what_is_sorted_is_looked_at_in_the_same_way(
            ties in proptest::collection::vec((0u32..2000, prop_oneof![Just(1usize), 1usize..5, Just(300_000)]), 1..8),
            singles in 0u32..50,
        ) {
            let tied = ties.iter().flat_map(|&(score, n)| std::iter::repeat_n(score, n));
            let score = |i: u32| calib_core::Score::new(0.25 + i as f32 / 4096.0).unwrap();
            let points: Vec<u32> = tied.chain(0..singles).map(|i| packed::pack(score(i), i % 3 == 0)).collect();
            let expected = ScoreSummary::of(&Counted::new(&points[..]).unwrap()).unwrap();
            prop_assert_eq!(ScoreSummary::of_sorted(&Sorted::new(points)), expected);
        }
    }

    #[test]
    fn shares_are_of_points_however_these_are_kept() {
        let score = |i: u32| calib_core::Score::new((i % 600) as f32 / 1024.0).unwrap();
        // 700 points: the first hundred scores twice, and 0 three times.
        let points: Vec<u32> = (0..700u32).chain([600]).map(|i| packed::pack(score(i), i % 3 == 0)).collect();
        let expected =
            ScoreSummary { lowest: 0.0, highest: 599.0 / 1024.0, tied: 201.0 / 701.0, heaviest: 3.0 / 701.0 };
        assert_eq!(ScoreSummary::of(&Counted::new(&points[..]).unwrap()), Ok(expected));
        let rows = points.iter().map(|&point| (packed::score(point), 1, packed::label(point).into()));
        assert_eq!(ScoreSummary::of(&group(rows.collect())[..]), Ok(expected));
        let mut collector = Collector::new(0);
        collector.extend(points.iter().copied()).unwrap();
        let Some(Collected::Spill(spill)) = collector.finish().unwrap() else { panic!("there is no room") };
        assert_eq!(ScoreSummary::of(&Counted::new(&spill).unwrap()), Ok(expected));
    }
}
