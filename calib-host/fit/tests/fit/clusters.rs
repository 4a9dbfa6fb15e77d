//! Rows that are not independent: what holds for them with clusters, and does not without.

use calib_fit::assess::{
    AssessOptions, Bootstrap, IntervalKind, Prediction, PredictionKind, ProbMatrix, ProperScore, assess,
    assess_before_after, assess_top_k, assess_vectors, roc_surface,
};
use calib_fit::compare::{
    CompareData, CompareOptions, Contender, Split, TestPoints, choose_bins, compare_methods, halves,
};
use calib_fit::stats::Clusters;
use calib_fit::{BinaryData, BinaryMethod, Fit, Isotonic, ScalingMethod, Umd, fit_binary};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PATIENTS: usize = 100;
const RECORDINGS: usize = 20;
const BINS: usize = 5;

/// Patients with recordings of nearly the same score and the patient's label, which is 1 with the probability of the score.
fn recordings(seed: u64) -> (Vec<(f64, bool)>, Clusters) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut rows = Vec::new();
    for _ in 0..PATIENTS {
        let score = rng.random::<f64>();
        let label = rng.random::<f64>() < score;
        rows.extend((0..RECORDINGS).map(|_| {
            let score: f64 = score * 0.9999 + 1e-4 * rng.random::<f64>();
            (score, label)
        }));
    }
    let clusters = Clusters::new((0..rows.len()).map(|row| row / RECORDINGS));
    (rows, clusters)
}

fn fit(rows: &[(f64, bool)], drawn: impl IntoIterator<Item = usize>) -> Fit {
    let (scores, labels) = drawn.into_iter().map(|row| rows[row]).unzip();
    fit_binary(&BinaryData::new(scores, labels).unwrap(), &BinaryMethod::Umd(Umd::new(BINS)), 0.1).unwrap()
}

/// Whether a bin is farther from the truth, the mean score in it, than is guaranteed, and whether an exact interval misses it.
fn fails(fit: &Fit) -> (bool, bool) {
    let table = fit.tables()[0].as_ref().unwrap();
    let steps = table.model().steps().unwrap();
    let edges: Vec<f64> = [0.0].into_iter().chain(steps.edges.iter().copied()).chain([1.0]).collect();
    let truths = edges.windows(2).map(|ends| (ends[0] + ends[1]) / 2.0);
    let epsilon = table.epsilon().unwrap();
    let mut fails = (false, false);
    for ((bin, interval), truth) in steps.bins.iter().zip(table.intervals()).zip(truths) {
        fails.0 |= (bin.value - truth).abs() > epsilon;
        fails.1 |= !(interval.lo..=interval.hi).contains(&truth);
    }
    fails
}

fn order(rows: &[(f64, bool)]) -> impl Fn(usize, usize) -> std::cmp::Ordering + '_ {
    |a, b| rows[a].0.total_cmp(&rows[b].0).then(rows[a].1.cmp(&rows[b].1))
}

#[test]
fn a_guarantee_for_one_row_of_each_patient_holds_and_for_all_rows_does_not() {
    const SETS: usize = 200;
    let (mut all, mut one_each) = ([0; 2], [0; 2]);
    for seed in 0..SETS as u64 {
        let (rows, clusters) = recordings(seed);
        let add = |counts: &mut [usize; 2], failed: (bool, bool)| {
            counts[0] += usize::from(failed.0);
            counts[1] += usize::from(failed.1);
        };
        add(&mut all, fails(&fit(&rows, 0..rows.len())));
        let drawn = clusters.one_row_each(seed, order(&rows));
        assert_eq!(drawn.len(), PATIENTS);
        add(&mut one_each, fails(&fit(&rows, drawn)));
    }
    // Guaranteed in nine sets of ten.
    assert!(all[0] > SETS / 2 && all[1] > SETS * 9 / 10, "{all:?}");
    assert!(one_each[0] <= SETS / 20 && one_each[1] <= SETS / 10, "{one_each:?}");
}

fn bootstrap(kind: IntervalKind) -> Option<Bootstrap> {
    Some(Bootstrap { kind, resamples: 200, seed: 1, alpha: 0.1 })
}

fn predictions(rows: &[(f64, bool)]) -> Vec<Prediction> {
    rows.iter().map(|&(prob, hit)| Prediction { class: 1, prob, bin: 0, hit }).collect()
}

/// The Brier score of scores that are true is the mean of s (1 - s), a sixth.
#[test]
fn the_cluster_bootstrap_covers_and_the_row_bootstrap_does_not() {
    const SETS: usize = 60;
    let covers = |options: &AssessOptions<'_>, rows: &[(f64, bool)]| {
        let brier = assess(&predictions(rows), PredictionKind::Binary, options).brier;
        let interval = brier.interval.expect("there is a bootstrap");
        usize::from((interval.lo..=interval.hi).contains(&(1.0 / 6.0)))
    };
    let (mut of_rows, mut of_clusters) = (0, 0);
    for seed in 0..SETS as u64 {
        let (rows, clusters) = recordings(1000 + seed);
        let options = AssessOptions::default().bootstrap(bootstrap(IntervalKind::Percentile));
        of_rows += covers(&options, &rows);
        of_clusters += covers(&options.clusters(Some(&clusters)), &rows);
    }
    assert!(of_rows < SETS / 2 && of_clusters > SETS * 8 / 10, "{of_rows} {of_clusters}");
}

/// As many rows as patients remain where all rows of a patient say the same.
#[test]
fn exact_intervals_of_bins_are_those_of_the_patients() {
    let (rows, clusters) = recordings(1);
    let options = AssessOptions::default().clusters(Some(&clusters));
    let bins = assess(&predictions(&rows), PredictionKind::Binary, &options).bins;
    let covered = |bins: &[calib_fit::assess::ReliabilityBin]| {
        bins.iter().filter(|bin| (bin.interval.lo..=bin.interval.hi).contains(&bin.mean_prob)).count()
    };
    let of_rows = assess(&predictions(&rows), PredictionKind::Binary, &AssessOptions::default()).bins;
    assert_eq!(bins.len(), of_rows.len());
    assert!(covered(&bins) >= 14 && covered(&of_rows) <= 8, "{bins:?} {of_rows:?}");
}

const COMPARE: CompareOptions = CompareOptions {
    split: Split::CrossValidation { folds: 3, repeats: 2 },
    score: ProperScore::LogLoss,
    alpha: 0.1,
    epsilon: None,
    bootstrap: Bootstrap { kind: IntervalKind::Percentile, resamples: 20, seed: 3, alpha: 0.05 },
};

fn compared(rows: &[(f64, bool)], clusters: Option<&Clusters>) -> String {
    let contenders = [
        BinaryMethod::Umd(Umd::new(2)),
        BinaryMethod::UmdRandomized(Umd::new(2), 3),
        BinaryMethod::Isotonic(Isotonic::default()),
        BinaryMethod::Scaling(ScalingMethod::PlattLogit),
    ];
    let contenders: Vec<_> =
        contenders.into_iter().map(|m| (m.method().to_string(), Contender::Binary(m))).collect();
    let data = CompareData::binary(rows.iter().copied(), clusters);
    let mut got = compare_methods(&data, None, &contenders, &COMPARE, &|_, _| ());
    got.clusters = None;
    format!("{got:?}")
}

fn assessed(rows: &[(f64, bool)], clusters: Option<&Clusters>) -> String {
    let before = predictions(rows);
    let after: Vec<_> = before.iter().map(|row| Prediction { prob: row.prob * row.prob, ..*row }).collect();
    let options = AssessOptions::default().bootstrap(bootstrap(IntervalKind::Bca)).clusters(clusters);
    let both = assess_before_after(&before, &after, PredictionKind::Binary, &options, &options);
    let one = assess(&after, PredictionKind::Binary, &options);
    let ranks = assess_top_k(&[before, after], &options);
    format!("{both:?} {one:?} {ranks:?}")
}

fn of_vectors(rows: &[(f64, bool)], clusters: Option<&Clusters>) -> String {
    let probs = rows.iter().flat_map(|row| [1.0 - row.0, row.0]).collect();
    let matrix = ProbMatrix::new(probs, rows.iter().map(|row| row.1.into()).collect(), 2);
    let options = AssessOptions::default().bootstrap(bootstrap(IntervalKind::Percentile)).clusters(clusters);
    format!("{:?} {:?}", assess_vectors(&matrix, &options), roc_surface(&matrix, 2, &options))
}

fn of_bins(rows: &[(f64, bool)], clusters: Option<&Clusters>) -> String {
    let bootstrap = COMPARE.bootstrap;
    let test = TestPoints { points: rows.to_vec(), clusters: clusters.cloned() };
    let calibration = test.one_of_each_cluster(5).unwrap();
    format!("{:?}", choose_bins(&calibration, &test, &[1, 2], bootstrap))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Neither the order of the rows nor the names of the clusters matter, to the last bit; and clusters of one row each give
    /// what rows give.
    #[test]
    fn only_the_contents_of_clusters_matter(
        rows in proptest::collection::vec((0u32..12, any::<bool>(), 0usize..9), 12..50), shift in 1usize..50,
    ) {
        let points: Vec<(f64, bool)> = rows.iter().map(|row| (f64::from(row.0 as f32 / 12.0), row.1)).collect();
        let clusters = Clusters::new(rows.iter().map(|row| row.2));
        prop_assume!(clusters.count() >= 6);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.rotate_left(shift % rows.len());
        order.reverse();
        let moved: Vec<_> = order.iter().map(|&row| points[row]).collect();
        let renamed = Clusters::new(order.iter().map(|&row| format!("patient {}", 9 - rows[row].2)));
        let singles = Clusters::new(0..rows.len());
        for run in [compared, assessed, of_vectors, of_bins] {
            let got = run(&points, Some(&clusters));
            prop_assert_eq!(&got, &run(&moved, Some(&renamed)));
            prop_assert_eq!(run(&points, Some(&singles)), run(&points, None));
        }
        let test = |rows: &[(f64, bool)], clusters: &Clusters| {
            let (calibration, test) = halves(rows.iter().copied(), Some(clusters), 7).unwrap();
            let count = test.clusters.as_ref().unwrap().count();
            let mut points = test.points;
            points.sort_by(|a, b| a.partial_cmp(b).unwrap());
            (calibration, points, count)
        };
        let (calibration, half, count) = test(&points, &clusters);
        prop_assert_eq!(calibration.len() as usize + count, clusters.count());
        prop_assert_eq!((calibration, half, count), test(&moved, &renamed));
    }
}
