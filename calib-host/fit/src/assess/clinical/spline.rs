//! A smooth recalibration: logistic regression with restricted cubic splines (Austin and Steyerberg 2019).

use std::io;

use serde::Serialize;

use super::deviation::{CurveDeviation, Quantile};
use super::extremes::{LogitRow, Logits};
use super::logistic::Logistic;
use super::undefined::{Figure, Undefined};
use crate::points::Sorter;

/// The quantiles of the logit at which knots are (Harrell 2015, Table 2.3). Where events are rare, more knots may lie where all labels are
/// equal, and no maximum is finite: then there are fewer.
const LEVELS: [&[f64]; 3] = [&[0.05, 0.275, 0.5, 0.725, 0.95], &[0.05, 0.35, 0.65, 0.95], &[0.1, 0.5, 0.9]];

/// The curve is given at so many rows' probabilities at most.
const PLACES: usize = 200;

/// Logistic regression of the label on a restricted cubic spline in the logit of the probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SplineRecalibration {
    /// The knots: the distinct ones of the quantiles at .05, .275, .5, .725 and .95 of the logits. Tables, which have few different
    /// probabilities, may have fewer than five; and where the estimate is infinite, knots are at .05, .35, .65 and .95, or else at .1, .5
    /// and .9.
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
    /// # Errors
    ///
    /// If a temporary file cannot be written.
    pub(super) fn new(logits: &Logits) -> io::Result<Figure<Self>> {
        for levels in LEVELS {
            let spline = match Self::spline(logits, levels) {
                // Of fewer knots there is nothing else to say.
                Err(_) if levels.len() < LEVELS[0].len() => continue,
                Err(why) => return Ok(Err(why).into()),
                Ok(spline) => spline,
            };
            let fit = match spline.knots.len() {
                3 => Self::fit::<3>(spline, logits)?,
                4 => Self::fit::<4>(spline, logits)?,
                _ => Self::fit::<5>(spline, logits)?,
            };
            if let Some(fit) = fit {
                return Ok(Ok(fit).into());
            }
        }
        Ok(Err(Undefined::SplineSeparated).into())
    }

    fn spline(logits: &Logits, levels: &[f64]) -> Result<Spline, Undefined> {
        match (logits.n, logits.positives) {
            (0, _) => Err(Undefined::NoRows),
            (_, 0) => Err(Undefined::OneLabel(false)),
            (n, positives) if n == positives => Err(Undefined::OneLabel(true)),
            _ => Spline::new(logits, levels),
        }
    }

    /// The curve, with as many coefficients as knots; `None` if the estimate is infinite.
    fn fit<const W: usize>(spline: Spline, logits: &Logits) -> io::Result<Option<Self>> {
        let Some(coefficients) = spline.fitted::<W>(logits) else { return Ok(None) };
        let value = |row: &LogitRow| {
            let predictors = spline.predictors::<W>(row.logit);
            crate::stats::sigmoid(predictors.iter().zip(&coefficients).map(|(x, by)| x * by).sum())
        };
        let rows = &logits.rows;
        let wanted = rows.len().min(PLACES);
        let places = (0..wanted).map(|i| i * (rows.len() - 1) / (wanted - 1).max(1));
        let point = |place: usize| {
            let row = LogitRow::of(&rows.get(place));
            CurvePoint { prob: row.prob, value: value(&row) }
        };
        let mut differences = Sorter::like(rows);
        let of_part = |records: &[[u64; 3]]| {
            let difference = |row: LogitRow| CurveDeviation::record(value(&row) - row.prob, row.n);
            records.iter().map(|record| difference(LogitRow::of(record))).collect::<Vec<_>>()
        };
        rows.map_in_order(1 << 14, of_part, |records| differences.extend(records))?;
        Ok(Some(Self {
            curve: places.map(point).collect(),
            deviation: CurveDeviation::new(differences, logits.n)?,
            knots: spline.knots,
        }))
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
    fn new(logits: &Logits, levels: &[f64]) -> Result<Self, Undefined> {
        let mut quantiles: Vec<_> = levels.iter().map(|&level| Quantile::new(logits.n, level)).collect();
        let (mut distinct, mut last) = (0, None);
        logits.rows.for_each(|record| {
            let LogitRow { logit, n, .. } = LogitRow::of(record);
            distinct += usize::from(last.replace(logit) != Some(logit));
            quantiles.iter_mut().for_each(|quantile| quantile.pass(logit, n));
        });
        let mut knots: Vec<f64> = quantiles.iter().map(Quantile::value).collect();
        knots.dedup();
        if knots.len() < 3 || distinct < knots.len() {
            return Err(Undefined::FewKnots(knots.len().min(distinct)));
        }
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        Ok(Self { centre: first.midpoint(last), scale: last - first, knots })
    }

    /// The coefficients of the regression, as many as knots; `None` if the estimate is infinite.
    fn fitted<const W: usize>(&self, logits: &Logits) -> Option<[f64; W]> {
        let mut start = [0.0; W];
        start[1] = self.scale;
        let free: [usize; W] = std::array::from_fn(|place| place);
        let predictors = |logit| self.predictors::<W>(logit);
        let fit = Logistic::new(logits, &predictors).maximise(&start, &free)?;
        Some(fit.coefficients)
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
