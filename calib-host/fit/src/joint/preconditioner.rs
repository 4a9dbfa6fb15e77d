//! Something like the Hessian of the log-loss, which is quick to divide by.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rayon::prelude::*;

use super::product::{Entries, add_product};
use super::rows::{Rows, add_to};
use super::shape::Shape;
use crate::stop;

/// The blocks of the Hessian on its diagonal, factored. It speeds up a minimisation, and does not change where that ends.
pub(crate) enum Preconditioner {
    /// None yet.
    Identity,
    /// The diagonal.
    Entries(Vec<f64>),
    /// A block for each class: its row of weights and its intercept.
    Blocks(Vec<Cholesky<f64, Dyn>>),
}

/// A row whose curvature `p (1 - p)` for a class is less counts in the class's block as any other row would: few classes of a
/// row have more, and to multiply out every row for every class would take longer than all the rest.
const LEAST_CURVATURE: f64 = 1.0 / 64.0;

/// So many numbers of rows are multiplied out at once.
const GATHERED_LEN: usize = 1 << 16;

impl Preconditioner {
    /// The diagonal at some probabilities, for a temperature or a diagonal.
    pub(crate) fn entries(shape: Shape, rows: &Rows, probs: &[f64], penalties: &[f64]) -> Self {
        let (n, classes) = (rows.len() as f64, rows.classes());
        let pieces = rows.pieces().zip(probs.par_chunks(rows.piece_rows() * classes));
        let of_pieces = pieces.map(|(piece, probs)| {
            let mut entries = vec![0.0; penalties.len()];
            for (features, probs) in piece.features.chunks_exact(classes).zip(probs.chunks_exact(classes)) {
                if shape == Shape::Temperature {
                    let mean: f64 = probs.iter().zip(features).map(|(p, x)| p * x).sum();
                    let variance = probs.iter().zip(features).map(|(p, x)| p * (x - mean).powi(2));
                    entries[0] += variance.sum::<f64>() / n;
                    continue;
                }
                let (weights, intercepts) = entries.split_at_mut(classes);
                for (class, (&prob, x)) in probs.iter().zip(features).enumerate() {
                    let curvature = curvature(prob) / n;
                    weights[class] += curvature * x * x;
                    intercepts[class] += curvature;
                }
            }
            entries
        });
        let mut entries = penalties.to_vec();
        for of_piece in of_pieces.collect::<Vec<_>>() {
            add_to(&mut entries, &of_piece);
        }
        Self::Entries(entries)
    }

    /// The blocks at some probabilities, for a matrix, given the mean products of the features, extended by 1.
    pub(crate) fn blocks(rows: &Rows, probs: &[f64], moments: &DMatrix<f64>, penalties: &[f64]) -> Self {
        let classes = rows.classes();
        let (weights, intercepts) = penalties.split_at(classes * classes);
        let factored = (0..classes).into_par_iter().map(|class| {
            stop::check();
            let own = weights[class * classes..][..classes].iter().copied().chain([intercepts[class]]);
            let mut block = own_moments(rows, probs, moments, class);
            let ridge = f64::MIN_POSITIVE.sqrt();
            let trace = block.trace() + own.clone().sum::<f64>();
            for (i, penalty) in own.enumerate() {
                block[(i, i)] += penalty + 1e-12 * trace + ridge;
            }
            Cholesky::new(block)
        });
        factored.collect::<Option<_>>().map_or(Self::Identity, Self::Blocks)
    }

    /// Divides a direction.
    pub(crate) fn divide(&self, classes: usize, direction: &[f64], divided: &mut [f64]) {
        match self {
            Self::Identity => divided.copy_from_slice(direction),
            Self::Entries(entries) => {
                for ((divided, direction), entry) in divided.iter_mut().zip(direction).zip(entries) {
                    *divided = if *entry > 0.0 { direction / entry } else { *direction };
                }
            }
            Self::Blocks(blocks) => {
                let (weights, intercepts) = direction.split_at(classes * classes);
                let (to_weights, to_intercepts) = divided.split_at_mut(classes * classes);
                let places = to_weights.par_chunks_exact_mut(classes).zip(to_intercepts);
                let entries = weights.par_chunks_exact(classes).zip(intercepts);
                let all = places.zip(entries).zip(blocks).with_min_len(16);
                all.for_each(|(((to_row, to_intercept), (row, intercept)), block)| {
                    let entries = row.iter().chain([intercept]).copied();
                    let mut solved = DVector::from_iterator(classes + 1, entries);
                    block.solve_mut(&mut solved);
                    to_row.copy_from_slice(&solved.as_slice()[..classes]);
                    *to_intercept = solved[classes];
                });
            }
        }
    }
}

/// The mean products of the features, extended by 1, weighted by the curvature of a class.
fn own_moments(rows: &Rows, probs: &[f64], moments: &DMatrix<f64>, class: usize) -> DMatrix<f64> {
    let (n, len) = (rows.len() as f64, rows.classes() + 1);
    let mut block = vec![0.0; len * len];
    let (mut gathered, mut rest) = (Vec::new(), 0.0);
    let mut multiply_out = |gathered: &mut Vec<f64>| {
        if !gathered.is_empty() {
            add_product(&mut block, Entries::by_columns(gathered, len), Entries::by_rows(gathered, len));
            gathered.clear();
        }
    };
    for (row, &prob) in probs.iter().skip(class).step_by(rows.classes()).enumerate() {
        let curvature = curvature(prob);
        if curvature < LEAST_CURVATURE {
            rest += curvature / n;
            continue;
        }
        let root = (curvature / n).sqrt();
        gathered.extend(rows.features(row).iter().map(|x| root * x));
        gathered.push(root);
        if gathered.len() >= GATHERED_LEN {
            multiply_out(&mut gathered);
        }
    }
    multiply_out(&mut gathered);
    DMatrix::from_vec(len, len, block) + moments * rest
}

fn curvature(prob: f64) -> f64 {
    prob * (1.0 - prob)
}
