//! Clinical validation against statsmodels 0.15, scikit-learn's isotonic regression and dcurves 1.1.7, and its laws.

use calib_fit::assess::{
    AssessOptions, Bootstrap, ClinicalOptions, ClinicalValidation, CorpSplit, CurveDeviation, ExtremeProbs,
    IntervalKind, Prediction, Undefined, validate,
};
use calib_fit::stats::Clusters;
use proptest::prelude::*;

fn rows(points: impl IntoIterator<Item = (f64, bool)>) -> Vec<Prediction> {
    points.into_iter().map(|(prob, hit)| Prediction { class: 1, prob, bin: 0, hit }).collect()
}

/// 400 rows at 201 probabilities that are too high: the values below were computed from the same rule.
fn reference() -> Vec<Prediction> {
    let prob = |i: u32| f64::from(37 * i % 201 + 1) / 203.0;
    let hit = |i: u32| f64::from((61 * i + 17) % 97) / 97.0 < 0.15 + 0.6 * prob(i) * prob(i);
    rows((0..400).map(|i| (prob(i), hit(i))))
}

fn validated(rows: &[Prediction]) -> ClinicalValidation {
    validate(rows, &AssessOptions::default(), &ClinicalOptions::default())
}

fn bootstrap(resamples: usize) -> Option<Bootstrap> {
    Some(Bootstrap { kind: IntervalKind::Percentile, resamples, seed: 3, alpha: 0.05 })
}

#[track_caller]
fn close(got: f64, wanted: f64, within: f64) {
    assert!((got - wanted).abs() <= within, "{got} is not {wanted}");
}

/// statsmodels' GLM with the binomial family, with an offset for the intercept; ends of the intervals where the deviance is
/// chi-squared's quantile above its least value.
#[test]
fn intercept_and_slope_are_those_of_statsmodels() {
    let cox = validated(&reference()).cox;
    let intercept = cox.intercept.get().unwrap();
    close(intercept.value, -0.910919526955658, 1e-8);
    close(intercept.interval.unwrap().lo, -1.162216732363959, 1e-8);
    close(intercept.interval.unwrap().hi, -0.6633853279037129, 1e-8);
    let slope = cox.slope.get().unwrap();
    close(slope.value, 0.49550976092454824, 1e-8);
    close(slope.interval.unwrap().lo, 0.3514267341612039, 1e-8);
    close(slope.interval.unwrap().hi, 0.6498447286745385, 1e-8);
    close(cox.slope_intercept.unwrap(), -0.7117044007739981, 1e-8);
    assert_eq!(cox.n, 400);
}

#[test]
fn observed_over_expected_and_spiegelhalters_statistic_are_those_of_scipy() {
    let found = validated(&reference());
    let ratio = found.observed_expected.ratio.get().unwrap();
    close(ratio.value, 0.7000173658488178, 1e-12);
    close(ratio.interval.unwrap().lo, 0.6060755277021121, 1e-8);
    close(ratio.interval.unwrap().hi, 0.7985437983108948, 1e-8);
    let test = found.spiegelhalter.get().unwrap();
    close(test.z, 7.077344039121345, 1e-10);
    close(test.p_value, 1.4694341631707168e-12, 1e-20);
}

#[test]
fn the_decomposition_is_that_of_scikit_learns_isotonic_regression() {
    let corp = validated(&reference()).corp;
    let parts = |split: CorpSplit| [split.score, split.mcb, split.dsc, split.unc];
    let brier = [0.23305624984833412, 0.044810138525016946, 0.038497638676682794, 0.22674374999999997];
    let log_loss = [0.6913611274407566, 0.13202880651175908, 0.08655296863801154, 0.6458852895670091];
    for (got, wanted) in [(parts(corp.brier), brier), (parts(corp.log_loss), log_loss)] {
        got.into_iter().zip(wanted).for_each(|(got, wanted)| close(got, wanted, 1e-12));
    }
    let deviation = corp.deviation;
    close(deviation.ici, 0.1730952380952381, 1e-12);
    close(deviation.e50, 0.16659824849480023, 1e-12);
    close(deviation.e90, 0.33563025210084035, 1e-12);
    close(deviation.emax, 0.3845262242828166, 1e-12);
}

/// Harrell's basis in NumPy, fitted by statsmodels' GLM.
#[test]
fn the_spline_is_that_of_statsmodels() {
    let spline = validated(&reference()).spline;
    let spline = spline.get().unwrap();
    let knots = [
        -2.864625349063482,
        -0.9719003989778027,
        -0.019705549342277993,
        0.9405553538737863,
        2.7719784443071633,
    ];
    spline.knots.iter().zip(knots).for_each(|(&got, wanted)| close(got, wanted, 1e-12));
    close(spline.deviation.ici, 0.17846588530319654, 1e-8);
    close(spline.deviation.e50, 0.19148158342522453, 1e-8);
    close(spline.deviation.e90, 0.2849741128864226, 1e-8);
    close(spline.deviation.emax, 0.28964248208593335, 1e-8);
}

#[test]
fn net_benefits_are_those_of_dcurves() {
    let model = [
        (0.05, 0.3052631578947368),
        (0.1, 0.26111111111111107),
        (0.2, 0.19374999999999998),
        (0.35, 0.09115384615384611),
        (0.5, -0.015000000000000069),
        (0.8, -0.10750000000000007),
        (0.95, -0.2049999999999998),
    ];
    let all = [
        0.3131578947368421,
        0.27499999999999997,
        0.18437499999999996,
        -0.003846153846153888,
        -0.3050000000000001,
        -2.2625000000000006,
        -12.04999999999999,
    ];
    let curve = validated(&reference()).decision_curve;
    assert_eq!(curve.len(), 100);
    for ((threshold, wanted), all) in model.into_iter().zip(all) {
        let point = curve.iter().find(|point| point.threshold == threshold).unwrap();
        close(point.net_benefit, wanted, 1e-12);
        close(point.treat_all, all, 1e-12);
    }
}

/// A table of three values has fewer than five knots; of two values no spline is made, and the sentence says how many there
/// are.
#[test]
fn a_table_has_fewer_knots_or_none() {
    let table = |values: &[f64]| {
        let values = values.to_vec();
        rows((0..60).map(move |i| (values[i % values.len()], i * 7 % 11 < 4)))
    };
    let three = validated(&table(&[0.2, 0.4, 0.7]));
    assert_eq!(three.spline.get().unwrap().knots.len(), 3);
    // As many coefficients as values: the curve goes through the rates.
    let deviation = three.spline.get().unwrap().deviation;
    let rate = |i: usize| (0..60).filter(|j| j % 3 == i && j * 7 % 11 < 4).count() as f64 / 20.0;
    let differences = [0.2, 0.4, 0.7].iter().enumerate().map(|(i, value)| (rate(i) - value).abs());
    close(deviation.ici, differences.sum::<f64>() / 3.0, 1e-9);
    let two = validated(&table(&[0.2, 0.4]));
    assert!(matches!(two.spline.get(), Err(Undefined::FewKnots(2))));
    assert!(two.cox.slope.get().is_ok());
}

/// Where events are rare, a spline with as many knots as a table has probabilities gives the lowest of them no event at all, and its
/// estimate is infinite; one with fewer knots is finite. Values of NumPy, by Newton's method from a calibrated start.
#[test]
fn a_spline_with_an_infinite_estimate_is_made_of_fewer_knots() {
    let counts = [(0.0017, 587, 0), (0.0034, 591, 3), (0.005, 639, 2), (0.0084, 621, 7), (0.055, 562, 46)];
    let of_bin = |(prob, n, positives): (f64, usize, usize)| (0..n).map(move |i| (prob, i < positives));
    let found = validated(&rows(counts.into_iter().flat_map(of_bin)));
    // The probabilities do not separate the labels.
    assert!(found.cox.slope.get().is_ok());
    let spline = found.spline.get().unwrap();
    let knots = [0.0017, 0.0034, 0.0084, 0.055].map(|prob: f64| (prob / (1.0 - prob)).ln());
    assert_eq!(spline.knots.len(), knots.len());
    spline.knots.iter().zip(knots).for_each(|(&got, wanted)| close(got, wanted, 1e-12));
    let curve = [
        0.00036795208269468346,
        0.0029053403926125277,
        0.005773292166611401,
        0.010218614834356394,
        0.0819075844285127,
    ];
    assert_eq!(spline.curve.len(), curve.len());
    spline.curve.iter().zip(curve).for_each(|(got, wanted)| close(got.value, wanted, 1e-9));
    // What separates the labels for every spline is told, and not as if the probabilities did.
    let ends = [(0.1, 50, 0), (0.2, 50, 0), (0.4, 50, 25), (0.6, 50, 50), (0.9, 50, 50)];
    let found = validated(&rows(ends.into_iter().flat_map(of_bin)));
    assert!(matches!(found.spline.get(), Err(Undefined::SplineSeparated)), "{:?}", found.spline);
}

#[test]
fn what_rows_do_not_determine_is_said() {
    let slope = |points: &[(f64, bool)]| validated(&rows(points.to_vec())).cox.slope.get().map(|_| ());
    assert_eq!(slope(&[(0.2, true), (0.3, true)]), Err(Undefined::OneLabel(true)));
    assert_eq!(slope(&[(0.2, false), (0.3, false)]), Err(Undefined::OneLabel(false)));
    assert_eq!(slope(&[(0.2, false), (0.2, true)]), Err(Undefined::OneValue));
    assert_eq!(slope(&[(0.2, false), (0.3, true)]), Err(Undefined::Separated));
    // Separated but for a tie, and the wrong way round.
    let tied = [(0.2, false), (0.3, true), (0.3, false), (0.4, true)];
    assert_eq!(slope(&tied), Err(Undefined::Separated));
    assert_eq!(slope(&tied.map(|(prob, hit)| (prob, !hit))), Err(Undefined::Separated));
    assert_eq!(slope(&[(0.0, false), (1.0, true)]), Err(Undefined::NoRows));
    let halves = validated(&rows([(0.0, false), (0.5, true), (0.5, false), (1.0, true)]));
    assert_eq!(halves.spiegelhalter.get().map(|_| ()), Err(Undefined::NoVariance));
    let nothing = validated(&rows([(0.0, false), (0.0, true)]));
    assert_eq!(nothing.observed_expected.ratio.get().map(|_| ()), Err(Undefined::NothingExpected));
    // The intercept needs no spread.
    let same = validated(&rows((0..10).map(|i| (0.5, i < 8))));
    close(same.cox.intercept.get().unwrap().value, 4f64.ln(), 1e-12);
}

#[test]
fn certain_probabilities_are_counted_and_left_out_or_clipped() {
    let certain = rows([(0.0, false), (0.0, false), (0.0, true), (1.0, true), (1.0, false)]);
    let all: Vec<Prediction> = reference().into_iter().chain(certain).collect();
    let found = validated(&all);
    let extremes = found.extremes;
    assert_eq!(
        (extremes.zeros, extremes.zeros_positive, extremes.ones, extremes.ones_negative),
        (3, 1, 2, 1)
    );
    assert_eq!((found.cox, found.n), (validated(&reference()).cox, 405));
    let clip = ClinicalOptions::default().extremes(ExtremeProbs::Clip);
    let clipped = validate(&all, &AssessOptions::default(), &clip);
    assert_eq!(clipped.cox.n, 405);
    // A positive at 2^-24 flattens the slope.
    assert!(clipped.cox.slope.get().unwrap().value < 0.9 * found.cox.slope.get().unwrap().value);
}

/// Rows that occur k times, as clusters of k, say no more than once: the intervals stay, those of independent rows shrink.
#[test]
fn clusters_of_equal_rows_count_once() {
    let once = reference();
    let thrice: Vec<Prediction> = once.iter().flat_map(|row| [*row; 3]).collect();
    let clusters = Clusters::new((0..thrice.len()).map(|row| row / 3));
    let options = AssessOptions::default().clusters(Some(&clusters)).bootstrap(bootstrap(20));
    let found = validate(&thrice, &options, &ClinicalOptions::default());
    let alone = validated(&once);
    let interval = |found: &ClinicalValidation| found.cox.slope.get().unwrap().interval.unwrap();
    close(interval(&found).lo, interval(&alone).lo, 1e-9);
    close(interval(&found).hi, interval(&alone).hi, 1e-9);
    let z = |found: &ClinicalValidation| found.spiegelhalter.get().unwrap().z;
    close(z(&found), z(&alone), 1e-9);
    let ratio = |found: &ClinicalValidation| found.observed_expected.ratio.get().unwrap().interval.unwrap();
    close(ratio(&found).hi, ratio(&alone).hi, 1e-12);
    assert!(found.corp.band.is_empty());
    let width = |found: &ClinicalValidation| {
        let interval = found.decision_curve[20].interval.unwrap();
        interval.hi - interval.lo
    };
    let rows = AssessOptions::default().bootstrap(bootstrap(400));
    let resampled = |options: &AssessOptions<'_>| validate(&thrice, options, &ClinicalOptions::default());
    let of_clusters = resampled(&options.bootstrap(bootstrap(400)));
    let ratio = width(&of_clusters) / width(&resampled(&rows));
    assert!((1.5..2.0).contains(&ratio), "{ratio} is not about the root of 3");
}

/// A calibrated model's curve leaves the band as often as the band says, and another one leaves it more often.
#[test]
fn the_band_holds_the_curve_of_a_calibrated_model() {
    let options = AssessOptions::default().bootstrap(bootstrap(200)).alpha(0.1);
    let outside = |power: i32| {
        let (mut places, mut out) = (0, 0);
        for seed in 0..40u32 {
            let prob = |i: u32| f64::from(i % 20 + 1) / 21.0;
            // A generator of its own: Weyl's sequence.
            let uniform = |i: u32| (f64::from(i + 600 * seed) * 0.618_033_988_749_894_9).fract();
            let points = (0..600).map(|i| (prob(i), uniform(i * i + 7 * i) < prob(i).powi(power)));
            let corp = validate(&rows(points), &options, &ClinicalOptions::default()).corp;
            for point in &corp.band {
                let step = corp.curve.iter().find(|step| step.hi >= point.prob).unwrap();
                places += 1;
                out += usize::from(step.value < point.lo || step.value > point.hi);
            }
        }
        out as f64 / places as f64
    };
    let (calibrated, squared) = (outside(1), outside(2));
    assert!(calibrated <= 0.13, "{calibrated}");
    assert!(squared > 0.5, "{squared}");
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let prob = |i: u64| (i * 7919 % 50_021) as f64 / 50_021.0;
    let points = (0..50_000u64).map(|i| (prob(i), (i * 104_729 % 1009) as f64 / 1009.0 < 0.8 * prob(i)));
    let all = rows(points);
    let options = AssessOptions::default().bootstrap(bootstrap(20));
    let run = || format!("{:?}", validate(&all, &options, &ClinicalOptions::default()));
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    assert_eq!(pool(1).install(run), pool(3).install(run));
}

/// Labels that hardly overlap: the slope is far too steep for rows to be condensed.
#[test]
fn a_steep_slope_is_that_of_all_rows() {
    let prob = |i: u32| f64::from(i + 1) / 50_001.0;
    // Around the middle some labels are the wrong way round.
    let hit = |i: u32| (i >= 25_000) != (i.abs_diff(25_000) < 40 && i.is_multiple_of(5));
    let found = validated(&rows((0..50_000).map(|i| (prob(i), hit(i))))).cox;
    let (a, b) = (found.slope_intercept.unwrap(), found.slope.get().unwrap().value);
    assert!(b > 100.0, "{b}");
    let scores = (0..50_000).fold([0.0; 2], |sum, i| {
        let x = (prob(i) / (1.0 - prob(i))).ln();
        let residual = f64::from(u8::from(hit(i))) - 1.0 / (1.0 + (-a - b * x).exp());
        [sum[0] + residual, sum[1] + residual * x]
    });
    assert!(scores.iter().all(|score| score.abs() < 1e-8), "{scores:?}");
}

/// Of more probabilities than starting values are found from: the likelihood equations hold, and its profile has fallen by the
/// quantile at both ends.
#[test]
fn many_probabilities_have_the_estimates_of_all() {
    let prob = |i: u64| (i * 7919 % 60_013 + 1) as f64 / 60_014.0;
    let points =
        (0..60_000u64).map(|i| (prob(i), (i * 104_729 % 1009) as f64 / 1009.0 < 0.1 + 0.7 * prob(i)));
    let all: Vec<(f64, f64)> =
        points.map(|(p, hit)| ((p / (1.0 - p)).ln(), f64::from(u8::from(hit)))).collect();
    let back = |&(logit, hit): &(f64, f64)| (1.0 / (1.0 + (-logit).exp()), hit > 0.5);
    let cox = validated(&rows(all.iter().map(back))).cox;
    let log_likelihood = |a: f64, b: f64| -> f64 {
        all.iter().map(|&(x, y)| y * (a + b * x) - (a + b * x).exp().ln_1p()).sum()
    };
    let score = |a: f64, b: f64| -> [f64; 2] {
        let residuals = all.iter().map(|&(x, y)| (x, y - 1.0 / (1.0 + (-a - b * x).exp())));
        residuals.fold([0.0; 2], |sum, (x, residual)| [sum[0] + residual, sum[1] + residual * x])
    };
    let (a, slope) = (cox.slope_intercept.unwrap(), cox.slope.get().unwrap());
    assert!(score(a, slope.value).iter().all(|score| score.abs() < 1e-6), "{:?}", score(a, slope.value));
    let large = cox.intercept.get().unwrap();
    assert!(score(large.value, 1.0)[0].abs() < 1e-6);
    // The intercept that fits best beside a slope, by bisection.
    let beside = |b: f64| {
        let (mut lo, mut hi) = (-10.0, 10.0);
        for _ in 0..80 {
            let middle = f64::midpoint(lo, hi);
            if score(middle, b)[0] > 0.0 { lo = middle } else { hi = middle }
        }
        lo
    };
    let drop = 3.841458820694124 / 2.0;
    for end in [slope.interval.unwrap().lo, slope.interval.unwrap().hi] {
        close(log_likelihood(a, slope.value) - log_likelihood(beside(end), end), drop, 1e-6);
    }
    for end in [large.interval.unwrap().lo, large.interval.unwrap().hi] {
        close(log_likelihood(large.value, 1.0) - log_likelihood(end, 1.0), drop, 1e-6);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_laws_of_a_validation(
        points in proptest::collection::vec((0u32..=20, any::<bool>()), 1..80),
        marked in 0u32..1000,
    ) {
        let all = rows(points.iter().map(|&(prob, hit)| (f64::from(prob) / 20.0, hit)));
        let thresholds = [f64::from(marked) / 1000.0];
        let clinical = ClinicalOptions::default().extremes(ExtremeProbs::Clip).thresholds(&thresholds);
        let options = AssessOptions::default().bootstrap(bootstrap(8));
        let found = validate(&all, &options, &clinical);
        // Score = MCB - DSC + UNC, with parts that are no less than 0.
        for split in [found.corp.brier, found.corp.log_loss] {
            prop_assert!((split.score - (split.mcb - split.dsc + split.unc)).abs() < 1e-12);
            prop_assert!(split.mcb >= -1e-12 && split.dsc >= -1e-12 && split.unc >= 0.0);
        }
        let curve = &found.corp.curve;
        prop_assert!(curve.windows(2).all(|pair| pair[0].value < pair[1].value && pair[0].hi < pair[1].lo));
        prop_assert_eq!(curve.iter().map(|step| step.n).sum::<u64>(), found.n);
        prop_assert!(found.corp.band.windows(2).all(|pair| pair[0].lo <= pair[1].lo + 1e-12 && pair[0].hi <= pair[1].hi + 1e-12));
        let CurveDeviation { ici, e50, e90, emax, .. } = found.corp.deviation;
        prop_assert!(e50 <= e90 && e90 <= emax && ici <= emax + 1e-12);
        let (n, positives) = (found.n as f64, found.observed_expected.observed as f64);
        for point in &found.decision_curve {
            let odds = point.threshold / (1.0 - point.threshold);
            prop_assert!((point.treat_all - (positives - (n - positives) * odds) / n).abs() < 1e-12);
            let treated = all.iter().filter(|row| row.prob >= point.threshold);
            prop_assert_eq!(point.true_positives, treated.filter(|row| row.hit).count() as u64);
            let interval = point.interval.unwrap();
            prop_assert!(interval.lo <= interval.hi + 1e-12);
        }
        prop_assert!(found.decision_curve.iter().any(|point| point.marked && point.threshold == thresholds[0]));
        prop_assert_eq!(found.outcomes.positives.iter().sum::<u64>(), found.observed_expected.observed);
        // The order of the rows does not matter.
        let mut reversed = all.clone();
        reversed.reverse();
        prop_assert_eq!(format!("{:?}", found), format!("{:?}", validate(&reversed, &options, &clinical)));
        if let Ok(intercept) = found.cox.intercept.get() {
            let interval = intercept.interval.unwrap();
            prop_assert!(interval.lo < intercept.value && intercept.value < interval.hi);
        }
        if let Ok(slope) = found.cox.slope.get() {
            let interval = slope.interval.unwrap();
            prop_assert!(interval.lo < slope.value && slope.value < interval.hi, "{slope:?}");
        }
    }

    /// Probabilities whose logits are divided by b and shifted have the slope times b, and its interval, too.
    #[test]
    fn the_slope_follows_the_scale(by in 0.2f64..5.0, shift in -2.0f64..2.0) {
        let moved = |prob: f64| {
            let logit = (prob / (1.0 - prob)).ln() / by + shift;
            1.0 / (1.0 + (-logit).exp())
        };
        let all = reference();
        let other = rows(all.iter().map(|row| (moved(row.prob), row.hit)));
        let (one, two) = (validated(&all).cox.slope, validated(&other).cox.slope);
        let (one, two) = (one.get().unwrap(), two.get().unwrap());
        prop_assert!((two.value / one.value / by - 1.0).abs() < 1e-8);
        let ends = (one.interval.unwrap(), two.interval.unwrap());
        prop_assert!((ends.1.lo / ends.0.lo / by - 1.0).abs() < 1e-7);
        prop_assert!((ends.1.hi / ends.0.hi / by - 1.0).abs() < 1e-7);
    }
}
