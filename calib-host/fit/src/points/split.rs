//! Splitting calibration data at random.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Points;
use super::group::Group;
use super::kept::{Keeper, Kept};
use crate::error::FitError;
use crate::stats::draw_marked;

/// Splits points into parts of equal size, the first ones one larger where `n` does not divide: a uniformly random split
/// of the points without replacement.
///
/// How many points of each score and label go where is drawn, not which: the result depends on the seed and not on the
/// order of the rows, and a row that stands for several points is the same as those points.
pub(crate) fn split(points: &(impl Points + ?Sized), parts: usize, seed: u64) -> Result<Vec<Kept>, FitError> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut split = Vec::with_capacity(parts);
    let mut rest: Option<Kept> = None;
    for left in (2..=parts as u64).rev() {
        let (part, others) = match &rest {
            None => divide(points, left, &mut rng)?,
            Some(rest) => divide(rest, left, &mut rng)?,
        };
        split.push(part);
        rest = Some(others);
    }
    split.extend(rest);
    Ok(split)
}

/// [`split`] of groups, into two parts or more.
pub(crate) fn split_groups(groups: &[Group], parts: usize, seed: u64) -> Vec<Vec<Group>> {
    let split = split(groups, parts, seed).expect("groups are in memory");
    let groups = |part| match part {
        Kept::Groups(groups) => groups,
        Kept::Memory(_) | Kept::Disk(_) => unreachable!("parts of groups are groups"),
    };
    split.into_iter().map(groups).collect()
}

/// Takes one of so many parts of equal size at random; returns it and the others.
fn divide(
    points: &(impl Points + ?Sized),
    parts: u64,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<(Kept, Kept), FitError> {
    let (mut left, _) = points.totals();
    let mut wanted = left.div_ceil(parts);
    let mut draw = |here: u64| {
        let drawn = draw_marked(rng, left, here, wanted);
        left -= here;
        wanted -= drawn;
        drawn
    };
    let (mut taken, mut others) = (Keeper::of(points), Keeper::of(points));
    points.walk(&mut |group| {
        let positives = draw(group.positives);
        let n = positives + draw(group.n - group.positives);
        taken.add(Group { n, positives, ..group })?;
        others.add(Group { n: group.n - n, positives: group.positives - positives, ..group })
    })?;
    Ok((taken.finish()?, others.finish()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::group::{group, totals};
    use crate::points::{Collected, Collector, Counted, packed};

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
            let mut collector = Collector::new(0);
            collector.extend(points.iter().copied()).unwrap();
            let Collected::Spill(spill) = collector.finish().unwrap() else { panic!("there is no room") };
            let groups = |parts: Vec<Kept>| parts.iter().map(|part| part.groups().unwrap()).collect::<Vec<_>>();
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
