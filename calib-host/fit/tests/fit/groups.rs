//! Groups side by side: the level and the power of the test, and its laws.

use calib_fit::assess::{
    AssessOptions, ClinicalOptions, GroupOptions, NotTested, Prediction, PredictionKind, RowGroups, Tested,
    compare_groups, test_equal_calibration,
};
use calib_fit::stats::Clusters;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How much riskier the rows of one group are told to be, and how much riskier they are than told.
struct World {
    score_shift: f64,
    truth_shift: f64,
    /// Probabilities are those of a table with so many values, or of a function.
    values: Option<f64>,
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl World {
    /// 1000 rows of two groups, a third of them of the second.
    fn draw(&self, seed: u64) -> (Vec<Prediction>, RowGroups) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut rows, mut names) = (Vec::new(), Vec::new());
        for row in 0..1000 {
            let second = row % 3 == 0;
            let normal: f64 = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
            let logit = normal - 1.0 + if second { self.score_shift } else { 0.0 };
            // The model is miscalibrated, for both alike: its logits are half as large as the truth's.
            let prob = sigmoid(logit / 2.0);
            let prob = self.values.map_or(prob, |values| ((prob * values).floor() + 0.5) / values);
            let told = (prob / (1.0 - prob)).ln() * 2.0;
            let truth = sigmoid(told + if second { self.truth_shift } else { 0.0 });
            rows.push(Prediction { class: 1, prob, bin: 0, hit: rng.random::<f64>() < truth });
            names.push(if second { "b" } else { "a" });
        }
        (rows, RowGroups::new(names))
    }

    /// How many of so many tests reject at 0.05.
    fn rejections(&self, tests: u64) -> usize {
        let rejects = |seed: &u64| {
            let (rows, groups) = self.draw(*seed);
            test_equal_calibration(&rows, &groups, None, *seed).unwrap().p_value <= 0.05
        };
        (0..tests).filter(rejects).count()
    }
}

/// Groups whose probabilities differ as much as they can, but whose calibration is equal: of 200 tests at 0.05 at most 20 reject;
/// more would with probability 0.001.
#[test]
fn equally_calibrated_groups_are_rejected_no_more_often_than_stated() {
    for values in [None, Some(8.0)] {
        let rejections = World { score_shift: 2.0, truth_shift: 0.0, values }.rejections(200);
        assert!(rejections <= 20, "{rejections} of 200, {values:?}");
    }
}

/// Few rows of calibrated groups at the two ends of the probabilities, so that they sit at the two ends of every bin: of 300 tests at 0.05
/// at most 25 reject (more would with probability 0.009), where dealing labels out evenly within bins rejects every fifth.
#[test]
fn few_rows_of_groups_of_different_risk_are_rejected_no_more_often_than_stated() {
    for rows in [40, 60, 100] {
        let rejects = |seed: &u64| {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(*seed);
            // The second and the second largest of nine are beta distributed: 2, 8 and 8, 2.
            let (mut drawn, mut names) = (Vec::new(), Vec::new());
            for row in 0..rows {
                let mut uniform: [f64; 9] = std::array::from_fn(|_| rng.random());
                uniform.sort_by(f64::total_cmp);
                let prob = uniform[if row % 2 == 0 { 1 } else { 7 }];
                drawn.push(Prediction { class: 1, prob, bin: 0, hit: rng.random::<f64>() < prob });
                names.push(if row % 2 == 0 { "a" } else { "b" });
            }
            let test = test_equal_calibration(&drawn, &RowGroups::new(names), None, *seed);
            test.is_ok_and(|test| test.p_value <= 0.05)
        };
        let rejections = (0..300).filter(rejects).count();
        assert!(rejections <= 25, "{rejections} of 300, {rows} rows");
    }
}

#[test]
fn unequally_calibrated_groups_are_found() {
    for (score_shift, values) in [(0.0, None), (1.0, None), (1.0, Some(8.0))] {
        let rejections = World { score_shift, truth_shift: 0.8, values }.rejections(50);
        assert!(rejections >= 45, "{rejections} of 50, {score_shift}, {values:?}");
    }
}

/// One bin: the P value is that of Fisher's exact test on the statistic, up to the noise of the permutations.
#[test]
fn one_bin_is_a_table() {
    let rows: Vec<Prediction> =
        (0..40).map(|row| Prediction { class: 1, prob: 0.3, bin: 0, hit: !(9..37).contains(&row) }).collect();
    let groups = RowGroups::new((0..40).map(|row| if row < 20 { "a" } else { "b" }));
    let test = test_equal_calibration(&rows, &groups, None, 5).unwrap();
    // 9 and 3 of 20: the probability of 9 or more, or 3 or fewer, of 12 drawn from 40.
    let choose = |n: u32, k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(k - i)).product::<f64>();
    let of = |k: u32| choose(20, k) * choose(20, 12 - k) / choose(40, 12);
    let exact: f64 = (0..=3).chain(9..=12).map(of).sum();
    assert!((test.p_value - exact).abs() < 3.0 * (exact * (1.0 - exact) / 999.0).sqrt(), "{test:?}, {exact}");
    assert_eq!((test.bins, test.permutations), (1, 999));
}

#[test]
fn the_order_of_the_rows_and_the_threads_do_not_matter() {
    let (rows, groups) = World { score_shift: 1.0, truth_shift: 0.3, values: None }.draw(1);
    let order: Vec<usize> = (0..rows.len()).rev().collect();
    let turned: Vec<Prediction> = order.iter().map(|&row| rows[row]).collect();
    let run =
        |rows: &[Prediction], groups: &RowGroups| test_equal_calibration(rows, groups, None, 9).unwrap();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(|| run(&rows, &groups));
    assert_eq!(one, pool(3).install(|| run(&rows, &groups)));
    assert_eq!(one, run(&turned, &groups.part(order)));
}

#[test]
fn what_cannot_be_tested_is_said() {
    let (rows, groups) = World { score_shift: 0.0, truth_shift: 0.0, values: None }.draw(1);
    let alone = RowGroups::new(vec!["a"; rows.len()]);
    assert_eq!(test_equal_calibration(&rows, &alone, None, 1), Err(NotTested::OneGroup));
    let clusters = Clusters::new((0..rows.len()).map(|row| row / 2));
    assert_eq!(test_equal_calibration(&rows, &groups, Some(&clusters), 1), Err(NotTested::Clusters));
    let single = Clusters::new(0..rows.len());
    assert!(test_equal_calibration(&rows, &groups, Some(&single), 1).is_ok());
    let never: Vec<Prediction> = rows.iter().map(|row| Prediction { hit: false, ..*row }).collect();
    assert_eq!(test_equal_calibration(&never, &groups, None, 1), Err(NotTested::NothingToCompare));
}

/// Every group has the figures of its rows alone, at its share of alpha, and a difference is between two of them.
#[test]
fn every_group_is_assessed_for_itself() {
    let (rows, groups) = World { score_shift: 1.0, truth_shift: 1.0, values: None }.draw(4);
    let options = AssessOptions::default().alpha(0.1);
    let clinical = ClinicalOptions::default();
    let how = GroupOptions { assess: &options, clinical: &clinical, seed: 1 };
    let found = compare_groups(&rows, PredictionKind::Binary, &groups, &how);
    let own: Vec<Prediction> = groups.rows_of(1).map(|row| rows[row]).collect();
    let half = options.alpha(0.05);
    assert_eq!(found.groups[1].assessment, calib_fit::assess::assess(&own, PredictionKind::Binary, &half));
    assert_eq!(found.groups[1].clinical, Some(calib_fit::assess::validate(&own, &half, &clinical)));
    let intercept = found.differences.iter().find(|difference| difference.metric == "intercept").unwrap();
    assert_eq!((&*intercept.highest, &*intercept.lowest), ("b", "a"));
    assert!(intercept.interval.unwrap().lo > 0.0 && intercept.difference < intercept.interval.unwrap().hi);
    assert!(matches!(found.equal_calibration, Tested::Done(test) if test.p_value < 0.01));
}
