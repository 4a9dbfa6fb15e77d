//! Splitting calibration data at random.

use rand::SeedableRng;
use rand_distr::{Distribution, Hypergeometric};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::group::{Group, totals};

/// Splits groups into parts of equal size, the first ones one larger where `n` does not divide: a uniformly random split
/// of the points without replacement.
///
/// How many points of each score and label go where is drawn, not which: the result depends on the seed and not on the
/// order of the rows, and a row that stands for several points is the same as those points.
pub(crate) fn split(groups: &[Group], parts: usize, seed: u64) -> Vec<Vec<Group>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut rest = groups.to_vec();
    let mut split = Vec::with_capacity(parts);
    for part in 0..parts {
        let (n, _) = totals(&rest);
        let size = n.div_ceil((parts - part) as u64);
        split.push(take(&mut rest, n, size, &mut rng));
    }
    split
}

/// Takes `size` of the `n` points in `rest` at random.
fn take(rest: &mut [Group], n: u64, size: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<Group> {
    let (mut points, mut wanted) = (n, size);
    let mut draw = |here: u64| {
        let drawn = Hypergeometric::new(points, here, wanted).expect("no more than there are").sample(rng);
        points -= here;
        wanted -= drawn;
        drawn
    };
    let mut taken = Vec::with_capacity(rest.len());
    for group in rest.iter_mut() {
        let positives = draw(group.positives);
        let negatives = draw(group.n - group.positives);
        group.n -= positives + negatives;
        group.positives -= positives;
        if positives + negatives > 0 {
            taken.push(Group { score: group.score, n: positives + negatives, positives });
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::group::group;

    proptest! {
        #[test]
        fn parts_add_up(raw in proptest::collection::vec((0u32..9, 1u64..4, any::<bool>()), 1..40), parts in 1usize..4) {
            let points = raw.into_iter().map(|(s, n, y)| (f64::from(s), n, if y { n } else { 0 })).collect();
            let groups = group(points);
            let split = split(&groups, parts, 7);
            let sizes: Vec<u64> = split.iter().map(|part| totals(part).0).collect();
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            let joined = split.concat().iter().map(|g| (g.score, g.n, g.positives)).collect();
            prop_assert_eq!(group(joined), groups);
        }
    }

    /// Each point is as likely in one half as in the other.
    #[test]
    fn is_uniform() {
        let groups = [Group { score: 0.1, n: 10, positives: 3 }, Group { score: 0.2, n: 30, positives: 20 }];
        let mean = (0..2000)
            .map(|seed| totals(&split(&groups, 2, seed)[0][..1]))
            .map(|(n, positives)| n as f64 + 100.0 * positives as f64)
            .sum::<f64>()
            / 2000.0;
        // 5 of 10 points and 1.5 of 3 positives on average; standard errors 0.03 and 0.02 * 100.
        assert!((mean - 155.0).abs() < 8.0, "{mean}");
    }
}
