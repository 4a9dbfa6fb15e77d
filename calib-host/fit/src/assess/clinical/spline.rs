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
        let values = match spline.knots.len() {
            3 => spline.fitted::<3>(&logits.rows),
            4 => spline.fitted::<4>(&logits.rows),
            _ => spline.fitted::<5>(&logits.rows),
        };
        let values = values.ok_or(Undefined::Separated)?;
        let rows = || logits.rows.iter().zip(&values);
        let wanted = logits.rows.len().min(PLACES);
        let places = (0..wanted).map(|i| i * (logits.rows.len() - 1) / (wanted - 1).max(1));
        let point = |place: usize| CurvePoint { prob: logits.rows[place].prob, value: values[place] };
        Ok(Self {
            curve: places.map(point).collect(),
            deviation: CurveDeviation::new(rows().map(|(row, value)| (value - row.prob, row.n))),
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

    /// What the regression makes of every row, with as many coefficients as knots; `None` if the estimate is infinite.
    fn fitted<const W: usize>(&self, rows: &[LogitRow]) -> Option<Vec<f64>> {
        let predictors = |row: &LogitRow| (self.predictors::<W>(row.logit), row.n, row.positives);
        let mut start = [0.0; W];
        start[1] = self.scale;
        let free: [usize; W] = std::array::from_fn(|place| place);
        let fit = Logistic::new(rows.iter().map(predictors)).maximise(&start, &free)?;
        let value = |row: &LogitRow| {
            let predictors = self.predictors::<W>(row.logit);
            crate::stats::sigmoid(predictors.iter().zip(&fit.coefficients).map(|(x, by)| x * by).sum())
        };
        Some(rows.iter().map(value).collect())
    }

    /// One, the logit, and a truncated cubic for every knot but the last two.
    fn predictors<const W: usize>(&self, logit: f64) -> [f64; W] {
        let cube = |from: f64| (logit - from).max(0.0).powi(3);
        let &[.., before, last] = &self.knots[..] else { unreachable!("there are three knots or more") };
        let term = |knot: f64| {
            let (left, right) = ((last - knot) / (last - before), (before - knot) / (last - before));
            (cube(knot) - cube(before) * left + cube(last) * right) / self.scale.powi(3)
        };
        let linear = (logit - self.centre) / self.scale;
        std::array::from_fn(|place| match place {
            0 => 1.0,
            1 => linear,
            _ => term(self.knots[place - 2]),
        })
    }
}
