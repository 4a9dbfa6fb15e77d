//! Assessing a data set in one call.

use calib_core::{Score, ScoreEncoding};
use calib_fit::apply::{RandomWords, calibrate};
use calib_fit::assess::{Binning, GuaranteeOnRows, Prediction, PredictionKind, RangeTest};
use calib_fit::binary::FixedWidth;
use calib_fit::data::{BinaryCollector, Overlap, RowGroups};
use calib_fit::dataset::{Rows, Scores};
use calib_fit::job::{
    AssessError, AssessOptions, Assessed, AssessedFigures, Calibrated, Finding, Predictions, assess,
    assess_calibrated, assess_predictions,
};
use calib_fit::stats::Clusters;
use calib_fit::{
    ArtifactOptions, BinaryData, BinaryMethod, Dataset, Isotonic, ScoreKind, StoredArtifact, Umd, VectorKind,
    Vectors, artifact_bytes, fit_binary,
};
use proptest::prelude::*;

fn rows(n: u32, step: u32) -> (Vec<f32>, Vec<i64>) {
    let score = |i: u32| (i * step % n) as f32 / n as f32;
    (0..n).map(|i| (score(i), i64::from(i * 7 % 10 < 10 * (i * step % n) / n))).unzip()
}

fn artifact_of(data: &BinaryData, method: &BinaryMethod) -> StoredArtifact {
    let fit = fit_binary(data, method, 0.1).unwrap();
    let options = ArtifactOptions::default().rows(Some(data.rows_digest().unwrap()));
    StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap()
}

fn umd() -> StoredArtifact {
    let (scores, labels) = rows(600, 7);
    let data = BinaryData::from_device_classes(&scores, &labels).unwrap();
    artifact_of(&data, &BinaryMethod::Umd(Umd::new(4)))
}

fn binary(scores: &[f32], labels: &[i64]) -> Dataset {
    Dataset::new(Scores::Binary(ScoreKind::Probability, scores.into()), Rows::new(labels)).unwrap()
}

/// As text, in which an undefined figure equals itself.
fn text(found: &Result<Assessed, AssessError>) -> String {
    format!("{found:#?}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whether rows are taken apart or only their distinct scores are looked at, and in whatever order they are.
    #[test]
    fn points_say_what_their_rows_say(
        rows in proptest::collection::vec((0u16..=40, any::<bool>()), 30..200), bins in 1usize..4,
    ) {
        let (scores, labels): (Vec<f32>, Vec<i64>) =
            rows.iter().map(|&(k, label)| (f32::from(k) / 40.0, i64::from(label))).unzip();
        let rows_in_the_gap = rows.iter().filter(|row| (10..20).contains(&row.0)).count() as u64;
        // Of scores that the others do not have: else some would be the fit's rows. And with a gap, in which a bin has no points.
        let (of_fit, labels_of_fit) = self::rows(499, 3);
        let of_fit = of_fit.into_iter().zip(labels_of_fit).filter(|(score, _)| !(0.25..0.5).contains(score));
        let (of_fit, labels_of_fit): (Vec<f32>, Vec<i64>) = of_fit.unzip();
        let of_fit = BinaryData::from_device_classes(&of_fit, &labels_of_fit).unwrap();
        let fixed_width = BinaryMethod::FixedWidth(FixedWidth { bins: 4 });
        for method in [BinaryMethod::Isotonic(Isotonic::default()), BinaryMethod::Umd(Umd::new(bins)), fixed_width] {
            let stored = artifact_of(&of_fit, &method);
            let artifact = stored.artifact();
            let options = AssessOptions::default().binning(Binning::EqualWidth(5));
            let data = binary(&scores, &labels);
            let found = assess(&data, Some(&stored), &options);
            let Some(AssessedFigures::BeforeAfter(by_points)) = found.clone().unwrap().figures else { panic!() };
            let calibrated = Calibrated::new(&data, &artifact, 0).unwrap();
            let by_rows = assess_calibrated(calibrated.predictions(&artifact).unwrap(), &artifact, (None, Vec::new()), &options);
            prop_assert_eq!(format!("{by_points:#?}"), format!("{by_rows:#?}"));
            let without_a_bin = rows_in_the_gap * u64::from(matches!(method, BinaryMethod::FixedWidth(_)));
            prop_assert_eq!(by_points.uncalibrated, without_a_bin);

            let of_any_float = rows.iter().map(|&(k, _)| f64::from(k) / 40.0).collect();
            let of_any_float = BinaryData::new(of_any_float, rows.iter().map(|row| row.1).collect()).unwrap();
            prop_assert_eq!(text(&assess(&of_any_float.into(), Some(&stored), &options)), text(&found));

            let backwards = |values: &[f32]| values.iter().rev().copied().collect::<Vec<_>>();
            let labels_backwards: Vec<i64> = labels.iter().rev().copied().collect();
            let turned = binary(&backwards(&scores), &labels_backwards);
            prop_assert_eq!(text(&assess(&turned, Some(&stored), &options)), text(&found));

            // On a disk, and counted.
            let mut collector = BinaryCollector::new(0);
            let checked: Vec<bool> = labels.iter().map(|&label| label == 1).collect();
            collector.extend_device_scores(&scores, &checked).unwrap();
            let spilled = collector.finish().unwrap().unwrap().into();
            prop_assert_eq!(text(&assess(&spilled, Some(&stored), &options)), text(&found));
            let counts = scores.iter().zip(&labels).map(|(&score, &label)| (score.into(), 3, 3 * label as u64));
            let counted = BinaryData::from_counts(counts.collect()).unwrap().into();
            let thrice = |values: &[f32]| values.iter().flat_map(|&value| [value; 3]).collect::<Vec<_>>();
            let labels_thrice: Vec<i64> = labels.iter().flat_map(|&label| [label; 3]).collect();
            let repeated = assess(&binary(&thrice(&scores), &labels_thrice), Some(&stored), &options).unwrap();
            let counted = assess(&counted, Some(&stored), &options).unwrap();
            prop_assert_eq!(format!("{:#?}", counted.figures), format!("{:#?}", repeated.figures));
        }
    }

    /// Codes are found again in the scores that they stand for.
    #[test]
    fn codes_are_those_of_their_scores(codes in proptest::collection::vec(-128i64..=127, 30..80)) {
        let encoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
        let labels: Vec<i64> = codes.iter().map(|code| i64::from(code * 31 % 17 < 4)).collect();
        let scores: Vec<f32> = codes.iter().map(|&code| (code + 128) as f32 / 256.0).collect();
        let data = BinaryData::from_device_classes(&scores, &labels).unwrap();
        let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1).unwrap();
        let of = |fit| StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default()).unwrap()).unwrap();
        let (floats, quantized) = (of(fit.clone()), of(fit.quantized(encoding).unwrap()));
        let of_codes = Dataset::new(Scores::Codes(ScoreKind::Probability, encoding, &codes), Rows::new(&labels)).unwrap();
        let after = |data: &Dataset, stored: &StoredArtifact| {
            let found = Calibrated::new(data, &stored.artifact(), 0).unwrap().rows.unwrap();
            found.after.iter().map(|row| row.prob).collect::<Vec<_>>()
        };
        prop_assert_eq!(after(&of_codes, &quantized), after(&binary(&scores, &labels), &floats));
    }
}

/// Random words are drawn row by row, so that rows have the probabilities that `calib apply` writes. The same rows in any order have
/// others: otherwise the test would not see a lost order.
#[test]
fn a_randomized_artifact_draws_its_words_in_the_order_of_the_rows() {
    let (scores, labels): (Vec<f32>, Vec<i64>) =
        (0..400u32).map(|i| ((i * 7 % 5) as f32 / 5.0, i64::from(i * 3 % 7 < i * 7 % 5))).unzip();
    let data = BinaryData::from_device_classes(&scores, &labels).unwrap();
    let stored = artifact_of(&data, &BinaryMethod::UmdRandomized(Umd::new(4), 1));
    let artifact = stored.artifact();
    let probs = |in_any_order: bool| {
        let rows = Rows::new(&labels).in_any_order(in_any_order);
        let data = Dataset::new(Scores::Binary(ScoreKind::Probability, (&scores).into()), rows).unwrap();
        let found = Calibrated::new(&data, &artifact, 7).unwrap().rows.unwrap();
        found.after.iter().map(|row| row.prob).collect::<Vec<_>>()
    };
    let scores: Vec<Score> = scores.iter().map(|&score| Score::new(score).unwrap()).collect();
    let applied = calibrate(&artifact, scores[..].into(), RandomWords::new(&artifact, 7)).unwrap();
    let applied: Vec<f32> = applied.iter().map(|row| row.outcome.calibrated().unwrap().prob).collect();
    let as_f32 = |probs: Vec<f64>| probs.into_iter().map(|prob| prob as f32).collect::<Vec<_>>();
    assert_eq!(as_f32(probs(false)), applied);
    assert_ne!(as_f32(probs(true)), applied);
}

#[test]
fn the_rows_of_the_fit_are_refused_in_any_order() {
    let stored = umd();
    let (mut scores, mut labels) = rows(600, 7);
    scores.reverse();
    labels.reverse();
    let data = binary(&scores, &labels);
    assert_eq!(
        assess(&data, Some(&stored), &AssessOptions::default()),
        Err(AssessError::SameRows(Overlap::exact()))
    );
    let options = AssessOptions::default().same_rows(true);
    let found = assess(&data, Some(&stored), &options).unwrap();
    assert_eq!(found.findings[0], Finding::SameRows(Overlap::exact()));
    assert!(found.warnings().all(|finding| !matches!(finding, Finding::SameRows(_))));
}

/// Rows of which most are those of the fit are refused as well, and of fewer it is said first, with nothing about the guarantee.
#[test]
fn some_rows_of_the_fit_are_noticed() {
    let stored = umd();
    let (scores, labels) = rows(600, 7);
    let (others, of_others) = rows(1777, 11);
    let of = |own: usize, new: usize| {
        let scores = [&scores[..own], &others[1..=new]].concat();
        assess(
            &binary(&scores, &[&labels[..own], &of_others[1..=new]].concat()),
            Some(&stored),
            &AssessOptions::default(),
        )
    };
    for (own, new) in [(599, 0), (400, 0), (400, 200), (60, 0)] {
        let Err(AssessError::SameRows(overlap)) = of(own, new) else { panic!("{own} and {new}") };
        let share = own as f64 / (own + new) as f64;
        assert!(!overlap.is_exact() && (overlap.share() - share).abs() < 0.2, "{own} and {new}: {overlap:?}");
    }
    for (own, new, is_noticed) in [(300, 600, true), (0, 600, false)] {
        let found = of(own, new).unwrap();
        let Some(AssessedFigures::BeforeAfter(figures)) = &found.figures else {
            panic!("a binary calibrator")
        };
        let verdict = &figures.verdict;
        assert_eq!(verdict.overlap.is_some(), is_noticed);
        assert_eq!(verdict.title() == "Some of the test rows are calibration rows", is_noticed);
        assert_eq!(verdict.guarantee == GuaranteeOnRows::NotTested, is_noticed);
        let is_tested = |range: &RangeTest| range.guarantee != GuaranteeOnRows::NotTested;
        assert!(
            !verdict.ranges.is_empty() && verdict.ranges.iter().all(|range| is_tested(range) != is_noticed)
        );
        if let Some(overlap) = verdict.overlap {
            assert!((overlap.share() - 1.0 / 3.0).abs() < 0.12, "{overlap:?}");
            assert_eq!(found.findings[0], Finding::SameRows(overlap));
            assert_eq!(verdict.sentences[0], overlap.warning());
            assert!(verdict.is_bad());
        }
    }
}

#[test]
fn clusters_and_groups_are_those_of_the_rows_that_are_left() {
    let (scores, labels) = rows(303, 11);
    let clusters = Clusters::new((0..303).map(|row| row / 3));
    let groups = RowGroups::new((0..303).map(|row| if row % 2 == 0 { "even" } else { "odd" }));
    let rows = Rows::new(&labels).clusters(clusters).groups(groups);
    let data = Dataset::new(Scores::Binary(ScoreKind::Probability, (&scores).into()), rows).unwrap();
    let found = assess(&data, Some(&umd()), &AssessOptions::default()).unwrap();
    assert_eq!(found.clusters, Some((303, 101)));
    let Some(AssessedFigures::BeforeAfter(found)) = found.figures else { panic!() };
    let names: Vec<String> = found.groups.unwrap().groups.iter().map(|group| group.group.clone()).collect();
    assert_eq!(names, ["even", "odd"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (scores, labels) = rows(100, 3);
    let data = binary(&scores, &labels);
    let default = AssessOptions::default();
    for (options, told) in [
        (default.alpha(1.0), "alpha is a fraction"),
        (default.norm(0.5), "a norm is a number from 1 on"),
        (default.binning(Binning::EqualMass(0)), "n_bins is at least 1"),
        (default.top_k(Some(0)), "top_k is at least 1"),
        (default.top_k(Some(2)), "top_k needs a matrix"),
        (default.binning(Binning::ByBin), "needs an artifact"),
    ] {
        let refused = assess(&data, None, &options).unwrap_err();
        assert!(
            matches!(refused, AssessError::Options(_)) && refused.to_string().contains(told),
            "{refused}"
        );
    }
    let vectors = Vectors::new(vec![0.5, 0.25, 0.25], 3, VectorKind::Probs).unwrap();
    let refused =
        assess(&Dataset::of_vectors(vectors, vec![0]).unwrap(), Some(&umd()), &default).unwrap_err();
    assert!(
        matches!(&refused, AssessError::Mismatch(cause) if cause.got == "vectors of 3 classes"),
        "{refused}"
    );
    let margins =
        Dataset::new(Scores::Binary(ScoreKind::Margin, (&scores).into()), Rows::new(&labels)).unwrap();
    assert!(matches!(assess(&margins, Some(&umd()), &default), Err(AssessError::Mismatch(_))));
    assert!(matches!(assess(&margins, None, &default), Err(AssessError::Options(_))));
}

#[test]
fn a_doubt_has_the_names_of_whoever_asks() {
    // Each row four times.
    let (scores, labels) = rows(250, 7);
    let four =
        |row: usize| Prediction { class: 1, prob: scores[row / 4].into(), bin: 0, hit: labels[row / 4] == 1 };
    let rows = (0..1000).map(four).collect();
    let kind = PredictionKind::Binary;
    let rows = Predictions { rows, kind, uncalibrated: 0, clusters: None, groups: None };
    let found = assess_predictions(&rows, &AssessOptions::default()).unwrap();
    let warning = found.warnings().next().expect("rows are repeated");
    assert!(warning.to_string().ends_with("Then name the patient with clusters."), "{warning}");
    let told = warning.with_names(|name| format!("<{name}>"));
    assert!(told.ends_with("Then name the patient with <clusters>."), "{told}");
}
