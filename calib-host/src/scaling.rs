//! Scaling calibrators: smooth functions with few parameters, fitted to the log-loss.

use nalgebra::{DMatrix, DVector};

use crate::groups::{Group, totals};

/// Scores are clipped to `[CLIP, 1 - CLIP]` before a logarithm is taken: the largest `f32` below 1 is `1 - CLIP`.
pub const CLIP: f64 = 1.0 / (1 << 24) as f64;

/// The norm of the gradient, per point, at which a fit has converged.
const GRADIENT_NORM: f64 = 1e-10;
const MAX_STEPS: usize = 200;

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
}

/// Why a scaling function was not fitted.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScalingError {
    /// Some threshold separates the labels, or all scores are equal.
    #[error("a threshold on the score separates the labels: the best slope is infinite")]
    Separated,
    /// Higher scores go with label 0.
    #[error("higher scores go with label 0: no temperature above 0 fits")]
    Reversed,
    /// All scores are equal.
    #[error("all scores are equal: no slope can be fitted")]
    AllEqual,
    /// Ever steeper slopes lower the squared loss.
    #[error("the squared loss falls for ever steeper slopes, which the labels hardly contradict")]
    NoLeastSquares,
    /// The search did not converge.
    #[error("the fit did not converge: the gradient's norm is {0:e}")]
    NotConverged(f64),
}

impl ScalingMethod {
    /// Fits groups with both labels, in ascending order of score, by Newton's method on the mean log-loss.
    pub(crate) fn fit(self, groups: &[Group]) -> Result<ScalingModel, ScalingError> {
        if groups.len() == 1 {
            return Err(ScalingError::AllEqual);
        }
        let separated = match self {
            Self::Temperature => is_separated_at_one_half(groups),
            _ => is_separated(groups) || is_separated_reversed(groups),
        };
        if separated {
            return Err(ScalingError::Separated);
        }
        Ok(match self {
            Self::PlattLogit => {
                let fit = minimise(groups, &[|s| logit(s), |_| 1.0])?;
                ScalingModel::PlattLogit { a: fit[0], b: fit[1] }
            }
            Self::PlattProb => {
                let fit = minimise(groups, &[|s| s, |_| 1.0])?;
                ScalingModel::PlattProb { a: fit[0], b: fit[1] }
            }
            Self::Beta => beta(groups)?,
            Self::Temperature => {
                let fit = minimise(groups, &[|s| logit(s)])?;
                if fit[0] <= 0.0 {
                    return Err(ScalingError::Reversed);
                }
                ScalingModel::Temperature { inverse_t: fit[0] }
            }
        })
    }
}

impl ScalingModel {
    /// The calibrated probability of a score in `[0, 1]`.
    pub fn prob(&self, score: f64) -> f64 {
        sigmoid(match *self {
            Self::PlattLogit { a, b } => a * logit(score) + b,
            Self::PlattProb { a, b } => a * score + b,
            Self::Beta { a, b, c } => a * clip(score).ln() - b * ln_complement(score) + c,
            Self::Temperature { inverse_t } => inverse_t * logit(score),
        })
    }
}

/// Beta calibration: where a weight comes out negative, the optimum has it at 0.
fn beta(groups: &[Group]) -> Result<ScalingModel, ScalingError> {
    let free = minimise(groups, &[|s| clip(s).ln(), |s| -ln_complement(s), |_| 1.0])?;
    let (a, b, c) = (free[0], free[1], free[2]);
    if a >= 0.0 && b >= 0.0 {
        return Ok(ScalingModel::Beta { a, b, c });
    }
    // The objective is convex, so the constrained optimum lies on an edge of the feasible region; if not on the first,
    // then on the other, or in the corner.
    let without_a = minimise(groups, &[|s| -ln_complement(s), |_| 1.0])?;
    let without_b = minimise(groups, &[|s| clip(s).ln(), |_| 1.0])?;
    let (n, positives) = totals(groups);
    let rate = positives as f64 / n as f64;
    let candidates = [
        (without_a[0] >= 0.0).then_some(ScalingModel::Beta { a: 0.0, b: without_a[0], c: without_a[1] }),
        (without_b[0] >= 0.0).then_some(ScalingModel::Beta { a: without_b[0], b: 0.0, c: without_b[1] }),
        Some(ScalingModel::Beta { a: 0.0, b: 0.0, c: (rate / (1.0 - rate)).ln() }),
    ];
    let best =
        candidates.into_iter().flatten().min_by(|x, y| log_loss(groups, x).total_cmp(&log_loss(groups, y)));
    Ok(best.expect("the corner is always feasible"))
}

/// The mean log-loss of a model.
fn log_loss(groups: &[Group], model: &ScalingModel) -> f64 {
    let (n, _) = totals(groups);
    let loss = |group: &Group| {
        let prob = model.prob(group.score).clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0);
        let negatives = group.n - group.positives;
        -(group.positives as f64 * prob.ln() + negatives as f64 * (1.0 - prob).ln())
    };
    groups.iter().map(loss).sum::<f64>() / n as f64
}

/// Minimises the mean log-loss of `sigmoid(weights . features(score))` by Newton's method with halved steps.
fn minimise(groups: &[Group], features: &[fn(f64) -> f64]) -> Result<DVector<f64>, ScalingError> {
    let (n, _) = totals(groups);
    let columns = features.len();
    let rows: Vec<(DVector<f64>, f64, f64)> = groups
        .iter()
        .map(|group| {
            let row = DVector::from_iterator(columns, features.iter().map(|feature| feature(group.score)));
            (row, group.n as f64 / n as f64, group.positives as f64 / n as f64)
        })
        .collect();
    // -ln sigmoid(z) for positives, -ln sigmoid(-z) for negatives, without overflow.
    let loss = |weights: &DVector<f64>| -> f64 {
        rows.iter()
            .map(|(row, n, k)| {
                let z = row.dot(weights);
                k * softplus(-z) + (n - k) * softplus(z)
            })
            .sum()
    };

    let mut weights = DVector::zeros(columns);
    let mut current = loss(&weights);
    let mut norm = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        let mut gradient = DVector::zeros(columns);
        let mut hessian = DMatrix::zeros(columns, columns);
        for (row, n, k) in &rows {
            let prob = sigmoid(row.dot(&weights));
            gradient.axpy(n * prob - k, row, 1.0);
            hessian.ger(n * prob * (1.0 - prob), row, row, 1.0);
        }
        norm = gradient.norm();
        if norm <= GRADIENT_NORM {
            return Ok(weights);
        }
        // Far from the optimum the curvature may underflow; a little of it keeps the step finite.
        let ridge = 1e-14 * hessian.trace().max(f64::MIN_POSITIVE);
        let damped = hessian + DMatrix::identity(columns, columns) * ridge;
        let step = damped.cholesky().ok_or(ScalingError::NotConverged(norm))?.solve(&gradient);
        let mut length = 1.0;
        loop {
            let next = &weights - &step * length;
            let value = loss(&next);
            // Near the optimum the loss is flat to its last bits, and the full step is the right one.
            if value <= current + 1e-14 * (1.0 + current.abs()) || length < 1e-10 {
                (weights, current) = (next, value);
                break;
            }
            length /= 2.0;
        }
    }
    Err(ScalingError::NotConverged(norm))
}

/// Whether all labels 0 lie at or below all labels 1, so that a steeper slope always fits better. Scores that carry
/// both labels may only be at the boundary, which they are if there is at most one of them.
fn is_separated(groups: &[Group]) -> bool {
    let last_negative = groups.iter().rposition(|group| group.positives < group.n);
    let first_positive = groups.iter().position(|group| group.positives > 0);
    last_negative <= first_positive
}

fn is_separated_reversed(groups: &[Group]) -> bool {
    let last_positive = groups.iter().rposition(|group| group.positives > 0);
    let first_negative = groups.iter().position(|group| group.positives < group.n);
    last_positive <= first_negative
}

/// Without an intercept only the threshold 1/2 can separate.
fn is_separated_at_one_half(groups: &[Group]) -> bool {
    groups.iter().all(|group| {
        (group.positives == 0 || group.score >= 0.5) && (group.positives == group.n || group.score <= 0.5)
    })
}

pub(crate) fn clip(score: f64) -> f64 {
    score.clamp(CLIP, 1.0 - CLIP)
}

pub(crate) fn ln_complement(score: f64) -> f64 {
    (-clip(score)).ln_1p()
}

pub(crate) fn logit(score: f64) -> f64 {
    clip(score).ln() - ln_complement(score)
}

fn sigmoid(z: f64) -> f64 {
    let e = (-z.abs()).exp();
    if z >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// `ln(1 + exp(z))`
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            ScalingMethod::PlattLogit.fit(&exact(|s| sigmoid(0.7 * logit(s) - 0.3)))
        else {
            panic!()
        };
        assert!((a - 0.7).abs() < 1e-6 && (b + 0.3).abs() < 1e-6, "{a} {b}");
        let Ok(ScalingModel::PlattProb { a, b }) =
            ScalingMethod::PlattProb.fit(&exact(|s| sigmoid(6.0 * s - 2.5)))
        else {
            panic!()
        };
        assert!((a - 6.0).abs() < 1e-6 && (b + 2.5).abs() < 1e-6, "{a} {b}");
        let Ok(ScalingModel::Beta { a, b, c }) =
            ScalingMethod::Beta.fit(&exact(|s| sigmoid(0.5 * s.ln() - 1.5 * (1.0 - s).ln() + 0.2)))
        else {
            panic!()
        };
        assert!((a - 0.5).abs() < 1e-6 && (b - 1.5).abs() < 1e-6 && (c - 0.2).abs() < 1e-6, "{a} {b} {c}");
        let Ok(ScalingModel::Temperature { inverse_t }) =
            ScalingMethod::Temperature.fit(&exact(|s| sigmoid(logit(s) / 2.0)))
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
            assert_eq!(method.fit(&[group(0.5, 4, 2)]), Err(ScalingError::AllEqual));
            if method != ScalingMethod::Temperature {
                assert_eq!(method.fit(&separated), Err(ScalingError::Separated));
                assert_eq!(method.fit(&reversed), Err(ScalingError::Separated));
            }
        }
        // A temperature has no intercept: a threshold other than 1/2 leaves it finite.
        assert!(ScalingMethod::Temperature.fit(&separated).is_ok());
        let at_half = [group(0.1, 3, 0), group(0.5, 2, 1), group(0.9, 3, 3)];
        assert_eq!(ScalingMethod::Temperature.fit(&at_half), Err(ScalingError::Separated));
        let anti = [group(0.1, 10, 9), group(0.9, 10, 1)];
        assert_eq!(ScalingMethod::Temperature.fit(&anti), Err(ScalingError::Reversed));
        let Ok(ScalingModel::Beta { a, b, .. }) = ScalingMethod::Beta.fit(&anti) else { panic!() };
        assert_eq!((a, b), (0.0, 0.0));
    }

    proptest! {
        /// No small change of a parameter lowers the loss: the gradient is stationary.
        #[test]
        fn the_fit_is_a_minimum(raw in proptest::collection::vec((1u32..99, any::<bool>()), 20..80)) {
            let points = raw.into_iter().map(|(s, y)| (f64::from(s) / 100.0, 1, u64::from(y))).collect();
            let groups = crate::groups::group(points);
            let Ok(ScalingModel::PlattLogit { a, b }) = ScalingMethod::PlattLogit.fit(&groups) else {
                return Ok(());
            };
            let (n, _) = totals(&groups);
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
