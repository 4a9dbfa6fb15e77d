//! What scaling functions are fitted to, and the fit to the squared loss.

use nalgebra::{DMatrix, DVector};

use super::facts::Facts;
use super::margin_scaling::Line;
use super::scaling::{ScalingMethod, ScalingModel, UNIT, parabola};
use super::targets::Targets;
use crate::cancel;
use crate::error::{FitError, ScalingError};
use crate::points::{Group, Points};
use crate::stats::{clip, ln_complement, logit};

/// What a scaling function is fitted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loss {
    /// The log-loss: a convex problem with one optimum.
    #[default]
    Log,
    /// The log-loss of Platt's (1999) Bayesian targets in place of labels: `(P + 1) / (P + 2)` for each of the `P` positives,
    /// `1 / (N + 2)` for each of the `N` negatives. Convex, and with an optimum for separable labels, too.
    LogOfBayesianTargets,
    /// The squared loss (Brier score), which bounds what a single point costs. The problem is not convex: the fit is the
    /// minimum that is reached from the log-loss's optimum without ever going up.
    Squared,
}

/// The norm of the gradient, per point, at which a fit has converged.
const GRADIENT_NORM: f64 = 1e-10;

const MAX_STEPS: usize = 500;

const MAX_DAMPING: f64 = 1e9;

/// The features of so many points are kept, in 40 bytes each; those of more are computed again in each pass.
const MOST_HELD: u64 = 1 << 22;

impl Loss {
    /// The loss is the log-loss unless something else is said.
    pub(super) fn facts(self, method: ScalingMethod) -> Facts {
        let facts = method.facts();
        match self {
            Self::Log => facts,
            Self::LogOfBayesianTargets => Facts {
                parameters: format!("{} targets=bayes", facts.parameters),
                counts_points: Some("a fit to Bayesian targets"),
                ..facts
            },
            Self::Squared => Facts { parameters: format!("{} loss=squared", facts.parameters), ..facts },
        }
    }

    /// Fits groups with both labels, in ascending order of score.
    pub(crate) fn fit(
        self,
        method: ScalingMethod,
        points: &(impl Points + ?Sized),
    ) -> Result<ScalingModel, FitError> {
        let to_labels = || method.fit(points, Targets::LABELS);
        match self {
            Self::Log => to_labels(),
            Self::LogOfBayesianTargets => method.fit(points, Targets::bayesian(points.totals())),
            Self::Squared => least_squares(to_labels()?, points, MOST_HELD),
        }
    }
}

/// Goes down from a model to one of the same kind that is a minimum of the mean squared loss. Of up to `most_held` points the
/// features are kept in memory.
fn least_squares(
    start: ScalingModel,
    points: &(impl Points + ?Sized),
    most_held: u64,
) -> Result<ScalingModel, FitError> {
    Ok(match start {
        ScalingModel::PlattLogit { a, b } => {
            let [a, b] =
                minimize(&Rows::new(points, |s| [logit(s), 1.0], most_held)?, [a, b], [false, false])?;
            ScalingModel::PlattLogit { a, b }
        }
        ScalingModel::PlattProb { a, b } => {
            let [a, b] = minimize(&Rows::new(points, |s| [s, 1.0], most_held)?, [a, b], [false, false])?;
            ScalingModel::PlattProb { a, b }
        }
        ScalingModel::Beta { a, b, c } => {
            let features = |s| [clip(s).ln(), -ln_complement(s), 1.0];
            let [a, b, c] =
                minimize(&Rows::new(points, features, most_held)?, [a, b, c], [true, true, false])?;
            ScalingModel::Beta { a, b, c }
        }
        ScalingModel::Temperature { inverse_t } => {
            let [inverse_t] = minimize(&Rows::new(points, |s| [logit(s)], most_held)?, [inverse_t], [true])?;
            if inverse_t == 0.0 {
                return Err(ScalingError::Reversed.into());
            }
            ScalingModel::Temperature { inverse_t }
        }
        ScalingModel::Quadratic { a, b, c } => {
            let start = [a * UNIT.powi(2), b * UNIT, c];
            let [a, b, c] = minimize(&Rows::new(points, parabola, most_held)?, start, [false; 3])?;
            ScalingModel::Quadratic { a: a / UNIT.powi(2), b: b / UNIT, c }
        }
        ScalingModel::PlattMargin { .. }
        | ScalingModel::TemperatureMargin { .. }
        | ScalingModel::QuadraticMargin { .. } => of_margins(start, &points.groups()?)?,
        ScalingModel::Unchanged => start,
    })
}

/// As [`least_squares`], on a scale on which the margins that matter are of order one.
fn of_margins(start: ScalingModel, groups: &[Group]) -> Result<ScalingModel, FitError> {
    if let ScalingModel::QuadraticMargin { a, b, c, scale, shift } = start {
        let features = |m: f64| {
            let u = m * scale + shift;
            [u * u, u, 1.0]
        };
        let [a, b, c] = minimize(&Rows::new(groups, features, u64::MAX)?, [a, b, c], [false; 3])?;
        return Ok(ScalingModel::QuadraticMargin { a, b, c, scale, shift });
    }
    let has_intercept = !matches!(start, ScalingModel::TemperatureMargin { .. });
    let line = Line::fit(groups, Targets::LABELS, has_intercept)?;
    let ((middle, unit), [a, b]) = (line.scale(groups), line.weights());
    if has_intercept {
        let features = |m: f64| [(m - middle) / unit, 1.0];
        let rows = Rows::new(groups, features, u64::MAX)?;
        let [slope, offset] = minimize(&rows, [a * unit, b + a * middle], [false, false])?;
        let a = slope / unit;
        return Ok(ScalingModel::PlattMargin { a, b: offset - a * middle });
    }
    let [slope] = minimize(&Rows::new(groups, |m| [m / unit], u64::MAX)?, [a * unit], [true])?;
    if slope == 0.0 {
        return Err(ScalingError::Reversed.into());
    }
    Ok(ScalingModel::TemperatureMargin { inverse_t: slope / unit })
}

/// The features of a group and its shares of all points and of those with label 1.
type Row<const C: usize> = ([f64; C], f64, f64);

/// The rows of groups, in ascending order of score.
struct Rows<'p, P: ?Sized, F, const C: usize> {
    points: &'p P,
    features: F,
    n: f64,
    /// All of them, if they are few.
    held: Option<Vec<Row<C>>>,
}

impl<'p, P: Points + ?Sized, F: Fn(f64) -> [f64; C], const C: usize> Rows<'p, P, F, C> {
    fn new(points: &'p P, features: F, most_held: u64) -> Result<Self, FitError> {
        let n = points.totals().0;
        let mut rows = Self { points, features, n: n as f64, held: None };
        if n <= most_held {
            let mut held = Vec::new();
            rows.visit(|row| held.push(*row))?;
            rows.held = Some(held);
        }
        Ok(rows)
    }

    /// Visits all rows. Sums of floats over them are the same each time.
    fn visit(&self, mut visit: impl FnMut(&Row<C>)) -> Result<(), FitError> {
        if let Some(held) = &self.held {
            held.iter().for_each(visit);
            return Ok(());
        }
        let row = |group: Group| {
            let share = |count: u64| count as f64 / self.n;
            ((self.features)(group.score), share(group.n), share(group.positives))
        };
        self.points.walk(&mut |group| {
            visit(&row(group));
            Ok(())
        })
    }
}

/// The mean squared loss of `sigmoid(weights . features)` at some weights, with its derivatives.
struct Point<const C: usize> {
    weights: [f64; C],
    loss: f64,
    gradient: [f64; C],
    hessian: [[f64; C]; C],
    /// The weights that may move: all but those at a bound of 0 below which the loss would fall.
    free: Vec<usize>,
}

/// Minimizes the mean squared loss, with the `bounded` weights at least 0: Newton's method on the free weights with
/// Levenberg's damping, each step cut off at the bounds (Bertsekas 1982).
fn minimize<P: Points + ?Sized, F: Fn(f64) -> [f64; C], const C: usize>(
    rows: &Rows<'_, P, F, C>,
    start: [f64; C],
    bounded: [bool; C],
) -> Result<[f64; C], FitError> {
    let mut here = Point::at(start, rows, bounded)?;
    let mut damping = 0.0;
    for _ in 0..MAX_STEPS {
        cancel::check_canceled();
        let norm = here.norm();
        if norm <= GRADIENT_NORM {
            // On the way to infinity the curvature vanishes with the gradient: Newton's step stays as long as ever, or
            // there is none, since what is left of the curvature may be of either sign.
            let Some(step) = here.step(0.0) else { return Err(ScalingError::NoLeastSquares.into()) };
            let mut is_short = true;
            rows.visit(|(row, ..)| is_short &= dot(row, &step).abs() < 0.1)?;
            return if is_short { Ok(here.weights) } else { Err(ScalingError::NoLeastSquares.into()) };
        }
        here = loop {
            if let Some(step) = here.step(damping) {
                let next = Point::at(here.minus(&step, bounded), rows, bounded)?;
                if next.is_below(&here) {
                    damping = if damping < 1e-6 { 0.0 } else { damping / 10.0 };
                    break next;
                }
            }
            damping = (10.0 * damping).max(1e-6);
            if damping > MAX_DAMPING {
                return Err(ScalingError::NotConverged(norm).into());
            }
        };
    }
    Err(ScalingError::NotConverged(here.norm()).into())
}

impl<const C: usize> Point<C> {
    fn at<P: Points + ?Sized, F: Fn(f64) -> [f64; C]>(
        weights: [f64; C],
        rows: &Rows<'_, P, F, C>,
        bounded: [bool; C],
    ) -> Result<Self, FitError> {
        let (mut loss, mut gradient, mut hessian) = (0.0, [0.0; C], [[0.0; C]; C]);
        rows.visit(|&(row, n, k)| {
            let z = dot(&row, &weights);
            let e = (-z.abs()).exp();
            let (higher, lower) = (1.0 / (1.0 + e), e / (1.0 + e));
            let (prob, complement) = if z >= 0.0 { (higher, lower) } else { (lower, higher) };
            loss += k * complement * complement + (n - k) * prob * prob;
            let slope = prob * complement;
            let residual = n * prob - k;
            let curvature = 2.0 * slope * (n * slope + residual * (complement - prob));
            for i in 0..C {
                gradient[i] += 2.0 * slope * residual * row[i];
                for j in 0..C {
                    hessian[i][j] += curvature * row[i] * row[j];
                }
            }
        })?;
        let free = (0..C).filter(|&i| !(bounded[i] && weights[i] == 0.0 && gradient[i] > 0.0)).collect();
        Ok(Self { weights, loss, gradient, hessian, free })
    }

    /// The norm of the gradient in the free weights.
    fn norm(&self) -> f64 {
        self.free.iter().map(|&i| self.gradient[i].powi(2)).sum::<f64>().sqrt()
    }

    /// Newton's step with the curvature raised to `1 + damping` times its trace; `None` if that does not make it positive.
    fn step(&self, damping: f64) -> Option<[f64; C]> {
        let free = &self.free;
        let curvature: f64 = free.iter().map(|&i| self.hessian[i][i].abs()).sum();
        // Where fewer scores than weights are distinct, the curvature vanishes in some direction.
        let ridge = (damping + 1e-13) * curvature.max(f64::MIN_POSITIVE);
        let damped = DMatrix::from_fn(free.len(), free.len(), |i, j| {
            self.hessian[free[i]][free[j]] + if i == j { ridge } else { 0.0 }
        });
        let gradient = DVector::from_iterator(free.len(), free.iter().map(|&i| self.gradient[i]));
        let solved = damped.cholesky()?.solve(&gradient);
        let mut step = [0.0; C];
        free.iter().zip(solved.iter()).for_each(|(&i, &s)| step[i] = s);
        Some(step)
    }

    fn minus(&self, step: &[f64; C], bounded: [bool; C]) -> [f64; C] {
        std::array::from_fn(|i| {
            let next = self.weights[i] - step[i];
            if bounded[i] { next.max(0.0) } else { next }
        })
    }

    /// Whether the loss is lower, or the gradient where the loss is flat to its last bits.
    fn is_below(&self, other: &Self) -> bool {
        let flat = 1e-14 * other.loss;
        self.loss < other.loss - flat || (self.loss <= other.loss + flat && self.norm() < other.norm())
    }
}

fn dot<const C: usize>(a: &[f64; C], b: &[f64; C]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::binary::BinaryMethod;
    use crate::binary::model::Model;
    use crate::data::BinaryData;
    use crate::error::FitError;
    use crate::fit::fit_binary;

    const METHODS: [ScalingMethod; 5] = [
        ScalingMethod::PlattLogit,
        ScalingMethod::PlattProb,
        ScalingMethod::Beta,
        ScalingMethod::Temperature,
        ScalingMethod::Quadratic,
    ];

    type Points = [(f64, bool)];

    fn fit(points: &Points, method: ScalingMethod, loss: Loss) -> Result<ScalingModel, FitError> {
        let (scores, labels) = points.iter().copied().unzip();
        let method = match loss {
            Loss::Log => BinaryMethod::Scaling(method),
            Loss::LogOfBayesianTargets => BinaryMethod::BayesianTargets(method),
            Loss::Squared => BinaryMethod::LeastSquares(method),
        };
        let fit = fit_binary(&BinaryData::new(scores, labels).unwrap(), &method, 0.1)?;
        match fit.tables[0].as_ref().unwrap().model {
            Model::Scaling(model) => Ok(model),
            ref other => panic!("{other:?}"),
        }
    }

    /// What a point's probability should be.
    fn target(loss: Loss, label: bool, points: &Points) -> f64 {
        let same = points.iter().filter(|point| point.1 == label).count() as f64;
        match (loss, label) {
            (Loss::LogOfBayesianTargets, true) => (same + 1.0) / (same + 2.0),
            (Loss::LogOfBayesianTargets, false) => 1.0 / (same + 2.0),
            _ => f64::from(u8::from(label)),
        }
    }

    /// The definition: a point's loss at a model.
    fn point_loss(model: &ScalingModel, loss: Loss, (score, label): (f64, bool)) -> f64 {
        let prob = model.prob(score);
        match (loss, label) {
            (Loss::Log, true) => -prob.ln(),
            (Loss::Log, false) => -(1.0 - prob).ln(),
            (Loss::Squared, label) => (prob - f64::from(u8::from(label))).powi(2),
            (Loss::LogOfBayesianTargets, _) => panic!("its gradient is enough"),
        }
    }

    fn mean_loss(model: &ScalingModel, loss: Loss, points: &Points) -> f64 {
        points.iter().map(|&point| point_loss(model, loss, point)).sum::<f64>() / points.len() as f64
    }

    /// What each parameter multiplies, and the parameter.
    fn parameters(model: &ScalingModel, score: f64) -> Vec<(f64, f64)> {
        let logit = (score / (1.0 - score)).ln();
        match *model {
            ScalingModel::PlattLogit { a, b } => vec![(logit, a), (1.0, b)],
            ScalingModel::PlattProb { a, b } => vec![(score, a), (1.0, b)],
            ScalingModel::Beta { a, b, c } => vec![(score.ln(), a), (-(1.0 - score).ln(), b), (1.0, c)],
            ScalingModel::Temperature { inverse_t } => vec![(logit, inverse_t)],
            ScalingModel::PlattMargin { a, b } => vec![(score, a), (1.0, b)],
            ScalingModel::TemperatureMargin { inverse_t } => vec![(score, inverse_t)],
            ScalingModel::Quadratic { a, b, c } => {
                let z = logit / UNIT;
                vec![(z * z, a * UNIT * UNIT), (z, b * UNIT), (1.0, c)]
            }
            ScalingModel::QuadraticMargin { a, b, c, scale, shift } => {
                let u = score * scale + shift;
                vec![(u * u, a), (u, b), (1.0, c)]
            }
            ScalingModel::Unchanged => Vec::new(),
        }
    }

    /// The derivative of the mean loss by each parameter, point by point, beside the parameter.
    fn gradient(model: &ScalingModel, loss: Loss, points: &Points) -> Vec<(f64, f64)> {
        let mut gradient: Vec<(f64, f64)> =
            parameters(model, points[0].0).into_iter().map(|(_, p)| (0.0, p)).collect();
        for &(score, label) in points {
            let prob = model.prob(score);
            let residual = prob - target(loss, label, points);
            let by_z = match loss {
                Loss::Log | Loss::LogOfBayesianTargets => residual,
                Loss::Squared => 2.0 * residual * prob * (1.0 - prob),
            };
            for (sum, (feature, _)) in gradient.iter_mut().zip(parameters(model, score)) {
                sum.0 += by_z * feature / points.len() as f64;
            }
        }
        gradient
    }

    /// A model with one of its parameters changed, in the order of [`parameters`].
    fn moved(model: &ScalingModel, index: usize, by: f64) -> ScalingModel {
        let to = |i: usize, p: f64| if i == index { p + by } else { p };
        match *model {
            ScalingModel::PlattLogit { a, b } => ScalingModel::PlattLogit { a: to(0, a), b: to(1, b) },
            ScalingModel::PlattProb { a, b } => ScalingModel::PlattProb { a: to(0, a), b: to(1, b) },
            ScalingModel::Beta { a, b, c } => {
                ScalingModel::Beta { a: to(0, a).max(0.0), b: to(1, b).max(0.0), c: to(2, c) }
            }
            ScalingModel::Temperature { inverse_t } => {
                ScalingModel::Temperature { inverse_t: to(0, inverse_t) }
            }
            ScalingModel::PlattMargin { a, b } => ScalingModel::PlattMargin { a: to(0, a), b: to(1, b) },
            ScalingModel::TemperatureMargin { inverse_t } => {
                ScalingModel::TemperatureMargin { inverse_t: to(0, inverse_t) }
            }
            ScalingModel::Quadratic { a, b, c } => {
                ScalingModel::Quadratic { a: to(0, a), b: to(1, b), c: to(2, c) }
            }
            ScalingModel::QuadraticMargin { a, b, c, scale, shift } => {
                ScalingModel::QuadraticMargin { a: to(0, a), b: to(1, b), c: to(2, c), scale, shift }
            }
            ScalingModel::Unchanged => ScalingModel::Unchanged,
        }
    }

    /// Whether no finite parameters are best, so that a refusal is right: a threshold separates the labels, at 1/2 without
    /// an intercept, or a temperature would be below 0.
    fn has_no_optimum(points: &Points, method: ScalingMethod) -> bool {
        let ends = |label| {
            let scores = points.iter().filter(|point| point.1 == label).map(|point| point.0);
            scores.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), s| (lo.min(s), hi.max(s)))
        };
        let (negatives, positives) = (ends(false), ends(true));
        if method == ScalingMethod::Temperature {
            let zero = ScalingModel::Temperature { inverse_t: 0.0 };
            return (negatives.1 <= 0.5 && positives.0 >= 0.5)
                || gradient(&zero, Loss::Log, points)[0].0 >= 0.0;
        }
        if method == ScalingMethod::Quadratic {
            let none_within = |(lo, hi): (f64, f64), label: bool| {
                points.iter().all(|point| point.1 != label || point.0 <= lo || point.0 >= hi)
            };
            return none_within(negatives, true) || none_within(positives, false);
        }
        negatives.1 <= positives.0 || positives.1 <= negatives.0
    }

    /// The conditions of Karush, Kuhn and Tucker: the gradient vanishes, except for a weight of beta calibration at 0, where
    /// it may only point upwards.
    fn check_stationary(model: &ScalingModel, loss: Loss, points: &Points) -> Result<(), TestCaseError> {
        for (index, (slope, parameter)) in gradient(model, loss, points).into_iter().enumerate() {
            let at_bound = matches!(model, ScalingModel::Beta { .. }) && index < 2 && parameter == 0.0;
            prop_assert!(slope.abs() < 1e-9 || (at_bound && slope > 0.0), "{model:?} {loss:?}: {slope:e}");
            prop_assert!(
                !matches!(model, ScalingModel::Beta { .. }) || index == 2 || parameter >= 0.0,
                "{model:?}"
            );
        }
        Ok(())
    }

    fn points() -> impl Strategy<Value = Vec<(f64, bool)>> {
        // Labels that follow the score, mostly, the other way round or not at all.
        let label = |strength: i32| {
            (1u32..99, 0i32..100).prop_map(move |(s, u)| {
                let rate = 50 + strength * (s as i32 - 50) / 50;
                (f64::from(s) / 100.0, u < rate)
            })
        };
        prop::sample::select(vec![45, 20, 0, -20, -45])
            .prop_flat_map(move |strength| proptest::collection::vec(label(strength), 12..80))
            .prop_filter("both labels", |points| {
                points.iter().any(|point| point.1) && points.iter().any(|point| !point.1)
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// Every fit to the log-loss is stationary, and there is one wherever the optimum is finite.
        #[test]
        fn the_log_loss_is_stationary(points in points(), method in prop::sample::select(METHODS.to_vec())) {
            match fit(&points, method, Loss::Log) {
                Ok(model) => check_stationary(&model, Loss::Log, &points)?,
                Err(cause) => prop_assert!(has_no_optimum(&points, method), "{method:?}: {cause}"),
            }
        }

        /// Features that are computed again in each pass are those that are kept.
        #[test]
        fn what_is_kept_does_not_matter(points in points(), method in prop::sample::select(METHODS.to_vec())) {
            let Ok(start) = fit(&points, method, Loss::Log) else { return Ok(()) };
            let groups = crate::points::group(points.iter().map(|&(s, y)| (s, 1, y.into())).collect());
            prop_assert_eq!(least_squares(start, &groups[..], 0), least_squares(start, &groups[..], MOST_HELD));
        }

        /// So is every fit to Bayesian targets, which there is whether a threshold separates the labels or not.
        #[test]
        fn bayesian_targets_are_stationary(points in points(), method in prop::sample::select(METHODS.to_vec())) {
            let loss = Loss::LogOfBayesianTargets;
            match fit(&points, method, loss) {
                Ok(model) => check_stationary(&model, loss, &points)?,
                Err(FitError::Scaling(ScalingError::Reversed)) => {
                    let zero = ScalingModel::Temperature { inverse_t: 0.0 };
                    prop_assert!(method == ScalingMethod::Temperature && gradient(&zero, loss, &points)[0].0 >= 0.0);
                }
                Err(cause) => prop_assert!(points.iter().all(|point| point.0 == points[0].0), "{cause}"),
            }
        }

        /// Every fit to the squared loss is stationary, no worse than the fit to the log-loss, and a minimum: no small
        /// change of a parameter is better.
        #[test]
        fn the_squared_loss_is_at_a_minimum(points in points(), method in prop::sample::select(METHODS.to_vec())) {
            let log = fit(&points, method, Loss::Log);
            match fit(&points, method, Loss::Squared) {
                Ok(model) => {
                    check_stationary(&model, Loss::Squared, &points)?;
                    let loss = mean_loss(&model, Loss::Squared, &points);
                    prop_assert!(loss <= mean_loss(&log.unwrap(), Loss::Squared, &points) + 1e-12);
                    for index in 0..parameters(&model, 0.5).len() {
                        for by in [-1e-3, 1e-3] {
                            let there = mean_loss(&moved(&model, index, by), Loss::Squared, &points);
                            prop_assert!(there >= loss - 1e-13, "{model:?}: {index} {by}: {}", loss - there);
                        }
                    }
                }
                Err(FitError::Scaling(ScalingError::NoLeastSquares)) => prop_assert!(log.is_ok()),
                Err(cause) => prop_assert!(has_no_optimum(&points, method), "{method:?}: {cause}"),
            }
        }
    }

    /// Labels that only a curve with a peak could follow leave a weight of beta calibration at 0.
    #[test]
    fn beta_calibration_keeps_its_weights_from_falling_below_0() {
        for positives in [&[4, 5][..], &[2, 3, 4], &[1, 8], &[8, 1, 2]] {
            let points: Vec<(f64, bool)> =
                (1..10).map(|i| (f64::from(i) / 10.0, positives.contains(&i))).collect();
            for loss in [Loss::Log, Loss::Squared] {
                let model = fit(&points, ScalingMethod::Beta, loss).unwrap();
                check_stationary(&model, loss, &points).unwrap();
                let ScalingModel::Beta { a, b, .. } = model else { panic!() };
                assert!(a == 0.0 || b == 0.0, "{model:?}");
            }
        }
    }

    /// Where the true probability is in the family, both losses find it.
    #[test]
    fn recovers_known_parameters() {
        let truth = ScalingModel::Beta { a: 0.5, b: 1.5, c: 0.2 };
        let groups: Vec<Group> = (1..100)
            .map(|i| {
                let (score, n) = (f64::from(i) / 100.0, 1_000_000_000);
                Group { score, n, positives: (truth.prob(score) * n as f64).round() as u64 }
            })
            .collect();
        for loss in [Loss::Log, Loss::Squared] {
            let Ok(ScalingModel::Beta { a, b, c }) = loss.fit(ScalingMethod::Beta, &groups[..]) else {
                panic!()
            };
            assert!(
                (a - 0.5).abs() < 1e-6 && (b - 1.5).abs() < 1e-6 && (c - 0.2).abs() < 1e-6,
                "{a} {b} {c}"
            );
        }
    }

    /// One label 0 far up costs the log-loss more the steeper the slope, but the squared loss 1 at most.
    #[test]
    fn an_outlier_may_leave_the_squared_loss_without_a_minimum() {
        let mut points: Vec<(f64, bool)> = (1..100).map(|i| (f64::from(i) / 100.0, i >= 50)).collect();
        points.push((0.99, false));
        assert!(fit(&points, ScalingMethod::PlattLogit, Loss::Log).is_ok());
        assert_eq!(
            fit(&points, ScalingMethod::PlattLogit, Loss::Squared),
            Err(FitError::Scaling(ScalingError::NoLeastSquares))
        );
    }

    /// On the way to infinity, the curvature of beta calibration may be below 0 where the gradient vanishes.
    #[test]
    fn a_gradient_that_vanishes_without_curvature_is_no_minimum() {
        let positives =
            [0.4, 0.73, 0.58, 0.75, 0.44, 0.4, 0.41, 0.46, 0.4, 0.12, 0.67, 0.39, 0.31, 0.88, 0.78];
        let negatives = [0.01, 0.05, 0.57, 0.04, 0.22, 0.2, 0.16];
        let points: Vec<(f64, bool)> =
            positives.map(|s| (s, true)).into_iter().chain(negatives.map(|s| (s, false))).collect();
        assert!(fit(&points, ScalingMethod::Beta, Loss::Log).is_ok());
        assert_eq!(
            fit(&points, ScalingMethod::Beta, Loss::Squared),
            Err(FitError::Scaling(ScalingError::NoLeastSquares))
        );
    }
}
