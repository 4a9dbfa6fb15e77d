//! Scaling calibrators of a whole vector, fitted to the log-loss.

use calib_core::vector::{ScalingInput, VectorScaling};
use rayon::prelude::*;

use super::log_loss::{LogLoss, Odir, Penalties};
use super::rows::{Chunk, Rows};
use super::shape::Shape;
use crate::data::{VectorData, VectorKind};
use crate::error::VectorScalingError;
use crate::parallel;
use crate::stats::{CLIP, End, approach, minimize, softmax};

/// From this many rows on, and this many for each parameter, every 16th row serves to find where to start.
const MANY_ROWS: usize = 1 << 16;
const MANY_ROWS_PER_PARAMETER: usize = 1000;
const PART: usize = 16;

/// About so many rows serve to find the temperature from which the fit of more parameters starts.
const FEW_ROWS: usize = 1 << 12;

/// A scaling method of a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VectorScalingMethod {
    /// `softmax(x / T)` (Guo et al. 2017).
    Temperature,
    /// `softmax(w x + b)`, entry by entry (Guo et al. 2017).
    Vector,
    /// `softmax(W x + b)` (Guo et al. 2017).
    Matrix(Odir),
    /// `softmax(W ln p + b)` (Kull et al. 2019).
    Dirichlet(Odir),
    /// `softmax(t (w ln p) + b)`, entry by entry: structured vector scaling (Berta et al. 2025).
    ///
    /// `1 / t` is the temperature of `ln p`. To the mean log-loss of `n` rows of `L` classes are then added `L / n` times the
    /// squared differences of `w` from 1, and of `b` from 0. A class without rows keeps a probability.
    StructuredVector,
    /// `softmax(t W ln p + b)`: structured matrix scaling (Berta et al. 2025).
    ///
    /// As [`StructuredVector`](Self::StructuredVector), with `L (L - 1) / n` times the squared weights beside the diagonal.
    StructuredMatrix,
}

/// A fitted scaling function of vectors of `L` classes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct VectorScalingModel {
    /// What the features are.
    pub input: ScalingInput,
    /// The weights: one over the temperature, or the `L` of a diagonal, or the `L` rows of a matrix.
    pub weights: Vec<f64>,
    /// The `L` intercepts; none of a temperature.
    pub intercepts: Vec<f64>,
    classes: usize,
}

impl VectorScalingMethod {
    /// Fits vectors as the device sees them, by Newton's method on the mean log-loss, to a gradient norm of 1e-10. The loss and its gradient
    /// are computed in `f64`, and so are products with the Hessian where an `f32` has too few digits for the features.
    ///
    /// Logits are the features if the vectors hold them, the logarithms of the scores if not, or if `log_probs` is set,
    /// or for Dirichlet calibration and structured scaling. Sums go over the rows in a separate order, and in pieces that depend on their number
    /// alone: the result depends neither on the order of the data nor on the number of threads. The last bits of sums may
    /// depend on the processor, whose widest instructions multiply matrices.
    ///
    /// Where the features do not vary, or by the rounding of an `f32` alone, an unregularized `W` stays the identity. It is
    /// otherwise unique up to the same row added to all of its rows and the same number to all
    /// intercepts, which no probability depends on: the fit has columns that sum to one, and intercepts that sum to zero.
    ///
    /// # Errors
    ///
    /// If there is no finite optimum, and for a penalty out of range.
    pub fn fit(&self, data: &VectorData, log_probs: bool) -> Result<VectorScalingModel, VectorScalingError> {
        self.check(data)?;
        let input = self.input(data, log_probs);
        let rows = rows(data, input);
        if self.is_structured() {
            return self.fit_structured(rows, input);
        }
        self.fit_rows(&rows, input, self.identity(data.classes()))
    }

    pub(crate) fn input(&self, data: &VectorData, log_probs: bool) -> ScalingInput {
        let of_probs = self.is_structured() || matches!(self, Self::Dirichlet(_));
        if of_probs || log_probs || data.kind() == VectorKind::Probs {
            ScalingInput::LogProbs { clip: CLIP as f32 }
        } else {
            ScalingInput::Logits
        }
    }

    pub(super) fn check(&self, data: &VectorData) -> Result<(), VectorScalingError> {
        let Odir { lambda, mu } = self.odir();
        for penalty in [lambda, mu] {
            if !(penalty >= 0.0 && penalty.is_finite()) {
                return Err(VectorScalingError::Penalty(penalty));
            }
        }
        let counts = data.class_counts();
        if counts.iter().filter(|&&count| count > 0).count() == 1 {
            return Err(VectorScalingError::OneClass(data.len()));
        }
        match counts.iter().position(|&count| count == 0) {
            Some(class) if self.shape() != Shape::Temperature && !self.is_structured() => {
                Err(VectorScalingError::AbsentClass(class))
            }
            _ => Ok(()),
        }
    }

    /// The parameters that change nothing, from which a fit may start.
    pub(crate) fn identity(&self, classes: usize) -> Vec<f64> {
        self.shape().identity(classes)
    }

    /// Fits rows, from some parameters on.
    pub(crate) fn fit_rows(
        &self,
        rows: &Rows,
        input: ScalingInput,
        mut parameters: Vec<f64>,
    ) -> Result<VectorScalingModel, VectorScalingError> {
        let classes = rows.classes();
        let same = |row: usize| rows.features(row).zip(rows.features(row).skip(1)).all(|(a, b)| a == b);
        if self.shape() == Shape::Temperature && (0..rows.len()).all(same) {
            return Err(VectorScalingError::AllEqual);
        }
        let penalties = self.penalties(classes, rows.len());
        let mut loss = LogLoss::new(self.shape(), penalties, rows)
            .map_err(|(low, high)| VectorScalingError::Masked { low, high })?;
        // Large logits have no gradient left where they separate the classes, so that the search ends wherever it began.
        let end = if loss.is_separated(&parameters) {
            End::AtInfinity
        } else {
            self.approach(rows, penalties, &mut parameters);
            minimize(&mut loss, &mut parameters)
        };
        match end {
            End::AtInfinity => return Err(VectorScalingError::Separated),
            _ if loss.is_separated(&parameters) => return Err(VectorScalingError::Separated),
            End::Minimum => {}
            End::NotConverged(norm) => return Err(VectorScalingError::NotConverged(norm)),
        }
        if self.shape() == Shape::Temperature && parameters[0] <= 0.0 {
            return Err(VectorScalingError::Reversed);
        }
        let mut intercepts = parameters.split_off(self.shape().weights(classes));
        if self.shape() == Shape::Full && penalties.others == 0.0 {
            center_columns(&mut parameters, classes);
        }
        if penalties.intercepts == 0.0 {
            let mean = intercepts.iter().sum::<f64>() / classes as f64;
            intercepts.iter_mut().for_each(|intercept| *intercept -= mean);
        }
        Ok(VectorScalingModel { input, weights: parameters, intercepts, classes })
    }

    /// Moves parameters toward the optimum, in a fraction of the time that all rows take.
    fn approach(&self, rows: &Rows, penalties: Penalties, parameters: &mut Vec<f64>) {
        if self.shape() != Shape::Temperature
            && penalties.diagonal == 0.0
            && *parameters == self.identity(rows.classes())
        {
            let some = rows.part((0..rows.len()).step_by(rows.len().div_ceil(FEW_ROWS)));
            let mut inverse_t = vec![1.0];
            approach_of(Shape::Temperature, Penalties::default(), &some, &mut inverse_t);
            if inverse_t[0] > 0.0 {
                let weights = self.shape().weights(rows.classes());
                parameters[..weights].iter_mut().for_each(|weight| *weight *= inverse_t[0]);
            }
        }
        if rows.len() >= MANY_ROWS && rows.len() >= MANY_ROWS_PER_PARAMETER * parameters.len() {
            let some = rows.part((0..rows.len()).step_by(PART));
            approach_of(self.shape(), penalties, &some, parameters);
        }
    }

    fn shape(&self) -> Shape {
        match self {
            Self::Temperature => Shape::Temperature,
            Self::Vector | Self::StructuredVector => Shape::Diagonal,
            Self::Matrix(_) | Self::Dirichlet(_) | Self::StructuredMatrix => Shape::Full,
        }
    }

    /// What parameters cost beside the log-loss of `n` rows.
    fn penalties(&self, classes: usize, n: usize) -> Penalties {
        if self.is_structured() {
            return Penalties::structured(classes, n);
        }
        let Odir { lambda, mu } = self.odir();
        let pairs = (classes * (classes - 1)) as f64;
        Penalties { diagonal: 0.0, others: 2.0 * lambda / pairs, intercepts: 2.0 * mu / classes as f64 }
    }

    pub(crate) fn odir(&self) -> Odir {
        match self {
            Self::Matrix(odir) | Self::Dirichlet(odir) => *odir,
            _ => Odir::default(),
        }
    }
}

impl VectorScalingModel {
    /// The function that leaves scores as they are.
    pub(super) fn unchanged(classes: usize, input: ScalingInput) -> Self {
        Self { input, weights: vec![1.0], intercepts: Vec::new(), classes }
    }

    /// The function of these parameters, as [`VectorScalingModel::parameters`] returns them.
    pub(super) fn of_parameters(
        input: ScalingInput,
        shape: Shape,
        mut parameters: Vec<f64>,
        classes: usize,
    ) -> Self {
        let intercepts = parameters.split_off(shape.weights(classes));
        Self { input, weights: parameters, intercepts, classes }
    }

    /// The parameters of the same function in a shape that is not smaller.
    pub(super) fn parameters_in(&self, larger: Shape) -> Vec<f64> {
        self.shape().parameters_in(larger, self.classes, &self.parameters())
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The probabilities of a vector of features, one per class.
    pub fn probs(&self, features: &[f64]) -> Vec<f64> {
        let mut scaled = vec![0.0; self.classes];
        self.shape().scale(self.classes, &self.parameters(), features, &mut scaled);
        softmax(&mut scaled);
        scaled
    }

    /// The log-loss of rows, summed.
    pub(crate) fn log_loss(&self, rows: &Rows) -> f64 {
        let (shape, parameters) = (self.shape(), self.parameters());
        let of_chunk = |chunk: Chunk<'_>| -> f64 {
            let (mut features, mut scaled) = (Vec::new(), vec![0.0; chunk.block_len()]);
            let loss = |(row, &label): (&mut [f64], &u16)| {
                softmax(row);
                -row[usize::from(label)].max(f64::MIN_POSITIVE).ln()
            };
            let of_block = |block: Chunk<'_>| -> f64 {
                block.write_features(&mut features);
                let scaled = &mut scaled[..features.len()];
                shape.scale(self.classes, &parameters, &features, scaled);
                scaled.chunks_exact_mut(self.classes).zip(block.labels).map(loss).sum()
            };
            chunk.blocks().map(of_block).sum()
        };
        parallel::map(rows.chunks(), of_chunk).into_iter().sum()
    }

    /// The weights and then the intercepts.
    pub(crate) fn parameters(&self) -> Vec<f64> {
        [&self.weights[..], &self.intercepts].concat()
    }

    pub(super) fn shape(&self) -> Shape {
        match self.weights.len() {
            1 => Shape::Temperature,
            len if len == self.classes => Shape::Diagonal,
            _ => Shape::Full,
        }
    }

    /// The features that the probabilities of data are computed from, row-major.
    pub fn features(&self, data: &VectorData) -> Vec<f64> {
        features(data, self.input).into_iter().map(f64::from).collect()
    }
}

/// Moves parameters near the optimum of some rows, if they have one.
fn approach_of(shape: Shape, penalties: Penalties, some: &Rows, parameters: &mut Vec<f64>) {
    let Ok(mut loss) = LogLoss::new(shape, penalties, some) else { return };
    let mut near = parameters.clone();
    if approach(&mut loss, &mut near) == End::Minimum {
        *parameters = near;
    }
}

/// Labeled features as the device has them.
pub(crate) fn rows(data: &VectorData, input: ScalingInput) -> Rows {
    Rows::new(features(data, input), data.labels().to_vec(), data.classes())
}

/// Features as the device has them, row-major.
fn features(data: &VectorData, input: ScalingInput) -> Vec<f32> {
    match input {
        ScalingInput::Logits => data.values().to_vec(),
        ScalingInput::LogProbs { clip } => {
            data.scores().par_iter().map(|&score| VectorScaling::log_prob(score, clip)).collect()
        }
    }
}

/// Adds the same row to all rows of a matrix, so that every column sums to one.
fn center_columns(weights: &mut [f64], classes: usize) {
    for column in 0..classes {
        let sum: f64 = weights.iter().skip(column).step_by(classes).sum();
        let excess = (sum - 1.0) / classes as f64;
        weights.iter_mut().skip(column).step_by(classes).for_each(|weight| *weight -= excess);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::data::Vectors;

    const METHODS: [VectorScalingMethod; 5] = [
        VectorScalingMethod::Temperature,
        VectorScalingMethod::Vector,
        VectorScalingMethod::Matrix(Odir { lambda: 0.0, mu: 0.0 }),
        VectorScalingMethod::Matrix(Odir { lambda: 0.1, mu: 0.2 }),
        VectorScalingMethod::Dirichlet(Odir { lambda: 0.01, mu: 0.02 }),
    ];

    /// Logits drawn at random, with labels drawn from what `probs` makes of them.
    pub(in crate::joint) fn draw(
        classes: usize,
        n: usize,
        seed: u64,
        probs: impl Fn(&[f64]) -> Vec<f64>,
    ) -> (Vectors, Vec<i64>) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let logits: Vec<f32> = (0..classes).map(|_| rng.random::<f32>() * 6.0 - 3.0).collect();
            let mut left: f64 = rng.random();
            let probs = probs(&logits.iter().map(|&z| f64::from(z)).collect::<Vec<_>>());
            let drawn = probs.iter().position(|prob| {
                left -= prob;
                left < 0.0
            });
            labels.push(drawn.unwrap_or(classes - 1) as i64);
            values.extend(logits);
        }
        (Vectors::new(values, classes, VectorKind::Logits).unwrap(), labels)
    }

    /// The mean log-loss and its penalties, by their definitions.
    fn loss(model: &VectorScalingModel, odir: Odir, data: &VectorData) -> f64 {
        let l = data.classes();
        let rows = model.features(data);
        let mean = rows
            .chunks(l)
            .zip(data.labels())
            .map(|(row, &label)| -model.probs(row)[usize::from(label)].ln())
            .sum::<f64>()
            / data.len() as f64;
        if model.weights.len() < l * l {
            return mean;
        }
        let off = (0..l * l).filter(|i| i % (l + 1) != 0).map(|i| model.weights[i].powi(2)).sum::<f64>();
        let intercepts = model.intercepts.iter().map(|b| b * b).sum::<f64>();
        mean + odir.lambda * off / (l * (l - 1)) as f64 + odir.mu * intercepts / l as f64
    }

    #[test]
    fn recovers_known_parameters() {
        let softmaxed = |mut z: Vec<f64>| {
            softmax(&mut z);
            z
        };
        let data = |truth: &dyn Fn(&[f64]) -> Vec<f64>| {
            let (vectors, labels) = draw(3, 100_000, 1, truth);
            VectorData::new(&vectors, &labels).unwrap()
        };
        let cooled = data(&|z| softmaxed(z.iter().map(|z| z / 1.6).collect()));
        let temperature = VectorScalingMethod::Temperature.fit(&cooled, false).unwrap();
        assert!((temperature.weights[0] - 1.0 / 1.6).abs() < 0.01, "{temperature:?}");
        // Log-probabilities are logits except for a constant in each row, on which no temperature depends.
        let on_probs = VectorScalingMethod::Temperature.fit(&cooled, true).unwrap();
        assert!((on_probs.weights[0] - temperature.weights[0]).abs() < 1e-5);

        let (w, b) = ([0.5, 1.0, 1.5], [0.4, -0.3, -0.1]);
        let skewed = data(&|z| softmaxed((0..3).map(|k| w[k] * z[k] + b[k]).collect()));
        let vector = VectorScalingMethod::Vector.fit(&skewed, false).unwrap();
        assert!(vector.weights.iter().zip(w).all(|(got, w)| (got - w).abs() < 0.02), "{vector:?}");
        assert!(vector.intercepts.iter().zip(b).all(|(got, b)| (got - b).abs() < 0.03), "{vector:?}");

        // Every column sums to one, as the fit's do.
        let w = [[1.2, 0.3, -0.2], [-0.4, 0.5, 0.4], [0.2, 0.2, 0.8]];
        let mixed = data(&|z| {
            softmaxed((0..3).map(|k| (0..3).map(|j| w[k][j] * z[j]).sum::<f64>() + b[k]).collect())
        });
        let matrix = VectorScalingMethod::Matrix(Odir::default()).fit(&mixed, false).unwrap();
        assert!(matrix.weights.iter().zip(w.concat()).all(|(got, w)| (got - w).abs() < 0.03), "{matrix:?}");
    }

    /// The optimum is that of all rows, although some of them find the start.
    #[test]
    fn a_start_from_some_rows_moves_no_optimum() {
        let (vectors, labels) = draw(3, MANY_ROWS, 6, |z| {
            let mut z = vec![0.4 * z[0] + 0.3, 0.7 * z[1], 0.5 * z[2] - 0.2 * z[0]];
            softmax(&mut z);
            z
        });
        let data = VectorData::new(&vectors, &labels).unwrap();
        for method in METHODS {
            let input = method.input(&data, true);
            let rows = rows(&data, input);
            let (identity, penalties) = (method.identity(3), method.penalties(3, rows.len()));
            let mut start = identity.clone();
            method.approach(&rows, penalties, &mut start);
            assert!(start != identity, "{method:?}");
            let mut direct = identity;
            let mut loss = LogLoss::new(method.shape(), penalties, &rows).unwrap();
            assert_eq!(minimize(&mut loss, &mut direct), End::Minimum);
            let model = method.fit_rows(&rows, input, method.identity(3)).unwrap();
            // The parameters are unique up to what no probability depends on.
            let shape = method.shape();
            let features = |row: usize| rows.features(row).collect::<Vec<_>>();
            for row in (0..rows.len()).step_by(997) {
                let mut probs = vec![0.0; 3];
                shape.scale(3, &direct, &features(row), &mut probs);
                softmax(&mut probs);
                let same = probs.iter().zip(model.probs(&features(row))).all(|(a, b)| (a - b).abs() < 1e-8);
                assert!(same, "{method:?} {row}");
            }
        }
    }

    /// The norm of the gradient of the mean log-loss and its penalties, by their definitions, over the weights and intercepts of a matrix.
    fn gradient_norm(model: &VectorScalingModel, odir: Odir, data: &VectorData) -> f64 {
        let l = data.classes();
        let mut gradient = vec![0.0; l * l + l];
        for (row, &label) in model.features(data).chunks(l).zip(data.labels()) {
            for (class, prob) in model.probs(row).into_iter().enumerate() {
                let slope = (prob - f64::from(u8::from(class == usize::from(label)))) / data.len() as f64;
                row.iter().enumerate().for_each(|(j, x)| gradient[class * l + j] += slope * x);
                gradient[l * l + class] += slope;
            }
        }
        for (at, weight) in model.weights.iter().enumerate().filter(|(at, _)| at % (l + 1) != 0) {
            gradient[at] += 2.0 * odir.lambda / (l * (l - 1)) as f64 * weight;
        }
        for (at, intercept) in model.intercepts.iter().enumerate() {
            gradient[l * l + at] += 2.0 * odir.mu / l as f64 * intercept;
        }
        gradient.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
    }

    /// Of few classes and of many, of logits on one scale, and on scales for which an `f32` has too few digits: the gradient vanishes, no
    /// other parameters nearby have a smaller loss, and the number of threads changes no bit.
    #[test]
    fn a_matrix_is_the_minimum_at_any_size() {
        let penalty = Odir { lambda: 0.01, mu: 0.02 };
        for (classes, n, unit, offset) in [
            (4, 3000, 1.0, 0.0),
            (12, 4000, 1.0, 0.0),
            (20, 5000, 1.0, 0.0),
            (5, 3000, 0.05, 20.0),
            (20, 5000, 0.05, 20.0),
        ] {
            let (vectors, labels) = draw(classes, n, classes as u64, |z| {
                let mut z: Vec<f64> = z.iter().map(|z| 0.6 * z).collect();
                softmax(&mut z);
                z
            });
            let rescaled = vectors.rows().flat_map(|row| {
                row.iter().enumerate().map(|(class, z)| if class == 1 { unit * z + offset } else { *z })
            });
            let vectors = Vectors::new(rescaled.collect(), classes, VectorKind::Logits).unwrap();
            let data = VectorData::new(&vectors, &labels).unwrap();
            for odir in [Odir::default(), penalty] {
                let fit = || VectorScalingMethod::Matrix(odir).fit(&data, false).unwrap();
                let model = fit();
                let norm = gradient_norm(&model, odir, &data);
                // What is added to all rows in the end rounds the products of large logits.
                assert!(norm < 1e-9, "{classes} {unit} {odir:?}: {norm}");
                let least = loss(&model, odir, &data);
                for (at, by) in [(0, 1e-3), (1, -1e-3), (classes + 1, 1e-3), (classes * classes - 1, -1e-3)] {
                    let mut moved = model.clone();
                    moved.weights[at] += by;
                    assert!(loss(&moved, odir, &data) > least, "{classes} {unit} {odir:?} {at}");
                }
                let on = |threads| {
                    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(fit)
                };
                assert_eq!(on(1), on(3), "{classes} {unit} {odir:?}");
            }
        }
    }

    #[test]
    fn says_why_there_is_no_fit() {
        let data = |rows: &[([f32; 3], i64)]| {
            let values = rows.iter().flat_map(|row| row.0).collect();
            let vectors = Vectors::new(values, 3, VectorKind::Logits).unwrap();
            VectorData::new(&vectors, &rows.iter().map(|row| row.1).collect::<Vec<_>>()).unwrap()
        };
        use VectorScalingMethod::{Dirichlet, Matrix, Temperature, Vector};
        let none = Odir::default();
        let one = data(&[([1.0, 0.0, 0.0], 0), ([2.0, 0.0, 0.0], 0)]);
        let two = data(&[([1.0, 0.0, 0.0], 0), ([2.0, 0.0, 0.0], 1), ([0.5, 1.0, 0.0], 0)]);
        for method in [Vector, Matrix(none), Dirichlet(none)] {
            assert_eq!(method.fit(&one, false), Err(VectorScalingError::OneClass(2)));
            assert_eq!(method.fit(&two, false), Err(VectorScalingError::AbsentClass(2)));
        }
        assert_eq!(Temperature.fit(&one, false), Err(VectorScalingError::OneClass(2)));
        assert!(
            Temperature
                .fit(
                    &data(&[
                        ([1.0, 0.0, 0.0], 0),
                        ([2.0, 0.0, 0.0], 1),
                        ([1.0, 0.0, 0.0], 0),
                        ([1.0, 0.0, 0.0], 0)
                    ]),
                    false
                )
                .is_ok()
        );
        let equal = data(&[([1.0; 3], 0), ([2.0; 3], 1), ([0.0; 3], 2)]);
        assert_eq!(Temperature.fit(&equal, false), Err(VectorScalingError::AllEqual));
        let right = data(&[([4.0, 0.0, 0.0], 0), ([0.0, 3.0, 0.0], 1), ([0.0, 0.0, 2.0], 2)]);
        for method in [Temperature, Vector, Matrix(none)] {
            assert_eq!(method.fit(&right, false), Err(VectorScalingError::Separated), "{method:?}");
        }
        let wrong =
            data(&[([4.0, 0.0, 0.0], 1), ([0.0, 3.0, 0.0], 2), ([0.0, 0.0, 2.0], 0), ([3.0, 0.0, 0.0], 0)]);
        assert_eq!(Temperature.fit(&wrong, false), Err(VectorScalingError::Reversed));
        let bad = Matrix(Odir { lambda: -1.0, mu: 0.0 });
        assert_eq!(bad.fit(&right, false), Err(VectorScalingError::Penalty(-1.0)));
    }

    /// Labels that the logits predict without an error have no best temperature, however large the logits are.
    #[test]
    fn large_logits_that_separate_the_classes_are_refused() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let logits: Vec<f32> = (0..500 * 5).map(|_| rng.random::<f32>() * 6.0 - 3.0).collect();
        let top = |row: &[f32]| (0..5).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap() as i64;
        let labels: Vec<i64> = logits.chunks(5).map(top).collect();
        for scale in [0.1, 1.0, 300.0, 1000.0, 1e4, 1e6, 1e30] {
            let values = logits.iter().map(|z| z * scale).collect();
            let vectors = Vectors::new(values, 5, VectorKind::Logits).unwrap();
            let data = VectorData::new(&vectors, &labels).unwrap();
            for method in METHODS.into_iter().filter(|method| method.odir() == Odir::default()) {
                assert_eq!(
                    method.fit(&data, false),
                    Err(VectorScalingError::Separated),
                    "{method:?} {scale}"
                );
            }
            if scale > 1e6 {
                continue;
            }
            // A single wrong prediction has a best temperature.
            let mut wrong = labels.clone();
            wrong[0] = (wrong[0] + 1) % 5;
            let data = VectorData::new(&vectors, &wrong).unwrap();
            assert!(VectorScalingMethod::Temperature.fit(&data, false).is_ok(), "{scale}");
        }
    }

    /// A class that is left out by a very low logit changes no temperature.
    #[test]
    fn masked_classes_change_no_temperature() {
        let fit = |mask: Option<f32>| {
            let rows = [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 0.5], [0.3, 0.0], [0.0, 1.5]];
            let values = rows.iter().flat_map(|row| row.iter().copied().chain(mask)).collect();
            let vectors = Vectors::new(values, 2 + usize::from(mask.is_some()), VectorKind::Logits).unwrap();
            let data = VectorData::new(&vectors, &[0, 1, 0, 0, 1, 1]).unwrap();
            VectorScalingMethod::Temperature.fit(&data, false).unwrap().weights[0]
        };
        let without = fit(None);
        assert!((1.0 / without - 0.619_958_5).abs() < 1e-6, "{without}");
        for mask in [-1e3, -1e9, -1e12, -1e15, -1e30, f32::MIN] {
            assert!((fit(Some(mask)) / without - 1.0).abs() < 1e-9, "{mask}");
        }
    }

    /// Weights of a matrix would follow the masks alone.
    #[test]
    fn a_matrix_of_masked_classes_is_refused() {
        let (vectors, labels) = draw(3, 600, 8, |z| {
            let mut z = z.to_vec();
            softmax(&mut z);
            z
        });
        let masked = |mask: f32| {
            let rows = vectors.rows().zip(&labels).enumerate();
            let values = rows.flat_map(|(i, (row, &label))| {
                let last = if i % 2 == 0 && label != 2 { mask } else { row[2] };
                [row[0], row[1], last]
            });
            let vectors = Vectors::new(values.collect(), 3, VectorKind::Logits).unwrap();
            let data = VectorData::new(&vectors, &labels).unwrap();
            VectorScalingMethod::Matrix(Odir::default()).fit(&data, false)
        };
        assert!(masked(-20.0).is_ok());
        for mask in [-1e9, f32::MIN] {
            assert!(matches!(masked(mask), Err(VectorScalingError::Masked { high: 2, .. })), "{mask}");
        }
    }

    /// Logits that sum to zero except for the rounding of an `f32`, as trained classifiers have them, do not lead to weights
    /// that magnify the rounding.
    #[test]
    fn rounding_is_not_magnified() {
        let (vectors, labels) = draw(4, 2000, 5, |z| {
            let mut z: Vec<f64> = z.iter().map(|z| z * 0.5).collect();
            softmax(&mut z);
            z
        });
        let centered = vectors.rows().flat_map(|row| {
            let mean = row.iter().sum::<f32>() / 4.0;
            row.iter().map(move |z| z - mean).collect::<Vec<_>>()
        });
        let vectors = Vectors::new(centered.collect(), 4, VectorKind::Logits).unwrap();
        let data = VectorData::new(&vectors, &labels).unwrap();
        let model = VectorScalingMethod::Matrix(Odir::default()).fit(&data, false).unwrap();
        assert!(model.weights.iter().all(|weight| weight.abs() < 2.0), "{model:?}");
    }

    /// Constant logits leave the frequencies of the classes, whatever weights they come from.
    #[test]
    fn constant_logits_give_the_frequencies() {
        let vectors = Vectors::new([1.5, -0.5, 0.25].repeat(10), 3, VectorKind::Logits).unwrap();
        let data = VectorData::new(&vectors, &[0, 0, 0, 0, 0, 0, 1, 1, 1, 2]).unwrap();
        for method in [VectorScalingMethod::Vector, VectorScalingMethod::Matrix(Odir::default())] {
            let model = method.fit(&data, false).unwrap();
            let probs = model.probs(&[1.5, -0.5, 0.25]);
            assert!(probs.iter().zip([0.6, 0.3, 0.1]).all(|(p, f)| (p - f).abs() < 1e-9), "{probs:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// The gradient of the loss, taken apart by differences, vanishes; no order of rows matters; probabilities sum
        /// to one.
        #[test]
        fn the_fit_is_a_minimum(classes in 2usize..5, seed in any::<u64>(), log_probs in any::<bool>()) {
            let (vectors, labels) = draw(classes, 60 * classes, seed, |z| {
                let mut z: Vec<f64> = z.iter().map(|z| z * 0.5).collect();
                softmax(&mut z);
                z
            });
            let data = VectorData::new(&vectors, &labels).unwrap();
            let reversed: Vec<f32> = vectors.rows().rev().flatten().copied().collect();
            let reversed = Vectors::new(reversed, classes, VectorKind::Logits).unwrap();
            let reversed = VectorData::new(&reversed, &labels.iter().rev().copied().collect::<Vec<_>>()).unwrap();
            for method in METHODS {
                let model = match method.fit(&data, log_probs) {
                    Err(VectorScalingError::Separated | VectorScalingError::AbsentClass(_) | VectorScalingError::Reversed) => continue,
                    fit => fit.unwrap(),
                };
                prop_assert_eq!(&model, &method.fit(&reversed, log_probs).unwrap());
                let (odir, h) = (method.odir(), 1e-4);
                let parameters = model.weights.len() + model.intercepts.len();
                for parameter in 0..parameters {
                    let moved = |by: f64| {
                        let mut model = model.clone();
                        match parameter.checked_sub(model.weights.len()) {
                            None => model.weights[parameter] += by,
                            Some(intercept) => model.intercepts[intercept] += by,
                        }
                        loss(&model, odir, &data)
                    };
                    // Central differences are off by h^2 / 6 times a third derivative.
                    let slope = (moved(h) - moved(-h)) / (2.0 * h);
                    prop_assert!(slope.abs() < 2e-7, "{:?} {} {}", method, parameter, slope);
                }
                let shifted: Vec<f64> = model.features(&data)[..classes].iter().map(|x| x + 2.0).collect();
                let (probs, after) = (model.probs(&model.features(&data)[..classes]), model.probs(&shifted));
                prop_assert!((probs.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                // A temperature, and a matrix whose columns sum to the same, see no constant.
                if method == VectorScalingMethod::Temperature {
                    prop_assert!(probs.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-12));
                }
            }
        }
    }
}
