//! Dealing points out into parts at random.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The seed of whatever a fit draws at random.
pub type Seed = u64;

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

    /// For each part, the indices of the other points and of its own, both ascending.
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

/// For every repeat the parts, which are of equal size up to one point, and what is outside of each; indices ascend.
pub(crate) fn deal(n: usize, folds: usize, repeats: usize, seed: u64) -> Vec<Vec<(Vec<usize>, Vec<usize>)>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut deal = || {
        let mut part_of: Vec<usize> = (0..n).map(|i| i % folds).collect();
        for i in (1..n).rev() {
            part_of.swap(i, rng.random_range(0..=i));
        }
        (0..folds).map(|part| (0..n).partition(|&i| part_of[i] != part)).collect()
    };
    (0..repeats).map(|_| deal()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
