//! Intervals hold where few rows are of one label.

use calib_fit::assess::{
    AssessOptions, Binning, Bootstrap, IntervalKind, Prediction, PredictionKind, assess,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Rows with so many positives, whose scores are normal around 1.19 and negatives' around 0: the area is .8. In another world around 2.904, of
/// .98.
fn binormal(rng: &mut Xoshiro256PlusPlus, [positives, negatives]: [usize; 2], apart: f64) -> Vec<Prediction> {
    let mut row = |hit: bool| {
        let normal = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let score = normal + if hit { apart } else { 0.0 };
        Prediction { class: 1, prob: 1.0 / (1.0 + (-score).exp()), bin: 0, hit }
    };
    (0..positives + negatives).map(|number| row(number < positives)).collect()
}

/// With 5 and 10 positives the interval of the area misses it in at most 7 % of 200 draws (5 % are meant; more than 14 of 200 would have a
/// probability of .05), where resamples miss it in 10 to 25 %.
#[test]
fn the_area_is_in_its_interval_with_few_events() {
    let resampling = Bootstrap { kind: IntervalKind::Percentile, resamples: 20, seed: 1, alpha: 0.05 };
    let options = AssessOptions::default().bootstrap(Some(resampling));
    for (area, apart) in [(0.8, 1.190_2), (0.98, 2.904_4)] {
        for counts in [[5, 95], [10, 90], [10, 490]] {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
            let misses = |_: &u32| {
                let rows = binormal(&mut rng, counts, apart);
                let interval = assess(&rows, PredictionKind::Binary, &options).auc.unwrap().interval.unwrap();
                !(interval.lo..=interval.hi).contains(&area)
            };
            let missed = (0..200).filter(misses).count();
            assert!(missed <= 14, "{missed} of 200 for {area}, {counts:?}");
        }
        let few = binormal(&mut Xoshiro256PlusPlus::seed_from_u64(7), [4, 96], apart);
        let few = assess(&few, PredictionKind::Binary, &options);
        assert_eq!((few.few_events(), few.auc.unwrap().interval, few.brier.interval), (Some(4), None, None));
    }
}

/// Rows whose probabilities are right and of a prevalence of 1 to 2 %: the interval of the calibration error begins above 0 in at most 5 % of
/// 200 draws (2.5 % are meant), where resamples of groups without a hit have it so in every fifth or more.
#[test]
fn calibrated_rare_events_have_no_sure_calibration_error() {
    let resampling = Bootstrap { kind: IntervalKind::Percentile, resamples: 100, seed: 1, alpha: 0.05 };
    let options = AssessOptions::default().bootstrap(Some(resampling)).binning(Binning::EqualWidth(15));
    for (logit, n) in [(-5.5, 1000), (-5.0, 300)] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        let is_sure = |_: &u32| {
            let mut row = || {
                let normal = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
                let prob = 1.0 / (1.0 + (-logit - 1.3 * normal).exp());
                Prediction { class: 1, prob, bin: 0, hit: rng.random::<f64>() < prob }
            };
            let rows: Vec<Prediction> = (0..n).map(|_| row()).collect();
            let found = assess(&rows, PredictionKind::Binary, &options);
            found.lp_ce.squared_debiased.unwrap().interval.unwrap().lo > 0.0
        };
        let sure = (0..200).filter(is_sure).count();
        assert!(sure <= 10, "{sure} of 200 for {logit}, {n}");
    }
}
