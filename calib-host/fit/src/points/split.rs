//! Splitting calibration data at random.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Points;
use super::builder::{BuiltPoints, PointsBuilder};
use super::group::Group;
use crate::error::FitError;
use crate::stats::draw_marked;

/// The draws of a part: of how many points that are left how many are still wanted.
#[derive(Clone)]
struct Draws {
    rng: Xoshiro256PlusPlus,
    left: u64,
    wanted: u64,
}

/// Splits points into two parts or more of equal size, the first ones one larger where `n` does not divide: a uniformly random
/// split of the points without replacement.
///
/// How many points of each score and label go where is drawn, not which: the result depends on the seed and not on the
/// order of the rows, and a row that stands for several points is the same as those points.
pub(crate) fn split(
    points: &(impl Points + ?Sized),
    parts: usize,
    seed: u64,
) -> Result<Vec<BuiltPoints>, FitError> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut left, _) = points.totals();
    let mut all_draws: Vec<Draws> = Vec::new();
    let mut split = Vec::with_capacity(parts);
    for others in (1..parts as u64).rev() {
        let wanted = left.div_ceil(others + 1);
        all_draws.push(Draws { rng, left, wanted });
        left -= wanted;
        // What the parts before have left of a group is drawn again: a group that they have used up takes draws, too.
        let mut draws = all_draws.clone();
        let (mut part, mut rest) =
            (PointsBuilder::of(points), (others == 1).then(|| PointsBuilder::of(points)));
        points.walk(&mut |mut group| {
            let mut taken = Group { n: 0, positives: 0, ..group };
            draws.iter_mut().for_each(|draws| taken = draws.take(&mut group));
            part.add(taken)?;
            rest.as_mut().map_or(Ok(()), |rest| rest.add(group))
        })?;
        split.push(part.finish()?);
        if let Some(rest) = rest {
            split.push(rest.finish()?);
        }
        rng = draws.pop().expect("one for every part").rng;
    }
    Ok(split)
}

/// Draws so many points, or all if there are fewer, without replacement: as [`split`], whatever the order of the rows.
pub(crate) fn sample(
    points: &(impl Points + ?Sized),
    wanted: u64,
    seed: u64,
) -> Result<Vec<Group>, FitError> {
    let (left, _) = points.totals();
    let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut draws = Draws { rng, left, wanted: wanted.min(left) };
    let mut taken = Vec::new();
    points.walk(&mut |mut group| {
        taken.extend(Some(draws.take(&mut group)).filter(|group| group.n > 0));
        Ok(())
    })?;
    Ok(taken)
}

impl Draws {
    /// Takes points from a group.
    fn take(&mut self, group: &mut Group) -> Group {
        let positives = self.draw(group.positives);
        let n = positives + self.draw(group.n - group.positives);
        group.n -= n;
        group.positives -= positives;
        Group { n, positives, ..*group }
    }

    fn draw(&mut self, here: u64) -> u64 {
        let drawn = draw_marked(&mut self.rng, self.left, here, self.wanted);
        self.left -= here;
        self.wanted -= drawn;
        drawn
    }
}

/// [`split`] of groups, into two parts or more.
pub(crate) fn split_groups(groups: &[Group], parts: usize, seed: u64) -> Vec<Vec<Group>> {
    let split = split(groups, parts, seed).expect("groups are in memory");
    let groups = |part| match part {
        BuiltPoints::Groups(groups) => groups,
        BuiltPoints::Memory(_) | BuiltPoints::Disk(_) => unreachable!("parts of groups are groups"),
    };
    split.into_iter().map(groups).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_distr::{Distribution, Hypergeometric};

    use super::*;
    use crate::points::group::{group, totals};
    use crate::points::{Collected, Collector, Counted, packed};

    /// One part after the other, from groups that stay when nothing is left of them.
    fn by_definition(groups: &[Group], parts: usize, seed: u64) -> Vec<Vec<Group>> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut rest = groups.to_vec();
        let part = |part: usize| {
            let (mut left, _) = totals(&rest);
            let mut wanted = left.div_ceil((parts - part) as u64);
            let mut draw = |here: u64| {
                let drawn = Hypergeometric::new(left, here, wanted).unwrap().sample(&mut rng);
                left -= here;
                wanted -= drawn;
                drawn
            };
            let mut taken = Vec::new();
            for group in &mut rest {
                let positives = draw(group.positives);
                let n = positives + draw(group.n - group.positives);
                (group.n, group.positives) = (group.n - n, group.positives - positives);
                taken.push(Group { n, positives, ..*group });
            }
            taken.retain(|group| group.n > 0);
            taken
        };
        (0..parts).map(part).collect()
    }

    proptest! {
        #[test]
        fn parts_add_up(raw in proptest::collection::vec((0u32..9, 1u64..4, any::<bool>()), 1..40), parts in 2usize..5) {
            let points = raw.into_iter().map(|(s, n, y)| (f64::from(s), n, if y { n } else { 0 })).collect();
            let groups = group(points);
            let split = split_groups(&groups, parts, 7);
            let sizes: Vec<u64> = split.iter().map(|part| totals(part).0).collect();
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            let joined = split.concat().iter().map(|g| (g.score, g.n, g.positives)).collect();
            prop_assert_eq!(group(joined), groups);
        }

        /// Points that are packed, in memory or on a disk, are split as their groups are.
        #[test]
        fn the_parts_are_the_same_however_points_are_kept(
            raw in proptest::collection::vec((0u32..40, any::<bool>()), 1..80), parts in 2usize..4, seed in any::<u64>(),
        ) {
            let score = |s: u32| calib_core::Score::new(s as f32 / 64.0).unwrap();
            let points: Vec<_> = raw.iter().map(|&(s, label)| packed::pack(score(s), label)).collect();
            let groups = group(raw.iter().map(|&(s, y)| (f64::from(score(s).get()), 1, y.into())).collect());
            let expected = split_groups(&groups, parts, seed);
            prop_assert_eq!(&expected, &by_definition(&groups, parts, seed));
            let mut collector = Collector::new(0);
            collector.extend(points.iter().copied()).unwrap();
            let Some(Collected::Spill(spill)) = collector.finish().unwrap() else { panic!("there is no room") };
            let groups = |parts: Vec<BuiltPoints>| parts.iter().map(|part| part.groups().unwrap()).collect::<Vec<_>>();
            let memory = split(&Counted::new(&points[..]).unwrap(), parts, seed).unwrap();
            prop_assert_eq!(groups(memory), &expected[..]);
            let disk = split(&Counted::new(&spill).unwrap(), parts, seed).unwrap();
            prop_assert_eq!(groups(disk), &expected[..]);
        }
    }

    /// Each point is as likely in one half as in the other.
    #[test]
    fn is_uniform() {
        let groups = [Group { score: 0.1, n: 10, positives: 3 }, Group { score: 0.2, n: 30, positives: 20 }];
        let mean = (0..2000)
            .map(|seed| totals(&split_groups(&groups, 2, seed)[0][..1]))
            .map(|(n, positives)| n as f64 + 100.0 * positives as f64)
            .sum::<f64>()
            / 2000.0;
        // 5 of 10 points and 1.5 of 3 positives on average; standard errors 0.03 and 0.02 * 100.
        assert!((mean - 155.0).abs() < 8.0, "{mean}");
    }
}
