//! Jobs are functions of data and options, whoever calls them.

use calib_core::{Score, ScoreEncoding};
use calib_fit::apply::{RandomWords, calibrate};
use calib_fit::data::RowGroups;
use calib_fit::dataset::{Dataset, Rows, Scores};
use calib_fit::job::{
    AdjustOptions, FitOptions, JobError, MethodChoice, MonitorOptions, SetOptions, Target, ThresholdOptions,
    adjust, fit, sets, threshold,
};
use calib_fit::operating::{OperatingError, Sharing};
use calib_fit::sets::ConformityScore;
use calib_fit::stats::Clusters;
use calib_fit::{
    ArtifactOptions, BinaryData, BinaryMethod, Isotonic, ScoreKind, StoredArtifact, Umd, VectorKind,
    WeightedData, artifact_bytes, fit_binary,
};

const N: usize = 400;

/// Scores on a grid of 256, of which those of class 1 are higher.
fn codes() -> (Vec<i64>, Vec<i64>) {
    let labels: Vec<i64> = (0..N as i64).map(|i| i % 2).collect();
    let code = |(i, label): (usize, &i64)| (i as i64 * 37) % 180 + 75 * label;
    (labels.iter().enumerate().map(code).collect(), labels)
}

const ENCODING: ScoreEncoding = ScoreEncoding::U8 { scale: 0.00390625, zero_point: 0 };

fn of_codes() -> Dataset {
    let (codes, labels) = codes();
    Dataset::new(Scores::Codes(ScoreKind::Probability, ENCODING, &codes), Rows::new(&labels)).unwrap()
}

fn of_floats(rows: impl Fn(Rows<'_>) -> Rows<'_>) -> Dataset {
    let (codes, labels) = codes();
    let scores: Vec<f32> = codes.iter().map(|&code| code as f32 / 256.0).collect();
    Dataset::new(Scores::Binary(ScoreKind::Probability, scores.into()), rows(Rows::new(&labels))).unwrap()
}

fn calibrator() -> StoredArtifact {
    let scores = (0..N).map(|i| i as f64 / N as f64).collect();
    let data = BinaryData::new(scores, (0..N).map(|i| i % 40 < i / 10).collect()).unwrap();
    let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1).unwrap();
    let rows = Some(data.rows_digest().unwrap());
    StoredArtifact::from_bytes(&artifact_bytes(&fit, &ArtifactOptions::default().rows(rows)).unwrap())
        .unwrap()
}

fn aimed() -> ThresholdOptions {
    let mut options = ThresholdOptions::default();
    options.sensitivity = Some(0.9);
    options
}

fn alone() -> Target<'static> {
    Target::Alone(Box::default())
}

#[test]
fn scores_of_f64_are_rounded_to_those_of_a_device() {
    let scores: Vec<f64> = (0..700).map(|i| f64::from(i) / 700.0).collect();
    let labels: Vec<bool> = (0..700).map(|i| i % 35 < i / 20).collect();
    let weighted = |of: fn(f64) -> f64| {
        let row = |(&score, &label)| (of(score), 0.5, label);
        WeightedData::new(&scores.iter().zip(&labels).map(row).collect::<Vec<_>>()).unwrap().into()
    };
    let [plain, rounded] = [weighted(|score| score), weighted(|score| (score as f32).into())];
    let singles = Scores::Binary(ScoreKind::Probability, scores.iter().map(|&score| score as f32).collect());
    let classes: Vec<i64> = labels.iter().map(|&label| label.into()).collect();

    let by_default = |data: &Dataset| fit(data, &FitOptions::default()).unwrap().artifact;
    let doubles = BinaryData::new(scores, labels).unwrap().into();
    let artifact = by_default(&doubles);
    assert!(artifact.artifact().score_intervals().is_some() && artifact.artifact().band().is_some());
    let of_singles = Dataset::new(singles, Rows::new(&classes)).unwrap();
    assert_eq!(artifact.as_bytes(), by_default(&of_singles).as_bytes());
    // Monitors have bins of these scores.
    let mut monitored = FitOptions::default();
    monitored.monitors = Some(MonitorOptions { bins: Some(10), ..MonitorOptions::default() });
    let [of_doubles, of_singles] =
        [&doubles, &of_singles].map(|data| fit(data, &monitored).unwrap().artifact);
    assert_eq!(of_doubles.as_bytes(), of_singles.as_bytes());

    let mut isotonic = FitOptions::default();
    isotonic.method = BinaryMethod::Isotonic(Isotonic::default()).into();
    let [plain, rounded] = [plain, rounded].map(|data| fit(&data, &isotonic).unwrap().artifact);
    assert_eq!(plain.as_bytes(), rounded.as_bytes());
}

#[test]
fn a_threshold_of_codes_is_that_of_the_scores_they_stand_for() {
    let floats = threshold(&of_floats(|rows| rows), &aimed(), &alone()).unwrap();
    let codes = threshold(&of_codes(), &aimed(), &alone()).unwrap();
    let (of_float, of_code) = (floats.points.points()[0].upper, codes.points.points()[0].upper);
    assert_eq!(f32::from_bits(of_float), of_code as f32 / 256.0);
    assert_eq!(floats.points.points()[0].counts, codes.points.points()[0].counts);
    assert_eq!(codes.artifact.artifact().header().encoding, ENCODING);
}

#[test]
fn one_row_of_each_cluster_counts() {
    let data = of_floats(|rows| rows.clusters(Clusters::new((0..N).map(|row| row / 4))));
    let found = threshold(&data, &aimed(), &alone()).unwrap();
    let artifact = found.artifact.artifact();
    assert_eq!(artifact.header().n, N as u64 / 4);
    assert!(artifact.header().provenance.parameters.ends_with("cluster-rows=400 cluster-seed=0"));
    let counts = found.points.points()[0].counts;
    assert_eq!(counts.positives + counts.negatives, N as u64 / 4);
}

#[test]
fn groups_have_thresholds_of_their_own_or_one_in_common() {
    let data = of_floats(|rows| rows.groups(RowGroups::new((0..N).map(|row| ["b", "a"][row % 3 / 2]))));
    let mut options = aimed();
    let own = threshold(&data, &options, &alone()).unwrap();
    let names: Vec<_> = own.summary.groups.iter().map(|group| group.group.as_deref()).collect();
    assert_eq!(names, [Some("a"), Some("b")]);
    options.sharing = Sharing::Common;
    let common = threshold(&data, &options, &alone()).unwrap();
    assert_eq!(common.points.points()[0].upper, common.points.points()[1].upper);
    assert_eq!(common.summary.sentences.is_empty(), own.summary.sentences.is_empty());
}

#[test]
fn too_few_points_and_no_aim_are_told_apart() {
    let mut options = ThresholdOptions::default();
    let no_aim = threshold(&of_codes(), &options, &alone()).unwrap_err();
    assert_eq!(no_aim, JobError::Operating(OperatingError::NoAim));
    options.specificity = Some(0.9999);
    let too_few = threshold(&of_codes(), &options, &alone()).unwrap_err();
    assert!(matches!(too_few, JobError::Operating(OperatingError::TooFew { .. })), "{too_few}");
}

#[test]
fn sets_go_beside_a_calibrator_or_alone() {
    let parent = calibrator();
    let data = of_floats(|rows| rows);
    let beside = sets(&data, &SetOptions::default(), &Target::Beside(&parent, 3)).unwrap();
    let own = sets(&data, &SetOptions::default(), &alone()).unwrap();
    assert_eq!(beside.sets, own.sets);
    assert_eq!(beside.artifact.artifact().counter(), 3);
    assert_eq!(beside.summary.written.parent, Some(parent.artifact().identity().to_string()));
    assert_eq!((own.summary.n, own.summary.written.parent), (N as u64, None));
}

#[test]
fn a_class_score_is_of_vectors() {
    let mut options = SetOptions::default();
    options.class_score = Some(ConformityScore::Margin);
    let refused = sets(&of_codes(), &options, &alone()).unwrap_err();
    assert!(refused.to_string().starts_with("class_score is for logits and probs"), "{refused}");
    let logits = [3, 0, 0, 2, 1, 0];
    let scores = Scores::CodeVectors(VectorKind::Logits, ENCODING, &logits, 3);
    let data = Dataset::new(scores, Rows::new(&[0, 1])).unwrap();
    assert_eq!(sets(&data, &options, &alone()).unwrap().sets.score(), ConformityScore::Margin);
    options.class_score = Some(ConformityScore::Softmax);
    let refused = sets(&data, &options, &alone()).unwrap_err();
    assert!(refused.to_string().ends_with("use class_score margin"), "{refused}");
}

#[test]
fn a_prevalence_is_stated_or_estimated() {
    let before = calibrator();
    let mut options = AdjustOptions::default();
    options.counter = 1;
    let neither = adjust(&before, &options, None).unwrap_err();
    assert_eq!(neither.to_string(), "give either prevalence or estimate_from");
    options.prevalence = Some(0.05);
    let stated = adjust(&before, &options, None).unwrap();
    assert_eq!((stated.summary.prevalence, stated.summary.estimate), (0.05, None));
    assert!(adjust(&before, &options, Some(&[(0.5, 0)])).is_err());
    options.prevalence = None;
    let rows = [(0.01, 0), (0.02, 1), (0.9, 2)].repeat(40);
    let estimated = adjust(&before, &options, Some(&rows)).unwrap();
    let estimate = estimated.summary.estimate.unwrap();
    assert_eq!((estimated.summary.prevalence, estimate.interval), (estimate.value, None));
    // Once adjusted, the artifact says what its probabilities are for.
    options.prevalence = Some(0.3);
    assert_eq!(adjust(&stated.artifact, &options, None).unwrap().summary.calibration_prevalence, 0.05);
}

/// With ranges of the score an estimate has an interval, which holds the prevalence; and rows that look all negative have "0 to something".
#[test]
fn an_estimated_prevalence_has_an_interval() {
    let data = Dataset::from(
        BinaryData::new(
            (0..N).map(|i| i as f64 / N as f64).collect(),
            (0..N).map(|i| i % 40 < i * 40 / N).collect(),
        )
        .unwrap()
        .on_device(),
    );
    let mut of_bins = FitOptions::default();
    of_bins.method = MethodChoice::from(BinaryMethod::Umd(Umd::new(5)));
    for how in [FitOptions::default(), of_bins] {
        let before = fit(&data, &how).unwrap().artifact;
        let (ranges, [negatives, positives]) = before.class_ranges().unwrap();
        assert!(ranges >= 5 && positives.mean > negatives.mean);
        assert!(negatives.n + positives.n == N as u64 && positives.n * 2 < N as u64 + 40);
        let artifact = before.artifact();
        let rows_of = |scores: &mut dyn Iterator<Item = f64>| -> Vec<(f64, u16)> {
            let scores: Vec<Score> = scores.map(|score| Score::new(score as f32).unwrap()).collect();
            let rows = calibrate(&artifact, scores[..].into(), RandomWords::new(&artifact, 0)).unwrap();
            rows.iter()
                .map(|row| row.outcome.calibrated().unwrap())
                .map(|found| (found.prob.into(), found.bin))
                .collect()
        };
        let mut options = AdjustOptions::default();
        options.counter = 1;
        // Of every 40 rows 4 like the positives, and 36 like the negatives.
        let like = |i: usize| {
            let share = (i / 40) as f64 / 25.0;
            if i.is_multiple_of(10) { share.sqrt() } else { 1.0 - (1.0 - share).sqrt() }
        };
        let rows = rows_of(&mut (0..1000).map(like));
        let made = adjust(&before, &options, Some(&rows)).unwrap();
        let estimate = made.summary.estimate.unwrap();
        let interval = estimate.interval.unwrap();
        assert!(interval.lo < 0.1 && 0.1 < interval.hi && interval.hi - interval.lo < 0.3, "{estimate:?}");
        assert!(interval.lo <= estimate.value && estimate.value <= interval.hi);
        let made = adjust(&before, &options, Some(&rows_of(&mut std::iter::repeat_n(0.001, 100)))).unwrap();
        let estimate = made.summary.estimate.unwrap();
        assert_eq!((estimate.value, estimate.interval.unwrap().lo), (0.0, 0.0));
        assert_eq!(made.summary.prevalence, 0.005);
    }
}
