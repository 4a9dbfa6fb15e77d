//! The log-loss of scaling a vector, as a function of the parameters.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::preconditioner::Preconditioner;
use super::product::{Number, add_outer};
use super::rows::{Chunk, Rows, add_to};
use super::shape::Shape;
use crate::parallel;
use crate::stats::{Convex, softmax};

/// The off-diagonal and intercept regularization of a matrix (Kull et al. 2019, section 4): to the mean log-loss are
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
    /// The probabilities at the point last moved to, row-major: nothing that they serve for needs more digits.
    probs: Vec<f32>,
    /// The loss there.
    value: f64,
    preconditioner: Preconditioner,
    /// The loss at the point that the preconditioner is of.
    prepared_at: f64,
    /// The norm of the gradient when products with the Hessian were last prepared for.
    norm: f64,
    /// Whether products with the Hessian are computed in `f64`, in place of `f32`, which takes half the time.
    exact: bool,
    /// The mean products of the features, extended by 1, of a full matrix.
    moments: Option<DMatrix<f64>>,
    /// Where rows of a matrix and their intercepts may go, if not everywhere.
    subspace: Option<DMatrix<f64>>,
    /// The largest distance of a feature from 0.
    largest: f64,
}

/// A preconditioner serves until the loss has changed by this share.
const STALE: f64 = 0.1;

/// With larger features, sums of products may leave the range of an `f32`.
const LARGEST_IN_SINGLE: f64 = 1e6;

/// A step that divides the norm of the gradient by less is not what Newton's method makes near a minimum: the digits of an `f32` are then
/// too few for these features.
const LEAST_GAIN: f64 = 4.0;

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
        let largest = rows.largest();
        Ok(Self {
            shape,
            rows,
            penalties: penalties.of_each(shape, classes),
            identity,
            probs,
            value: f64::INFINITY,
            preconditioner: Preconditioner::Identity,
            prepared_at: f64::INFINITY,
            norm: f64::INFINITY,
            exact: false,
            moments,
            subspace,
            largest,
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
        let of_chunk = |chunk: Chunk<'_>| {
            let (mut features, mut scaled) = (Vec::new(), vec![0.0; chunk.block_len()]);
            let mut ends = (f64::INFINITY, f64::NEG_INFINITY);
            for block in chunk.blocks() {
                block.write_features(&mut features);
                let scaled = &mut scaled[..features.len()];
                self.shape.scale(classes, parameters, &features, scaled);
                for (row, &label) in scaled.chunks_exact(classes).zip(block.labels) {
                    let others = row.iter().enumerate().filter(|&(class, _)| class != usize::from(label));
                    let best = others.map(|(_, &scaled)| scaled).fold(f64::NEG_INFINITY, f64::max);
                    let lead = row[usize::from(label)] - best;
                    ends = (ends.0.min(lead), ends.1.max(lead));
                }
            }
            ends
        };
        let least_and_most = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let ends = parallel::map(self.rows.chunks(), of_chunk).into_iter();
        let (least, most) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), least_and_most);
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

/// Replaces scaled features by their softmax, and returns the sum of the log-losses.
fn softmax_losses(scaled: &mut [f64], labels: &[u16], classes: usize) -> f64 {
    let loss = |(row, &label): (&mut [f64], &u16)| {
        let at_label = row[usize::from(label)];
        softmax(row) - at_label
    };
    scaled.chunks_exact_mut(classes).zip(labels).map(loss).sum()
}

/// The mean products of the features, extended by 1.
fn moments(rows: &Rows) -> DMatrix<f64> {
    let len = rows.classes() + 1;
    let sums = rows.sums(len * len, |chunk, sums| {
        let (mut features, mut extended) = (Vec::new(), Vec::new());
        for block in chunk.blocks() {
            block.write_features(&mut features);
            extended.clear();
            for features in features.chunks_exact(len - 1) {
                extended.extend_from_slice(features);
                extended.push(1.0);
            }
            add_outer(sums, &extended, &extended, len);
        }
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

impl LogLoss<'_> {
    /// The rows in pieces, with their probabilities at the point last moved to.
    fn chunks_with_probs(&self) -> impl Iterator<Item = (Chunk<'_>, &[f32])> {
        self.rows.chunks().zip(self.probs.chunks(self.rows.piece_rows() * self.rows.classes()))
    }

    /// The product of the Hessian of the rows' log-losses, summed, and a direction.
    fn product<T: Number>(&self, direction: &[f64]) -> Vec<f64> {
        let (shape, classes) = (self.shape, self.rows.classes());
        let weights = shape.weights(classes);
        let factor = self.rows.factor();
        // Features are taken as they are before they are multiplied.
        let of_entry = |(at, &entry): (usize, &f64)| if at < weights { factor * entry } else { entry };
        let direction: Vec<T> =
            direction.iter().enumerate().map(|entry| T::nearest(of_entry(entry))).collect();
        let of_chunk = |(chunk, probs): (Chunk<'_>, &[f32])| {
            let len = chunk.block_len();
            let (mut features, mut change) = (Vec::with_capacity(len), vec![T::zero(); len]);
            let (mut of_block, mut product) = (vec![T::zero(); direction.len()], vec![0.0; direction.len()]);
            for (block, probs) in chunk.blocks().zip(probs.chunks(len)) {
                features.clear();
                features.extend(block.features.iter().map(|&feature| T::from(feature)));
                let change = &mut change[..features.len()];
                shape.scale(classes, &direction, &features, change);
                for (change, probs) in change.chunks_exact_mut(classes).zip(probs.chunks_exact(classes)) {
                    let (mut all, mut mean) = (T::zero(), T::zero());
                    for (&prob, &change) in probs.iter().zip(&*change) {
                        all += T::from(prob);
                        mean += T::from(prob) * change;
                    }
                    mean /= all;
                    for (change, &prob) in change.iter_mut().zip(probs) {
                        *change = T::from(prob) * (*change - mean);
                    }
                }
                of_block.fill(T::zero());
                shape.add_transposed(classes, change, &features, &mut of_block);
                product.iter_mut().zip(&of_block).for_each(|(product, &more)| *product += more.into());
            }
            product
        };
        let mut product = vec![0.0; direction.len()];
        for of_chunk in parallel::map(self.chunks_with_probs(), of_chunk) {
            add_to(&mut product, &of_chunk);
        }
        product[..weights].iter_mut().for_each(|entry| *entry *= factor);
        product
    }
}

impl Convex for LogLoss<'_> {
    fn move_to(&mut self, at: &[f64], gradient: &mut [f64]) -> f64 {
        let (shape, rows, classes) = (self.shape, self.rows, self.rows.classes());
        let n = rows.len() as f64;
        let of_chunk = |(chunk, probs): (Chunk<'_>, &mut [f32])| {
            let len = chunk.block_len();
            let (mut features, mut scaled) = (Vec::with_capacity(len), vec![0.0; len]);
            let (mut loss, mut gradient) = (0.0, vec![0.0; at.len()]);
            for (block, probs) in chunk.blocks().zip(probs.chunks_mut(len)) {
                block.write_features(&mut features);
                let scaled = &mut scaled[..features.len()];
                shape.scale(classes, at, &features, scaled);
                loss += softmax_losses(scaled, block.labels, classes);
                probs.iter_mut().zip(&*scaled).for_each(|(kept, &prob)| *kept = prob as f32);
                for (change, &label) in scaled.chunks_exact_mut(classes).zip(block.labels) {
                    change[usize::from(label)] -= 1.0;
                }
                shape.add_transposed(classes, scaled, &features, &mut gradient);
            }
            (loss, gradient)
        };
        let pieces = rows.chunks().zip(self.probs.chunks_mut(rows.piece_rows() * classes));
        let of_pieces = parallel::map(pieces, of_chunk);
        gradient.fill(0.0);
        let mut sum = 0.0;
        for (loss, of_chunk) in of_pieces {
            sum += loss;
            add_to(gradient, &of_chunk);
        }
        gradient.iter_mut().for_each(|entry| *entry /= n);
        self.add_penalties(at.iter().zip(&self.identity).map(|(at, identity)| at - identity), gradient);
        self.project(gradient);
        self.value = sum / n + self.penalty(at);
        self.value
    }

    fn prepare(&mut self, norm: f64) {
        self.exact = self.largest > LARGEST_IN_SINGLE || LEAST_GAIN * norm > self.norm;
        self.norm = norm;
        if (self.value - self.prepared_at).abs() <= STALE * self.value {
            return;
        }
        self.prepared_at = self.value;
        self.preconditioner = match &self.moments {
            Some(moments) => Preconditioner::of_matrix(self.rows, &self.probs, moments, &self.penalties),
            None => Preconditioner::entries(self.shape, self.rows, &self.probs, &self.penalties),
        };
    }

    fn hessian_times(&self, direction: &[f64], product: &mut [f64]) {
        let sums = if self.exact { self.product::<f64>(direction) } else { self.product::<f32>(direction) };
        let n = self.rows.len() as f64;
        product.iter_mut().zip(sums).for_each(|(product, sum)| *product = sum / n);
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
        let of_chunk = |(chunk, probs): (Chunk<'_>, &[f32])| {
            let (mut features, mut change) = (Vec::new(), vec![0.0; chunk.block_len()]);
            let span = |(change, probs): (&[f64], &[f32])| {
                let possible = change.iter().zip(probs).filter(|&(_, &prob)| prob > 0.0);
                let (min, max) = possible
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), (&change, _)| {
                        (min.min(change), max.max(change))
                    });
                max - min
            };
            let mut reach = 0.0;
            for (block, probs) in chunk.blocks().zip(probs.chunks(chunk.block_len())) {
                block.write_features(&mut features);
                let change = &mut change[..features.len()];
                self.shape.scale(classes, step, &features, change);
                let spans = change.chunks_exact(classes).zip(probs.chunks_exact(classes)).map(span);
                reach = spans.fold(reach, f64::max);
            }
            reach
        };
        parallel::map(self.chunks_with_probs(), of_chunk).into_iter().fold(0.0, f64::max)
    }
}
