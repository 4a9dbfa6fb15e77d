//! A smooth recalibration: logistic regression with restricted cubic splines (Austin and Steyerberg 2019).

use serde::Serialize;

use super::deviation::CurveDeviation;
use super::logistic::{Question, estimate};
use super::logits::Logits;
use super::undefined::{Figure, Undefined};
use crate::points::Group;
use crate::stats::sigmoid;

/// The curve is given at so many rows' probabilities at most.
const PLACES: usize = 200;

/// Logistic regression of the label on a restricted cubic spline in the logit of the probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SplineRecalibration {
    /// The knots: the distinct ones of the quantiles at .05, .275, .5, .725 and .95 of the logits. Tables, which have few different
    /// probabilities, may have fewer than five. And where the estimate is infinite, knots are at .05, .35, .65 and .95, or else at .1, .5
    /// and .9.
    pub knots: Vec<f64>,
    /// Probabilities, ascending, with what the curve makes of them.
    pub curve: Vec<CurvePoint>,
    /// How far the curve is from the diagonal, over the rows that it is fitted to.
    pub deviation: CurveDeviation,
}

/// A point of a calibration curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CurvePoint {
    /// The probability.
    pub prob: f64,
    /// What the curve makes of it.
    pub value: f64,
}

impl SplineRecalibration {
    pub(super) fn new(logits: &Logits<'_>) -> Figure<Self> {
        match (logits.n, logits.positives) {
            (0, _) => Err(Undefined::NoRows).into(),
            (_, 0) => Err(Undefined::OneLabel(false)).into(),
            (n, positives) if n == positives => Err(Undefined::OneLabel(true)).into(),
            _ => Self::with_knots(logits).into(),
        }
    }

    /// With as many knots as give a finite estimate.
    fn with_knots(logits: &Logits<'_>) -> Result<Self, Undefined> {
        for (fewer, knots) in logits.knots.iter().enumerate() {
            let spline = match Spline::new(knots, logits.quadrature.logits()) {
                // Of fewer knots there is nothing else to say.
                Err(_) if fewer > 0 => continue,
                spline => spline?,
            };
            let curve = match spline.knots.len() {
                3 => spline.fitted::<3>(logits),
                4 => spline.fitted::<4>(logits),
                _ => spline.fitted::<5>(logits),
            };
            if let Some(curve) = curve {
                return Ok(Self::of(spline, &curve, logits));
            }
        }
        Err(Undefined::SplineSeparated)
    }

    fn of(spline: Spline, curve: &Cubics, logits: &Logits<'_>) -> Self {
        let to_logit = logits.to_logit();
        let value = |group: Group| to_logit.row(group).map(|row| sigmoid(curve.value(row.logit)));
        let wanted = logits.probs.min(PLACES);
        // The groups without a logit are the first and the last.
        let [lowest, _] = logits.distinct.ends();
        let first = usize::from(value(lowest).is_none());
        let place = |i: usize| first + i * (logits.probs - 1) / (wanted - 1).max(1);
        let places: Vec<usize> = (0..wanted).map(place).collect();
        let point = |group: Group| {
            let value = value(group).expect("those without a logit are not among them");
            CurvePoint { prob: group.score, value }
        };
        let difference = |group: Group| Some((value(group)? - group.score).abs());
        Self {
            curve: logits.distinct.at_places(&places).into_iter().map(point).collect(),
            deviation: CurveDeviation::new(logits.distinct, logits.n, || difference),
            knots: spline.knots,
        }
    }
}

/// A restricted cubic spline: cubic between the knots, linear beyond.
struct Spline {
    knots: Vec<f64>,
    /// The middle and the spread of the knots, by which predictors are made of about one size.
    center: f64,
    scale: f64,
}

impl Spline {
    /// With these knots, for so many different logits.
    fn new(knots: &[f64], distinct: usize) -> Result<Self, Undefined> {
        if knots.len() < 3 || distinct < knots.len() {
            return Err(Undefined::FewKnots(knots.len().min(distinct)));
        }
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        Ok(Self { center: first.midpoint(last), scale: last - first, knots: knots.to_vec() })
    }

    /// The curve of the regression, which has as many coefficients as knots; `None` if the estimate is infinite.
    fn fitted<const W: usize>(&self, logits: &Logits<'_>) -> Option<Cubics> {
        let mut start = [0.0; W];
        start[1] = self.scale;
        let free: [usize; W] = std::array::from_fn(|place| place);
        let question = Question { start, free: &free, drop: None };
        let found = estimate(logits, |logit| self.predictors::<W>(logit), &question)?;
        Some(Cubics::new(self, &found.coefficients))
    }

    /// One, the logit, and a truncated cubic for every knot but the last two.
    fn predictors<const W: usize>(&self, logit: f64) -> [f64; W] {
        let cube = |from: f64| (logit - from).max(0.0).powi(3);
        let &[.., before, last] = &self.knots[..] else { unreachable!("there are three knots or more") };
        let term = |knot: f64| {
            let (left, right) = ((last - knot) / (last - before), (before - knot) / (last - before));
            (cube(knot) - cube(before) * left + cube(last) * right) / self.scale.powi(3)
        };
        let linear = (logit - self.center) / self.scale;
        std::array::from_fn(|place| match place {
            0 => 1.0,
            1 => linear,
            _ => term(self.knots[place - 2]),
        })
    }
}

/// A spline with coefficients, written out between the knots.
struct Cubics {
    knots: Vec<f64>,
    center: f64,
    scale: f64,
    /// The coefficients, from the constant on, below the first knot, between the knots and above the last.
    pieces: Vec<[f64; 4]>,
}

impl Cubics {
    fn new(spline: &Spline, coefficients: &[f64]) -> Self {
        let Spline { center, scale, knots } = spline;
        let places: Vec<f64> = knots.iter().map(|knot| (knot - center) / scale).collect();
        let &[.., before, last] = &places[..] else { unreachable!("there are three knots or more") };
        // By how much the cube from each knot on counts.
        let mut cubes = vec![0.0; knots.len()];
        for (place, by) in coefficients[2..].iter().enumerate() {
            cubes[place] += by;
            cubes[knots.len() - 2] -= by * (last - places[place]) / (last - before);
            cubes[knots.len() - 1] += by * (before - places[place]) / (last - before);
        }
        let mut piece = [coefficients[0], coefficients[1], 0.0, 0.0];
        let mut pieces = vec![piece];
        for (place, by) in places.iter().zip(cubes) {
            let cube = [-place.powi(3), 3.0 * place * place, -3.0 * place, 1.0];
            piece.iter_mut().zip(cube).for_each(|(sum, term)| *sum += by * term);
            pieces.push(piece);
        }
        // Above the last knot the curve is a line, of which rounding leaves a little more.
        let line = pieces.last_mut().expect("there is one for every knot");
        (line[2], line[3]) = (0.0, 0.0);
        Self { knots: knots.clone(), center: *center, scale: *scale, pieces }
    }

    /// The curve's logit where the probability has this one.
    #[inline]
    fn value(&self, logit: f64) -> f64 {
        let piece = self.knots.iter().map(|knot| usize::from(logit > *knot)).sum::<usize>();
        let [constant, linear, square, cube] = self.pieces[piece];
        let place = (logit - self.center) / self.scale;
        constant + place * (linear + place * (square + place * cube))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cubics_are_the_spline() {
        let spline = Spline { knots: vec![-2.5, -1.0, 0.25, 0.5, 3.0], center: 0.25, scale: 5.5 };
        let coefficients = [0.3, -1.75, 4.0, -2.5, 0.125];
        let cubics = Cubics::new(&spline, &coefficients);
        for i in -400..=400 {
            let logit = f64::from(i) / 20.0;
            let terms = spline.predictors::<5>(logit).into_iter().zip(coefficients);
            let expected: f64 = terms.map(|(value, by)| value * by).sum();
            assert!((cubics.value(logit) - expected).abs() < 1e-11 * (1.0 + expected.abs()), "{logit}");
        }
    }
}
