//! Dealing points out into parts at random.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::clusters::Units;
use super::seed::Seed;

/// How data are divided for cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossValidation {
    /// The number of parts, at least 2 and at most the number of points.
    pub folds: usize,
    /// The seed of the split into parts.
    pub seed: Seed,
}

impl CrossValidation {
    /// Whether there can be so many parts of `n` points.
    pub(crate) fn is_possible(&self, n: usize) -> bool {
        (2..=n).contains(&self.folds)
    }

    /// For each part, the indices of the other points and of its points, both ascending.
    pub(crate) fn parts(&self, n: usize) -> impl Iterator<Item = (Vec<usize>, Vec<usize>)> {
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(self.seed));
        let mut part_of = vec![0; n];
        for (place, point) in order.into_iter().enumerate() {
            part_of[point] = place % self.folds;
        }
        (0..self.folds).map(move |part| (0..n).partition(|&point| part_of[point] != part))
    }
}

/// For every repeat the parts, and what is outside of each; places ascend. `strata` has a number for every unit: parts hold equal
/// numbers of units, and of those of a stratum, up to one.
pub(crate) fn deal(
    units: &Units,
    strata: &[usize],
    folds: usize,
    repeats: usize,
    seed: u64,
) -> Vec<Vec<(Vec<usize>, Vec<usize>)>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut deal = || {
        let mut order: Vec<usize> = (0..units.count()).collect();
        order.shuffle(&mut rng);
        order.sort_by_key(|&unit| strata[unit]);
        let mut part_of = vec![0; units.count()];
        for (place, unit) in order.into_iter().enumerate() {
            part_of[unit] = place % folds;
        }
        (0..folds)
            .map(|part| (0..units.row_count()).partition(|&place| part_of[units.of(place)] != part))
            .collect()
    };
    (0..repeats).map(|_| deal()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::stats::clusters::Clusters;

    #[test]
    fn every_point_is_left_out_once() {
        let mut seen = vec![0; 11];
        for (kept, left_out) in (CrossValidation { folds: 3, seed: 7 }).parts(11) {
            assert_eq!(kept.len() + left_out.len(), 11);
            assert!((3..=4).contains(&left_out.len()) && kept.is_sorted() && left_out.is_sorted());
            left_out.iter().for_each(|&point| seen[point] += 1);
        }
        assert_eq!(seen, [1; 11]);
    }

    /// Every unit is in one part with all its rows, and every part has its share of each stratum.
    #[test]
    fn no_cluster_is_split_and_every_part_has_its_share() {
        let clusters = Clusters::new((0..60).map(|row| row % 23));
        let units = Units::new(Some(&clusters), &mut (0..60).collect::<Vec<_>>(), |a, b| a == b);
        let strata: Vec<usize> = (0..23).map(|unit| usize::from(unit < 5)).collect();
        for parts in deal(&units, &strata, 5, 3, 7) {
            let mut seen = [0; 60];
            for (outside, inside) in &parts {
                assert!(outside.is_sorted() && inside.is_sorted() && outside.len() + inside.len() == 60);
                inside.iter().for_each(|&place| seen[place] += 1);
                let of =
                    |places: &[usize]| places.iter().map(|&place| units.of(place)).collect::<BTreeSet<_>>();
                let (outside, inside) = (of(outside), of(inside));
                assert!(outside.is_disjoint(&inside) && (4..=5).contains(&inside.len()));
                assert_eq!(inside.iter().filter(|&&unit| unit < 5).count(), 1);
            }
            assert_eq!(seen, [1; 60]);
        }
        let rows = Units::rows(60);
        assert_ne!(deal(&rows, &[0; 60], 5, 1, 7), deal(&rows, &[0; 60], 5, 1, 8));
    }
}
