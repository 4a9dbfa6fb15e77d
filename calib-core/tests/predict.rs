//! What an artifact says of every kind of output, and who decides about the alarm.

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm,
};
use calib_core::decision::{
    Accuracy, AccuracyGuarantee, Action, ClassSet, Conformity, DecisionParts, OperatingParts, Quantile,
    Quantiles, SetParts, Threshold, Thresholds, Verdict,
};
use calib_core::predict::{
    Mismatch, OtherClasses, Output, OutputShape, Predictor, Query, Ranked, ScoreEcho, Task,
};
use calib_core::score::CodeVector;
use calib_core::{
    Artifact, ArtifactBuffer, Identity, Logits, Margin, Outcome, Probs, QuantizedScore, Score, ScoreEncoding,
    StepTable, TopLabelCode, TopLabelCodeMargin, Uncalibrated,
};

#[allow(dead_code, unreachable_pub, reason = "the examples of the documentation need others of them")]
mod sample {
    include!("doc/sample.rs");
}

const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
const KEYS: [u16; 3] = [60, 200, 40];
const LOGITS: [f32; 3] = [0.0, 2.5, -1.0];
const PROBS: [f32; 3] = [0.1, 0.7, 0.2];

fn margin(value: f32) -> Margin {
    Margin::new(value).unwrap()
}

/// An output of every kind, of three classes or of class 1 of two, with what there is to say of it without an artifact.
fn outputs() -> [(&'static str, Output<'static>, (u16, ScoreEcho)); 9] {
    let logits = Logits::new(&LOGITS).unwrap();
    let probs = Probs::new(&PROBS).unwrap();
    let codes = CodeVector::new(I8, &KEYS).unwrap();
    let score = QuantizedScore::from_key(I8, 200).unwrap();
    let softmax = (1, ScoreEcho::F32(logits.top_label().score));
    let code = (1, ScoreEcho::Code(200));
    let top = TopLabelCode::new(I8, KEYS.map(|key| (i32::from(key) - 128) as i8)).unwrap();
    let top2_margin = TopLabelCodeMargin::from_keys(I8, &KEYS).unwrap();
    let seven = Score::new(0.7).unwrap();
    [
        ("score", Output::Score(seven), (1, ScoreEcho::F32(seven))),
        ("margin", Output::Margin(margin(2.5)), (1, ScoreEcho::Margin(margin(2.5)))),
        ("code", Output::Code(score), code),
        ("logits", Output::Logits(logits), softmax),
        ("probs", Output::Probs(probs), (1, ScoreEcho::F32(seven))),
        ("codes", Output::Codes(codes), code),
        ("quantized logits", Output::QuantizedLogits { codes, logits }, code),
        ("top-label code", Output::TopLabelCode(top), code),
        (
            "top-label top-two margin",
            Output::TopLabelCodeMargin(top2_margin),
            (1, ScoreEcho::Top2Margin(140)),
        ),
    ]
}

fn prob(outcome: Outcome) -> Option<f32> {
    outcome.calibrated().map(|calibrated| calibrated.prob)
}

/// A probability of 0.8 by this form of the score, or why there is none.
type Expected = Result<ScoreEcho, Mismatch>;

fn check(name: &str, artifact: &ArtifactBuffer<128>, expected: impl Fn(&str) -> Expected) {
    let artifact = Artifact::parse(artifact.as_bytes()).unwrap();
    for (kind, output, _) in outputs() {
        let got = artifact.predict(&output.into());
        let got = got.map(|prediction| {
            (prediction.first.class, prediction.first.score, prob(prediction.first.outcome))
        });
        assert_eq!(got, expected(kind).map(|score| (1, score, Some(0.8))), "{name}, {kind}");
        // The predictor is the same, made once.
        let predictor = Predictor::new(artifact);
        let first = predictor.calibrate(&output.into());
        let again = first.map(|first| (first.class, first.score, prob(first.outcome)));
        assert_eq!(again, got, "{name}, {kind}");
        let all = predictor.predict_classes(&output.into(), &mut []).map(|(prediction, _)| prediction);
        assert_eq!(all, artifact.predict(&output.into()), "{name}, {kind}");
    }
}

#[test]
fn every_calibrator_takes_its_own_kind_of_output_and_no_other() {
    let (two, three) = (Mismatch::Kind { classes: 2 }, Mismatch::Kind { classes: 3 });
    let is_binary = |kind: &str| ["score", "margin", "code"].contains(&kind);
    let encoded = |encoding| Err(Mismatch::Encoding(encoding));
    let seven = ScoreEcho::F32(Score::new(0.7).unwrap());
    let softmax = ScoreEcho::F32(Logits::new(&LOGITS).unwrap().top_label().score);
    check("binary", &sample::binary(), |kind| match kind {
        "score" => Ok(seven),
        "margin" | "code" => encoded(ScoreEncoding::F32),
        _ => Err(two),
    });
    check("margins", &sample::margins(), |kind| match kind {
        "margin" => Ok(ScoreEcho::Margin(margin(2.5))),
        "score" | "code" => encoded(ScoreEncoding::Margin),
        _ => Err(two),
    });
    check("codes", &sample::codes(), |kind| match kind {
        "code" => Ok(ScoreEcho::Code(200)),
        "score" | "margin" => encoded(I8),
        _ => Err(two),
    });
    check("top-label", &sample::top_label(), |kind| match kind {
        _ if is_binary(kind) => Err(three),
        "logits" | "quantized logits" => Ok(softmax),
        "probs" => Ok(seven),
        _ => encoded(ScoreEncoding::F32),
    });
    check("top-label margin", &sample::top_label_margin(), |kind| match kind {
        _ if is_binary(kind) => Err(three),
        "logits" | "quantized logits" => Ok(ScoreEcho::Margin(margin(2.5))),
        _ => encoded(ScoreEncoding::Margin),
    });
}

#[test]
fn an_output_has_a_class_and_a_score_without_an_artifact() {
    for (kind, output, first) in outputs() {
        assert_eq!(output.first(), first, "{kind}");
        let task =
            output.classes().map_or(Task::Binary, |classes| Task::TopLabel { classes: classes as u16 });
        assert!(task.gives(&output) && !Task::TopLabel { classes: 4 }.gives(&output), "{kind}");
    }
}

#[test]
fn calibrators_of_several_probabilities_give_them_all_and_not_one() {
    let probs = Output::Probs(Probs::new(&PROBS).unwrap());
    let top_k = sample::top_k();
    let top_k = Predictor::new(Artifact::parse(top_k.as_bytes()).unwrap());
    assert_eq!(top_k.shape(), OutputShape::TopK);
    let (prediction, others) = top_k.predict_classes(&probs.into(), &mut []).unwrap();
    let OtherClasses::Ranked(others) = others else { panic!("{others:?}") };
    let found = core::iter::once(&prediction.first).chain(&others);
    let found: Vec<_> = found.map(|&Ranked { class, outcome, .. }| (class, prob(outcome).unwrap())).collect();
    assert_eq!(found, [(1, 0.8), (2, 0.1)]);

    let class_wise = sample::class_wise();
    let class_wise = Predictor::new(Artifact::parse(class_wise.as_bytes()).unwrap());
    assert_eq!(class_wise.shape(), OutputShape::Classes);
    let mut space = [0.0; 3];
    let (prediction, others) = class_wise.predict_classes(&probs.into(), &mut space).unwrap();
    let OtherClasses::Probs(others) = others else { panic!("{others:?}") };
    assert_eq!((prediction.first.class, prob(prediction.first.outcome)), (1, Some(0.8)));
    assert!(others.iter().eq([Some(0.1), Some(0.8), Some(0.1)]));

    let refused = Mismatch::Kind { classes: 3 };
    for predictor in [top_k, class_wise] {
        assert_eq!(predictor.predict(&probs.into()), Err(refused));
        let codes = Output::Codes(CodeVector::new(I8, &KEYS).unwrap());
        assert_eq!(predictor.predict_classes(&codes.into(), &mut [0.0; 3]).unwrap_err(), refused);
    }
    assert_eq!(class_wise.predict_classes(&probs.into(), &mut [0.0; 2]).unwrap_err(), refused);
}

#[test]
fn a_group_has_its_own_table_and_must_be_named() {
    let artifact = sample::by_group();
    let artifact = Artifact::parse(artifact.as_bytes()).unwrap();
    let query = |group| Query { group, ..Output::Score(Score::ONE).into() };
    for (code, expected) in [(0, 0.8), (1, 0.75)] {
        let prediction = artifact.predict(&query(Some(code))).unwrap();
        assert_eq!((prediction.group, prob(prediction.first.outcome)), (Some(code), Some(expected)));
    }
    for group in [None, Some(2), Some(255)] {
        assert_eq!(artifact.predict(&query(group)), Err(Mismatch::Group(2)));
    }
    // Without groups the code is not looked at.
    let binary = sample::binary();
    let prediction = Artifact::parse(binary.as_bytes()).unwrap().predict(&query(Some(9))).unwrap();
    assert_eq!((prediction.group, prob(prediction.first.outcome)), (None, Some(0.8)));
}

#[test]
fn thresholds_and_sets_alone_say_no_probability() {
    let points = sample::with_operating_point();
    let points = Artifact::parse(points.as_bytes()).unwrap();
    for (score, verdict, alarm) in
        [(0.2, Verdict::Negative, false), (0.25, Verdict::Refer, true), (0.625, Verdict::Positive, true)]
    {
        let prediction = points.predict(&Output::Score(Score::new(score).unwrap()).into()).unwrap();
        assert_eq!(prediction.first.outcome, Outcome::Uncalibrated(Uncalibrated::NoTable));
        assert_eq!(
            (prediction.verdict, prediction.set, prediction.alarm),
            (Some(verdict), None, Some(alarm))
        );
    }
    let refused = points.predict(&Output::Margin(margin(0.0)).into());
    assert_eq!(refused, Err(Mismatch::Encoding(ScoreEncoding::F32)));

    let sets = sample::with_prediction_sets();
    let sets = Artifact::parse(sets.as_bytes()).unwrap();
    for (row, classes) in [([0.0, 2.5, -1.0], &[1][..]), ([2.0, 2.5, -1.0], &[0, 1])] {
        let prediction = sets.predict(&Output::Logits(Logits::new(&row).unwrap()).into()).unwrap();
        let set: ClassSet = classes.iter().copied().collect();
        assert_eq!((prediction.first.class, prediction.set), (1, Some(set)));
        assert_eq!((prediction.verdict, prediction.alarm), (None, Some(classes.len() != 1)));
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Decision,
    Thresholds,
    Sets,
}

/// An artifact of a score that is under 0.5 with a probability of 0.1 and above with one of 0.8; the rule raises the alarm by the
/// probability from 0.5 on, the thresholds from the score 0.625 on, and the sets unless exactly one class conforms.
fn with(rule: Option<Rule>) -> ArtifactBuffer<256> {
    let header = Header {
        method: Method::Umd,
        reduction: Reduction::Binary,
        encoding: ScoreEncoding::F32,
        classes: 2,
        bins: 2,
        n: 1000,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: Provenance {
            data_sha256: [0; 32],
            tool_version: "0.1.0",
            parameters: "",
            classifier: None,
        },
    };
    let form = TableForm::Steps(StepTable::new(&[0.5], &[0.1, 0.8]).unwrap());
    let mut bytes = [0; 1024];
    let mut writer = ArtifactWriter::new(&mut bytes);
    writer.header(&header).unwrap();
    writer.tables(&[Some(Table { form, epsilon: None })]).unwrap();
    if rule == Some(Rule::Decision) {
        let action = |name, alarm| Action { name, alarm, abstain: false, if_sure: None };
        let actions = &[action("treat", true), action("wait", false)];
        let parts =
            DecisionParts { thresholds: &[0.5], intervals: &[1, 0], uncalibrated: 0, unsure: None, actions };
        writer.decision(&parts).unwrap();
    }
    if rule == Some(Rule::Thresholds) {
        let at = Threshold {
            key: 0.625f32.to_bits(),
            positives: 59,
            positives_above: 59,
            negatives: 59,
            negatives_above: 0,
        };
        let accuracy = Accuracy::Sensitivity;
        let guarantees = &[AccuracyGuarantee { accuracy, level: 0.95, confidence: 0.95, prevalence: None }];
        let groups = &[Thresholds { lower: at, upper: at }];
        writer.operating_points(&OperatingParts { groups, refer_raises: true, guarantees }).unwrap();
    }
    if rule == Some(Rule::Sets) {
        let quantiles = Quantiles::All(Quantile { rows: 59, key: 0.75f32.to_bits() });
        let conformity = Conformity::Score;
        let parts = SetParts { conformity, never_empty: false, alpha: 0.1, confidence: None, quantiles };
        writer.prediction_sets(&parts).unwrap();
    }
    let mut buffer = ArtifactBuffer::new();
    buffer.extend_from_slice(writer.finish(|_| Identity(*b"examples")).unwrap()).unwrap();
    buffer
}

#[test]
fn one_of_them_decides_about_the_alarm_or_none() {
    use Rule::{Decision, Sets, Thresholds};
    // At 0.5625 the rule raises the alarm, thresholds do not, and no class conforms; at 0.875 exactly one does.
    for (score, alarms) in
        [(0.25, [false, false, false]), (0.5625, [true, false, true]), (0.875, [true, true, false])]
    {
        for (rule, alarm) in [None, Some(Decision), Some(Thresholds), Some(Sets)]
            .into_iter()
            .zip(core::iter::once(None).chain(alarms.map(Some)))
        {
            let artifact = with(rule);
            let artifact = Artifact::parse(artifact.as_bytes()).unwrap();
            let prediction = artifact.predict(&Output::Score(Score::new(score).unwrap()).into()).unwrap();
            assert_eq!(prediction.alarm, alarm, "{score}: {rule:?}");
            assert_eq!(prediction.action, (rule == Some(Decision)).then_some(u8::from(score < 0.5)));
            assert_eq!(prediction.verdict.is_some(), rule == Some(Thresholds));
            assert_eq!(prediction.set.is_some(), rule == Some(Sets));
            assert_eq!(prob(prediction.first.outcome), Some(if score < 0.5 { 0.1 } else { 0.8 }));
        }
    }
}
