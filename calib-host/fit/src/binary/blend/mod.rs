//! A weighted mean of several methods' functions, in one step table.
//!
//! Choosing one method by cross-validation is noisy; weighting them is not. [`weights`] decides how much each counts, [`tabulate`] makes
//! one table of what comes out.

mod tabulate;
mod weights;

use calib_core::artifact::Method;

use super::BinaryMethod;
use super::facts::Facts;
use super::isotonic::Isotonic;
use super::model::Model;
use super::scaling::{ScalingMethod, ScalingModel};
use super::umd::Umd;
use crate::error::FitError;
use crate::points::Points;
use crate::stats::{ScoreKind, Seed, sigmoid};

pub use tabulate::TabulatedModel;
use tabulate::tabulate;
pub use weights::{BlendWeight, Gain};
use weights::{Candidate, Weighed, weigh};

/// A candidate with at least this weight is taken alone.
const ALONE: f64 = 0.95;

/// How much a method of any shape counts before a point is seen, beside one of a few parameters.
const PRIOR: f64 = 0.2;

/// The fewest steps of a table, and the most.
const STEPS: (usize, usize) = (64, 256);

/// A blend: the mean of several functions, each weighted by how well it predicts rows that it was not fitted to.
///
/// The candidates are the scores as they are, Platt scaling on Bayesian targets, beta calibration, a quadratic function if it rises
/// throughout, isotonic regression, and uniform-mass bins. Each is fitted in five folds; its weight is `exp(-(summed squared error over
/// all held-out points))`, for isotonic regression and bins a fifth of it, divided by the sum of all. These are the weights of exponentially weighted aggregation: the squared error of
/// the mean is behind that of the best candidate by the order of `ln(candidates) / n`. Then each is fitted to all points.
///
/// Nothing is guaranteed of the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blend {
    /// The seed of the folds, and of the sample that decides the weights of very many points.
    pub seed: Seed,
}

impl Blend {
    /// A blend whose folds are drawn with this seed.
    pub fn new(seed: Seed) -> Self {
        Self { seed }
    }

    pub(super) fn facts(self) -> Facts {
        Facts {
            counts_points: Some("cross-validation"),
            ..Facts::new(Method::Blend, format!("seed={}", self.seed))
        }
    }

    /// Fits points with both labels.
    pub(super) fn fit(self, points: &(impl Points + ?Sized), kind: ScoreKind) -> Result<Model, FitError> {
        let (n, _) = points.totals();
        let candidates = candidates(kind, n);
        let Weighed { mut parts, squared_error, gain } = weigh(&candidates, points, kind, self.seed)?;
        parts.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        if parts[0].weight >= ALONE {
            parts.truncate(1);
            parts[0].weight = 1.0;
        }
        let mut model = tabulate(&parts, points, kind, STEPS, squared_error)?;
        model.gain = Some(gain);
        Ok(Model::Tabulated(model))
    }
}

/// The bins of the binned candidate: they depend on the number of points alone.
fn usual_bins(n: u64) -> usize {
    let wanted = (n as f64).cbrt().round().clamp(5.0, 15.0) as u64;
    wanted.min(n / 30).max(2) as usize
}

/// What is blended.
fn candidates(kind: ScoreKind, n: u64) -> Vec<Candidate> {
    let candidate = |name, method| {
        let has_any_shape = matches!(method, BinaryMethod::Isotonic(_) | BinaryMethod::Umd(_));
        Candidate { name, method, prior: if has_any_shape { PRIOR } else { 1.0 } }
    };
    let mut all = vec![
        candidate("none", BinaryMethod::Unchanged),
        candidate("isotonic", BinaryMethod::Isotonic(Isotonic::default())),
        candidate("umd", BinaryMethod::Umd(Umd::new(usual_bins(n)))),
    ];
    all.extend(match kind {
        ScoreKind::Probability => vec![
            candidate("platt", BinaryMethod::BayesianTargets(ScalingMethod::PlattLogit)),
            candidate("beta", BinaryMethod::Scaling(ScalingMethod::Beta)),
            candidate("quadratic", BinaryMethod::BayesianTargets(ScalingMethod::Quadratic)),
        ],
        ScoreKind::Margin => vec![
            candidate("platt", BinaryMethod::BayesianTargets(ScalingMethod::PlattMargin)),
            candidate("quadratic", BinaryMethod::BayesianTargets(ScalingMethod::QuadraticMargin)),
        ],
    });
    all
}

/// A candidate's function: a quadratic one stays level outside the scores that it was fitted to, where it would turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Function {
    model: Model,
    range: (f64, f64),
}

impl Function {
    /// The function of a model that was fitted to scores of this range; `None` if it falls somewhere.
    fn new(model: Model, range: (f64, f64)) -> Option<Self> {
        let rises = match &model {
            Model::Scaling(scaling) => {
                let (lo, hi) = range;
                let is_inside = |at: f64| lo < at && at < hi;
                scaling.prob(lo) <= scaling.prob(hi) && !scaling.turning_point().is_some_and(is_inside)
            }
            _ => true,
        };
        rises.then_some(Self { model, range })
    }

    fn prob(&self, score: f64) -> f64 {
        match &self.model {
            Model::Steps(steps) => steps.prob(score),
            Model::Scaling(scaling) => {
                let turns =
                    matches!(scaling, ScalingModel::Quadratic { .. } | ScalingModel::QuadraticMargin { .. });
                scaling.prob(if turns { score.clamp(self.range.0, self.range.1) } else { score })
            }
            _ => unreachable!("no candidate fits another model"),
        }
    }

    /// Where it jumps.
    fn edges(&self) -> &[f64] {
        self.model.steps().map_or(&[], |steps| &steps.edges)
    }
}

/// The probability that a score states by itself.
fn as_it_is(kind: ScoreKind, score: f64) -> f64 {
    match kind {
        ScoreKind::Probability => score,
        ScoreKind::Margin => sigmoid(score),
    }
}

/// Fits a candidate to points; `None` if it cannot be fitted, or would fall.
fn fit(
    method: &BinaryMethod,
    points: &(impl Points + ?Sized),
    kind: ScoreKind,
) -> Result<Option<Function>, FitError> {
    let [negatives, positives] = points.ranges()?;
    let ranges = || negatives.into_iter().chain(positives);
    let range = ranges().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), (a, b)| (lo.min(a), hi.max(b)));
    match method.fit(points, kind) {
        Ok(model) => Ok(Function::new(model, range)),
        Err(FitError::Spill(cause)) => Err(FitError::Spill(cause)),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Group;
    use crate::stats::logit;

    fn drawn(n: u64, truth: impl Fn(f64) -> f64) -> Vec<Group> {
        (0..n)
            .map(|i| {
                let score = f64::from(((i as f64 + 0.5) / n as f64) as f32);
                let draw = ((i.wrapping_mul(2_654_435_769) % (1 << 32)) as f64 + 0.5) / (1u64 << 32) as f64;
                Group { score, n: 1, positives: u64::from(draw < truth(score)) }
            })
            .collect()
    }

    #[test]
    fn scores_that_are_right_come_out_as_they_are_or_nearly() {
        let model = Blend::new(0).fit(&drawn(4000, |s| s)[..], ScoreKind::Probability).unwrap();
        let far = |prob: &dyn Fn(f64) -> f64| {
            (1..100).map(|i| (prob(f64::from(i) / 100.0) - f64::from(i) / 100.0).abs()).fold(0.0, f64::max)
        };
        let Model::Tabulated(steps) = model else { panic!("{model:?}") };
        assert!(far(&|s| steps.prob(s)) < 0.03, "{:?}", steps.weights);
        assert!(!steps.gain.unwrap().is_sure(), "{:?}", steps.gain);
    }

    #[test]
    fn what_fits_best_counts_most_and_all_weights_are_one() {
        let of = |truth: fn(f64) -> f64| {
            let Model::Tabulated(model) =
                Blend::new(0).fit(&drawn(4000, truth)[..], ScoreKind::Probability).unwrap()
            else {
                panic!()
            };
            assert!((model.weights.iter().map(|part| part.weight).sum::<f64>() - 1.0).abs() < 1e-9);
            assert!(model.weights.is_sorted_by(|a, b| a.weight >= b.weight));
            let error = (1..100)
                .map(|i| (model.prob(f64::from(i) / 100.0) - truth(f64::from(i) / 100.0)).powi(2))
                .sum::<f64>();
            assert!((error / 99.0).sqrt() < 0.05, "{error} {:?}", model.weights);
            assert!(
                model.values.len() <= 256 && model.within < 0.01,
                "{} {}",
                model.values.len(),
                model.within
            );
            assert!(model.gain.unwrap().is_sure());
            model.weights[0].name
        };
        assert_eq!(
            of(|s| if s < 0.3 {
                0.1
            } else if s < 0.6 {
                0.5
            } else {
                0.8
            }),
            "isotonic"
        );
        assert!(matches!(of(|s| sigmoid(0.4 * logit(s) - 1.0)), "platt" | "beta" | "quadratic"));
        // Only bins fall and rise.
        assert_eq!(of(|s| 0.5 + 0.4 * (9.0 * s).sin()), "umd");
    }

    #[test]
    fn bins_follow_the_number_of_points_alone() {
        let bins = [1, 30, 60, 100, 149, 150, 500, 1000, 5000, 1_000_000].map(usual_bins);
        assert_eq!(bins, [2, 2, 2, 3, 4, 5, 8, 10, 15, 15]);
    }
}
