//! How much each candidate counts.

use std::fmt;

use serde::Serialize;

use super::function::{Function, Shape};
use crate::binary::scaling::ScalingModel;
use crate::error::FitError;
use crate::parallel;
use crate::points::{Group, Points, sample, split_groups, totals};
use crate::stats::{ScoreKind, Seed};

/// The parts of the cross-validation.
const FOLDS: usize = 5;

/// How many points decide the weights, at most.
const MOST_POINTS: u64 = 200_000;

/// How fast the weight of a candidate falls with its summed squared error.
const ETA: f64 = 1.0;

/// How much a candidate of a [`Blend`](super::Blend) counts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BlendWeight {
    /// The method's name.
    pub name: &'static str,
    /// Its weight, in `(0, 1]`.
    pub weight: f64,
}

/// How a blend's squared error on held-out points compares with that of the scores as they are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Gain {
    /// The mean change of the squared error (Brier score): below 0 if the blend is better.
    pub change: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Gain {
    /// The mean of changes, one a point, and its standard error.
    pub(crate) fn of(changes: impl Iterator<Item = f64>) -> Self {
        let (n, sum, squares) =
            changes.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
        Self::of_sums(n, sum, squares)
    }

    /// The same of the number of changes, their sum, and the sum of their squares.
    fn of_sums(n: f64, sum: f64, squares: f64) -> Self {
        let change = sum / n;
        Self { change, standard_error: ((squares / n - change * change).max(0.0) / n).sqrt() }
    }

    /// Whether the blend is better beyond what chance explains: by more than 1.96 standard errors.
    pub fn is_sure(&self) -> bool {
        self.change + 1.96 * self.standard_error < 0.0
    }

    /// Whether the blend is worse beyond what chance explains.
    pub fn is_loss(&self) -> bool {
        self.change - 1.96 * self.standard_error > 0.0
    }
}

/// With two digits of the change, however rare the events.
impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { change, standard_error } = self;
        let digits = Some(1.0 - change.abs().log10().floor()).filter(|digits| digits.is_finite());
        let places = digits.unwrap_or_default().max(5.0) as usize;
        write!(f, "{change:+.places$}, with a standard error of {standard_error:.places$}")
    }
}

/// A method that may be blended.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
}

/// A candidate that was fitted to the points of several tables together.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    name: &'static str,
    shape: Shape,
    /// For each fold, a fit to the other folds of every table.
    outside: Vec<Function>,
    /// Fitted to all folds: all points, or a sample of a table with very many.
    whole: Function,
}

impl Shared {
    /// Fits a candidate to the folds of several tables; `None` if it cannot be fitted.
    pub(super) fn fit(
        name: &'static str,
        shape: Shape,
        tables: &[Vec<Vec<Group>>],
        kind: ScoreKind,
    ) -> Result<Option<Self>, FitError> {
        let function = |left_out: Option<usize>| {
            let folds = tables.iter().flat_map(|folds| folds.iter().enumerate());
            shape.fit(
                &regrouped(folds.filter(|(fold, _)| left_out != Some(*fold)).map(|(_, fold)| fold))[..],
                kind,
            )
        };
        let outside = parallel::map_range(FOLDS, |fold| function(Some(fold))).into_iter();
        let outside = outside.collect::<Result<Option<Vec<Function>>, FitError>>()?;
        Ok(outside.zip(function(None)?).map(|(outside, whole)| Self { name, shape, outside, whole }))
    }

    fn held_out_probs(&self, folds: &[Vec<Group>]) -> Vec<f64> {
        let folds = folds.iter().zip(&self.outside);
        folds.flat_map(|(fold, function)| fold.iter().map(|group| function.prob(group.score))).collect()
    }
}

/// The groups of folds as one set of points.
fn regrouped<'a>(folds: impl Iterator<Item = &'a Vec<Group>>) -> Vec<Group> {
    crate::points::group(folds.flatten().map(|group| (group.score, group.n, group.positives)).collect())
}

/// The folds of points, or of a sample of very many.
pub(super) fn folds_of(points: &(impl Points + ?Sized), seed: Seed) -> Result<Vec<Vec<Group>>, FitError> {
    let (n, _) = points.totals();
    let groups = if n > MOST_POINTS { sample(points, MOST_POINTS, seed)? } else { points.groups()? };
    let judged = totals(&groups).0;
    Ok(split_groups(&groups, FOLDS.min(judged as usize).max(2), seed))
}

/// A candidate that was fitted to all points.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) weight: f64,
    pub(super) function: Function,
}

/// The candidates that can be fitted, the mean squared error of the best one over held-out points, and what the blend gains there.
pub(super) struct Weighed {
    pub(super) parts: Vec<Part>,
    pub(super) squared_error: f64,
    pub(super) gain: Gain,
}

/// Weighs candidates by cross-validation, and fits them to all points.
///
/// A candidate that cannot be fitted to all points, or to those outside a fold, is left out, and so are shared ones if there are fewer folds. Neither the order of the points nor the
/// number of threads matters.
pub(super) fn weigh(
    candidates: &[Candidate],
    shared: &[Shared],
    points: &(impl Points + ?Sized),
    kind: ScoreKind,
    seed: Seed,
) -> Result<Weighed, FitError> {
    let folds = folds_of(points, seed)?;
    let held_out: Vec<Group> = folds.concat();
    let judged = totals(&held_out).0;
    let mut fitted = Vec::new();
    for &Candidate { name, shape } in candidates {
        if let Some(function) = shape.fit(points, kind)? {
            fitted.push((name, shape, function));
        }
    }
    let probs = parallel::map(&fitted, |(_, shape, _)| held_out_probs(*shape, &folds, kind));
    let mut probs = probs.into_iter().collect::<Result<Vec<Option<Vec<f64>>>, FitError>>()?;
    let mut priors: Vec<f64> = fitted.iter().map(|(_, shape, _)| shape.prior()).collect();
    if folds.len() == FOLDS {
        priors.extend(shared.iter().map(|shared| shared.shape.prior_of_all()));
        fitted.extend(shared.iter().map(|shared| (shared.name, shared.shape, shared.whole.clone())));
        probs.extend(shared.iter().map(|shared| Some(shared.held_out_probs(&folds))));
    }
    let error = |probs: &Option<Vec<f64>>| {
        let errors = probs.as_ref()?.iter().zip(&held_out).map(|(prob, group)| {
            let positives = group.positives as f64;
            positives * (1.0 - prob).powi(2) + (group.n as f64 - positives) * prob * prob
        });
        Some(errors.sum::<f64>())
    };
    let errors: Vec<Option<f64>> = probs.iter().map(error).collect();
    let (weights, least) = exponential_weights(ETA, &errors, &priors);
    let blended = |at: usize| {
        let parts =
            weights.iter().zip(&probs).filter_map(|(weight, probs)| Some(weight * probs.as_ref()?[at]));
        parts.sum::<f64>()
    };
    let gain = gain(&held_out, blended, kind);
    let parts =
        fitted.into_iter().zip(weights).map(|((name, _, function), weight)| Part { name, weight, function });
    let parts = parts.filter(|part| part.weight > 0.0).collect();
    Ok(Weighed { parts, squared_error: least / judged as f64, gain })
}

/// The weights of exponentially weighted aggregation, which sum to 1, and the least error: a weight falls from the prior one with the summed
/// error. A candidate without an error has no weight.
pub(crate) fn exponential_weights(eta: f64, errors: &[Option<f64>], priors: &[f64]) -> (Vec<f64>, f64) {
    let least = errors.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let weight = |(error, prior): (&Option<f64>, &f64)| {
        error.map_or(0.0, |error| prior * (-eta * (error - least)).exp())
    };
    let mut weights: Vec<f64> = errors.iter().zip(priors).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    (weights, least)
}

/// The probability of each held-out group by a fit to the other folds; `None` if there is a fold without a fit.
fn held_out_probs(shape: Shape, folds: &[Vec<Group>], kind: ScoreKind) -> Result<Option<Vec<f64>>, FitError> {
    let mut probs = Vec::new();
    for (index, held_out) in folds.iter().enumerate() {
        let others = folds.iter().enumerate().filter(|(other, _)| *other != index);
        let others = regrouped(others.map(|(_, fold)| fold));
        let Some(function) = shape.fit(&others[..], kind)? else { return Ok(None) };
        probs.extend(held_out.iter().map(|group| function.prob(group.score)));
    }
    Ok(Some(probs))
}

/// The change of the squared error from the scores as they are to a blend, point by point.
fn gain(held_out: &[Group], blended: impl Fn(usize) -> f64, kind: ScoreKind) -> Gain {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (at, group) in held_out.iter().enumerate() {
        let (prob, score) = (blended(at), ScalingModel::unchanged(kind).prob(group.score));
        for (label, count) in [(1.0, group.positives), (0.0, group.n - group.positives)] {
            let change = (prob - label).powi(2) - (score - label).powi(2);
            n += count as f64;
            sum += count as f64 * change;
            squares += count as f64 * change * change;
        }
    }
    Gain::of_sums(n, sum, squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binary::{Loss, ScalingMethod};

    /// The weights by their definition, over the same folds.
    #[test]
    fn weights_fall_with_the_summed_squared_error() {
        let groups: Vec<Group> = (0..400u64)
            .map(|i| {
                let score = (i as f64 + 0.5) / 400.0;
                let draw = ((i * 7919 % 1009) as f64 + 0.5) / 1009.0;
                Group { score, n: 1, positives: u64::from(draw < score * score) }
            })
            .collect();
        let candidates = [
            Candidate { name: "none", shape: Shape::Unchanged },
            Candidate {
                name: "platt",
                shape: Shape::Scaling(Loss::LogOfBayesianTargets, ScalingMethod::PlattLogit),
            },
            Candidate { name: "isotonic", shape: Shape::Isotonic },
        ];
        let weighed = weigh(&candidates, &[], &groups[..], ScoreKind::Probability, 3).unwrap();
        let folds = split_groups(&groups, 5, 3);
        let error = |shape: Shape| -> f64 {
            let of_fold = |fold: &Vec<Group>| {
                let rest: Vec<Group> = groups.iter().filter(|group| !fold.contains(group)).copied().collect();
                let function = shape.fit(&rest[..], ScoreKind::Probability).unwrap().unwrap();
                fold.iter()
                    .map(|group| (function.prob(group.score) - group.positives as f64).powi(2))
                    .sum::<f64>()
            };
            folds.iter().map(of_fold).sum()
        };
        let errors: Vec<f64> = candidates.iter().map(|candidate| error(candidate.shape)).collect();
        let raw: Vec<f64> =
            candidates.iter().zip(&errors).map(|(one, error)| one.shape.prior() * (-error).exp()).collect();
        for (part, raw_weight) in weighed.parts.iter().zip(&raw) {
            assert!((part.weight - raw_weight / raw.iter().sum::<f64>()).abs() < 1e-9);
        }
        assert!((weighed.parts.iter().map(|part| part.weight).sum::<f64>() - 1.0).abs() < 1e-12);
        let least = errors.into_iter().fold(f64::INFINITY, f64::min);
        assert!((weighed.squared_error - least / 400.0).abs() < 1e-12);
    }
}
