//! A smooth recalibration: logistic regression with restricted cubic splines (Austin and Steyerberg 2019).

use serde::Serialize;

use super::deviation::{CurveDeviation, quantile};
use super::extremes::{LogitRow, Logits};
use super::logistic::Logistic;
use super::undefined::{Figure, Undefined};

/// The quantiles of the logit at which knots are (Harrell 2015, Table 2.3).
const LEVELS: [f64; 5] = [0.05, 0.275, 0.5, 0.725, 0.95];

/// The curve is given at so many rows' probabilities at most.
const PLACES: usize = 200;

/// Logistic regression of the label on a restricted cubic spline in the logit of the probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SplineRecalibration {
    /// The knots: the distinct ones of the quantiles at .05, .275, .5, .725 and .95 of the logits. Tables, which have few different
    /// probabilities, may have fewer than five.
    pub knots: Vec<f64>,
    /// Probabilities, ascending, with what the curve makes of them.
    pub curve: Vec<CurvePoint>,
    /// How far the curve is from the diagonal, over the rows that it is fitted to.
    pub deviation: CurveDeviation,
}

/// A point of a calibration curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The probability.
    pub prob: f64,
    /// What the curve makes of it.
    pub value: f64,
}

impl SplineRecalibration {
    pub(super) fn new(logits: &Logits) -> Figure<Self> {
        Self::fit(logits).into()
    }

    fn fit(logits: &Logits) -> Result<Self, Undefined> {
        match (logits.n, logits.positives) {
            (0, _) => return Err(Undefined::NoRows),
            (_, 0) => return Err(Undefined::OneLabel(false)),
            (n, positives) if n == positives => return Err(Undefined::OneLabel(true)),
            _ => {}
        }
        let spline = Spline::new(logits)?;
        let rows = logits.rows.iter();
        let regression = Logistic::of_slices(
            spline.knots.len(),
            rows.clone().map(|row| (spline.predictors(row.logit), row.n, row.positives)),
        );
        let mut start = vec![0.0; spline.knots.len()];
        start[1] = spline.scale;
        let free: Vec<usize> = (0..start.len()).collect();
        let fit = regression.maximise(&start, &free).ok_or(Undefined::Separated)?;
        let value = |row: &LogitRow| {
            let predictors = spline.predictors(row.logit);
            let logit: f64 = predictors.iter().zip(&fit.coefficients).map(|(x, by)| x * by).sum();
            crate::stats::sigmoid(logit)
        };
        let wanted = logits.rows.len().min(PLACES);
        let places = (0..wanted).map(|i| i * (logits.rows.len() - 1) / (wanted - 1).max(1));
        let point = |row: &LogitRow| CurvePoint { prob: row.prob, value: value(row) };
        Ok(Self {
            curve: places.map(|place| point(&logits.rows[place])).collect(),
            deviation: CurveDeviation::new(rows.map(|row| (value(row) - row.prob, row.n))),
            knots: spline.knots,
        })
    }
}

/// A restricted cubic spline: cubic between the knots, linear beyond.
struct Spline {
    knots: Vec<f64>,
    /// The middle and the spread of the knots, by which predictors are made of about one size.
    centre: f64,
    scale: f64,
}

impl Spline {
    fn new(logits: &Logits) -> Result<Self, Undefined> {
        let ascending: Vec<(f64, u64)> = logits.rows.iter().map(|row| (row.logit, row.n)).collect();
        let mut knots: Vec<f64> = LEVELS.iter().map(|&level| quantile(&ascending, logits.n, level)).collect();
        knots.dedup();
        let distinct = ascending.chunk_by(|a, b| a.0 == b.0).count();
        if knots.len() < 3 || distinct < knots.len() {
            return Err(Undefined::FewKnots(knots.len().min(distinct)));
        }
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        Ok(Self { centre: first.midpoint(last), scale: last - first, knots })
    }

    /// One, the logit, and a truncated cubic for every knot but the last two.
    fn predictors(&self, logit: f64) -> Vec<f64> {
        let cube = |from: f64| (logit - from).max(0.0).powi(3);
        let &[.., before, last] = &self.knots[..] else { unreachable!("there are three knots or more") };
        let term = |&knot: &f64| {
            let (left, right) = ((last - knot) / (last - before), (before - knot) / (last - before));
            (cube(knot) - cube(before) * left + cube(last) * right) / self.scale.powi(3)
        };
        let linear = (logit - self.centre) / self.scale;
        [1.0, linear].into_iter().chain(self.knots[..self.knots.len() - 2].iter().map(term)).collect()
    }
}
