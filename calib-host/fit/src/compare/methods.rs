//! Comparing calibration methods by repeated cross-validation, or on separate points.

use serde::Serialize;

use super::advice::{Advice, Unmet, advise};
use super::compared::{CompareOptions, ComparedMethod, FailedMethod, PairedDifference, Split};
use super::cross_validator::{Candidate, CrossValidator, HeldOut};
use super::data::{Claim, CompareData, Contender};
use crate::assess::{Bootstrap, EstimateWithInterval, FEWEST_EVENTS, ProperScore};
use crate::stats::{Units, deal};

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodComparison {
    /// The number of points.
    pub n: usize,
    /// The number of their clusters, where there are such: methods are fitted to one point of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// How held-out points came about.
    pub split: Split,
    /// Which probabilities of vectors are judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
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
    /// What an epsilon takes that was asked for and is out of reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmet: Option<Unmet>,
    /// How many methods were tried of which something may be guaranteed. Anyone who takes one of them by this comparison has chosen by
    /// the labels: every epsilon here is for alpha divided by this number, so that all of them hold simultaneously.
    pub candidates: u32,
}

/// Compares methods, each with a name: every point that is judged is calibrated, with the device's arithmetic, by fits to
/// other points only. These are the points of the other parts, or, if there are test points, all. The result depends neither
/// on the order of the points nor on the number of threads. `progress` is called after each fit
/// with how many are done, and how many there are in all: [`fits`](super::fits) a method, but one of a method that cannot be fitted.
///
/// The intervals tell the noise of the points that are judged, not the noise of the fits.
///
/// ```
/// use calib_fit::assess::{Bootstrap, IntervalKind, ProperScore};
/// use calib_fit::compare::{CompareData, CompareOptions, Contender, Split, compare_methods};
/// use calib_fit::{BinaryMethod, Isotonic, Umd};
///
/// // The classifier is overconfident: a score of s is right in s / 2 of the cases.
/// let points = CompareData::binary((0..1000).map(|i| (f64::from(i) / 1000.0, i % 40 < i / 50)), None);
/// let contenders = [
///     ("umd".to_string(), Contender::Binary(BinaryMethod::Umd(Umd::new(10)))),
///     ("isotonic".to_string(), Contender::Binary(BinaryMethod::Isotonic(Isotonic::default()))),
/// ];
/// let options = CompareOptions {
///     split: Split::CrossValidation { folds: 5, repeats: 1 },
///     score: ProperScore::Brier,
///     alpha: 0.1,
///     epsilon: None,
///     bootstrap: Bootstrap { kind: IntervalKind::Percentile, resamples: 100, seed: 1, alpha: 0.05 },
/// };
/// let comparison = compare_methods(&points, None, &contenders, &options, &|_, _| ());
/// assert!(comparison.methods[0].loss.value < comparison.uncalibrated.value);
/// assert!(comparison.recommendation.is_some());
/// ```
///
/// # Panics
///
/// If there are fewer points, or clusters, than folds, or no test points although the split is such.
pub fn compare_methods(
    points: &CompareData,
    test: Option<&CompareData>,
    contenders: &[(String, Contender)],
    options: &CompareOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> MethodComparison {
    let held_out = match options.split {
        Split::CrossValidation { folds, repeats } => {
            assert!(folds >= 2 && points.units.count() >= folds, "too few observations for the folds");
            HeldOut::Parts(deal(&points.units, &points.strata(), folds, repeats, options.bootstrap.seed))
        }
        Split::Test { .. } => HeldOut::Test(test.expect("test observations are given")),
    };
    let may_guarantee = contenders.iter().filter(|(_, contender)| contender.may_guarantee()).count();
    let candidates = u32::try_from(may_guarantee).unwrap_or(u32::MAX).max(1);
    let validator = CrossValidator::new(points, held_out, options, candidates, progress);
    let (mut fits, failed) = validator.candidates(contenders);
    let judged = test.unwrap_or(points);
    let as_they_are = judged.losses_as_they_are(options.score);
    let mut uncalibrated = with_intervals(&as_they_are, &mut fits, &judged.units, &options.bootstrap);
    let few = judged.fewer_events().filter(|&events| events < FEWEST_EVENTS);
    if few.is_some() {
        // Resamples know too little of so few.
        uncalibrated.interval = None;
        for Candidate { compared, .. } in &mut fits {
            (compared.loss.interval, compared.change.interval) = (None, None);
        }
    }
    fits.sort_by(|a, b| {
        let (a, b) = (&a.compared, &b.compared);
        a.loss.value.total_cmp(&b.loss.value).then_with(|| a.name.cmp(&b.name))
    });
    let reference = fits.iter().position(|fit| fit.compared.will_do()).unwrap_or(0);
    with_differences(&mut fits, reference, &judged.units);
    let methods: Vec<ComparedMethod> = fits.into_iter().map(|c| c.compared).collect();
    let Advice { recommendation, reason, unmet } = match few {
        Some(events) if !methods.is_empty() => Advice::of_few_events(events, judged.len()),
        _ => advise(&methods, points, candidates, options),
    };
    MethodComparison {
        n: points.len(),
        clusters: points.has_clusters().then(|| points.units()),
        split: options.split,
        claim: points.claim(),
        score: options.score,
        uncalibrated,
        methods,
        failed,
        recommendation,
        reason,
        unmet,
        candidates,
    }
}

/// Fills in the losses and their changes; gives the loss of the scores as they are. All from the same resamples.
fn with_intervals(
    as_they_are: &[f64],
    candidates: &mut [Candidate],
    units: &Units,
    bootstrap: &Bootstrap,
) -> EstimateWithInterval {
    let columns: Vec<&[f64]> =
        std::iter::once(as_they_are).chain(candidates.iter().map(|c| &c.losses[..])).collect();
    // Row by row, so that the sums of all columns grow side by side.
    let rows: Vec<f64> =
        (0..as_they_are.len()).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
    let means = |counts: &dyn Fn(usize) -> f64| -> Vec<f64> {
        // As many rows as the clusters that were drawn have.
        let n: f64 = (0..as_they_are.len()).map(counts).sum();
        let mut sums = vec![0.0; columns.len()];
        for (row, losses) in rows.chunks_exact(columns.len()).enumerate() {
            let count = counts(row);
            sums.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += count * loss);
        }
        sums.into_iter().map(|sum| sum / n).collect()
    };
    let with_changes = |means: Vec<f64>| {
        let changes: Vec<f64> = means.iter().map(|mean| mean - means[0]).collect();
        [means, changes].concat()
    };
    let values = with_changes(means(&|_| 1.0));
    let intervals =
        bootstrap.intervals(units, |counts| with_changes(means(&|i| f64::from(counts[i]))), |_| false);
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

/// Fills in how far every method is behind the one in the place `reference`.
fn with_differences(candidates: &mut [Candidate], reference: usize, units: &Units) {
    let Some(best) = candidates.get(reference).map(|best| best.losses.clone()) else {
        return;
    };
    for candidate in candidates {
        let differences: Vec<f64> = candidate.losses.iter().zip(&best).map(|(a, b)| a - b).collect();
        let (value, standard_error) = units.mean(&differences);
        candidate.compared.behind_best = PairedDifference { value, standard_error };
    }
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::Reduction;

    use super::*;
    use crate::assess::{AssessOptions, IntervalKind, ProbMatrix, assess_vectors};
    use crate::binary::{BinaryMethod, Isotonic, ScalingMethod, Umd};
    use crate::compare::fits;
    use crate::data::{BinaryData, VectorKind, Vectors};
    use crate::fit::fit_binary;
    use crate::joint::{JointMethod, VectorScalingMethod};
    use crate::reduction::ReductionOptions;
    use crate::stats::Clusters;

    const OPTIONS: CompareOptions = CompareOptions {
        split: Split::CrossValidation { folds: 5, repeats: 2 },
        score: ProperScore::Brier,
        alpha: 0.1,
        epsilon: None,
        bootstrap: Bootstrap { kind: IntervalKind::Percentile, resamples: 200, seed: 1, alpha: 0.05 },
    };

    fn methods() -> Vec<(String, Contender)> {
        let methods = [
            ("umd", BinaryMethod::Umd(Umd::new(8))),
            ("isotonic", BinaryMethod::Isotonic(Isotonic::default())),
            ("platt", BinaryMethod::Scaling(ScalingMethod::PlattLogit)),
            ("too-many", BinaryMethod::Umd(Umd::new(1000))),
        ];
        methods.map(|(name, method)| (name.into(), Contender::Binary(method))).into()
    }

    fn noise(i: u32) -> f64 {
        f64::from(i.wrapping_mul(2_654_435_769) >> 8) / f64::from(1 << 24)
    }

    /// Points whose labels are true with probability `truth(score)`.
    fn points(truth: fn(f64) -> f64) -> Vec<(f64, bool)> {
        let score = |i: u32| (f64::from(i * 7919 % 1000) + 0.5) / 1000.0;
        (0..1000).map(|i| (score(i), noise(i) < truth(score(i)))).collect()
    }

    fn compare(points: &[(f64, bool)], options: &CompareOptions) -> MethodComparison {
        compare_methods(
            &CompareData::binary(points.iter().copied(), None),
            None,
            &methods(),
            options,
            &|_, _| (),
        )
    }

    /// Logits of three classes, twice as large as they should be.
    fn vectors(rows: std::ops::Range<u32>) -> (Vectors, Vec<i64>) {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for i in rows {
            let logits: [f64; 3] = std::array::from_fn(|k| 3.0 * noise(7 * i + k as u32));
            let exps = logits.map(f64::exp);
            let mut below = noise(31 * i + 11) * exps.iter().sum::<f64>();
            let label = exps.iter().position(|exp| {
                below -= exp;
                below < 0.0
            });
            values.extend(logits.map(|logit| 2.0 * logit as f32));
            labels.push(label.unwrap_or(2) as i64);
        }
        (Vectors::new(values, 3, VectorKind::Logits).unwrap(), labels)
    }

    fn vector_methods() -> Vec<(String, Contender)> {
        let umd = ReductionOptions { method: BinaryMethod::Umd(Umd::new(1)), rows_per_bin: Some(50) };
        let joint = |method| {
            Contender::Joint(JointMethod::Scaling { method, log_probs: false, cross_validation: None })
        };
        vec![
            ("top-label/umd".into(), Contender::Reduced(Reduction::TopLabel, umd)),
            ("normalized/umd".into(), Contender::Reduced(Reduction::Normalized, umd)),
            ("class-wise/umd".into(), Contender::Reduced(Reduction::ClassWise, umd)),
            ("temperature".into(), joint(VectorScalingMethod::Temperature)),
            ("binary".into(), Contender::Binary(BinaryMethod::VennAbers)),
        ]
    }

    /// A row that is drawn several times counts as often, and the rows of a cluster count together.
    #[test]
    fn intervals_are_of_the_rows_that_were_drawn() {
        let losses: Vec<f64> = (0..60).map(noise).collect();
        let better: Vec<f64> = (0..60).map(|i| noise(i) * noise(1000 + i)).collect();
        let clusters = Clusters::new((0..60u32).map(|i| i * i / 400));
        let mut order: Vec<usize> = (0..60).collect();
        let compared = compare(&points(|s| s), &OPTIONS).methods.remove(0);
        for units in [Units::rows(60), Units::new(Some(&clusters), &mut order, |_, _| false)] {
            let mut candidates = [Candidate { losses: better.clone(), compared: compared.clone() }];
            let as_they_are = with_intervals(&losses, &mut candidates, &units, &OPTIONS.bootstrap);
            let mean_drawn = |counts: &[u32], losses: &[f64]| {
                let times = |(&count, &loss): (&u32, &f64)| std::iter::repeat_n(loss, count as usize);
                let drawn: Vec<f64> = counts.iter().zip(losses).flat_map(times).collect();
                drawn.iter().sum::<f64>() / drawn.len() as f64
            };
            let of_draw = |counts: &[u32]| {
                let [before, after] = [&losses, &better].map(|losses| mean_drawn(counts, losses));
                vec![before, after, after - before]
            };
            let expected = OPTIONS.bootstrap.intervals(&units, of_draw, |_| false);
            let [Candidate { compared, .. }] = candidates;
            for (got, expected) in [as_they_are, compared.loss, compared.change].iter().zip(expected) {
                let (got, expected) = (got.interval.unwrap(), expected.unwrap());
                assert!((got.lo - expected.lo).abs() < 1e-12 && (got.hi - expected.hi).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_is_off_is_calibrated_and_the_order_of_the_points_does_not_matter() {
        let mut points = points(|s| s * s * s);
        let told = std::sync::Mutex::new(Vec::new());
        let data = CompareData::binary(points.iter().copied(), None);
        let count = |done, total| told.lock().unwrap().push((done, total));
        let got = compare_methods(&data, None, &methods(), &OPTIONS, &count);
        // Ten parts less for the method that cannot be fitted.
        assert_eq!(told.into_inner().unwrap().into_iter().max(), Some((34, 34)));
        assert!(got.recommendation.is_some(), "{}", got.reason);
        assert!(got.methods.windows(2).all(|pair| pair[0].loss.value <= pair[1].loss.value));
        let best = &got.methods[0];
        assert!((best.loss.value - got.uncalibrated.value - best.change.value).abs() < 1e-12);
        for method in &got.methods {
            let PairedDifference { value, standard_error } = method.behind_best;
            assert!((value - (method.loss.value - best.loss.value)).abs() < 1e-12, "{method:?}");
            assert_eq!(standard_error == 0.0, method.name == best.name, "{method:?}");
        }
        assert_eq!(got.failed.iter().map(|failed| &*failed.name).collect::<Vec<_>>(), ["too-many"]);
        points.reverse();
        assert_eq!(compare(&points, &OPTIONS), got);
    }

    #[test]
    fn vectors_are_judged_by_all_classes_or_by_the_predicted_one() {
        let (rows, labels) = vectors(0..1000);
        let run = |claim, score| {
            let data = CompareData::vectors(&rows, &labels, claim, None).unwrap();
            let options = CompareOptions { score, ..OPTIONS };
            compare_methods(&data, None, &vector_methods(), &options, &|_, _| ())
        };
        let all = run(Claim::AllClasses, ProperScore::LogLoss);
        assert_eq!(
            (all.recommendation.as_deref(), all.claim),
            (Some("temperature"), Some(Claim::AllClasses))
        );
        let failed: Vec<_> = all.failed.iter().map(|failed| (&*failed.name, &*failed.reason)).collect();
        assert_eq!(
            failed,
            [
                ("top-label/umd", "it gives no probability for every class"),
                (
                    "class-wise/umd",
                    "its probabilities need not sum to one, and the log-loss is proper only if they do",
                ),
                ("binary", "it is for binary scores"),
            ]
        );
        // As an assessment of the scores has it.
        let labels_u16 = labels.iter().map(|&label| label as u16).collect();
        let matrix = ProbMatrix::new(rows.probs_f64(), labels_u16, 3);
        let assessment = assess_vectors(&matrix, &AssessOptions::default());
        assert!((all.uncalibrated.value - assessment.log_loss.value).abs() < 1e-6);
        let brier = run(Claim::AllClasses, ProperScore::Brier);
        assert!((brier.uncalibrated.value - assessment.brier.value).abs() < 1e-6);
        let top = run(Claim::TopLabel, ProperScore::Brier);
        assert!((top.uncalibrated.value - assessment.top_label.brier.value).abs() < 1e-6);
        assert_eq!((brier.methods.len(), top.methods.len(), top.failed.len()), (3, 4, 1));
        let umd = top.methods.iter().find(|method| method.name == "top-label/umd").unwrap();
        assert!(umd.change.value < 0.0, "{umd:?}");
    }

    #[test]
    fn points_of_their_own_judge_one_fit_to_all() {
        let all = points(|s| s * s * s);
        let (calibration, test) = all.split_at(600);
        let data = |points: &[(f64, bool)]| CompareData::binary(points.iter().copied(), None);
        let options = CompareOptions { split: Split::Test { n: 400 }, ..OPTIONS };
        let told = std::sync::Mutex::new(Vec::new());
        let count = |done, total| told.lock().unwrap().push((done, total));
        let got = compare_methods(&data(calibration), Some(&data(test)), &methods(), &options, &count);
        let mut told = told.into_inner().unwrap();
        told.sort_unstable();
        assert_eq!(told, (1..=4 * fits(options.split)).map(|done| (done, 4)).collect::<Vec<_>>());
        // By hand: the same fit, applied to the test points.
        let (scores, labels) = calibration.iter().copied().unzip();
        let fit = fit_binary(
            &BinaryData::new(scores, labels).unwrap().on_device(),
            &BinaryMethod::Umd(Umd::new(8)),
            0.1,
        );
        let model = fit.unwrap().tables.remove(0).unwrap().model;
        let model = model.steps().unwrap();
        let loss = |&(score, label): &(f64, bool)| {
            let value = model.bins[model.bin(f64::from(score as f32))].value;
            (value - f64::from(u8::from(label))).powi(2)
        };
        let expected = test.iter().map(loss).sum::<f64>() / 400.0;
        let umd = got.methods.iter().find(|method| method.name == "umd").unwrap();
        assert!((umd.loss.value - expected).abs() < 1e-6, "{umd:?} {expected}");
        assert_eq!(got.n, 600);
    }

    /// Where all scores are equal nothing is better than the share of positives, whose Brier score is 0.1875, but by chance.
    #[test]
    fn random_ties_do_not_look_ahead() {
        let points: Vec<(f64, bool)> = (0..400).map(|i| (0.5, i % 4 == 0)).collect();
        let umd = Contender::Binary(BinaryMethod::UmdRandomized(Umd::new(4), OPTIONS.bootstrap.seed));
        let data = CompareData::binary(points, None);
        let got = compare_methods(&data, None, &[("umd-randomized".into(), umd)], &OPTIONS, &|_, _| ());
        assert!(got.methods[0].loss.value > 0.18, "{:?}", got.methods);
    }

    /// Two positives are never in the same part, so that every fit meets one.
    #[test]
    fn rare_positives_drop_no_method() {
        let points: Vec<_> = (0..100).map(|i| (f64::from(i) / 100.0, i == 60 || i == 90)).collect();
        let methods = [
            ("umd".to_owned(), Contender::Binary(BinaryMethod::Umd(Umd::new(2)))),
            ("isotonic".to_owned(), Contender::Binary(BinaryMethod::Isotonic(Isotonic::default()))),
        ];
        let data = CompareData::binary(points, None);
        for seed in 0..30 {
            let bootstrap = Bootstrap { seed, resamples: 5, ..OPTIONS.bootstrap };
            let got =
                compare_methods(&data, None, &methods, &CompareOptions { bootstrap, ..OPTIONS }, &|_, _| ());
            assert_eq!(got.failed, [], "{seed}");
        }
    }

    /// Isotonic regression gives zeros to what may happen, a logistic function never does.
    #[test]
    fn clipped_misses_of_the_log_loss_are_counted() {
        let data = CompareData::binary(points(|s| s), None);
        let clipped = |score| {
            let got =
                compare_methods(&data, None, &methods(), &CompareOptions { score, ..OPTIONS }, &|_, _| ());
            let of = |name: &str| got.methods.iter().find(|m| m.name == name).unwrap().log_loss_clipped;
            (of("isotonic"), of("platt"))
        };
        let (isotonic, platt) = clipped(ProperScore::LogLoss);
        assert!(isotonic > Some(0) && isotonic < Some(100) && platt == Some(0), "{isotonic:?} {platt:?}");
        assert_eq!(clipped(ProperScore::Brier), (None, None));
    }

    /// Without the only positive the labels are the same, with it they are separated.
    #[test]
    fn the_first_part_says_why_a_method_failed() {
        let points = (0..6).map(|i| (f64::from(i) / 6.0, i == 5));
        let platt = Contender::Binary(BinaryMethod::Scaling(ScalingMethod::PlattLogit));
        let data = CompareData::binary(points, None);
        let run = |threads, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let split = Split::CrossValidation { folds: 3, repeats: 1 };
            let bootstrap = Bootstrap { seed, resamples: 2, ..OPTIONS.bootstrap };
            let options = CompareOptions { bootstrap, split, ..OPTIONS };
            pool.install(|| {
                compare_methods(&data, None, &[("platt".into(), platt.clone())], &options, &|_, _| ())
            })
            .failed
        };
        for seed in 0..30 {
            assert_eq!(run(4, seed), run(1, seed), "{seed}");
        }
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let (rows, labels) = vectors(0..400);
        let data = CompareData::vectors(&rows, &labels, Claim::TopLabel, None).unwrap();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| compare_methods(&data, None, &vector_methods(), &OPTIONS, &|_, _| ()))
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn what_is_calibrated_is_left_alone() {
        let got = compare(&points(|s| s), &OPTIONS);
        assert_eq!(got.recommendation, None, "{}", got.reason);
    }

    #[test]
    fn only_a_guarantee_that_is_narrow_enough_will_do() {
        let wide = CompareOptions { epsilon: Some(0.2), ..OPTIONS };
        let got = compare(&points(|s| s * s * s), &wide);
        assert_eq!(got.recommendation.as_deref(), Some("umd"), "{}", got.reason);
        let narrow = CompareOptions { epsilon: Some(0.01), ..OPTIONS };
        let got = compare(&points(|s| s * s * s), &narrow);
        assert_eq!(got.recommendation, None);
        assert!(got.reason.contains("0.01"));
    }
}
