//! The log-loss of scaling a vector, as a function of the parameters.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, SymmetricEigen};

use crate::data::VectorData;
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

/// The parameters of each shape, in one list: weights, then intercepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    Temperature,
    Diagonal,
    Full,
}

impl Shape {
    /// The number of weights, before the intercepts.
    pub(crate) fn weights(self, classes: usize) -> usize {
        match self {
            Self::Temperature => 1,
            Self::Diagonal => classes,
            Self::Full => classes * classes,
        }
    }

    /// The parameters that change nothing.
    pub(crate) fn identity(self, classes: usize) -> Vec<f64> {
        match self {
            Self::Temperature => vec![1.0],
            Self::Diagonal => [vec![1.0; classes], vec![0.0; classes]].concat(),
            Self::Full => {
                let mut parameters = vec![0.0; classes * classes + classes];
                parameters.iter_mut().step_by(classes + 1).take(classes).for_each(|w| *w = 1.0);
                parameters
            }
        }
    }

    /// `W x + b`, which is linear in the parameters.
    pub(crate) fn scale(self, parameters: &[f64], features: &[f64], scaled: &mut [f64]) {
        let classes = features.len();
        let (weights, intercepts) = parameters.split_at(self.weights(classes));
        match self {
            Self::Temperature => {
                scaled.iter_mut().zip(features).for_each(|(place, x)| *place = weights[0] * x);
            }
            Self::Diagonal => {
                for (class, place) in scaled.iter_mut().enumerate() {
                    *place = weights[class] * features[class] + intercepts[class];
                }
            }
            Self::Full => {
                let rows = weights.chunks_exact(classes).zip(intercepts);
                for (place, (row, intercept)) in scaled.iter_mut().zip(rows) {
                    *place = row.iter().zip(features).map(|(w, x)| w * x).sum::<f64>() + intercept;
                }
            }
        }
    }

    /// Adds the parameters' part of a change of `W x + b`: the transpose of [`Shape::scale`].
    fn add_transposed(self, change: &[f64], features: &[f64], sum: &mut [f64]) {
        let classes = features.len();
        let (weights, intercepts) = sum.split_at_mut(self.weights(classes));
        match self {
            Self::Temperature => weights[0] += change.iter().zip(features).map(|(c, x)| c * x).sum::<f64>(),
            Self::Diagonal => {
                for class in 0..classes {
                    weights[class] += change[class] * features[class];
                    intercepts[class] += change[class];
                }
            }
            Self::Full => {
                for ((row, intercept), change) in
                    weights.chunks_exact_mut(classes).zip(intercepts).zip(change)
                {
                    row.iter_mut().zip(features).for_each(|(w, x)| *w += change * x);
                    *intercept += change;
                }
            }
        }
    }
}

/// The mean log-loss of rows, with penalties.
pub(crate) struct LogLoss<'a> {
    shape: Shape,
    classes: usize,
    features: &'a [f64],
    labels: &'a [u16],
    rows: &'a [usize],
    /// For every parameter, the factor of half its square.
    penalties: Vec<f64>,
    /// The probabilities at the point last moved to, row-major.
    probs: Vec<f64>,
    preconditioner: Preconditioner,
    /// Where rows of a matrix and their intercepts may go, if not everywhere.
    subspace: Option<DMatrix<f64>>,
}

/// Features, extended by 1, that vary less along some direction than this part of the most, squared, do not vary there:
/// logits often sum to the same number up to the rounding of an `f32`, and weights must not magnify that.
const VARIATION: f64 = 1e-10;

/// Up to so many classes each has its own block in the preconditioner; with more the blocks differ by a factor, because to
/// sum them would take longer than all the rest.
const OWN_BLOCKS: usize = 32;

/// The blocks of the Hessian on its diagonal, factored.
enum Preconditioner {
    /// None yet.
    Identity,
    /// The diagonal.
    Entries(Vec<f64>),
    /// A block for each class: its row of weights and its intercept.
    Blocks(Vec<Cholesky<f64, Dyn>>),
}

impl<'a> LogLoss<'a> {
    pub(crate) fn new(
        shape: Shape,
        odir: Odir,
        data: &'a VectorData,
        features: &'a [f64],
        rows: &'a [usize],
    ) -> Self {
        let classes = data.classes();
        let mut penalties = vec![0.0; shape.identity(classes).len()];
        if shape == Shape::Full {
            let (weights, intercepts) = penalties.split_at_mut(classes * classes);
            weights.fill(2.0 * odir.lambda / (classes * (classes - 1)) as f64);
            weights.iter_mut().step_by(classes + 1).for_each(|diagonal| *diagonal = 0.0);
            intercepts.fill(2.0 * odir.mu / classes as f64);
        }
        let mut loss = Self {
            shape,
            classes,
            features,
            labels: data.labels(),
            rows,
            penalties,
            probs: vec![0.0; rows.len() * classes],
            preconditioner: Preconditioner::Identity,
            subspace: None,
        };
        // A penalty of the weights decides where nothing else does.
        if shape == Shape::Full && odir.lambda == 0.0 {
            loss.subspace = loss.varying();
        }
        loss
    }

    /// The projection onto the directions along which the features, extended by 1, vary; `None` if these are all.
    fn varying(&self) -> Option<DMatrix<f64>> {
        let len = self.classes + 1;
        let eigen = SymmetricEigen::new(self.moments());
        let least = VARIATION * eigen.eigenvalues.max();
        if eigen.eigenvalues.iter().all(|&value| value > least) {
            return None;
        }
        let mut projection = DMatrix::zeros(len, len);
        for (vector, &value) in eigen.eigenvectors.column_iter().zip(&eigen.eigenvalues) {
            if value > least {
                projection.ger(1.0, &vector, &vector, 1.0);
            }
        }
        Some(projection)
    }

    /// The mean products of the features, extended by 1.
    fn moments(&self) -> DMatrix<f64> {
        let len = self.classes + 1;
        let mut moments = DMatrix::zeros(len, len);
        let mut extended = DVector::from_element(len, 1.0);
        for &row in self.rows {
            extended.rows_mut(0, self.classes).copy_from_slice(self.row(row).0);
            moments.syger(1.0 / self.rows.len() as f64, &extended, &extended, 1.0);
        }
        moments.fill_upper_triangle_with_lower_triangle();
        moments
    }

    /// Adds to each class's block the mean products of the features, weighted by the curvature at the probabilities now
    /// known.
    fn add_own_moments(&self, blocks: &mut [DMatrix<f64>]) {
        let n = self.rows.len() as f64;
        let mut extended = DVector::from_element(self.classes + 1, 1.0);
        for (&row, probs) in self.rows.iter().zip(self.probs.chunks_exact(self.classes)) {
            extended.rows_mut(0, self.classes).copy_from_slice(self.row(row).0);
            for (block, &prob) in blocks.iter_mut().zip(probs) {
                let curvature = prob * (1.0 - prob) / n;
                // What adds nothing to any digit is not worth its time.
                if curvature > 1e-15 / n {
                    block.syger(curvature, &extended, &extended, 1.0);
                }
            }
        }
    }

    /// Takes from parameters what leads where the features do not vary.
    fn project(&self, parameters: &mut [f64]) {
        let Some(projection) = &self.subspace else { return };
        let (weights, intercepts) = parameters.split_at_mut(self.classes * self.classes);
        for (row, intercept) in weights.chunks_exact_mut(self.classes).zip(intercepts) {
            let extended = row.iter().copied().chain([*intercept]);
            let projected = projection * DVector::from_iterator(self.classes + 1, extended);
            row.copy_from_slice(&projected.as_slice()[..self.classes]);
            *intercept = projected[self.classes];
        }
    }

    fn row(&self, row: usize) -> (&'a [f64], usize) {
        (&self.features[row * self.classes..][..self.classes], self.labels[row].into())
    }

    pub(crate) fn no_row_differs(&self) -> bool {
        self.rows.iter().all(|&row| self.row(row).0.windows(2).all(|pair| pair[0] == pair[1]))
    }

    fn penalty(&self, at: &[f64]) -> f64 {
        at.iter().zip(&self.penalties).map(|(at, penalty)| penalty * at * at / 2.0).sum()
    }

    /// The blocks of the Hessian at the probabilities now known.
    fn blocks(&self) -> Preconditioner {
        let n = self.rows.len() as f64;
        let curvature = |prob: f64| prob * (1.0 - prob) / n;
        if self.shape != Shape::Full {
            let mut entries = self.penalties.clone();
            for (&row, probs) in self.rows.iter().zip(self.probs.chunks_exact(self.classes)) {
                let (features, _) = self.row(row);
                match self.shape {
                    Shape::Temperature => {
                        let mean: f64 = probs.iter().zip(features).map(|(p, x)| p * x).sum();
                        entries[0] +=
                            probs.iter().zip(features).map(|(p, x)| p * (x - mean).powi(2)).sum::<f64>() / n;
                    }
                    _ => {
                        for (class, &prob) in probs.iter().enumerate() {
                            entries[class] += curvature(prob) * features[class].powi(2);
                            entries[self.classes + class] += curvature(prob);
                        }
                    }
                }
            }
            return Preconditioner::Entries(entries);
        }
        let mut blocks: Vec<DMatrix<f64>> = self
            .penalties
            .chunks_exact(self.classes)
            .take(self.classes)
            .zip(&self.penalties[self.classes * self.classes..])
            .map(|(weights, &intercept)| {
                DMatrix::from_diagonal(&DVector::from_iterator(
                    self.classes + 1,
                    weights.iter().copied().chain([intercept]),
                ))
            })
            .collect();
        if self.classes > OWN_BLOCKS {
            let moments = self.moments();
            for (class, block) in blocks.iter_mut().enumerate() {
                let probs = self.probs.iter().skip(class).step_by(self.classes);
                *block += &moments * probs.map(|&prob| curvature(prob)).sum::<f64>();
            }
        } else {
            self.add_own_moments(&mut blocks);
        }
        let factored = blocks.into_iter().map(|mut block| {
            let ridge = 1e-12 * block.trace() + f64::MIN_POSITIVE.sqrt();
            for i in 0..block.nrows() {
                block[(i, i)] += ridge;
            }
            Cholesky::new(block)
        });
        factored.collect::<Option<_>>().map_or(Preconditioner::Identity, Preconditioner::Blocks)
    }
}

impl Convex for LogLoss<'_> {
    fn move_to(&mut self, at: &[f64], gradient: &mut [f64]) -> f64 {
        let n = self.rows.len() as f64;
        gradient.fill(0.0);
        let mut sum = 0.0;
        let mut probs = std::mem::take(&mut self.probs);
        let mut change = vec![0.0; self.classes];
        for (&row, probs) in self.rows.iter().zip(probs.chunks_exact_mut(self.classes)) {
            let (features, label) = self.row(row);
            self.shape.scale(at, features, probs);
            let at_label = probs[label];
            sum += softmax(probs) - at_label;
            change.copy_from_slice(probs);
            change[label] -= 1.0;
            change.iter_mut().for_each(|entry| *entry /= n);
            self.shape.add_transposed(&change, features, gradient);
        }
        self.probs = probs;
        for ((gradient, at), penalty) in gradient.iter_mut().zip(at).zip(&self.penalties) {
            *gradient += penalty * at;
        }
        self.project(gradient);
        self.preconditioner = self.blocks();
        sum / n + self.penalty(at)
    }

    fn value(&self, at: &[f64]) -> f64 {
        let mut scaled = vec![0.0; self.classes];
        let mut sum = 0.0;
        for &row in self.rows {
            let (features, label) = self.row(row);
            self.shape.scale(at, features, &mut scaled);
            let at_label = scaled[label];
            sum += softmax(&mut scaled) - at_label;
        }
        sum / self.rows.len() as f64 + self.penalty(at)
    }

    fn hessian_times(&self, direction: &[f64], product: &mut [f64]) {
        let n = self.rows.len() as f64;
        for ((product, direction), penalty) in product.iter_mut().zip(direction).zip(&self.penalties) {
            *product = penalty * direction;
        }
        let mut change = vec![0.0; self.classes];
        for (&row, probs) in self.rows.iter().zip(self.probs.chunks_exact(self.classes)) {
            let (features, _) = self.row(row);
            self.shape.scale(direction, features, &mut change);
            let mean: f64 = probs.iter().zip(&change).map(|(prob, change)| prob * change).sum();
            change.iter_mut().zip(probs).for_each(|(change, prob)| *change = prob * (*change - mean) / n);
            self.shape.add_transposed(&change, features, product);
        }
        self.project(product);
    }

    fn precondition(&self, direction: &[f64], divided: &mut [f64]) {
        match &self.preconditioner {
            Preconditioner::Identity => divided.copy_from_slice(direction),
            Preconditioner::Entries(entries) => {
                for ((divided, direction), entry) in divided.iter_mut().zip(direction).zip(entries) {
                    *divided = if *entry > 0.0 { direction / entry } else { *direction };
                }
            }
            Preconditioner::Blocks(blocks) => {
                let (weights, intercepts) = direction.split_at(self.classes * self.classes);
                let (to_weights, to_intercepts) = divided.split_at_mut(self.classes * self.classes);
                for (class, block) in blocks.iter().enumerate() {
                    let row = class * self.classes..(class + 1) * self.classes;
                    let entries = weights[row.clone()].iter().copied().chain([intercepts[class]]);
                    let solved = block.solve(&DVector::from_iterator(self.classes + 1, entries));
                    to_weights[row].copy_from_slice(&solved.as_slice()[..self.classes]);
                    to_intercepts[class] = solved[self.classes];
                }
                self.project(divided);
            }
        }
    }

    /// The largest change of the difference of two classes' logits in a row.
    fn reach(&self, step: &[f64]) -> f64 {
        let mut change = vec![0.0; self.classes];
        let spans = self.rows.iter().map(|&row| {
            self.shape.scale(step, self.row(row).0, &mut change);
            let max = change.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            max - change.iter().copied().fold(f64::INFINITY, f64::min)
        });
        spans.fold(0.0, f64::max)
    }
}
