//! Comparing calibration methods by repeated cross-validation.

use calib_core::Score;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::Serialize;

use crate::apply::apply_scores;
use crate::assess::{Bootstrap, EstimateWithInterval, ProperScore};
use crate::compile::{ArtifactOptions, artifact_bytes};
use crate::data::BinaryData;
use crate::fit::fit_binary;
use crate::method::BinaryMethod;
use crate::stored::StoredArtifact;

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareOptions {
    /// The number of parts, at least 2: each is calibrated by a fit to the others.
    pub folds: usize,
    /// How often the points are dealt out anew, at least 1.
    pub repeats: usize,
    /// What methods are ranked by.
    pub score: ProperScore,
    /// The failure probability of guarantees.
    pub alpha: f64,
    /// The widest guarantee that will do; `None` if none is needed.
    pub epsilon: Option<f64>,
    /// How to resample for intervals. Its seed is also that of the parts.
    pub bootstrap: Bootstrap,
}

/// A method that was compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedMethod {
    /// The method's name on the command line.
    pub name: String,
    /// Its parameters.
    pub parameters: String,
    /// The mean loss of held-out points.
    pub loss: EstimateWithInterval,
    /// The mean loss less that of the scores as they are, on the same points: below 0 is better.
    pub change: EstimateWithInterval,
    /// The epsilon that a fit to all points guarantees; `None` for no guarantee.
    pub epsilon: Option<f64>,
    /// Whether that is narrow enough; `None` if nothing was asked for.
    pub meets_epsilon: Option<bool>,
    /// The length of the artefact of a fit to all points.
    pub len_bytes: usize,
    /// How many comparisons a lookup takes at most; `None` for a function with `exp` and `ln`.
    pub comparisons: Option<u32>,
}

/// A method that could not be fitted to these points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedMethod {
    /// The method's name on the command line.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodComparison {
    /// The number of points.
    pub n: usize,
    /// What methods are ranked by.
    pub score: ProperScore,
    /// The mean loss of the scores as they are.
    pub uncalibrated: EstimateWithInterval,
    /// The methods, the lowest loss first.
    pub methods: Vec<ComparedMethod>,
    /// The methods that could not be fitted.
    pub failed: Vec<FailedMethod>,
    /// The name of the method to take; `None` to leave the scores uncalibrated.
    pub recommendation: Option<String>,
    /// Why.
    pub reason: String,
}

/// The held-out losses of a method, and what a fit to all points is like.
struct Candidate {
    losses: Vec<f64>,
    compared: ComparedMethod,
}

/// Compares binary methods on (score, label) points: every point is calibrated, with the device's arithmetic, by fits to other
/// points only. The result does not depend on the order of the points.
///
/// The intervals tell the noise of the points that are judged, not that of the fits.
///
/// # Panics
///
/// If a score is not in `[0, 1]`, or there are fewer points than folds.
pub fn compare_methods(
    points: &[(f64, bool)],
    methods: &[(String, BinaryMethod)],
    options: &CompareOptions,
) -> MethodComparison {
    assert!(options.folds >= 2 && points.len() >= options.folds, "too few points for the folds");
    let mut points: Vec<(f64, bool)> =
        points.iter().map(|&(score, label)| (f64::from(score as f32), label)).collect();
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let deals: Vec<Vec<usize>> = deals(points.len(), options);
    let fitted: Vec<Result<Candidate, FailedMethod>> = methods
        .par_iter()
        .map(|(name, method)| {
            candidate(&points, &deals, name, method, options)
                .map_err(|reason| FailedMethod { name: name.clone(), reason })
        })
        .collect();
    let (mut candidates, mut failed) = (Vec::new(), Vec::new());
    for fitted in fitted {
        match fitted {
            Ok(candidate) => candidates.push(candidate),
            Err(failure) => failed.push(failure),
        }
    }
    let as_they_are: Vec<f64> =
        points.iter().map(|&(score, label)| options.score.loss(score, label)).collect();
    let uncalibrated = with_intervals(&as_they_are, &mut candidates, &options.bootstrap);
    let mut methods: Vec<ComparedMethod> = candidates.into_iter().map(|c| c.compared).collect();
    methods.sort_by(|a, b| a.loss.value.total_cmp(&b.loss.value).then_with(|| a.name.cmp(&b.name)));
    let (recommendation, reason) = recommend(&methods, options);
    let n = points.len();
    MethodComparison { n, score: options.score, uncalibrated, methods, failed, recommendation, reason }
}

/// For every repeat the part that each point is in; the parts are of equal size up to one point.
fn deals(n: usize, options: &CompareOptions) -> Vec<Vec<usize>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(options.bootstrap.seed);
    let mut deal = || {
        let mut folds: Vec<usize> = (0..n).map(|i| i % options.folds).collect();
        for i in (1..n).rev() {
            folds.swap(i, rng.random_range(0..=i));
        }
        folds
    };
    (0..options.repeats).map(|_| deal()).collect()
}

fn candidate(
    points: &[(f64, bool)],
    deals: &[Vec<usize>],
    name: &str,
    method: &BinaryMethod,
    options: &CompareOptions,
) -> Result<Candidate, String> {
    let (stored, epsilon) = fit(points.iter().copied(), method, options.alpha)?;
    let mut losses = vec![0.0; points.len()];
    for deal in deals {
        for fold in 0..options.folds {
            let part = |inside: bool| {
                let in_part = move |(_, at): &(usize, &usize)| (**at == fold) == inside;
                deal.iter().enumerate().filter(in_part).map(|(i, _)| i)
            };
            let (fitted, _) = fit(part(false).map(|i| points[i]), method, options.alpha)?;
            let held_out: Vec<usize> = part(true).collect();
            let scores: Vec<Score> = held_out
                .iter()
                .map(|&i| Score::new(points[i].0 as f32).expect("scores were checked"))
                .collect();
            let applied = apply_scores(&fitted.artifact(), &scores, options.bootstrap.seed);
            for (&i, row) in held_out.iter().zip(applied.expect("the artefact is binary")) {
                let calib_core::Outcome::Calibrated(calibrated) = row.outcome else {
                    return Err("a held-out score is uncalibrated".into());
                };
                losses[i] += options.score.loss(calibrated.prob.into(), points[i].1) / deals.len() as f64;
            }
        }
    }
    let artifact = stored.artifact();
    let bins = artifact.tables().get(0).map_or(0, |table| table.form.bins());
    let unknown = EstimateWithInterval { value: f64::NAN, interval: None };
    let compared = ComparedMethod {
        name: name.into(),
        parameters: artifact.header().provenance.parameters.into(),
        loss: unknown,
        change: unknown,
        epsilon,
        meets_epsilon: options.epsilon.map(|wanted| epsilon.is_some_and(|epsilon| epsilon <= wanted)),
        len_bytes: artifact.len_bytes(),
        comparisons: (artifact.header().bins > 0).then(|| bins.next_power_of_two().ilog2()),
    };
    Ok(Candidate { losses, compared })
}

/// Fits and compiles; the artefact, and the epsilon that it guarantees.
fn fit(
    points: impl Iterator<Item = (f64, bool)>,
    method: &BinaryMethod,
    alpha: f64,
) -> Result<(StoredArtifact, Option<f64>), String> {
    let (scores, labels) = points.unzip();
    let data = BinaryData::new(scores, labels).map_err(|cause| cause.to_string())?;
    let fit = fit_binary(&data, method, alpha).map_err(|cause| cause.to_string())?;
    let bytes = artifact_bytes(&fit, &ArtifactOptions::default()).map_err(|cause| cause.to_string())?;
    let stored = StoredArtifact::from_bytes(&bytes).map_err(|cause| cause.to_string())?;
    Ok((stored, fit.guarantee.map(|guarantee| guarantee.epsilon)))
}

/// Fills in the losses and their changes; gives the loss of the scores as they are. All from the same resamples.
fn with_intervals(
    as_they_are: &[f64],
    candidates: &mut [Candidate],
    bootstrap: &Bootstrap,
) -> EstimateWithInterval {
    let n = as_they_are.len();
    let columns: Vec<&[f64]> =
        std::iter::once(as_they_are).chain(candidates.iter().map(|c| &c.losses[..])).collect();
    let means = |counts: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let mean = |column: &&[f64]| {
            column.iter().enumerate().map(|(i, loss)| counts(i) * loss).sum::<f64>() / n as f64
        };
        columns.iter().map(mean).collect()
    };
    let with_changes = |means: Vec<f64>| {
        let changes: Vec<f64> = means.iter().map(|mean| mean - means[0]).collect();
        [means, changes].concat()
    };
    let values = with_changes(means(&|_| 1.0));
    let intervals = bootstrap.intervals(n, |counts| with_changes(means(&|i| f64::from(counts[i]))));
    let estimates: Vec<EstimateWithInterval> = values
        .into_iter()
        .zip(intervals)
        .map(|(value, interval)| EstimateWithInterval { value, interval })
        .collect();
    let (losses, changes) = estimates.split_at(estimates.len() / 2);
    for (candidate, (loss, change)) in candidates.iter_mut().zip(losses.iter().zip(changes).skip(1)) {
        (candidate.compared.loss, candidate.compared.change) = (*loss, *change);
    }
    losses[0]
}

/// The best of the methods that will do, if it is better than nothing, and why.
fn recommend(ranked: &[ComparedMethod], options: &CompareOptions) -> (Option<String>, String) {
    let score = options.score.name();
    let Some(best) = ranked.iter().find(|method| method.meets_epsilon != Some(false)) else {
        let wanted = options.epsilon.map_or(String::new(), |epsilon| format!(" of {epsilon}"));
        return (None, format!("no method guarantees an epsilon{wanted} with so few points"));
    };
    let interval = best.change.interval.map_or(String::new(), |i| format!(" [{:+.6}, {:+.6}]", i.lo, i.hi));
    let change = format!("{score} changes by {:+.6}{interval}", best.change.value);
    let is_better = best.change.interval.map_or(best.change.value < 0.0, |interval| interval.hi < 0.0);
    if is_better {
        let among = if options.epsilon.is_some() { " of those whose guarantee is narrow enough" } else { "" };
        return (Some(best.name.clone()), format!("it has the lowest {score}{among}, and {change}"));
    }
    (None, format!("not even {}, the best of those that will do, is surely better: {change}", best.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::IntervalKind;
    use crate::isotonic::Isotonic;
    use crate::scaling::ScalingMethod;
    use crate::umd::Umd;

    const OPTIONS: CompareOptions = CompareOptions {
        folds: 5,
        repeats: 2,
        score: ProperScore::Brier,
        alpha: 0.1,
        epsilon: None,
        bootstrap: Bootstrap { kind: IntervalKind::Percentile, resamples: 200, seed: 1, alpha: 0.05 },
    };

    fn methods() -> Vec<(String, BinaryMethod)> {
        vec![
            ("umd".into(), BinaryMethod::Umd(Umd::new(8))),
            ("isotonic".into(), BinaryMethod::Isotonic(Isotonic::default())),
            ("platt".into(), BinaryMethod::Scaling(ScalingMethod::PlattLogit)),
            ("too-many".into(), BinaryMethod::Umd(Umd::new(1000))),
        ]
    }

    /// Points whose labels are true with probability `truth(score)`.
    fn points(truth: fn(f64) -> f64) -> Vec<(f64, bool)> {
        let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_769) >> 8) / f64::from(1 << 24);
        let score = |i: u32| (f64::from(i * 7919 % 1000) + 0.5) / 1000.0;
        (0..1000).map(|i| (score(i), noise(i) < truth(score(i)))).collect()
    }

    #[test]
    fn what_is_off_is_calibrated_and_the_order_of_the_points_does_not_matter() {
        let mut points = points(|s| s * s * s);
        let got = compare_methods(&points, &methods(), &OPTIONS);
        assert!(got.recommendation.is_some(), "{}", got.reason);
        assert!(got.methods.windows(2).all(|pair| pair[0].loss.value <= pair[1].loss.value));
        let best = &got.methods[0];
        assert!((best.loss.value - got.uncalibrated.value - best.change.value).abs() < 1e-12);
        assert_eq!(got.failed.iter().map(|failed| &*failed.name).collect::<Vec<_>>(), ["too-many"]);
        points.reverse();
        assert_eq!(compare_methods(&points, &methods(), &OPTIONS), got);
    }

    #[test]
    fn what_is_calibrated_is_left_alone() {
        let got = compare_methods(&points(|s| s), &methods(), &OPTIONS);
        assert_eq!(got.recommendation, None, "{}", got.reason);
    }

    #[test]
    fn only_a_guarantee_that_is_narrow_enough_will_do() {
        let wide = CompareOptions { epsilon: Some(0.2), ..OPTIONS };
        let got = compare_methods(&points(|s| s * s * s), &methods(), &wide);
        assert_eq!(got.recommendation.as_deref(), Some("umd"), "{}", got.reason);
        let narrow = CompareOptions { epsilon: Some(0.01), ..OPTIONS };
        let got = compare_methods(&points(|s| s * s * s), &methods(), &narrow);
        assert_eq!(got.recommendation, None);
        assert!(got.reason.contains("0.01"));
    }
}
