//! Something like the Hessian of the log-loss, which is quick to divide by.

use nalgebra::{Cholesky, DMatrix, DVector, DVectorViewMut, Dyn};
use rayon::prelude::*;

use super::product::add_outer;
use super::rows::{Rows, add_to};
use super::shape::Shape;
use crate::parallel;

/// The Hessian or a part of it, factored. It speeds up a minimization, and does not change where that ends.
pub(crate) enum Preconditioner {
    /// None yet.
    Identity,
    /// The diagonal.
    Entries(Vec<f64>),
    /// The blocks on the diagonal, one for each class: its row of weights and its intercept.
    Blocks(Vec<Cholesky<f64, Dyn>>),
    /// All of it.
    Whole(Cholesky<f64, Dyn>),
}

/// A row whose curvature `p (1 - p)` for a class is less counts in the class's block as any other row would: few classes of a
/// row have more, and to multiply out every row for every class would take longer than all the rest.
const LEAST_CURVATURE: f64 = 1.0 / 64.0;

/// A block is made of about so many rows for each of its parameters, if there are more.
const BLOCK_ROWS_PER_PARAMETER: usize = 16;

/// The whole Hessian is factored if there are at most so many parameters.
const WHOLE_PARAMETERS: usize = 300;

/// It is made of about so many rows for each parameter, if there are more.
const WHOLE_ROWS_PER_PARAMETER: usize = 64;

/// The rows are divided into at most this many parts for several processors, each with a separate sum.
const MOST_PARTS: usize = 8;

/// So many numbers of rows are multiplied out at once.
const GATHERED_LEN: usize = 1 << 14;

impl Preconditioner {
    /// The diagonal at some probabilities, for a temperature or a diagonal.
    pub(crate) fn entries(shape: Shape, rows: &Rows, probs: &[f32], penalties: &[f64]) -> Self {
        let (n, classes) = (rows.len() as f64, rows.classes());
        let pieces = rows.chunks().zip(probs.chunks(rows.piece_rows() * classes));
        let of_pieces = parallel::map(pieces, |(chunk, probs)| {
            let (mut features, mut entries) = (Vec::new(), vec![0.0; penalties.len()]);
            for (block, probs) in chunk.blocks().zip(probs.chunks(chunk.block_len())) {
                block.write_features(&mut features);
                for (features, probs) in features.chunks_exact(classes).zip(probs.chunks_exact(classes)) {
                    let probs = probs.iter().map(|&prob| f64::from(prob));
                    if shape == Shape::Temperature {
                        let mean: f64 = probs.clone().zip(features).map(|(p, x)| p * x).sum();
                        entries[0] +=
                            probs.zip(features).map(|(p, x)| p * (x - mean).powi(2)).sum::<f64>() / n;
                        continue;
                    }
                    let (weights, intercepts) = entries.split_at_mut(classes);
                    for (class, (prob, x)) in probs.zip(features).enumerate() {
                        let curvature = curvature(prob) / n;
                        weights[class] += curvature * x * x;
                        intercepts[class] += curvature;
                    }
                }
            }
            entries
        });
        let mut entries = penalties.to_vec();
        for of_chunk in of_pieces {
            add_to(&mut entries, &of_chunk);
        }
        Self::Entries(entries)
    }

    /// That of a matrix at some probabilities, given the mean products of the features, extended by 1.
    pub(crate) fn of_matrix(rows: &Rows, probs: &[f32], moments: &DMatrix<f64>, penalties: &[f64]) -> Self {
        if penalties.len() <= WHOLE_PARAMETERS
            && let Some(whole) = Self::whole(rows, probs, moments, penalties)
        {
            return whole;
        }
        Self::blocks(rows, probs, moments, penalties)
    }

    /// The Hessian of some of the rows, and what is missing where it vanishes: along the same row added to all rows of weights.
    fn whole(rows: &Rows, probs: &[f32], moments: &DMatrix<f64>, penalties: &[f64]) -> Option<Self> {
        let (classes, len, parameters) = (rows.classes(), rows.classes() + 1, penalties.len());
        let step = (rows.len() / (WHOLE_ROWS_PER_PARAMETER * parameters)).max(1);
        let some: Vec<usize> = (0..rows.len()).step_by(step).collect();
        let place = |class: usize, entry: usize| {
            if entry < classes { class * classes + entry } else { classes * classes + class }
        };
        let of_part = |some: &[usize]| {
            let mut sum = vec![0.0; parameters * parameters];
            let mut own = vec![0.0; classes * len * len];
            let mut products = Vec::new();
            for some in some.chunks((GATHERED_LEN / parameters).max(1)) {
                products.clear();
                for &row in some {
                    let probs = probs[row * classes..][..classes].iter().map(|&prob| f64::from(prob));
                    let features = rows.features(row);
                    probs.clone().for_each(|prob| products.extend(features.clone().map(|x| -prob * x)));
                    products.extend(probs.clone().map(|prob| -prob));
                    let extended: Vec<f64> = features.chain([1.0]).collect();
                    for (own, prob) in own.chunks_exact_mut(len * len).zip(probs) {
                        for (own, x) in own.chunks_exact_mut(len).zip(&extended) {
                            own.iter_mut().zip(&extended).for_each(|(own, y)| *own += prob * x * y);
                        }
                    }
                }
                add_outer(&mut sum, &products, &products, parameters);
            }
            (sum, own)
        };
        let parts = parallel::map(some.chunks(some.len().div_ceil(MOST_PARTS)), of_part);
        let (mut sum, mut own) = (vec![0.0; parameters * parameters], vec![0.0; classes * len * len]);
        for part in parts {
            add_to(&mut sum, &part.0);
            add_to(&mut own, &part.1);
        }
        let mut hessian = -DMatrix::from_vec(parameters, parameters, sum);
        let mut curvature = 0.0;
        for (class, own) in own.chunks_exact(len * len).enumerate() {
            for (at, own) in own.iter().enumerate() {
                hessian[(place(class, at / len), place(class, at % len))] += own;
            }
            let constant = place(class, classes);
            curvature += hessian[(constant, constant)] / classes as f64;
        }
        hessian /= some.len() as f64;
        let missing = moments * (curvature / (some.len() * classes) as f64);
        for (one, other) in (0..classes).flat_map(|one| (0..classes).map(move |other| (one, other))) {
            for (i, j) in (0..len).flat_map(|i| (0..len).map(move |j| (i, j))) {
                hessian[(place(one, i), place(other, j))] += missing[(i, j)];
            }
        }
        let ridge = 1e-12 * hessian.trace() + f64::MIN_POSITIVE.sqrt();
        for (at, penalty) in penalties.iter().enumerate() {
            hessian[(at, at)] += penalty + ridge;
        }
        Cholesky::new(hessian).map(Self::Whole)
    }

    /// The blocks at some probabilities, for a matrix, given the mean products of the features, extended by 1.
    fn blocks(rows: &Rows, probs: &[f32], moments: &DMatrix<f64>, penalties: &[f64]) -> Self {
        let classes = rows.classes();
        let (weights, intercepts) = penalties.split_at(classes * classes);
        let by_class = Curved::by_class(rows, probs);
        let factored = parallel::map(by_class.iter().enumerate(), |(class, curved)| {
            let own = weights[class * classes..][..classes].iter().copied().chain([intercepts[class]]);
            let mut block = curved.moments(rows, probs, class) + moments * (curved.rest / rows.len() as f64);
            let ridge = f64::MIN_POSITIVE.sqrt();
            let trace = block.trace() + own.clone().sum::<f64>();
            for (i, penalty) in own.enumerate() {
                block[(i, i)] += penalty + 1e-12 * trace + ridge;
            }
            Cholesky::new(block)
        });
        factored.into_iter().collect::<Option<_>>().map_or(Self::Identity, Self::Blocks)
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
            Self::Whole(whole) => {
                divided.copy_from_slice(direction);
                whole.solve_mut(&mut DVectorViewMut::from_slice(divided, direction.len()));
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

/// The curvature of the rows for a class.
#[derive(Clone, Default)]
struct Curved {
    /// The rows that have much.
    rows: Vec<u32>,
    /// The sum over all others.
    rest: f64,
}

impl Curved {
    fn by_class(rows: &Rows, probs: &[f32]) -> Vec<Self> {
        let (classes, piece_rows) = (rows.classes(), rows.piece_rows());
        let of_chunk = |(chunk, probs): (usize, &[f32])| {
            let mut by_class = vec![Self::default(); classes];
            for (row, probs) in (chunk * piece_rows..).zip(probs.chunks_exact(classes)) {
                for (curved, &prob) in by_class.iter_mut().zip(probs) {
                    let curvature = curvature(prob.into());
                    if curvature < LEAST_CURVATURE {
                        curved.rest += curvature;
                    } else {
                        curved.rows.push(row as u32);
                    }
                }
            }
            by_class
        };
        let mut all = vec![Self::default(); classes];
        for by_class in parallel::map(probs.chunks(piece_rows * classes).enumerate(), of_chunk) {
            for (all, curved) in all.iter_mut().zip(by_class) {
                all.rows.extend(curved.rows);
                all.rest += curved.rest;
            }
        }
        all
    }

    /// The mean products of the features, extended by 1, weighted by the curvature of about as many of the rows as a block needs.
    fn moments(&self, rows: &Rows, probs: &[f32], class: usize) -> DMatrix<f64> {
        let (n, classes, len) = (rows.len() as f64, rows.classes(), rows.classes() + 1);
        let step = (self.rows.len() / (BLOCK_ROWS_PER_PARAMETER * len)).max(1);
        let (mut block, mut gathered) = (vec![0.0; len * len], Vec::new());
        let some: Vec<usize> = self.rows.iter().step_by(step).map(|&row| row as usize).collect();
        for some in some.chunks((GATHERED_LEN / len).max(1)) {
            gathered.clear();
            for &row in some {
                let root = (curvature(probs[row * classes + class].into()) * step as f64 / n).sqrt();
                gathered.extend(rows.features(row).chain([1.0]).map(|x| root * x));
            }
            add_outer(&mut block, &gathered, &gathered, len);
        }
        DMatrix::from_vec(len, len, block)
    }
}

fn curvature(prob: f64) -> f64 {
    prob * (1.0 - prob)
}
