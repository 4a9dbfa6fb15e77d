//! The functions that are blended.

use super::few_steps::FewSteps;
use super::line::Line;
use crate::binary::isotonic::{InterpolatedModel, Isotonic};
use crate::binary::least_squares::Loss;
use crate::binary::scaling::{ScalingMethod, ScalingModel};
use crate::binary::steps::BinnedModel;
use crate::binary::umd::Umd;
use crate::binary::venn_abers::VennAbersModel;
use crate::error::FitError;
use crate::points::Points;
use crate::stats::ScoreKind;

/// How much the unchanged scores and a parabola count before a point is seen, beside Platt scaling of the logit or the margin.
const SECOND: f64 = 0.5;

/// The same of other candidates: they are near to one of those, or can take any shape.
const OTHERS: f64 = 1.0 / 6.0;

/// What a candidate fits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// The scores as they are.
    Unchanged,
    Scaling(Loss, ScalingMethod),
    /// A straight line, as of labels some of which are wrong.
    Line,
    Isotonic,
    /// Isotonic regression with only the steps that [pay](FewSteps).
    FewSteps,
    /// Isotonic regression, linear between the centers of its blocks.
    Centered,
    /// The one probability of a Venn-Abers predictor.
    VennAbers,
    /// So many bins of uniform mass.
    Bins(usize),
}

/// A candidate's function: a quadratic one stays level outside the scores that it was fitted to, and from where it turns.
#[derive(Clone, Debug)]
pub(super) enum Function {
    Steps { edges: Vec<f64>, values: Vec<f64> },
    Knots(InterpolatedModel),
    Line(Line),
    Scaling { model: ScalingModel, range: (f64, f64) },
}

impl Shape {
    /// Its weight before any point is seen, up to a common factor.
    pub(super) fn prior(self) -> f64 {
        use ScalingMethod::{PlattLogit, PlattMargin, Quadratic, QuadraticMargin};
        match self {
            Self::Scaling(_, PlattLogit | PlattMargin) => 1.0,
            Self::Unchanged | Self::Scaling(_, Quadratic | QuadraticMargin) => SECOND,
            _ => OTHERS,
        }
    }

    /// The same if it is fitted to the points of all tables: these are many, so that it is hardly off by chance.
    pub(super) fn prior_of_all(self) -> f64 {
        if let Self::Scaling(..) = self { 2.0 } else { 2.0 * OTHERS }
    }

    /// Fits points; `None` if they cannot be fitted, or the function would fall.
    pub(super) fn fit(
        self,
        points: &(impl Points + ?Sized),
        kind: ScoreKind,
    ) -> Result<Option<Function>, FitError> {
        let fitted = match self {
            Self::Unchanged => Ok(Function::scaling(ScalingModel::unchanged(kind), points)?),
            Self::Scaling(loss, method) => match loss.fit(method, points) {
                Ok(model) => Ok(Function::scaling(model, points)?),
                Err(cause) => Err(cause),
            },
            Self::Line => Ok(Line::fit(points)?.map(Function::Line)),
            Self::Isotonic => Isotonic::default().fit(points).map(|steps| Some(steps.into())),
            Self::FewSteps => FewSteps.fit(points).map(|steps| Some(steps.into())),
            Self::Centered => {
                Isotonic::default().fit_centered(points).map(|model| Some(Function::Knots(model)))
            }
            Self::VennAbers => VennAbersModel::fit(points, kind).map(|model| Some(model.into())),
            Self::Bins(bins) => Umd::new(bins).fit(points).map(|steps| Some(steps.into())),
        };
        match fitted {
            Err(FitError::Spill(cause)) => Err(FitError::Spill(cause)),
            fitted => Ok(fitted.unwrap_or(None)),
        }
    }
}

impl From<BinnedModel> for Function {
    fn from(model: BinnedModel) -> Self {
        Self::Steps { edges: model.edges, values: model.bins.iter().map(|bin| bin.value).collect() }
    }
}

impl From<VennAbersModel> for Function {
    fn from(model: VennAbersModel) -> Self {
        let both = model.p0.iter().zip(&model.p1);
        Self::Steps { values: both.map(|(p0, p1)| p1 / (1.0 - p0 + p1)).collect(), edges: model.edges }
    }
}

impl Function {
    /// A smooth function that was fitted to points; `None` if it falls.
    fn scaling(model: ScalingModel, points: &(impl Points + ?Sized)) -> Result<Option<Self>, FitError> {
        let [negatives, positives] = points.ranges()?;
        let ends = negatives.into_iter().chain(positives);
        let (lo, hi) =
            ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), (a, b)| (lo.min(a), hi.max(b)));
        let range = match model.turning_point().filter(|&at| lo < at && at < hi) {
            Some(at) if model.prob(at) < model.prob(hi) => (at, hi),
            Some(at) => (lo, at),
            None => (lo, hi),
        };
        let rises = model.prob(range.0) <= model.prob(range.1);
        Ok(rises.then_some(Self::Scaling { model, range }))
    }

    pub(super) fn prob(&self, score: f64) -> f64 {
        match self {
            Self::Steps { edges, values } => values[edges.partition_point(|&edge| edge <= score)],
            Self::Knots(model) => model.prob(score),
            Self::Line(line) => line.prob(score),
            Self::Scaling { model, range: (lo, hi) } if model.turning_point().is_some() => {
                model.prob(score.clamp(*lo, *hi))
            }
            Self::Scaling { model, .. } => model.prob(score),
        }
    }

    /// Where it jumps.
    pub(super) fn edges(&self) -> &[f64] {
        match self {
            Self::Steps { edges, .. } => edges,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::{Group, group};

    /// Where a parabola of the logit falls, its function keeps the value of the turning point.
    #[test]
    fn a_parabola_is_level_where_it_would_fall() {
        let scores: Vec<f64> = (1..20).map(|i| f64::from(i) / 20.0).collect();
        let points: Vec<Group> = group(scores.iter().map(|&score| (score, 1, 0)).collect());
        for a in [1.0, -1.0] {
            let model = ScalingModel::Quadratic { a, b: 0.3, c: -0.2 };
            let at = model.turning_point().unwrap();
            assert!((0.1..0.9).contains(&at));
            let function = Function::scaling(model, &points[..]).unwrap().expect("it rises on one side");
            assert!(scores.is_sorted_by_key(|&score| function.prob(score)), "{a}");
            for &score in &scores {
                let is_level = (score < at) == (a > 0.0);
                let expected = if is_level { model.prob(at) } else { model.prob(score) };
                assert_eq!(function.prob(score), expected, "{a} at {score}");
            }
        }
        let falls = ScalingModel::PlattProb { a: -1.0, b: 0.0 };
        assert!(Function::scaling(falls, &points[..]).unwrap().is_none());
    }
}
