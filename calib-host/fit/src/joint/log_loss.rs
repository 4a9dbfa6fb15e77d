//! The log-loss of scaling a vector, as a function of the parameters.

use nalgebra::{DMatrix, DVector, SymmetricEigen};
use rayon::prelude::*;

use super::preconditioner::Preconditioner;
use super::product::{Entries, add_product};
use super::rows::{Piece, Rows, add_to};
use super::shape::Shape;
use crate::stats::{Convex, softmax};

/// The off-diagonal and intercept regularisation of a matrix (Kull et al. 2019, section 4): to the mean log-loss are
/// added `lambda` times the mean of the squared off-diagonal weights and `mu` times the mean of the squared intercepts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Odir {
    /// The penalty of off-diagonal weights, at least 0.
    pub lambda: f64,
    /// The penalty of intercepts, at least 0.
    pub mu: f64,
}

/// What each parameter's squared difference from the one that changes nothing costs, halved.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Penalties {
    /// Of weights on the diagonal.
    pub(crate) diagonal: f64,
    /// Of the other weights.
    pub(crate) others: f64,
    /// Of intercepts.
    pub(crate) intercepts: f64,
}

impl Penalties {
    /// Those of structured scaling: Berta et al. weigh the squares by `L / n`, and those beside the diagonal by `L (L - 1) / n`.
    pub(crate) fn structured(classes: usize, n: usize) -> Self {
        let (classes, n) = (classes as f64, n as f64);
        let diagonal = 2.0 * classes / n;
        Self { diagonal, others: diagonal * (classes - 1.0), intercepts: diagonal }
    }

    fn of_each(self, shape: Shape, classes: usize) -> Vec<f64> {
        let mut parameters = shape.identity(classes);
        let (weights, intercepts) = parameters.split_at_mut(shape.weights(classes));
        for weight in weights {
            *weight = if *weight == 1.0 { self.diagonal } else { self.others };
        }
        intercepts.fill(self.intercepts);
        parameters
    }
}

/// The mean log-loss of rows, with penalties.
pub(crate) struct LogLoss<'a> {
    shape: Shape,
    rows: &'a Rows,
    /// For every parameter, the factor of half its squared difference from the one that changes nothing.
    penalties: Vec<f64>,
    /// The parameters that change nothing.
    identity: Vec<f64>,
    /// The probabilities at the point last moved to, row-major.
    probs: Vec<f64>,
    preconditioner: Preconditioner,
    /// The mean products of the features, extended by 1, of a full matrix.
    moments: Option<DMatrix<f64>>,
    /// Where rows of a matrix and their intercepts may go, if not everywhere.
    subspace: Option<DMatrix<f64>>,
}

/// Features, extended by 1, that vary less along some direction than this part of the most, squared, do not vary there:
/// logits often sum to the same number up to the rounding of an `f32`, and weights must not magnify that.
const VARIATION: f64 = 1e-10;

impl<'a> LogLoss<'a> {
    /// Prepares the loss; where the features of a class vary so little beside another's that no matrix of weights sees them,
    /// names both classes instead.
    pub(crate) fn new(shape: Shape, penalties: Penalties, rows: &'a Rows) -> Result<Self, (usize, usize)> {
        let classes = rows.classes();
        let identity = shape.identity(classes);
        let moments = (shape == Shape::Full).then(|| moments(rows));
        // A penalty of the weights decides where nothing else does.
        let free = moments.as_ref().filter(|_| penalties.others == 0.0);
        if let Some(unseen) = free.and_then(|moments| unseen(moments, classes)) {
            return Err(unseen);
        }
        let subspace = free.and_then(varying);
        let probs = vec![0.0; rows.len() * classes];
        Ok(Self {
            shape,
            rows,
            penalties: penalties.of_each(shape, classes),
            identity,
            probs,
            preconditioner: Preconditioner::Identity,
            moments,
            subspace,
        })
    }

    /// Whether no row is predicted wrongly, and some rightly, by parameters that no penalty holds: the loss then falls for ever
    /// as they grow.
    pub(crate) fn is_separated(&self, parameters: &[f64]) -> bool {
        if self.penalty(parameters) > 0.0 {
            return false;
        }
        let classes = self.rows.classes();
        // The least and the largest lead of a label over the best of the other classes.
        let of_piece = |piece: Piece<'_>| {
            let mut scaled = vec![0.0; piece.features.len()];
            self.shape.scale(classes, parameters, piece.features, &mut scaled);
            let leads = scaled.chunks_exact(classes).zip(piece.labels).map(|(row, &label)| {
                let others = row.iter().enumerate().filter(|&(class, _)| class != usize::from(label));
                row[usize::from(label)] - others.map(|(_, &scaled)| scaled).fold(f64::NEG_INFINITY, f64::max)
            });
            leads.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), lead| {
                (least.min(lead), most.max(lead))
            })
        };
        let least_and_most = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let (least, most) =
            self.rows.pieces().map(of_piece).reduce(|| (f64::INFINITY, f64::NEG_INFINITY), least_and_most);
        least >= 0.0 && most > 0.0
    }

    /// Takes from parameters what leads where the features do not vary.
    fn project(&self, parameters: &mut [f64]) {
        let Some(projection) = &self.subspace else { return };
        let classes = self.rows.classes();
        let (weights, intercepts) = parameters.split_at_mut(classes * classes);
        for (row, intercept) in weights.chunks_exact_mut(classes).zip(intercepts) {
            let extended = row.iter().copied().chain([*intercept]);
            let projected = projection * DVector::from_iterator(classes + 1, extended);
            row.copy_from_slice(&projected.as_slice()[..classes]);
            *intercept = projected[classes];
        }
    }

    fn penalty(&self, at: &[f64]) -> f64 {
        let terms = at.iter().zip(&self.identity).zip(&self.penalties);
        terms.map(|((at, identity), penalty)| penalty * (at - identity) * (at - identity) / 2.0).sum()
    }

    /// Adds penalties to a product of the loss's Hessian with a direction, or to its gradient in that direction from the identity.
    fn add_penalties(&self, direction: impl Iterator<Item = f64>, product: &mut [f64]) {
        for ((product, direction), penalty) in product.iter_mut().zip(direction).zip(&self.penalties) {
            *product += penalty * direction;
        }
    }
}

/// Replaces the scaled features of a piece by their softmax, and returns the sum of the log-losses.
fn softmax_losses(scaled: &mut [f64], piece: Piece<'_>, classes: usize) -> f64 {
    let rows = scaled.chunks_exact_mut(classes).zip(piece.labels);
    let loss = |(row, &label): (&mut [f64], &u16)| {
        let at_label = row[usize::from(label)];
        softmax(row) - at_label
    };
    rows.map(loss).sum()
}

/// The mean products of the features, extended by 1.
fn moments(rows: &Rows) -> DMatrix<f64> {
    let len = rows.classes() + 1;
    let sums = rows.sums(len * len, |piece, sums| {
        let mut extended = Vec::with_capacity(piece.labels.len() * len);
        for features in piece.features.chunks_exact(len - 1) {
            extended.extend_from_slice(features);
            extended.push(1.0);
        }
        add_product(sums, Entries::by_columns(&extended, len), Entries::by_rows(&extended, len));
    });
    DMatrix::from_vec(len, len, sums) / rows.len() as f64
}

/// A class whose features are all but 0 beside those of another, and that one, of the mean products of the features.
fn unseen(moments: &DMatrix<f64>, classes: usize) -> Option<(usize, usize)> {
    let square = |class: usize| moments[(class, class)];
    let by_size = |a: &usize, b: &usize| square(*a).total_cmp(&square(*b));
    let high = (0..classes).max_by(by_size)?;
    let low = (0..classes).filter(|&class| square(class) > 0.0).min_by(by_size)?;
    (square(low) < VARIATION * square(high)).then_some((low, high))
}

/// The projection onto the directions along which the features, extended by 1, vary; `None` if these are all.
fn varying(moments: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let eigen = SymmetricEigen::new(moments.clone());
    let least = VARIATION * eigen.eigenvalues.max();
    if eigen.eigenvalues.iter().all(|&value| value > least) {
        return None;
    }
    let mut projection = DMatrix::zeros(moments.nrows(), moments.nrows());
    for (vector, &value) in eigen.eigenvectors.column_iter().zip(&eigen.eigenvalues) {
        if value > least {
            projection.ger(1.0, &vector, &vector, 1.0);
        }
    }
    Some(projection)
}

impl Convex for LogLoss<'_> {
    fn move_to(&mut self, at: &[f64], gradient: &mut [f64]) -> f64 {
        let (shape, rows, classes) = (self.shape, self.rows, self.rows.classes());
        let n = rows.len() as f64;
        let of_piece = |(piece, probs): (Piece<'_>, &mut [f64])| {
            shape.scale(classes, at, piece.features, probs);
            let loss = softmax_losses(probs, piece, classes);
            let mut change: Vec<f64> = probs.iter().map(|prob| prob / n).collect();
            for (change, &label) in change.chunks_exact_mut(classes).zip(piece.labels) {
                let prob = &mut change[usize::from(label)];
                *prob -= 1.0 / n;
            }
            let mut gradient = vec![0.0; at.len()];
            shape.add_transposed(classes, &change, piece.features, &mut gradient);
            (loss, gradient)
        };
        let pieces = rows.pieces().zip(self.probs.par_chunks_mut(rows.piece_rows() * classes));
        let of_pieces: Vec<(f64, Vec<f64>)> = pieces.map(of_piece).collect();
        gradient.fill(0.0);
        let mut sum = 0.0;
        for (loss, of_piece) in of_pieces {
            sum += loss;
            add_to(gradient, &of_piece);
        }
        self.add_penalties(at.iter().zip(&self.identity).map(|(at, identity)| at - identity), gradient);
        self.project(gradient);
        self.preconditioner = match &self.moments {
            Some(moments) => Preconditioner::blocks(rows, &self.probs, moments, &self.penalties),
            None => Preconditioner::entries(shape, rows, &self.probs, &self.penalties),
        };
        sum / n + self.penalty(at)
    }

    fn hessian_times(&self, direction: &[f64], product: &mut [f64]) {
        let (shape, classes) = (self.shape, self.rows.classes());
        let n = self.rows.len() as f64;
        let of_piece = |(piece, probs): (Piece<'_>, &[f64])| {
            let mut change = vec![0.0; probs.len()];
            shape.scale(classes, direction, piece.features, &mut change);
            for (change, probs) in change.chunks_exact_mut(classes).zip(probs.chunks_exact(classes)) {
                let mean: f64 = probs.iter().zip(&*change).map(|(prob, change)| prob * change).sum();
                change.iter_mut().zip(probs).for_each(|(change, prob)| *change = prob * (*change - mean) / n);
            }
            let mut product = vec![0.0; direction.len()];
            shape.add_transposed(classes, &change, piece.features, &mut product);
            product
        };
        let pieces = self.rows.pieces().zip(self.probs.par_chunks(self.rows.piece_rows() * classes));
        product.fill(0.0);
        for of_piece in pieces.map(of_piece).collect::<Vec<_>>() {
            add_to(product, &of_piece);
        }
        self.add_penalties(direction.iter().copied(), product);
        self.project(product);
    }

    fn precondition(&self, direction: &[f64], divided: &mut [f64]) {
        self.preconditioner.divide(self.rows.classes(), direction, divided);
        if self.shape == Shape::Full {
            self.project(divided);
        }
    }

    /// The largest change of the difference of two classes' logits in a row, of classes that have a probability: a logit that
    /// masks a class moves far, and moves no prediction.
    fn reach(&self, step: &[f64]) -> f64 {
        let classes = self.rows.classes();
        let of_piece = |(piece, probs): (Piece<'_>, &[f64])| {
            let mut change = vec![0.0; piece.features.len()];
            self.shape.scale(classes, step, piece.features, &mut change);
            let span = |(change, probs): (&[f64], &[f64])| {
                let possible = change.iter().zip(probs).filter(|&(_, &prob)| prob > 0.0);
                let (min, max) = possible
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), (&change, _)| {
                        (min.min(change), max.max(change))
                    });
                max - min
            };
            change.chunks_exact(classes).zip(probs.chunks_exact(classes)).map(span).fold(0.0, f64::max)
        };
        let pieces = self.rows.pieces().zip(self.probs.par_chunks(self.rows.piece_rows() * classes));
        pieces.map(of_piece).reduce(|| 0.0, f64::max)
    }
}
