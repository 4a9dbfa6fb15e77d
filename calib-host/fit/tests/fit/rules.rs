//! Operating points and prediction sets: what was found on the host is what a device does.

use calib_core::artifact::{KeyId, Method, PREFIX_LEN, Reduction, sign};
use calib_core::decision::{Accuracy, AccuracyGuarantee, Verdict};
use calib_core::score::CodeVector;
use calib_core::{Calibrator, Margin, QuantizedScore, Score, ScoreEncoding};
use calib_fit::artifact::{DerivedArtifact, PointsOnDevice, RuleError, SetsOnDevice, identity};
use calib_fit::data::CodeVectors;
use calib_fit::decide::{Actions, Cost, CostedAction, Rule, with_decision};
use calib_fit::fit::parameter_of;
use calib_fit::operating::{Aim, Aims, GroupScores, KeyedScores, OperatingPoints, Sharing};
use calib_fit::sets::{ConformityScore, ConformityScores, PredictionSets, SetAim};
use calib_fit::{
    ArtifactOptions, BinaryData, BinaryMethod, StoredArtifact, Umd, VectorKind, Vectors, artifact_bytes,
    fit_binary,
};
use proptest::collection::vec;
use proptest::prelude::*;

const F32: ScoreEncoding = ScoreEncoding::F32;

fn aims(sensitivity: f64, specificity: Option<f64>) -> Aims {
    let aim = |level| Aim { level, confidence: 0.9 };
    Aims { sensitivity: Some(aim(sensitivity)), specificity: specificity.map(aim) }
}

fn group(name: Option<&str>, scores: KeyedScores) -> GroupScores {
    GroupScores { name: name.map(str::to_owned), scores }
}

fn on_device(points: &OperatingPoints, encoding: ScoreEncoding) -> PointsOnDevice<'_> {
    PointsOnDevice { points, encoding, predictive: &[], refer_raises: true }
}

fn stored(bytes: &[u8]) -> StoredArtifact {
    let stored = StoredArtifact::from_bytes(bytes).unwrap();
    let sections = PREFIX_LEN..stored.artifact().unsigned_len_bytes();
    assert_eq!(identity(&stored.as_bytes()[sections]), stored.artifact().identity());
    stored
}

/// 300 points whose positives score higher.
fn data(shift: f64) -> BinaryData {
    let scores = (0..300)
        .map(|i| (f64::from(i * 7 % 300) + if i % 3 == 0 { 3.0 * shift + 0.5 } else { 0.0 }) / 1024.0);
    BinaryData::new(scores.collect(), (0..300).map(|i| i % 3 == 0).collect()).unwrap()
}

fn calibrator() -> StoredArtifact {
    let fit = fit_binary(&data(60.0), &BinaryMethod::Umd(Umd::new(4)), 0.1).unwrap();
    let options = ArtifactOptions::default().intervals(true).counter(3);
    stored(&artifact_bytes(&fit, &options).unwrap())
}

fn point_of(data: &BinaryData, aims: Aims) -> OperatingPoints {
    let group = group(None, KeyedScores::of_scores(data).unwrap());
    OperatingPoints::find(&[group], aims, Sharing::Own).unwrap()
}

#[test]
fn an_artifact_says_what_was_found() {
    let found = point_of(&data(20.0), aims(0.9, Some(0.9)));
    let point = &found.points()[0];
    assert!(point.refers());
    let predictive = [AccuracyGuarantee {
        accuracy: Accuracy::PositivePredictiveValue,
        level: 0.25,
        confidence: 0.9,
        prevalence: Some(0.125),
    }];
    let device = PointsOnDevice { predictive: &predictive, ..on_device(&found, F32) };
    let alone = stored(&device.alone(300, "sensitivity=0.9", &ArtifactOptions::default()).unwrap());
    let artifact = alone.artifact();
    let header = artifact.header();
    assert_eq!((header.method, header.n, header.bins), (Method::OperatingPoint, 300, 0));
    assert_eq!(artifact.calibrator(), Calibrator::None);
    let points = artifact.operating_points().unwrap();
    let thresholds = points.thresholds(0).unwrap();
    assert_eq!((thresholds.lower.key, thresholds.upper.key), (point.lower, point.upper));
    let counts =
        (thresholds.lower.positives, thresholds.lower.positives_above, thresholds.upper.negatives_above);
    let expected = point.counts;
    assert_eq!(
        (u64::from(counts.0), u64::from(counts.1), u64::from(counts.2)),
        (expected.positives, expected.positives_from_lower, expected.negatives_from_upper)
    );
    let guaranteed: Vec<_> = points.guarantees().map(|p| (p.accuracy, p.level, p.prevalence)).collect();
    assert_eq!(
        guaranteed,
        [
            (Accuracy::Sensitivity, 0.9, None),
            (Accuracy::Specificity, 0.9, None),
            (Accuracy::PositivePredictiveValue, 0.25, Some(0.125)),
        ]
    );
}

#[test]
fn beside_a_calibrator_nothing_else_changes() {
    let parent = calibrator();
    let mut signed = parent.as_bytes().to_vec();
    signed.resize(signed.len() + 80, 0);
    sign(&mut signed, parent.as_bytes().len(), KeyId([9; 8]), |_| [7; 64]).unwrap();
    let signed = stored(&signed);
    let found = point_of(&data(60.0), aims(0.9, None));
    let child = DerivedArtifact { counter: 4, parameters: "sensitivity=0.9".into() };
    for parent in [&parent, &signed] {
        let with = stored(&on_device(&found, F32).beside(parent, &child).unwrap());
        let (artifact, before) = (with.artifact(), parent.artifact());
        assert_eq!((artifact.tables(), artifact.signature(), artifact.counter()), (before.tables(), None, 4));
        let parameters = artifact.header().provenance.parameters;
        assert!(parameters.starts_with(before.header().provenance.parameters), "{parameters}");
        let hex: String = before.identity().0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(parameter_of(parameters, "parent"), Some(&*hex));
        assert_eq!(parameter_of(parameters, "sensitivity"), Some("0.9"));
        assert_eq!(
            artifact.operating_points().unwrap().thresholds(0).unwrap().upper.key,
            found.points()[0].upper
        );
        // Another rule takes the place of the first.
        let again = point_of(&data(60.0), aims(0.8, None));
        let again = stored(&on_device(&again, F32).beside(&with, &child).unwrap());
        let levels: Vec<f32> =
            again.artifact().operating_points().unwrap().guarantees().map(|p| p.level).collect();
        assert_eq!(levels, [0.8]);
    }
    // A decision rule does not keep the signature either.
    let action = |name: &str| CostedAction {
        name: name.into(),
        positive: Cost::new(1.0).unwrap(),
        negative: Cost::new(0.0).unwrap(),
        start_up: Cost::default(),
        alarm: true,
        abstain: false,
        if_sure: None,
    };
    let actions = Actions::new(vec![action("act"), action("wait")], Some("act")).unwrap();
    let rule = Rule::stated(&[(1, 0.0, 0.5), (0, 0.5, 1.0)]).unwrap();
    let decided = stored(&with_decision(&signed, &actions, &rule, None).unwrap());
    assert_eq!((decided.artifact().signature(), decided.artifact().counter()), (None, 3));
}

#[test]
fn other_scores_and_other_names_are_refused() {
    let parent = calibrator();
    let child = DerivedArtifact::default();
    let found = point_of(&data(60.0), aims(0.9, None));
    let refused = on_device(&found, ScoreEncoding::Margin).beside(&parent, &child).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the artifact is for binary scores in f32, and the thresholds are for binary scores in f32 margins"
    );
    let named = |names: &[String]| {
        let scores = KeyedScores::of_scores(&data(60.0)).unwrap();
        let groups: Vec<GroupScores> = names.iter().map(|name| group(Some(name), scores.clone())).collect();
        OperatingPoints::find(&groups, aims(0.9, None), Sharing::Common).unwrap()
    };
    for name in ["", "a\tb", "a name that is far too long for it"] {
        let refused =
            on_device(&named(&[name.into()]), F32).alone(300, "", &ArtifactOptions::default()).unwrap_err();
        assert!(matches!(refused, RuleError::Names(_)), "{name:?}");
    }
    let many: Vec<String> = (0..256).map(|i| i.to_string()).collect();
    let refused = on_device(&named(&many), F32).alone(300, "", &ArtifactOptions::default()).unwrap_err();
    assert!(matches!(refused, RuleError::Names(_)));
    let many = named(&many[1..]);
    assert!(on_device(&many, F32).alone(300, "", &ArtifactOptions::default()).is_ok());
}

#[test]
fn each_group_has_its_code() {
    let scores = |shift| KeyedScores::of_scores(&data(shift)).unwrap();
    let groups = [group(Some("f"), scores(10.0)), group(Some("m"), scores(80.0))];
    let found = OperatingPoints::find(&groups, aims(0.9, None), Sharing::Own).unwrap();
    let alone = on_device(&found, F32).alone(600, "", &ArtifactOptions::default()).unwrap();
    let alone = stored(&alone);
    let artifact = alone.artifact();
    assert!(artifact.groups().unwrap().names().eq(["f", "m"]));
    let key = |group| artifact.operating_points().unwrap().thresholds(group).unwrap().lower.key;
    assert_eq!([key(0), key(1)], [found.points()[0].lower, found.points()[1].lower]);
    assert!(key(0) < key(1));
}

fn verdict(point: &calib_fit::operating::OperatingPoint, key: u32) -> Verdict {
    match key {
        key if key >= point.upper => Verdict::Positive,
        key if key >= point.lower => Verdict::Refer,
        _ => Verdict::Negative,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A device says of every score and margin what the host counts.
    #[test]
    fn verdicts_are_the_same_on_both_sides(
        rows in vec((-8i16..9, any::<bool>()), 60..200),
        probes in vec(-9.0f32..9.0, 40),
    ) {
        prop_assume!(rows.iter().filter(|row| row.1).count() > 22 && rows.iter().any(|row| !row.1));
        let labels: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let margins: Vec<f64> = rows.iter().map(|row| f64::from(row.0) / 2.0).collect();
        let probs = margins.iter().map(|margin| (margin + 4.0) / 8.0).collect();
        let codes: Vec<_> = rows.iter().map(|row| (code(row.0), row.1)).collect();
        let keyed = [
            KeyedScores::of_scores(&BinaryData::new(probs, labels.clone()).unwrap()).unwrap(),
            KeyedScores::of_scores(&BinaryData::of_margins(margins, labels).unwrap()).unwrap(),
            KeyedScores::of_codes(CODES, codes),
        ];
        for scores in keyed {
            let encoding = scores.encoding();
            let found = OperatingPoints::find(&[group(None, scores)], aims(0.9, None), Sharing::Own).unwrap();
            let alone = on_device(&found, encoding).alone(rows.len() as u64, "", &ArtifactOptions::default()).unwrap();
            let alone = stored(&alone);
            let points = *alone.artifact().operating_points().unwrap();
            let host = &found.points()[0];
            for &probe in &probes {
                if let Some(point) = points.point::<Score>(0) {
                    let score = Score::new((probe / 16.0 + 0.5).clamp(0.0, 1.0)).unwrap();
                    prop_assert_eq!(point.verdict(score), verdict(host, score.to_bits()));
                } else if let Some(point) = points.point::<Margin>(0) {
                    let margin = Margin::new(probe).unwrap();
                    prop_assert_eq!(point.verdict(margin), verdict(host, margin.key()));
                } else {
                    let score = code(probe as i16);
                    prop_assert_eq!(points.code_point(0).unwrap().verdict(score).unwrap(), verdict(host, score.key().into()));
                }
            }
        }
    }

    /// A device puts every class into the set that the host does, of logits, probabilities and codes.
    #[test]
    fn sets_are_the_same_on_both_sides(
        rows in vec(vec(-8i8..9, 4), 5..60),
        probes in vec(vec(-9i8..10, 4), 20),
        alpha in prop_oneof![Just(0.1), Just(0.29), Just(0.001), Just(0.5)],
        by_class: bool,
        confidence in prop_oneof![Just(None), Just(Some(0.8))],
        never_empty: bool,
    ) {
        let aim = SetAim { alpha, by_class, confidence };
        let labels: Vec<i64> = rows.iter().map(|row| (row[0].unsigned_abs() % 3).into()).collect();
        let logits = |rows: &[Vec<i8>]| {
            let all = rows.iter().flatten().map(|&z| f32::from(z) / 3.0).collect();
            Vectors::new(all, 4, VectorKind::Logits).unwrap()
        };
        let codes = |rows: &[Vec<i8>]| {
            let all: Vec<i64> = rows.iter().flatten().map(|&z| z.into()).collect();
            CodeVectors::of_logits(&all, 4, CODES).unwrap()
        };
        let of = |score| (
            F32,
            ConformityScores::of_vectors(&logits(&rows), score).unwrap(),
            ConformityScores::of_vectors(&logits(&probes), score).unwrap(),
        );
        let coded = (CODES, ConformityScores::of_codes(&codes(&rows)), ConformityScores::of_codes(&codes(&probes)));
        for (encoding, calibration, test) in [of(ConformityScore::Softmax), of(ConformityScore::Margin), coded] {
            let sets = PredictionSets::fit(&calibration, &labels, aim).unwrap();
            let device = SetsOnDevice { sets: &sets, encoding, binary: false, never_empty };
            let alone = stored(&device.alone("", &ArtifactOptions::default()).unwrap());
            let artifact = alone.artifact();
            prop_assert_eq!(artifact.header().reduction, Reduction::Joint);
            let on_device = artifact.prediction_sets().unwrap();
            for ((row, keys), predicted) in probes.iter().zip(test.rows()).zip(test.predicted()) {
                let set = if encoding == F32 {
                    let row: Vec<f32> = row.iter().map(|&z| f32::from(z) / 3.0).collect();
                    on_device.of_logits(calib_core::Logits::new(&row).unwrap()).unwrap()
                } else {
                    let keys: Vec<u16> = row.iter().map(|&z| code(z.into()).key()).collect();
                    on_device.of_keys(CodeVector::new(CODES, &keys).unwrap().keys()).unwrap()
                };
                for (class, is_in) in (0..).zip(sets.set(keys)) {
                    prop_assert_eq!(set.contains(class), is_in || never_empty && class == *predicted);
                }
            }
        }
    }

    /// Likewise of the score of class 1 of two.
    #[test]
    fn binary_sets_are_the_same_on_both_sides(
        rows in vec((-8i16..9, any::<bool>()), 5..60),
        probes in vec(-9i16..10, 20),
        by_class: bool,
    ) {
        let aim = SetAim { alpha: 0.2, by_class, confidence: None };
        let labels = || vec![true; probes.len()];
        let of = |margins: &[f64], labels: Vec<bool>, kind| match kind {
            F32 => BinaryData::new(margins.iter().map(|m| (m + 8.0) / 16.0).collect(), labels),
            _ => BinaryData::of_margins(margins.to_vec(), labels),
        };
        let margins: Vec<f64> = rows.iter().map(|row| f64::from(row.0) / 2.0).collect();
        let probed: Vec<f64> = probes.iter().map(|&probe| f64::from(probe) / 2.0).collect();
        for encoding in [F32, ScoreEncoding::Margin] {
            let data = of(&margins, rows.iter().map(|row| row.1).collect(), encoding).unwrap();
            let (calibration, found) = ConformityScores::of_scores(&data).unwrap();
            let labels_of: Vec<i64> = found.into_iter().map(i64::from).collect();
            let sets = PredictionSets::fit(&calibration, &labels_of, aim).unwrap();
            let (test, _) = ConformityScores::of_scores(&of(&probed, labels(), encoding).unwrap()).unwrap();
            let device = SetsOnDevice { sets: &sets, encoding, binary: true, never_empty: false };
            let alone = stored(&device.alone("", &ArtifactOptions::default()).unwrap());
            let artifact = alone.artifact();
            let on_device = artifact.prediction_sets().unwrap();
            for (&probe, keys) in probed.iter().zip(test.rows()) {
                let set = match encoding {
                    F32 => on_device.of_score(Score::new(((probe + 8.0) / 16.0) as f32).unwrap()),
                    _ => on_device.of_margin(Margin::new(probe as f32).unwrap()),
                };
                let expected: Vec<bool> = sets.set(keys).collect();
                prop_assert_eq!([0, 1].map(|class| set.unwrap().contains(class)).to_vec(), expected);
            }
        }
    }
}

const CODES: ScoreEncoding = ScoreEncoding::I8 { scale: 0.25, zero_point: 3 };

fn code(value: i16) -> QuantizedScore {
    QuantizedScore::new(CODES, value.into()).unwrap()
}
