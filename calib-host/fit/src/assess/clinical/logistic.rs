//! Logistic regression of counted labels on a few predictors, with profile likelihoods.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rayon::prelude::*;

use crate::stats::Interval;

/// Threads share out chunks of so many rows; the sums over chunks are added in order.
const CHUNK: usize = 1 << 14;

/// A maximum is reached where the next step would raise the log-likelihood by half of this: the estimates are then off by
/// 10^-10 of their standard errors.
const DECREMENT: f64 = 1e-20;

/// How far the next step may move a logit there. A maximum at infinity is approached by a logit a step.
const REACH: f64 = 1e-3;

const MAX_STEPS: usize = 200;

/// Starting values come from at most so many rows.
const COARSE: usize = 1 << 12;

/// Counted labels with predictors: row `i` has `counts[i].0` rows, `counts[i].1` of them with label 1, and `width` predictors.
pub(super) struct Logistic {
    width: usize,
    predictors: Vec<f64>,
    counts: Vec<(f64, f64)>,
    /// The largest size of each predictor.
    sizes: Vec<f64>,
}

/// The log-likelihood at some coefficients, with its derivatives.
struct Likelihood {
    value: f64,
    gradient: DVector<f64>,
    /// The negative of the matrix of second derivatives.
    information: DMatrix<f64>,
}

/// Where the log-likelihood is largest.
#[derive(Clone, Debug)]
pub(super) struct Maximum {
    pub(super) coefficients: Vec<f64>,
    log_likelihood: f64,
    gradient: DVector<f64>,
    information: DMatrix<f64>,
}

impl Logistic {
    /// Takes the predictors of every row, and how many rows and positives it stands for.
    pub(super) fn new<const W: usize>(rows: impl Iterator<Item = ([f64; W], u64, u64)>) -> Self {
        Self::of_slices(W, rows.map(|(predictors, n, positives)| (predictors.to_vec(), n, positives)))
    }

    pub(super) fn of_slices(width: usize, rows: impl Iterator<Item = (Vec<f64>, u64, u64)>) -> Self {
        let (mut predictors, mut counts) = (Vec::new(), Vec::new());
        for (row, n, positives) in rows {
            predictors.extend(row);
            counts.push((n as f64, positives as f64));
        }
        Self::of_parts(width, predictors, counts)
    }

    fn of_parts(width: usize, predictors: Vec<f64>, counts: Vec<(f64, f64)>) -> Self {
        let mut sizes = vec![0.0f64; width];
        for row in predictors.chunks_exact(width) {
            sizes.iter_mut().zip(row).for_each(|(size, value)| *size = size.max(value.abs()));
        }
        Self { width, predictors, counts, sizes }
    }

    /// Neighbouring rows pooled, with the means of their predictors; `None` if there are few rows anyway.
    fn coarse(&self) -> Option<Self> {
        if self.counts.len() <= COARSE {
            return None;
        }
        let run = self.counts.len().div_ceil(COARSE);
        let (mut predictors, mut counts) = (Vec::new(), Vec::new());
        for (rows, run) in self.predictors.chunks(run * self.width).zip(self.counts.chunks(run)) {
            let n: f64 = run.iter().map(|count| count.0).sum();
            let mean = |j: usize| {
                let values = rows.iter().skip(j).step_by(self.width);
                values.zip(run).map(|(value, count)| value * count.0).sum::<f64>() / n
            };
            predictors.extend((0..self.width).map(mean));
            counts.push((n, run.iter().map(|count| count.1).sum()));
        }
        Some(Self::of_parts(self.width, predictors, counts))
    }

    fn at(&self, coefficients: &[f64]) -> Likelihood {
        let width = self.width;
        let chunks: Vec<Vec<f64>> = self
            .predictors
            .par_chunks(CHUNK * width)
            .zip(self.counts.par_chunks(CHUNK))
            .map(|(rows, counts)| sums(coefficients, rows, counts))
            .collect();
        let mut all = vec![0.0; 1 + width + width * (width + 1) / 2];
        chunks.iter().for_each(|chunk| all.iter_mut().zip(chunk).for_each(|(sum, part)| *sum += part));
        let gradient = DVector::from_column_slice(&all[1..=width]);
        let mut information = DMatrix::zeros(width, width);
        let mut rest = all[1 + width..].iter();
        for j in 0..width {
            for k in 0..=j {
                let entry = *rest.next().expect("one for every pair");
                information[(j, k)] = entry;
                information[(k, j)] = entry;
            }
        }
        Likelihood { value: all[0], gradient, information }
    }

    /// Finds where the log-likelihood is largest if only the coefficients in places `free` move from the start; `None` if
    /// that is at infinity, or more than one place. The largest value at infinity is not always noticed with one predictor
    /// besides a constant: who has such checks for separation first.
    pub(super) fn maximise(&self, start: &[f64], free: &[usize]) -> Option<Maximum> {
        let mut at = start.to_vec();
        if let Some(coarse) = self.coarse().and_then(|coarse| coarse.maximise(start, free)) {
            at = coarse.coefficients;
        }
        self.climb(at, free)
    }

    fn climb(&self, mut at: Vec<f64>, free: &[usize]) -> Option<Maximum> {
        let mut here = self.at(&at);
        for _ in 0..MAX_STEPS {
            let Some(step) = here.newton(free) else { return None };
            let decrement: f64 = free.iter().zip(step.iter()).map(|(&j, step)| here.gradient[j] * step).sum();
            if decrement <= DECREMENT {
                let reach: f64 =
                    free.iter().zip(step.iter()).map(|(&j, step)| step.abs() * self.sizes[j]).sum();
                return (reach <= REACH).then(|| here.maximum(at));
            }
            let mut length = 1.0;
            loop {
                let mut next = at.clone();
                free.iter().zip(step.iter()).for_each(|(&j, step)| next[j] += length * step);
                let there = self.at(&next);
                // Near the maximum the function is flat to its last bits, and the full step is the right one.
                if there.value >= here.value - 1e-13 * (1.0 + here.value.abs()) {
                    (at, here) = (next, there);
                    break;
                }
                length /= 2.0;
                if length < 1e-9 {
                    return None;
                }
            }
        }
        None
    }

    /// Finds where the log-likelihood, maximised over the coefficients in places `others`, is below its maximum by `drop` on
    /// both sides of a coefficient; `None` if that is nowhere.
    ///
    /// The profile is concave, so that Newton's method comes from outside without passing the end, whatever the start.
    pub(super) fn profile_interval(
        &self,
        maximum: &Maximum,
        place: usize,
        others: &[usize],
        drop: f64,
    ) -> Option<Interval> {
        let free: Vec<usize> = std::iter::once(place).chain(others.iter().copied()).collect();
        let tangent = part(&maximum.information, &free)?.inverse().column(0).into_owned();
        let coarse = self.coarse().and_then(|coarse| {
            let maximum = coarse.maximise(&maximum.coefficients, &free)?;
            let interval = coarse.profile_interval(&maximum, place, others, drop)?;
            let centre = maximum.coefficients[place];
            Some((interval.lo - centre, interval.hi - centre))
        });
        let deviation = (2.0 * drop * tangent[0]).sqrt();
        let (below, above) = coarse.unwrap_or((-deviation, deviation));
        let end = |distance: f64| self.profile_end(maximum, place, &free, drop, (distance, &tangent));
        Some(Interval { lo: end(below)?, hi: end(above)? })
    }

    /// Finds one end from a guess of its distance; `tangent` tells how the others move with the coefficient.
    fn profile_end(
        &self,
        maximum: &Maximum,
        place: usize,
        free: &[usize],
        drop: f64,
        (mut distance, tangent): (f64, &DVector<f64>),
    ) -> Option<f64> {
        let centre = maximum.coefficients[place];
        let mut at = maximum.coefficients.clone();
        free.iter().zip(tangent.iter()).for_each(|(&j, slope)| at[j] += distance * slope / tangent[0]);
        for _ in 0..MAX_STEPS {
            at[place] = centre + distance;
            let there = self.climb(at, &free[1..])?;
            let excess = there.log_likelihood - (maximum.log_likelihood - drop);
            let slope = there.gradient[place];
            at = there.coefficients;
            if slope * distance >= 0.0 {
                distance *= 2.0;
                continue;
            }
            let step = excess / slope;
            distance -= step;
            // The next error is about the square of this one.
            if step.abs() <= 1e-6 * distance.abs() {
                return Some(centre + distance);
            }
        }
        None
    }
}

/// The log-likelihood of rows, its gradient and the lower triangle of the information, one after the other.
fn sums(coefficients: &[f64], rows: &[f64], counts: &[(f64, f64)]) -> Vec<f64> {
    let width = coefficients.len();
    let mut sums = vec![0.0; 1 + width + width * (width + 1) / 2];
    for (row, &(n, positives)) in rows.chunks_exact(width).zip(counts) {
        let logit: f64 = row.iter().zip(coefficients).map(|(value, by)| value * by).sum();
        let e = (-logit.abs()).exp();
        let prob = if logit >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
        sums[0] += positives * logit - n * (logit.max(0.0) + e.ln_1p());
        let (residual, weight) = (positives - n * prob, n * e / ((1.0 + e) * (1.0 + e)));
        let (gradient, information) = sums[1..].split_at_mut(width);
        let mut information = information.iter_mut();
        for (j, &value) in row.iter().enumerate() {
            gradient[j] += residual * value;
            for (&other, sum) in row[..=j].iter().zip(&mut information) {
                *sum += weight * value * other;
            }
        }
    }
    sums
}

/// The rows and columns in some places, decomposed; `None` if they have no inverse.
fn part(information: &DMatrix<f64>, places: &[usize]) -> Option<Cholesky<f64, Dyn>> {
    let len = places.len();
    Cholesky::new(DMatrix::from_fn(len, len, |j, k| information[(places[j], places[k])]))
}

impl Likelihood {
    /// Newton's step of the free coefficients; `None` if it is not determined.
    fn newton(&self, free: &[usize]) -> Option<DVector<f64>> {
        if free.is_empty() {
            return Some(DVector::zeros(0));
        }
        let gradient = DVector::from_iterator(free.len(), free.iter().map(|&j| self.gradient[j]));
        let step = part(&self.information, free)?.solve(&gradient);
        step.iter().all(|step| step.is_finite()).then_some(step)
    }

    fn maximum(self, coefficients: Vec<f64>) -> Maximum {
        let Self { value, gradient, information } = self;
        Maximum { coefficients, log_likelihood: value, gradient, information }
    }
}
