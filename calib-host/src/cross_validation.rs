//! Choosing a regularisation by cross-validation.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::method::Seed;
use crate::vector_data::VectorData;
use crate::vector_scaling::{Odir, VectorScalingError, VectorScalingMethod, features};

/// How data are divided for cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossValidation {
    /// The number of parts, at least 2 and at most the number of points.
    pub folds: usize,
    /// The seed of the split into parts.
    pub seed: Seed,
}

/// The penalties that are tried, of the off-diagonal weights and of the intercepts alike.
const PENALTIES: [f64; 7] = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

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

impl VectorScalingMethod {
    /// The same method with the one of seven penalties, from 1e-5 to 10, whose log-loss on points left out is least; the
    /// larger among equals. A method without penalties stays as it is.
    ///
    /// # Errors
    ///
    /// If there is no finite optimum with any of them, or the number of parts is out of range.
    pub fn cross_validated(
        &self,
        data: &VectorData,
        log_probs: bool,
        parts: CrossValidation,
    ) -> Result<Self, VectorScalingError> {
        if !parts.is_possible(data.len()) {
            return Err(VectorScalingError::Folds { folds: parts.folds, n: data.len() });
        }
        let with: fn(Odir) -> Self = match self {
            Self::Matrix(_) => Self::Matrix,
            Self::Dirichlet(_) => Self::Dirichlet,
            _ => return Ok(*self),
        };
        let input = self.input(data, log_probs);
        let features = features(data, input);
        let parts: Vec<_> = parts.parts(data.len()).collect();
        let mut best: Option<(f64, Self)> = None;
        for penalty in PENALTIES {
            let method = with(Odir { lambda: penalty, mu: penalty });
            let mut sum = 0.0;
            for (kept, left_out) in &parts {
                // Without a finite optimum the loss may be anything.
                sum += match method.fit_rows(data, input, &features, kept) {
                    Ok(model) => model.log_loss(data, &features, left_out),
                    Err(_) => f64::INFINITY,
                };
            }
            if sum.is_finite() && best.is_none_or(|(least, _)| sum <= least) {
                best = Some((sum, method));
            }
        }
        best.map(|(_, method)| method).ok_or(VectorScalingError::Separated)
    }
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
