//! The guarantees of prediction sets, against every sample that there can be.

use calib_core::{QuantizedScore, ScoreEncoding};
use calib_fit::artifact::SetsOnDevice;
use calib_fit::data::{CodeVectors, DataError};
use calib_fit::sets::{ConformityScore, ConformityScores, PredictionSets, SetAim, SetError, SetFigures};
use calib_fit::stats::clopper_pearson;
use calib_fit::{ArtifactOptions, StoredArtifact, VectorKind, Vectors};
use proptest::prelude::*;

const U8: ScoreEncoding = ScoreEncoding::U8 { scale: 1.0, zero_point: 0 };
const SIXTEENTHS: ScoreEncoding = ScoreEncoding::U8 { scale: 0.0625, zero_point: 0 };

/// What a row can be: its scores and its class, and its probability. Scores are tied within and among classes.
const ROWS: [(&[i64; 3], i64, f64); 6] = [
    (&[9, 5, 0], 0, 0.3),
    (&[9, 5, 0], 1, 0.1),
    (&[3, 9, 3], 1, 0.2),
    (&[3, 9, 3], 2, 0.1),
    (&[1, 2, 8], 2, 0.2),
    (&[7, 7, 7], 0, 0.1),
];

fn conformities(sample: &[usize]) -> (ConformityScores, Vec<i64>) {
    let codes: Vec<i64> = sample.iter().flat_map(|&row| *ROWS[row].0).collect();
    let codes = CodeVectors::of_logits(&codes, 3, U8).unwrap();
    (ConformityScores::of_codes(&codes), sample.iter().map(|&row| ROWS[row].1).collect())
}

/// All samples of `n` rows with their probabilities.
fn samples(n: usize) -> Vec<(Vec<usize>, f64)> {
    let mut all = vec![(Vec::new(), 1.0)];
    for _ in 0..n {
        let longer = |(sample, prob): &(Vec<usize>, f64)| {
            let (sample, prob) = (sample.clone(), *prob);
            (0..ROWS.len())
                .map(move |row| ([&sample[..], &[row]].concat(), prob * ROWS[row].2))
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// By class a confidence holds for all classes at once: of two each has half of what may fail, .9^36 < .025 < .9^35.
#[test]
fn a_confidence_by_class_is_divided_among_the_classes() {
    let aim = |by_class| SetAim { alpha: 0.1, by_class, confidence: Some(0.95) };
    let fit = |rows: usize, by_class: bool| {
        let probs =
            (0..2 * rows).flat_map(|row| [0.5 + row as f32 / 1024.0, 0.5 - row as f32 / 1024.0]).collect();
        let probs = Vectors::new(probs, 2, VectorKind::Probs).unwrap();
        let labels: Vec<i64> = (0..2 * rows).map(|row| (row % 2) as i64).collect();
        let rows = ConformityScores::of_vectors(&probs, ConformityScore::Softmax).unwrap();
        PredictionSets::fit(&rows, &labels, aim(by_class)).unwrap().thresholds().to_vec()
    };
    for (rows, by_class, is_known) in
        [(35, true, false), (36, true, true), (14, false, false), (15, false, true)]
    {
        let thresholds = fit(rows, by_class);
        assert_eq!(thresholds.len(), if by_class { 2 } else { 1 });
        assert!(thresholds.iter().all(|threshold| threshold.key.is_some() == is_known), "{rows} {by_class}");
    }
    assert_eq!([2, 10].map(|classes| aim(true).points_needed(classes)), [Some(36), Some(51)]);
    assert_eq!([2, 10].map(|classes| aim(false).points_needed(classes)), [Some(29); 2]);
}

/// The true coverage of all rows, and of those of each class.
fn coverage(sets: &PredictionSets) -> (f64, [f64; 3]) {
    let (rows, labels) = conformities(&[0, 1, 2, 3, 4, 5]);
    let [mut covered, mut of_class] = [[0.0; 3]; 2];
    for ((row, label), (_, _, prob)) in rows.rows().zip(labels).zip(ROWS) {
        of_class[label as usize] += prob;
        if sets.set(row).nth(label as usize).unwrap() {
            covered[label as usize] += prob;
        }
    }
    let by_class = [0, 1, 2].map(|class| covered[class] / of_class[class]);
    (covered.iter().sum(), by_class)
}

const ROUNDING: f64 = 1e-12;

/// On average over the draw of the calibration rows, of all rows and of those of a class.
#[test]
fn coverage_is_at_least_what_is_guaranteed() {
    for n in 1..=5 {
        for alpha in [0.1, 0.25, 0.4, 0.5, 0.7] {
            let aim = |by_class| SetAim { alpha, by_class, confidence: None };
            let (mut marginal, mut by_class, mut always) = (0.0, [0.0; 3], true);
            for (sample, prob) in samples(n) {
                let (rows, labels) = conformities(&sample);
                let sets = PredictionSets::fit(&rows, &labels, aim(false)).unwrap();
                always &= sets.thresholds()[0].key.is_none();
                marginal += prob * coverage(&sets).0;
                let sets = PredictionSets::fit(&rows, &labels, aim(true)).unwrap();
                let covered = coverage(&sets).1;
                for class in 0..3 {
                    by_class[class] += prob * covered[class];
                }
            }
            let least = by_class.into_iter().fold(marginal, f64::min);
            assert!(least >= 1.0 - alpha - ROUNDING, "{n} {alpha}: {marginal} {by_class:?}");
            // Below 1 / (n + 1) every class is in every set.
            assert_eq!(always, alpha * (n as f64 + 1.0) < 1.0 - ROUNDING, "{n} {alpha}");
            assert!(always == (marginal > 1.0 - ROUNDING), "{n} {alpha}: {marginal}");
        }
    }
}

/// Over the draw of the calibration rows, of all rows and of all classes at once.
#[test]
fn coverage_holds_with_its_confidence() {
    for (n, alpha, confidence) in [(5, 0.5, 0.7), (5, 0.4, 0.6), (4, 0.6, 0.9), (5, 0.75, 0.9)] {
        for by_class in [false, true] {
            let aim = SetAim { alpha, by_class, confidence: Some(confidence) };
            let [mut broken, mut left_out] = [0.0; 2];
            for (sample, prob) in samples(n) {
                let (rows, labels) = conformities(&sample);
                let sets = PredictionSets::fit(&rows, &labels, aim).unwrap();
                let (all, of_class) = coverage(&sets);
                let least = if by_class { of_class.into_iter().fold(1.0, f64::min) } else { all };
                broken += if least < 1.0 - alpha - ROUNDING { prob } else { 0.0 };
                left_out += if sets.thresholds().iter().any(|t| t.key.is_some()) { prob } else { 0.0 };
            }
            assert!(broken <= 1.0 - confidence + ROUNDING, "{n} {alpha} {by_class}: {broken}");
            assert!(by_class || left_out == 1.0 || left_out > 0.99, "{left_out}");
        }
    }
}

#[test]
fn alpha_is_a_decimal_and_a_tiny_one_an_answer() {
    let rows: Vec<i64> = (0..99).flat_map(|i| [100 + i, 100]).collect();
    let rows = ConformityScores::of_codes(&CodeVectors::of_logits(&rows, 2, U8).unwrap());
    let least = |alpha| {
        let aim = SetAim { alpha, by_class: false, confidence: None };
        let key = PredictionSets::fit(&rows, &[0; 99], aim).unwrap().thresholds()[0].key;
        key.map(|key| key as i32 - 65_536)
    };
    // .29 (99 + 1) is 29, and the 29th smallest margin is 28.
    assert_eq!((least(0.29), least(0.01), least(0.0099)), (Some(28), Some(0), None));
    assert_eq!(least(1e-300), None);
    let aim = |alpha| SetAim { alpha, by_class: false, confidence: None };
    assert_eq!(
        [0.5, 0.3, 0.1, 0.01, 0.007].map(|alpha| aim(alpha).points_needed(2)),
        [1, 3, 9, 99, 142].map(Some)
    );
    for alpha in [0.0, 1.0, f64::NAN] {
        assert!(matches!(PredictionSets::fit(&rows, &[0; 99], aim(alpha)), Err(SetError::Share { .. })));
        assert_eq!(aim(alpha).points_needed(2), None);
    }
    let aim = SetAim { confidence: Some(1.0), ..aim(0.1) };
    assert!(PredictionSets::fit(&rows, &[0; 99], aim).is_err());
}

#[test]
fn classes_without_rows_are_in_every_set() {
    let (rows, labels) = conformities(&[0, 0, 0, 2, 2, 2]);
    let aim = SetAim { alpha: 0.3, by_class: true, confidence: None };
    let sets = PredictionSets::fit(&rows, &labels, aim).unwrap();
    assert_eq!(sets.unseen().collect::<Vec<_>>(), [2]);
    for row in rows.rows() {
        assert!(sets.set(row).nth(2).unwrap());
    }
    let all_together = PredictionSets::fit(&rows, &labels, SetAim { by_class: false, ..aim }).unwrap();
    assert_eq!(all_together.unseen().count(), 0);
    assert!(PredictionSets::fit(&rows, &[0, 0, 0, 3, 1, 1], aim).is_err());
    assert!(PredictionSets::fit(&rows, &[0], aim).is_err());
}

/// A class that is in every set is so in the artifact, too.
#[test]
fn sets_are_read_from_an_artifact_as_they_were_fitted() {
    let (rows, labels) = conformities(&[0, 0, 0, 2, 2, 2]);
    for by_class in [false, true] {
        let aim = SetAim { alpha: 0.3, by_class, confidence: None };
        let sets = PredictionSets::fit(&rows, &labels, aim).unwrap();
        let device = SetsOnDevice { sets: &sets, encoding: U8, binary: false, never_empty: false };
        let bytes = device.alone("", &ArtifactOptions::default()).unwrap();
        let stored = StoredArtifact::from_bytes(&bytes).unwrap();
        assert_eq!(PredictionSets::stored(stored.artifact().prediction_sets().unwrap()), sets);
        assert_eq!(
            sets.thresholds().iter().filter(|threshold| threshold.key.is_none()).count(),
            by_class.into()
        );
    }
}

#[test]
fn the_conformities_of_a_binary_code_are_its_own_and_its_mirror_images() {
    let code = |key| QuantizedScore::from_key(U8, key).unwrap();
    let found = ConformityScores::of_binary_codes(&[0, 100, 127, 128, 255].map(code));
    let rows: Vec<&[u32]> = found.rows().collect();
    assert_eq!(rows, [[255, 0], [155, 100], [128, 127], [127, 128], [0, 255]]);
    assert_eq!((found.predicted(), found.score()), (&[0, 0, 0, 1, 1][..], ConformityScore::Softmax));
    // Also where codes are below 0.
    let signed = QuantizedScore::new(ScoreEncoding::I8 { scale: 1.0, zero_point: 0 }, -28).unwrap();
    assert_eq!(ConformityScores::of_binary_codes(&[signed]).rows().next(), Some(&[155, 100][..]));
}

/// Probabilities have no margins, and codes of logits no softmax.
#[test]
fn a_score_of_another_kind_is_refused() {
    let probs = Vectors::new(vec![0.5, 0.25, 0.25], 3, VectorKind::Probs).unwrap();
    assert_eq!(ConformityScores::of_vectors(&probs, ConformityScore::Margin), Err(DataError::MarginOfProbs));
    let codes = CodeVectors::of_logits(&[9, 5, 0], 3, U8).unwrap();
    assert_eq!(ConformityScores::of_code_probs(&codes), Err(DataError::SoftmaxOfCodes));
    let codes = CodeVectors::new(&[9, 5, 2], 3, SIXTEENTHS).unwrap();
    let found = ConformityScores::of_code_probs(&codes).unwrap();
    assert_eq!((found.rows().next(), found.predicted()), (Some(&[9, 5, 2][..]), &[0][..]));
}

#[test]
fn figures_of_other_rows_are_refused() {
    let (rows, labels) = conformities(&[0, 2, 4]);
    let aim = SetAim { alpha: 0.5, by_class: false, confidence: None };
    let sets = PredictionSets::fit(&rows, &labels, aim).unwrap();
    let probs = Vectors::new(vec![0.5, 0.25, 0.25], 3, VectorKind::Probs).unwrap();
    let probs = ConformityScores::of_vectors(&probs, ConformityScore::Softmax).unwrap();
    let other = SetError::Other { classes: 3, score: ConformityScore::Margin };
    assert_eq!(SetFigures::of(&sets, &probs, &[0], false, 0.05), Err(other));
}

proptest! {
    /// Every count, and the interval of the mean size has the exact ends of its parts.
    #[test]
    fn figures_count_what_the_sets_say(
        calibration in proptest::collection::vec(0usize..6, 5..60), test in proptest::collection::vec(0usize..6, 1..60),
        alpha in 1u32..90, by_class in any::<bool>(), never_empty in any::<bool>(),
    ) {
        let (rows, labels) = conformities(&calibration);
        let aim = SetAim { alpha: f64::from(alpha) / 100.0, by_class, confidence: None };
        let sets = PredictionSets::fit(&rows, &labels, aim).unwrap();
        let (rows, labels) = conformities(&test);
        let figures = SetFigures::of(&sets, &rows, &labels, never_empty, 0.05).unwrap();
        let (mut sizes, mut hits) = (vec![], vec![]);
        for ((row, label), &predicted) in rows.rows().zip(&labels).zip(rows.predicted()) {
            let mut set: Vec<bool> = sets.set(row).collect();
            set[usize::from(predicted)] |= never_empty;
            sizes.push(set.iter().filter(|is_in| **is_in).count());
            hits.push(set[*label as usize]);
        }
        let n = test.len() as u64;
        let count = |test: &dyn Fn(usize) -> bool| (0..hits.len()).filter(|&i| test(i)).count() as u64;
        prop_assert_eq!((figures.covered.count, figures.covered.n), (count(&|i| hits[i]), n));
        for class in 0..3 {
            let share = figures.by_class[class];
            let of_class = |i: usize| labels[i] == class as i64;
            prop_assert_eq!((share.count, share.n), (count(&|i| of_class(i) && hits[i]), count(&of_class)));
        }
        for size in 0..=3 {
            let share = figures.by_size[size];
            prop_assert_eq!((share.count, share.n), (count(&|i| sizes[i] == size && hits[i]), count(&|i| sizes[i] == size)));
        }
        prop_assert_eq!(figures.alone(), figures.by_size[1]);
        prop_assert_eq!(figures.empty(), figures.by_size[0].n);
        prop_assert!(!never_empty || figures.empty() == 0);
        // The shares of sets of more than 0, 1 and 2 classes, which fail together as often as one of them by itself may.
        let (mut lo, mut hi) = (0.0, 0.0);
        for size in 0..3 {
            let share = clopper_pearson(count(&|i| sizes[i] > size), n, 0.05 / 3.0);
            (lo, hi) = (lo + share.lo, hi + share.hi);
        }
        let interval = figures.mean_size_interval;
        prop_assert!((interval.lo - lo).abs() < 1e-12 && (interval.hi - hi).abs() < 1e-12, "{interval:?} {lo} {hi}");
        let mean = sizes.iter().sum::<usize>() as f64 / n as f64;
        prop_assert!((figures.mean_size - mean).abs() < 1e-12);
        prop_assert!(figures.mean_size_interval.lo <= mean && mean <= figures.mean_size_interval.hi);
    }
}
