//! A clinical validation of binary probabilities.

use serde::Serialize;

use super::corp::Corp;
use super::cox::CoxCalibration;
use super::distinct::Distinct;
use super::extremes::{ExtremeProbs, Extremes};
use super::gathered::Gathered;
use super::logits::Logits;
use super::net_benefit::{NetBenefit, decision_curve, net_benefit_intervals};
use super::observed_expected::ObservedExpected;
use super::outcomes::OutcomeHistogram;
use super::spiegelhalter::Spiegelhalter;
use super::spline::SplineRecalibration;
use super::undefined::Figure;
use crate::accessors::options;
use crate::assess::{AssessOptions, Bootstrap, Prediction};
use crate::stats::{Clusters, Interval};

options! {
    /// How to validate.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct ClinicalOptions<'a> {
        /// What regressions on logits do with probabilities of exactly 0 or 1.
        pub extremes: ExtremeProbs = ExtremeProbs::default(),
        /// Thresholds to mark in the decision curve, such as those of a decision rule.
        pub thresholds: &'a [f64] = &[],
    }
}

/// What a clinical validation reports of the probabilities of an event, besides the [`Assessment`](crate::assess::Assessment).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClinicalValidation {
    /// The rows.
    pub n: u64,
    /// Probabilities of exactly 0 or 1.
    pub extremes: Extremes,
    /// Calibration intercept and slope.
    pub cox: CoxCalibration,
    /// Observed over expected.
    pub observed_expected: ObservedExpected,
    /// Spiegelhalter's test.
    pub spiegelhalter: Figure<Spiegelhalter>,
    /// The isotonic calibration curve, and the scores in parts.
    pub corp: Corp,
    /// The smooth calibration curve.
    pub spline: Figure<SplineRecalibration>,
    /// Net benefit by threshold.
    pub decision_curve: Vec<NetBenefit>,
    /// The distribution of the probabilities by outcome.
    pub outcomes: OutcomeHistogram,
}

/// Validates the probabilities of an event. `options` are those of the assessment: the coverage, the resamples, and which rows
/// belong together.
///
/// The result depends neither on the order of the rows nor on the number of threads. Without resamples there are no bands.
///
/// ```
/// use calib_fit::assess::{AssessOptions, ClinicalOptions, Prediction, validate};
///
/// // 0.8 is predicted ten times, with six events; 0.2 five times, with one event.
/// let said = |prob, n, hits| (0..n).map(move |row| Prediction { class: 1, prob, bin: 0, hit: row < hits });
/// let rows: Vec<Prediction> = said(0.8, 10, 6).chain(said(0.2, 5, 1)).collect();
/// let found = validate(&rows, &AssessOptions::default(), &ClinicalOptions::default());
/// assert!((found.observed_expected.ratio.get()?.value - 7.0 / 9.0).abs() < 1e-12);
/// // The logits 1.386 and -1.386 came true as 0.405 and -1.386 would.
/// let slope = (1.5f64.ln() + 4f64.ln()) / (2.0 * 4f64.ln());
/// assert!((found.cox.slope.get()?.value - slope).abs() < 1e-12);
/// # Ok::<(), calib_fit::assess::Undefined>(())
/// ```
///
/// # Panics
///
/// If there are no predictions, or clusters of another number of rows.
pub fn validate(
    predictions: &[Prediction],
    options: &AssessOptions<'_>,
    clinical: &ClinicalOptions<'_>,
) -> ClinicalValidation {
    assert!(!predictions.is_empty(), "nothing to validate");
    let distinct = Distinct::new(predictions);
    let gathered = Gathered::of(&distinct, clinical.thresholds);
    let AssessOptions { alpha, bootstrap, clusters, .. } = *options;
    let clusters = clusters.filter(|clusters| clusters.count() < clusters.rows());
    let percentiles = bootstrap.map(|bootstrap| Bootstrap { alpha, ..bootstrap });
    let intervals = percentiles
        .map(|bootstrap| net_benefit_intervals(predictions, &gathered.treated, (&bootstrap, clusters)));
    validate_distinct((&distinct, gathered), options, clinical, intervals)
}

/// Validates probabilities of at least one row, with what was gathered from them at the thresholds. The intervals are those of the
/// net benefit at every threshold.
pub(in crate::assess) fn validate_distinct(
    (distinct, gathered): (&Distinct<'_>, Gathered),
    options: &AssessOptions<'_>,
    clinical: &ClinicalOptions<'_>,
    intervals: Option<Vec<Option<Interval>>>,
) -> ClinicalValidation {
    let AssessOptions { alpha, bootstrap, clusters, .. } = *options;
    let clusters = clusters.filter(|clusters| clusters.count() < clusters.rows());
    let (n, positives) = (distinct.rows(), distinct.positives());
    let effective = clusters.map_or(n, Clusters::effective_rows);
    let percentiles = bootstrap.map(|bootstrap| Bootstrap { alpha, ..bootstrap });
    let extremes = Extremes::new(distinct, clinical.extremes);
    let logits = Logits::new(distinct, &extremes);
    ClinicalValidation {
        n,
        extremes,
        cox: CoxCalibration::new(&logits, alpha, (effective, n)),
        observed_expected: ObservedExpected::new((n, effective), positives, gathered.expected.value(), alpha),
        spiegelhalter: Spiegelhalter::new(&gathered.deviation, n, effective),
        // Labels are drawn independently, which those of a cluster are not.
        corp: Corp::new(distinct, &gathered, percentiles.filter(|_| clusters.is_none()).as_ref()),
        spline: SplineRecalibration::new(&logits),
        decision_curve: decision_curve(&gathered.treated, clinical.thresholds, intervals),
        outcomes: gathered.outcomes,
    }
}
