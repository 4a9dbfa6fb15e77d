//! Scaling calibrators: smooth functions with few parameters, fitted to the log-loss.

use calib_core::artifact::Method;
use nalgebra::{DMatrix, DVector, SMatrix, SVector};

use super::facts::Facts;
use super::margin_scaling::{Line, fit_parabola};
use super::targets::Targets;
use crate::cancel;
use crate::error::{FitError, ScalingError};
use crate::points::{BUCKETS, Group, Points, packed};
use crate::stats::{ScoreKind, clip, ln_complement, logit, sigmoid};

/// The norm of the gradient, per point, at which a fit has converged.
const GRADIENT_NORM: f64 = 1e-10;

const MAX_STEPS: usize = 200;

/// The error of a mean as it is summed, and some more.
const SUM_ERROR: f64 = 4e-12;

/// A scaling method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalingMethod {
    /// `sigmoid(a logit(s) + b)`.
    PlattLogit,
    /// `sigmoid(a s + b)`.
    PlattProb,
    /// `sigmoid(a ln s - b ln(1 - s) + c)` with `a, b >= 0` (Kull et al. 2017).
    Beta,
    /// `sigmoid(logit(s) / t)` with `t > 0`.
    Temperature,
    /// `sigmoid(a m + b)` of a margin (Platt 1999).
    PlattMargin,
    /// `sigmoid(m / t)` with `t > 0` of a margin, which is used as a logit.
    TemperatureMargin,
    /// `sigmoid(a z^2 + b z + c)` with `z = logit(s)`. It may rise and fall.
    Quadratic,
    /// `sigmoid(a m^2 + b m + c)` of a margin.
    QuadraticMargin,
}

/// A fitted scaling function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalingModel {
    /// `sigmoid(a logit(s) + b)`.
    PlattLogit {
        /// The slope.
        a: f64,
        /// The intercept.
        b: f64,
    },
    /// `sigmoid(a s + b)`.
    PlattProb {
        /// The slope.
        a: f64,
        /// The intercept.
        b: f64,
    },
    /// `sigmoid(a ln s - b ln(1 - s) + c)`.
    Beta {
        /// The weight of `ln s`, at least 0.
        a: f64,
        /// The weight of `-ln(1 - s)`, at least 0.
        b: f64,
        /// The intercept.
        c: f64,
    },
    /// `sigmoid(inverse_t logit(s))`.
    Temperature {
        /// One over the temperature, above 0.
        inverse_t: f64,
    },
    /// `sigmoid(a m + b)` of a margin.
    PlattMargin {
        /// The slope.
        a: f64,
        /// The intercept.
        b: f64,
    },
    /// `sigmoid(inverse_t m)` of a margin.
    TemperatureMargin {
        /// One over the temperature, above 0.
        inverse_t: f64,
    },
    /// `sigmoid((a z + b) z + c)` with `z = logit(s)`.
    Quadratic {
        /// The weight of the square.
        a: f64,
        /// The slope.
        b: f64,
        /// The intercept.
        c: f64,
    },
    /// `sigmoid((a u + b) u + c)` with `u = m scale + shift` of a margin.
    QuadraticMargin {
        /// The weight of the square.
        a: f64,
        /// The slope.
        b: f64,
        /// The intercept.
        c: f64,
        /// What margins are multiplied by: an `f32`.
        scale: f64,
        /// What is added to it: an `f32`.
        shift: f64,
    },
    /// `s`: the score as it is.
    Unchanged,
}

impl ScalingMethod {
    pub(super) fn facts(self) -> Facts {
        let (method, name) = match self {
            Self::PlattLogit => (Method::Platt, "platt-logit"),
            Self::PlattProb => (Method::Platt, "platt-prob"),
            Self::Beta => (Method::Beta, "beta"),
            Self::Temperature => (Method::Temperature, "temperature"),
            Self::PlattMargin => (Method::Platt, "platt-margin"),
            Self::TemperatureMargin => (Method::Temperature, "temperature-margin"),
            Self::Quadratic => (Method::Quadratic, "quadratic"),
            Self::QuadraticMargin => (Method::Quadratic, "quadratic-margin"),
        };
        Facts { takes: Some(self.takes()), ..Facts::new(method, format!("scaling={name}")) }
    }

    /// Returns the kind of score that it takes.
    pub(super) fn takes(self) -> ScoreKind {
        match self {
            Self::PlattMargin | Self::TemperatureMargin | Self::QuadraticMargin => ScoreKind::Margin,
            Self::PlattLogit | Self::PlattProb | Self::Beta | Self::Temperature | Self::Quadratic => {
                ScoreKind::Probability
            }
        }
    }

    /// Fits points by Newton's method on the mean log-loss.
    pub(crate) fn fit(
        self,
        points: &(impl Points + ?Sized),
        targets: Targets,
    ) -> Result<ScalingModel, FitError> {
        let ranges = points.ranges()?;
        if matches!(ranges, [Some(negatives), Some(positives)] if negatives == positives && negatives.0 == negatives.1)
        {
            return Err(ScalingError::AllEqual.into());
        }
        if targets == Targets::LABELS && self.is_separated(points, ranges)? {
            return Err(ScalingError::Separated.into());
        }
        Ok(match self {
            Self::PlattLogit => {
                let [a, b] = minimize::<2, 6>(points, targets, |s| [logit(s), 1.0])?;
                ScalingModel::PlattLogit { a, b }
            }
            Self::PlattProb => {
                let [a, b] = minimize::<2, 6>(points, targets, |s| [s, 1.0])?;
                ScalingModel::PlattProb { a, b }
            }
            Self::Beta => beta(points, targets)?,
            Self::Temperature => {
                let [inverse_t] = minimize::<1, 3>(points, targets, |s| [logit(s)])?;
                if inverse_t <= 0.0 {
                    return Err(ScalingError::Reversed.into());
                }
                ScalingModel::Temperature { inverse_t }
            }
            Self::PlattMargin => {
                let [a, b] = Line::fit(&points.groups()?, targets, true)?.weights();
                ScalingModel::PlattMargin { a, b }
            }
            Self::TemperatureMargin => {
                let [inverse_t, _] = Line::fit(&points.groups()?, targets, false)?.weights();
                if inverse_t <= 0.0 {
                    return Err(ScalingError::Reversed.into());
                }
                ScalingModel::TemperatureMargin { inverse_t }
            }
            Self::Quadratic => {
                let [a, b, c] = minimize::<3, 10>(points, targets, parabola)?;
                ScalingModel::Quadratic { a: a / UNIT.powi(2), b: b / UNIT, c }
            }
            Self::QuadraticMargin => {
                let [a, b, c, scale, shift] = fit_parabola(&points.groups()?, targets)?;
                ScalingModel::QuadraticMargin { a, b, c, scale, shift }
            }
        })
    }

    /// Whether a threshold divides the labels, whose ranges of scores are given, so that a steeper slope always fits better;
    /// points on it do not change that. Without an intercept only the threshold 1/2 can, or 0 of margins; a parabola has two
    /// thresholds, with one label between them.
    fn is_separated(
        self,
        points: &(impl Points + ?Sized),
        ranges: [Option<(f64, f64)>; 2],
    ) -> Result<bool, FitError> {
        if let (Self::Quadratic | Self::QuadraticMargin, [Some(negatives), Some(positives)]) = (self, ranges)
        {
            let within = |(lo, hi): (f64, f64)| {
                let through = if lo < hi { points.below(&[lo.next_up(), hi])? } else { vec![(0, 0); 2] };
                Ok::<_, FitError>((through[1].0 - through[0].0, through[1].1 - through[0].1))
            };
            let ((n, k), (_, positives)) = (within(positives)?, within(negatives)?);
            return Ok(n == k || positives == 0);
        }
        Ok(match (self, ranges) {
            (Self::Temperature, [Some(negatives), Some(positives)]) => {
                negatives.1 <= 0.5 && positives.0 >= 0.5
            }
            (Self::TemperatureMargin, [Some(negatives), Some(positives)]) => {
                negatives.1 <= 0.0 && positives.0 >= 0.0
            }
            (_, [Some(negatives), Some(positives)]) => {
                negatives.1 <= positives.0 || positives.1 <= negatives.0
            }
            // One label only: a part of a split, or the predictions of a class that is always right.
            _ => true,
        })
    }
}

impl ScalingModel {
    /// The scores of this kind as they are: of margins their sigmoid.
    pub(crate) fn unchanged(kind: ScoreKind) -> Self {
        match kind {
            ScoreKind::Probability => Self::Unchanged,
            ScoreKind::Margin => Self::TemperatureMargin { inverse_t: 1.0 },
        }
    }

    /// The calibrated probability of a score of the kind that it takes.
    pub fn prob(&self, score: f64) -> f64 {
        sigmoid(match *self {
            Self::PlattLogit { a, b } => a * logit(score) + b,
            Self::PlattProb { a, b } => a * score + b,
            Self::Beta { a, b, c } => a * clip(score).ln() - b * ln_complement(score) + c,
            Self::Temperature { inverse_t } => inverse_t * logit(score),
            Self::PlattMargin { a, b } => a * score + b,
            Self::TemperatureMargin { inverse_t } => inverse_t * score,
            Self::Quadratic { a, b, c } => {
                let z = logit(score);
                (a * z + b) * z + c
            }
            Self::QuadraticMargin { a, b, c, scale, shift } => {
                let u = score * scale + shift;
                (a * u + b) * u + c
            }
            Self::Unchanged => return score,
        })
    }

    /// The score at which it turns from rising to falling or back; `None` if it does not.
    pub fn turning_point(&self) -> Option<f64> {
        let at = match *self {
            Self::Quadratic { a, b, .. } => sigmoid(-b / (2.0 * a)),
            Self::QuadraticMargin { a, b, scale, shift, .. } => (-b / (2.0 * a) - shift) / scale,
            _ => return None,
        };
        at.is_finite().then_some(at)
    }

    /// Returns the kind of score that it takes.
    pub(crate) fn takes(&self) -> ScoreKind {
        match self {
            Self::PlattMargin { .. } | Self::TemperatureMargin { .. } | Self::QuadraticMargin { .. } => {
                ScoreKind::Margin
            }
            _ => ScoreKind::Probability,
        }
    }
}

/// Logits are divided by this, so that their squares stay small; they reach `ln(2^24)`.
pub(super) const UNIT: f64 = 8.0;

/// The features of a parabola of the logit.
pub(super) fn parabola(score: f64) -> [f64; 3] {
    let z = logit(score) / UNIT;
    [z * z, z, 1.0]
}

/// Beta calibration: where a weight comes out negative, the optimum has it at 0.
fn beta(points: &(impl Points + ?Sized), targets: Targets) -> Result<ScalingModel, FitError> {
    let [a, b, c] = minimize::<3, 10>(points, targets, |s| [clip(s).ln(), -ln_complement(s), 1.0])?;
    if a >= 0.0 && b >= 0.0 {
        return Ok(ScalingModel::Beta { a, b, c });
    }
    // The objective is convex, so the constrained optimum lies on an edge of the feasible region; if not on the first,
    // then on the other, or in the corner.
    let without_a = minimize::<2, 6>(points, targets, |s| [-ln_complement(s), 1.0])?;
    let without_b = minimize::<2, 6>(points, targets, |s| [clip(s).ln(), 1.0])?;
    let rate = targets.mean(points.totals());
    let candidates = [
        (without_a[0] >= 0.0).then_some(ScalingModel::Beta { a: 0.0, b: without_a[0], c: without_a[1] }),
        (without_b[0] >= 0.0).then_some(ScalingModel::Beta { a: without_b[0], b: 0.0, c: without_b[1] }),
        Some(ScalingModel::Beta { a: 0.0, b: 0.0, c: (rate / (1.0 - rate)).ln() }),
    ];
    let mut best = None;
    for model in candidates.into_iter().flatten() {
        let loss = log_loss(points, targets, &model)?;
        if best.is_none_or(|(lowest, _)| loss < lowest) {
            best = Some((loss, model));
        }
    }
    let (_, model) = best.expect("the corner is always feasible");
    Ok(model)
}

/// The mean log-loss of a model.
fn log_loss(
    points: &(impl Points + ?Sized),
    targets: Targets,
    model: &ScalingModel,
) -> Result<f64, FitError> {
    let [loss] = points.means(|score, label| {
        let prob = model.prob(score).clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0);
        let target = targets.of(label);
        [-(target * prob.ln() + (1.0 - target) * (1.0 - prob).ln())]
    })?;
    Ok(loss)
}

/// The gradient of the mean log-loss and its Hessian at some weights.
struct Slope<const C: usize> {
    gradient: SVector<f64, C>,
    hessian: SMatrix<f64, C, C>,
    /// How much the Hessian can change: its change is at most this times that of the weights, anywhere.
    lipschitz: f64,
}

/// Takes one pass over the points. `K` is `C` for the gradient, `C (C + 1) / 2` for one half of the Hessian, and
/// 1 for its Lipschitz constant.
fn slope<const C: usize, const K: usize>(
    points: &(impl Points + ?Sized),
    targets: Targets,
    features: fn(f64) -> [f64; C],
    weights: &SVector<f64, C>,
) -> Result<Slope<C>, FitError> {
    const { assert!(K == C + C * (C + 1) / 2 + 1) }
    let means: [f64; K] = points.means(|score, label| {
        let row = features(score);
        let z: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
        let e = (-z.abs()).exp();
        let higher = 1.0 / (1.0 + e);
        let lower = e * higher;
        let prob = if z >= 0.0 { higher } else { lower };
        let mut terms = [0.0; K];
        let residual = prob - targets.of(label);
        let curvature = higher * lower;
        let mut next = C;
        for i in 0..C {
            terms[i] = residual * row[i];
            for j in 0..=i {
                terms[next] = curvature * row[i] * row[j];
                next += 1;
            }
        }
        let square: f64 = row.iter().map(|x| x * x).sum();
        // Features reach ln 2^24, their cube's sum 4700.
        terms[K - 1] = square * square.sqrt() / 8.0;
        terms
    })?;
    // The second derivative of the sigmoid is at most 1 / (6 sqrt 3).
    let lipschitz = means[K - 1] * 8.0 / (6.0 * 3f64.sqrt());
    Ok(Slope {
        lipschitz,
        gradient: SVector::from_fn(|i, _| means[i]),
        hessian: SMatrix::from_fn(|i, j| {
            let (i, j) = (i.max(j), i.min(j));
            means[C + i * (i + 1) / 2 + j]
        }),
    })
}

/// The mean log-loss at some weights.
fn loss<const C: usize>(
    points: &(impl Points + ?Sized),
    targets: Targets,
    features: fn(f64) -> [f64; C],
    weights: &SVector<f64, C>,
) -> Result<f64, FitError> {
    let [loss] = points.means(|score, label| {
        let z: f64 = features(score).iter().zip(weights).map(|(x, w)| x * w).sum();
        // -ln sigmoid(z) for a positive, -ln sigmoid(-z) for a negative, without overflow.
        let both = (-z.abs()).exp().ln_1p();
        let target = targets.of(label);
        [target * ((-z).max(0.0) + both) + (1.0 - target) * (z.max(0.0) + both)]
    })?;
    Ok(loss)
}

/// Minimizes the mean log-loss of `sigmoid(weights . features(score))`.
///
/// The points may be many: the search starts where it ends for the same points with their scores made coarse, so that
/// few passes over all of them are left.
fn minimize<const C: usize, const K: usize>(
    points: &(impl Points + ?Sized),
    targets: Targets,
    features: fn(f64) -> [f64; C],
) -> Result<[f64; C], FitError> {
    let coarse = coarse(points)?;
    let start = newton::<C, K>(&coarse[..], targets, features, SVector::zeros());
    let found = newton::<C, K>(points, targets, features, start.unwrap_or_else(|_| SVector::zeros()))?;
    Ok(found.into())
}

/// Newton's method with halved steps.
fn newton<const C: usize, const K: usize>(
    points: &(impl Points + ?Sized),
    targets: Targets,
    features: fn(f64) -> [f64; C],
    start: SVector<f64, C>,
) -> Result<SVector<f64, C>, FitError> {
    let mut weights = start;
    let mut current = slope::<C, K>(points, targets, features, &weights)?;
    for _ in 0..MAX_STEPS {
        cancel::check_canceled();
        let norm = current.gradient.norm();
        if norm <= GRADIENT_NORM {
            return Ok(weights);
        }
        // Far from the optimum the curvature may vanish, and where fewer scores than weights are distinct it does; rounded,
        // it may even be negative. A little more of it keeps the step finite.
        let ridge = C as f64 * SUM_ERROR;
        let damped = current.hessian + SMatrix::identity() * ridge;
        let step = solve(damped, current.gradient).ok_or(ScalingError::NotConverged(norm))?;
        // What is left of the gradient after a full step, by Taylor's theorem. A pass over many points may be saved.
        let left = current.lipschitz / 2.0 * step.norm_squared() + ridge * step.norm();
        if left <= GRADIENT_NORM {
            return Ok(weights - step);
        }
        // Near the optimum the loss is flat to its last bits, and a full step that lessens the slope the right one.
        let next = weights - step;
        let there = slope::<C, K>(points, targets, features, &next)?;
        if there.gradient.norm() <= norm / 2.0 {
            (weights, current) = (next, there);
            continue;
        }
        let here = loss(points, targets, features, &weights)?;
        let mut length = 1.0;
        while length > 1e-10
            && loss(points, targets, features, &(weights - step * length))? > here + SUM_ERROR * (1.0 + here)
        {
            length /= 2.0;
        }
        weights -= step * length;
        current = slope::<C, K>(points, targets, features, &weights)?;
    }
    Err(ScalingError::NotConverged(current.gradient.norm()).into())
}

/// Solves a system whose matrix is positive definite; `None` if it is not.
fn solve<const C: usize>(matrix: SMatrix<f64, C, C>, right: SVector<f64, C>) -> Option<SVector<f64, C>> {
    let matrix = DMatrix::from_column_slice(C, C, matrix.as_slice());
    let solution = matrix.cholesky()?.solve(&DVector::from_column_slice(right.as_slice()));
    Some(SVector::from_column_slice(solution.as_slice()))
}

/// The points with their scores rounded to the middle of some thousand cells.
fn coarse(points: &(impl Points + ?Sized)) -> Result<Vec<Group>, FitError> {
    // Cells that are counted anyway: buckets of packed points.
    let edges: Vec<f64> = (1..BUCKETS).map(|bucket| packed::score(packed::bucket_start(bucket))).collect();
    let below = points.below(&edges)?;
    let highs = edges.into_iter().zip(below).chain([(1.0, points.totals())]);
    let mut low = (0.0, (0, 0));
    let group = |high: (f64, (u64, u64))| {
        let (n, positives) = (high.1.0 - low.1.0, high.1.1 - low.1.1);
        let score = (low.0 + high.0) / 2.0;
        low = high;
        Group { score, n, positives }
    };
    Ok(highs.map(group).filter(|group| group.n > 0).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::totals;

    fn fit(method: ScalingMethod, points: &[Group]) -> Result<ScalingModel, FitError> {
        method.fit(points, Targets::LABELS)
    }

    /// Many points whose true probability is known at each score.
    fn exact(truth: impl Fn(f64) -> f64) -> Vec<Group> {
        (1..100)
            .map(|i| {
                let score = f64::from(i) / 100.0;
                let n = 1_000_000_000;
                Group { score, n, positives: (truth(score) * n as f64).round() as u64 }
            })
            .collect()
    }

    #[test]
    fn recovers_known_parameters() {
        let Ok(ScalingModel::PlattLogit { a, b }) =
            fit(ScalingMethod::PlattLogit, &exact(|s| sigmoid(0.7 * logit(s) - 0.3))[..])
        else {
            panic!()
        };
        assert!((a - 0.7).abs() < 1e-6 && (b + 0.3).abs() < 1e-6, "{a} {b}");
        let Ok(ScalingModel::PlattProb { a, b }) =
            fit(ScalingMethod::PlattProb, &exact(|s| sigmoid(6.0 * s - 2.5))[..])
        else {
            panic!()
        };
        assert!((a - 6.0).abs() < 1e-6 && (b + 2.5).abs() < 1e-6, "{a} {b}");
        let Ok(ScalingModel::Beta { a, b, c }) =
            fit(ScalingMethod::Beta, &exact(|s| sigmoid(0.5 * s.ln() - 1.5 * (1.0 - s).ln() + 0.2))[..])
        else {
            panic!()
        };
        assert!((a - 0.5).abs() < 1e-6 && (b - 1.5).abs() < 1e-6 && (c - 0.2).abs() < 1e-6, "{a} {b} {c}");
        let Ok(ScalingModel::Temperature { inverse_t }) =
            fit(ScalingMethod::Temperature, &exact(|s| sigmoid(logit(s) / 2.0))[..])
        else {
            panic!()
        };
        assert!((inverse_t - 0.5).abs() < 1e-7, "{inverse_t}");
    }

    #[test]
    fn says_why_there_is_no_fit() {
        let group = |score, n, positives| Group { score, n, positives };
        let separated = [group(0.1, 3, 0), group(0.4, 2, 1), group(0.9, 3, 3)];
        let reversed = [group(0.1, 3, 3), group(0.9, 3, 0)];
        for method in [ScalingMethod::PlattLogit, ScalingMethod::Beta, ScalingMethod::Temperature] {
            assert_eq!(fit(method, &[group(0.5, 4, 2)][..]), Err(ScalingError::AllEqual.into()));
            if method != ScalingMethod::Temperature {
                assert_eq!(fit(method, &separated[..]), Err(ScalingError::Separated.into()));
                assert_eq!(fit(method, &reversed[..]), Err(ScalingError::Separated.into()));
            }
        }
        // A temperature has no intercept: a threshold other than 1/2 leaves it finite.
        assert!(fit(ScalingMethod::Temperature, &separated[..]).is_ok());
        let at_half = [group(0.1, 3, 0), group(0.5, 2, 1), group(0.9, 3, 3)];
        assert_eq!(fit(ScalingMethod::Temperature, &at_half[..]), Err(ScalingError::Separated.into()));
        let anti = [group(0.1, 10, 9), group(0.9, 10, 1)];
        assert_eq!(fit(ScalingMethod::Temperature, &anti[..]), Err(ScalingError::Reversed.into()));
        let Ok(ScalingModel::Beta { a, b, .. }) = fit(ScalingMethod::Beta, &anti[..]) else { panic!() };
        assert_eq!((a, b), (0.0, 0.0));
    }

    /// Against scikit-learn 1.9.1, `sklearn.calibration._sigmoid_calibration`, which minimizes the same loss to six digits; its
    /// slope and its intercept have the other sign.
    #[test]
    fn bayesian_targets_are_those_of_scikit_learn() {
        let group = |score, n, positives| Group { score, n, positives };
        let fit = |points: &[Group]| {
            let targets = Targets::bayesian(totals(points));
            let Ok(ScalingModel::PlattProb { a, b }) = ScalingMethod::PlattProb.fit(points, targets) else {
                panic!()
            };
            [a, b]
        };
        let close = |[a, b]: [f64; 2], expected: [f64; 2]| {
            assert!((a - expected[0]).abs() < 1e-5 && (b - expected[1]).abs() < 1e-5, "{a} {b}");
        };
        // Separated labels.
        let separated = [group(0.1, 3, 0), group(0.4, 2, 0), group(0.7, 2, 2), group(0.9, 3, 3)];
        close(fit(&separated), [5.422_513, -2.875_532]);
        // Margins of 5, -4 and 1 as scores: the example of its own tests, from LibSVM.
        let margins = [group(0.0, 1, 0), group(5.0 / 9.0, 1, 0), group(1.0, 1, 1)];
        close(fit(&margins), [9.0 * 0.202_615, -4.0 * 0.202_615 - 0.652_367]);
        let mixed = [
            group(0.1, 20, 1),
            group(0.25, 30, 6),
            group(0.5, 20, 9),
            group(0.75, 25, 20),
            group(0.95, 10, 10),
        ];
        close(fit(&mixed), [5.905_037, -3.016_368]);
    }

    /// Where a threshold separates the labels there is an optimum, and so there is with one label only.
    #[test]
    fn bayesian_targets_have_an_optimum_where_labels_have_none() {
        let group = |score, n, positives| Group { score, n, positives };
        let separated = [group(0.1, 3, 0), group(0.4, 2, 0), group(0.7, 2, 2), group(0.9, 3, 3)];
        let one_label = [group(0.1, 3, 0), group(0.4, 2, 0), group(0.9, 3, 0)];
        for points in [&separated[..], &one_label] {
            let targets = Targets::bayesian(totals(points));
            for method in [
                ScalingMethod::PlattLogit,
                ScalingMethod::PlattProb,
                ScalingMethod::Beta,
                ScalingMethod::Temperature,
            ] {
                assert_eq!(fit(method, points), Err(ScalingError::Separated.into()));
                let model = method.fit(points, targets).unwrap();
                let [low, middle, high] = [0.1, 0.4, 0.9].map(|score| model.prob(score));
                let ascend = low <= middle + 1e-9 && middle <= high + 1e-9;
                assert!(ascend && low > 0.0 && high < 1.0, "{method:?} {low} {middle} {high}");
            }
        }
        assert_eq!(
            ScalingMethod::Beta.fit(&[group(0.5, 4, 2)][..], Targets::bayesian((4, 2))),
            Err(ScalingError::AllEqual.into())
        );
    }

    /// Against `LogisticRegression(C=inf, tol=1e-14, solver="newton-cholesky")` of scikit-learn 1.9 on `(z * z, z)`; margins that are
    /// another line of the logits have the same function.
    #[test]
    fn a_parabola_is_logistic_regression_on_two_features() {
        let truths: [fn(f64) -> f64; 3] =
            [|s| s * s, |s| 0.1 + 0.6 * (3.0 * s).sin().powi(2), |s| 0.05 + 0.3 * s];
        let expected = [
            (400, [-0.086_923_733_4, 1.381_268_598_4, -1.151_294_834_9]),
            (600, [-0.272_593_427_5, 0.090_153_500_7, 0.257_648_087_5]),
            (800, [-0.048_089_948_8, 0.377_849_445_9, -1.365_854_951_8]),
        ];
        for ((k, truth), (n, expected)) in (0u64..).zip(truths).zip(expected) {
            let groups: Vec<Group> = (0..n)
                .map(|i| {
                    let score = (i as f64 + 0.5) / n as f64;
                    let draw = (((i * 7919 + k * 104_729) % 1009) as f64 + 0.5) / 1009.0;
                    Group { score, n: 1, positives: u64::from(draw < truth(score)) }
                })
                .collect();
            let Ok(ScalingModel::Quadratic { a, b, c }) = fit(ScalingMethod::Quadratic, &groups) else {
                panic!()
            };
            for (found, expected) in [a, b, c].into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-7, "{k}: {found} {expected}");
            }
            let margins: Vec<Group> = groups
                .iter()
                .map(|group| Group { score: 100.0 + 3.0 * logit(group.score), ..*group })
                .collect();
            let of_margins = fit(ScalingMethod::QuadraticMargin, &margins).unwrap();
            let of_probs = ScalingModel::Quadratic { a, b, c };
            for (group, margin) in groups.iter().zip(&margins) {
                assert!((of_probs.prob(group.score) - of_margins.prob(margin.score)).abs() < 1e-8);
            }
            let turns = of_probs.turning_point().map(|at| 100.0 + 3.0 * logit(at));
            assert!((turns.unwrap() - of_margins.turning_point().unwrap()).abs() < 1e-4);
        }
    }

    /// One label between two thresholds: there is no optimum, but of Bayesian targets there is.
    #[test]
    fn a_label_between_two_thresholds_is_separable_by_a_parabola() {
        let groups = [(0.1, 0), (0.3, 1), (0.5, 1), (0.8, 0)].map(|(score, positives)| Group {
            score,
            n: 1,
            positives,
        });
        let margins = groups.map(|group| Group { score: 10.0 * group.score, ..group });
        for (method, groups) in
            [(ScalingMethod::Quadratic, groups), (ScalingMethod::QuadraticMargin, margins)]
        {
            assert_eq!(fit(method, &groups), Err(ScalingError::Separated.into()), "{method:?}");
            assert!(method.fit(&groups[..], Targets::bayesian((4, 2))).is_ok());
            assert!(fit(ScalingMethod::PlattMargin, &margins).is_ok());
        }
    }

    proptest! {
        /// No small change of a parameter lowers the loss: the gradient is stationary.
        #[test]
        fn the_fit_is_a_minimum(raw in proptest::collection::vec((1u32..99, any::<bool>()), 20..80)) {
            let points = raw.into_iter().map(|(s, y)| (f64::from(s) / 100.0, 1, u64::from(y))).collect();
            let groups = crate::points::group(points);
            let Ok(ScalingModel::PlattLogit { a, b }) = fit(ScalingMethod::PlattLogit, &groups[..]) else {
                return Ok(());
            };
            let (n, _) = crate::points::totals(&groups);
            let mut gradient = [0.0; 2];
            for group in &groups {
                let z = a * logit(group.score) + b;
                let residual = (group.n as f64 * sigmoid(z) - group.positives as f64) / n as f64;
                gradient[0] += residual * logit(group.score);
                gradient[1] += residual;
            }
            prop_assert!(gradient.iter().all(|g| g.abs() < 1e-9), "{gradient:?}");
        }
    }
}
