//! Logistic functions of a margin, fitted to the log-loss.

use nalgebra::{Matrix3, Vector3};

use super::targets::Targets;
use crate::cancel;
use crate::error::ScalingError;
use crate::points::{Group, totals};
use crate::stats::sigmoid;

/// The square of Newton's decrement at which a fit has converged: the next step moves no weight by more than 1e-12 of what a
/// standard deviation of one point would.
const DECREMENT: f64 = 1e-24;

/// The same where the loss is flat to its last bits and nothing falls any more.
const FLAT_DECREMENT: f64 = 1e-16;

/// Heavy tails take many steps: each flattens the function at the farthest margins left.
const MAX_STEPS: usize = 2000;

/// The function `sigmoid(a (m - center) + d)` of a margin `m`.
///
/// Margins have no natural scale. Newton's steps and its decrement do not depend on one, and the center keeps the digits
/// of margins that lie close together far from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    slope: f64,
    offset: f64,
    /// 0 for a function without an intercept.
    center: f64,
    has_intercept: bool,
}

/// The weighted sums over points from which Newton's step follows.
struct Moments {
    /// The mean of the margins, less the center, each weighted by the curvature at it.
    mean: f64,
    /// The sum of the weights.
    weight: f64,
    /// The weighted sum of squares about the mean.
    squares: f64,
    /// The sum of residuals, and that of their products with the margins about the mean.
    residuals: (f64, f64),
}

impl Line {
    /// Fits a slope and, if wanted, an intercept to points in ascending order of margin, by Newton's method with halved steps.
    pub(super) fn fit(groups: &[Group], targets: Targets, has_intercept: bool) -> Result<Self, ScalingError> {
        let mut line = Self { slope: 0.0, offset: 0.0, center: 0.0, has_intercept };
        if has_intercept {
            let rate = targets.mean(totals(groups));
            (line.center, line.offset) = (median(groups), (rate / (1.0 - rate)).ln());
        }
        let mut loss = line.loss(groups, targets);
        let mut least = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            cancel::check_canceled();
            let moments = line.moments(groups, targets);
            let (step, decrement) = moments.step(has_intercept);
            if !decrement.is_finite() {
                break;
            }
            if decrement <= DECREMENT || decrement <= FLAT_DECREMENT && decrement >= least {
                return Ok(line);
            }
            least = least.min(decrement);
            let mut length = 1.0;
            (line, loss) = loop {
                let next = line.moved(step, length);
                let there = next.loss(groups, targets);
                if there <= loss + 1e-14 * (1.0 + loss) || length < 1e-12 {
                    break (next, there);
                }
                length /= 2.0;
            };
        }
        Err(ScalingError::NotConverged(least.sqrt()))
    }

    /// Returns the slope and the intercept of a function of the margin itself.
    pub(super) fn weights(&self) -> [f64; 2] {
        [self.slope, self.offset - self.slope * self.center]
    }

    /// Returns the middle and the spread of the margins that matter for the fit: on this scale they are of order one.
    pub(super) fn scale(&self, groups: &[Group]) -> (f64, f64) {
        let moments = self.moments(groups, Targets::LABELS);
        let spread = (moments.squares / moments.weight).sqrt();
        (self.center + moments.mean, spread)
    }

    fn at(&self, group: &Group) -> f64 {
        self.slope * (group.score - self.center) + self.offset
    }

    fn moved(&self, (slope, offset): (f64, f64), length: f64) -> Self {
        Self { slope: self.slope - length * slope, offset: self.offset - length * offset, ..*self }
    }

    /// The sum of the log-losses.
    fn loss(&self, groups: &[Group], targets: Targets) -> f64 {
        groups.iter().map(|group| loss(group, targets, self.at(group))).sum()
    }

    fn moments(&self, groups: &[Group], targets: Targets) -> Moments {
        let terms = || {
            groups.iter().map(|group| {
                let (margin, z) = (group.score - self.center, self.at(group));
                let n = group.n as f64;
                let weight = n * sigmoid(z) * sigmoid(-z);
                (margin, weight, n * sigmoid(z) - targets.sum((group.n, group.positives)))
            })
        };
        let add = |sums: (f64, f64, f64), (margin, weight, residual): (f64, f64, f64)| {
            (sums.0 + weight, sums.1 + weight * margin, sums.2 + residual)
        };
        let (weight, weighted, residuals) = terms().fold((0.0, 0.0, 0.0), add);
        let mean = if self.has_intercept { weighted / weight } else { 0.0 };
        let (squares, products) = terms().fold((0.0, 0.0), |sums, (margin, weight, residual)| {
            let away = margin - mean;
            (sums.0 + weight * away * away, sums.1 + residual * away)
        });
        Moments { mean, weight, squares, residuals: (residuals, products) }
    }
}

impl Moments {
    /// Newton's step of slope and offset, and the square of its decrement.
    fn step(&self, has_intercept: bool) -> ((f64, f64), f64) {
        let slope = self.residuals.1 / self.squares;
        let of_slope = slope * self.residuals.1;
        if !has_intercept {
            return ((slope, 0.0), of_slope);
        }
        let at_mean = self.residuals.0 / self.weight;
        ((slope, at_mean - slope * self.mean), of_slope + at_mean * self.residuals.0)
    }
}

/// Fits `sigmoid((a u + b) u + c)` with `u = m * scale + shift` by Newton's method with halved steps, from the line that fits best.
/// Returns the three weights, the scale and the shift. An `f32` holds the scale and the shift.
pub(super) fn fit_parabola(groups: &[Group], targets: Targets) -> Result<[f64; 5], ScalingError> {
    let line = Line::fit(groups, targets, true)?;
    let (center, unit) = line.scale(groups);
    let single = |value: f64| f64::from(value as f32);
    let scale = single((1.0 / unit).clamp(1e-38, 1e38));
    let shift = single(-center * scale);
    let features = |group: &Group| {
        let u = group.score * scale + shift;
        Vector3::new(u * u, u, 1.0)
    };
    let loss_at = |weights: &Vector3<f64>| {
        groups.iter().map(|group| loss(group, targets, features(group).dot(weights))).sum()
    };
    let [slope, offset] = line.weights();
    let mut weights = Vector3::new(0.0, slope / scale, offset - slope / scale * shift);
    if groups.len() < 3 {
        // A line goes through two points, and no parabola fits them better.
        let [a, b, c] = weights.into();
        return Ok([a, b, c, scale, shift]);
    }
    let mut here: f64 = loss_at(&weights);
    let mut least = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        cancel::check_canceled();
        let (mut gradient, mut hessian) = (Vector3::zeros(), Matrix3::zeros());
        for group in groups {
            let row = features(group);
            let (z, n) = (row.dot(&weights), group.n as f64);
            gradient += row * (n * sigmoid(z) - targets.sum((group.n, group.positives)));
            hessian += row * row.transpose() * (n * sigmoid(z) * sigmoid(-z));
        }
        // Where all but two scores are nearly equal, the curvature nearly vanishes in some direction.
        let ridge = Matrix3::from_diagonal(&hessian.diagonal()) * 1e-10;
        let Some(factors) = (hessian + ridge).cholesky() else { break };
        let step = factors.solve(&gradient);
        let decrement = step.dot(&gradient);
        if !decrement.is_finite() {
            break;
        }
        if decrement <= DECREMENT || decrement <= FLAT_DECREMENT && decrement >= least {
            let [a, b, c] = weights.into();
            return Ok([a, b, c, scale, shift]);
        }
        least = least.min(decrement);
        let mut length = 1.0;
        (weights, here) = loop {
            let next = weights - step * length;
            let there = loss_at(&next);
            if there <= here + 1e-14 * (1.0 + here) || length < 1e-12 {
                break (next, there);
            }
            length /= 2.0;
        };
    }
    Err(ScalingError::NotConverged(least.sqrt()))
}

/// The sum of the log-losses of a group whose probability is `sigmoid(z)`.
fn loss(group: &Group, targets: Targets, z: f64) -> f64 {
    let hits = targets.sum((group.n, group.positives));
    let misses = group.n as f64 - hits;
    let both = (-z.abs()).exp().ln_1p();
    hits * ((-z).max(0.0) + both) + misses * (z.max(0.0) + both)
}

/// The score of the point in the middle.
fn median(groups: &[Group]) -> f64 {
    let (n, _) = totals(groups);
    let mut below = 0;
    let holds_it = |group: &&Group| {
        below += group.n;
        2 * below >= n
    };
    groups.iter().find(holds_it).map_or(0.0, |group| group.score)
}
