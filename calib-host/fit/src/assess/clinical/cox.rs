//! Calibration intercept and slope (Cox 1958).

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::logistic::{Question, estimate};
use super::logits::Logits;
use super::undefined::{Figure, Undefined};
use crate::assess::EstimateWithInterval;

/// Logistic regressions of the label on the logit of the probability, with intervals by profile likelihood.
///
/// Of dependent rows the likelihood counts as that of as many rows as are left if the rows of a cluster all say the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CoxCalibration {
    /// How many rows they are over: without those that have no logit and are left out.
    pub n: u64,
    /// Calibration in the large: the intercept with the slope fixed to 1. 0 is best; above 0 events are more frequent than
    /// said.
    pub intercept: Figure,
    /// The calibration slope. 1 is best; below 1 the probabilities are too extreme.
    pub slope: Figure,
    /// The intercept beside that slope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope_intercept: Option<f64>,
}

/// The places of the coefficients.
const INTERCEPT: usize = 0;
const SLOPE: usize = 1;

impl CoxCalibration {
    /// `effective` is to how many independent rows all of `of` amount.
    pub(super) fn new(logits: &Logits<'_>, alpha: f64, (effective, of): (u64, u64)) -> Self {
        let quantile = Normal::standard().inverse_cdf(1.0 - alpha / 2.0);
        let drop = quantile * quantile / 2.0 * of as f64 / effective as f64;
        let slope = slope(logits, drop);
        Self {
            n: logits.n,
            intercept: in_the_large(logits, drop).into(),
            slope_intercept: slope.as_ref().ok().map(|found| found.1),
            slope: slope.map(|found| found.0).into(),
        }
    }
}

/// The predictors of a row.
fn predictors(logit: f64) -> [f64; 2] {
    [1.0, logit]
}

fn check(logits: &Logits<'_>) -> Result<(), Undefined> {
    match (logits.n, logits.positives) {
        (0, _) => Err(Undefined::NoRows),
        (_, 0) => Err(Undefined::OneLabel(false)),
        (n, positives) if n == positives => Err(Undefined::OneLabel(true)),
        _ => Ok(()),
    }
}

fn in_the_large(logits: &Logits<'_>, drop: f64) -> Result<EstimateWithInterval, Undefined> {
    check(logits)?;
    let question = Question { start: [0.0, 1.0], free: &[INTERCEPT], drop: Some(drop) };
    let found = estimate(logits, predictors, &question).ok_or(Undefined::Separated)?;
    Ok(EstimateWithInterval { value: found.coefficients[INTERCEPT], interval: found.interval })
}

/// The slope, and the intercept beside it.
fn slope(logits: &Logits<'_>, drop: f64) -> Result<(EstimateWithInterval, f64), Undefined> {
    check(logits)?;
    if logits.probs < 2 {
        return Err(Undefined::OneValue);
    }
    if are_separated(logits) {
        return Err(Undefined::Separated);
    }
    let question = Question { start: [0.0, 1.0], free: &[SLOPE, INTERCEPT], drop: Some(drop) };
    let found = estimate(logits, predictors, &question).ok_or(Undefined::Separated)?;
    let [intercept, slope] = found.coefficients;
    Ok((EstimateWithInterval { value: slope, interval: found.interval }, intercept))
}

/// Whether no negative is above a positive, or none below: then the likelihood grows with the size of the slope for ever
/// (Albert and Anderson 1984).
fn are_separated(logits: &Logits<'_>) -> bool {
    match logits.quadrature.ends.0 {
        [Some(positives), Some(negatives)] => negatives.1 <= positives.0 || positives.1 <= negatives.0,
        _ => true,
    }
}
