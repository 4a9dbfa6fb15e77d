//! A weighted mean of several methods' functions, in one step table.
//!
//! Choosing one method by cross-validation is noisy; weighting them is not. [`weights`] decides how much each counts, [`tabulate`] makes
//! one table of what comes out.

mod few_steps;
mod function;
mod line;
mod tabulate;
mod weights;

use calib_core::artifact::Method;
use function::Shape;
use tabulate::tabulate;
use weights::{Candidate, Weighed, folds_of, weigh};

use super::facts::Facts;
use super::least_squares::Loss;
use super::model::Model;
use super::scaling::ScalingMethod;
use super::umd::Umd;
use crate::error::FitError;
use crate::points::{Group, Points};
use crate::stats::{ScoreKind, Seed};

pub use tabulate::TabulatedModel;
pub use weights::{BlendWeight, Gain};
pub(crate) use weights::{Shared, exponential_weights};

/// A candidate with at least this weight is taken alone.
pub(crate) const ALONE: f64 = 0.95;

/// The fewest steps of a table, and the most.
const STEPS: (usize, usize) = (64, 256);

/// The same of a table that is one of several, all of which a device is to hold.
const STEPS_OF_SEVERAL: (usize, usize) = (16, 32);

/// A blend: the mean of several functions, each weighted by how well it predicts rows that it was not fitted to.
///
/// The candidates are Platt scaling of the logit and of the probability on Bayesian targets, beta calibration, and a quadratic function
/// where it rises. Others are the unchanged scores, a straight line, and isotonic regression between its centers and with few steps. The
/// last ones are the one probability of a Venn-Abers predictor, and uniform-mass bins. Each is fitted in five folds. Its weight is
/// `exp(-(summed squared error over all held-out
/// points))`, divided by the sum of all. For the scores as they are and the quadratic function half of it counts, and for all others but Platt
/// scaling of the logit a sixth. These are the weights of exponentially weighted aggregation: the squared error of the mean is behind that of
/// the best candidate by the order of `ln(candidates) / n`. Then each is fitted to all points.
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
        self.tabulated(points, kind, &[], STEPS)
    }

    /// The same for one of several tables, with further candidates, which are [shared](Self::shared) with others.
    pub(crate) fn fit_one_of_several(
        self,
        points: &(impl Points + ?Sized),
        kind: ScoreKind,
        shared: &[Shared],
    ) -> Result<Model, FitError> {
        self.tabulated(points, kind, shared, STEPS_OF_SEVERAL)
    }

    /// One table for all that have too few separate points, fitted to the points of all tables.
    pub(crate) fn fit_all_together(
        self,
        points: &(impl Points + ?Sized),
        kind: ScoreKind,
    ) -> Result<Model, FitError> {
        let mut model = self.tabulated(points, kind, &[], STEPS_OF_SEVERAL)?;
        if let Model::Tabulated(table) = &mut model {
            table.of_all_tables = true;
        }
        Ok(model)
    }

    fn tabulated(
        self,
        points: &(impl Points + ?Sized),
        kind: ScoreKind,
        shared: &[Shared],
        steps: (usize, usize),
    ) -> Result<Model, FitError> {
        let (n, _) = points.totals();
        let candidates = candidates(kind, n);
        let Weighed { mut parts, squared_error, gain } = weigh(&candidates, shared, points, kind, self.seed)?;
        parts.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        if parts[0].weight >= ALONE {
            parts.truncate(1);
            parts[0].weight = 1.0;
        }
        let mut model = tabulate(&parts, points, kind, steps, squared_error)?;
        model.gain = Some(gain);
        Ok(Model::Tabulated(model))
    }
}

impl Blend {
    /// The folds of a table, by which candidates are [shared](Self::shared).
    pub(crate) fn folds(self, points: &(impl Points + ?Sized)) -> Result<Vec<Vec<Group>>, FitError> {
        folds_of(points, self.seed)
    }

    /// Candidates that are fitted to the points of several tables together: where classes or groups are alike, a small one gains from the
    /// others. What is held out from a table's own fits is held out from these, too.
    pub(crate) fn shared(tables: &[Vec<Vec<Group>>], kind: ScoreKind) -> Result<Vec<Shared>, FitError> {
        let platt = match kind {
            ScoreKind::Probability => ScalingMethod::PlattLogit,
            ScoreKind::Margin => ScalingMethod::PlattMargin,
        };
        let mut shapes = vec![
            ("platt of all", Shape::Scaling(Loss::LogOfBayesianTargets, platt)),
            ("isotonic of all", Shape::Isotonic),
        ];
        if kind == ScoreKind::Probability {
            shapes.push((
                "platt-prob of all",
                Shape::Scaling(Loss::LogOfBayesianTargets, ScalingMethod::PlattProb),
            ));
            shapes.push(("beta of all", Shape::Scaling(Loss::Log, ScalingMethod::Beta)));
        }
        let fit = |(name, shape)| Shared::fit(name, shape, tables, kind).transpose();
        shapes.into_iter().filter_map(fit).collect()
    }
}

/// What is blended.
fn candidates(kind: ScoreKind, n: u64) -> Vec<Candidate> {
    let mut all = vec![
        ("none", Shape::Unchanged),
        ("venn-abers", Shape::VennAbers),
        ("isotonic-centered", Shape::Centered),
        ("few-steps", Shape::FewSteps),
        ("umd", Shape::Bins(Umd::suitable_bins(n))),
    ];
    let (log, bayes) = (Loss::Log, Loss::LogOfBayesianTargets);
    all.extend(match kind {
        ScoreKind::Probability => vec![
            ("platt", Shape::Scaling(bayes, ScalingMethod::PlattLogit)),
            ("platt-prob", Shape::Scaling(bayes, ScalingMethod::PlattProb)),
            ("beta", Shape::Scaling(log, ScalingMethod::Beta)),
            ("quadratic", Shape::Scaling(bayes, ScalingMethod::Quadratic)),
            ("line", Shape::Line),
        ],
        ScoreKind::Margin => vec![
            ("platt", Shape::Scaling(bayes, ScalingMethod::PlattMargin)),
            ("quadratic", Shape::Scaling(bayes, ScalingMethod::QuadraticMargin)),
        ],
    });
    all.into_iter().map(|(name, shape)| Candidate { name, shape }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{logit, sigmoid};

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
            let parameters = model.parameters();
            let stated: f64 = parameters.rsplit_once("within=").unwrap().1.parse().unwrap();
            assert!(model.within <= stated && stated < model.within + 1e-4, "{} {parameters}", model.within);
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
            "few-steps"
        );
        assert!(matches!(of(|s| sigmoid(0.4 * logit(s) - 1.0)), "platt" | "beta" | "quadratic"));
        // Only bins fall and rise.
        assert_eq!(of(|s| 0.5 + 0.4 * (9.0 * s).sin()), "umd");
    }
}
