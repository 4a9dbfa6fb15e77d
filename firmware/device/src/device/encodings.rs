//! What a device makes of codes and margins, from outside: one is never taken for the other, nor for a probability.

use calib_core::artifact::Reduction;
use calib_core::score::{CodeError, LogitsError};
use calib_core::wire::{Question, Refusal, ReplyBody, RequestBody, ScoreEcho, Scores};
use calib_core::{Margin, Outcome, ScoreEncoding, ScoreError, Uncalibrated};
use embedded_hal_mock::eh1::digital::State;

use crate::Classifier;
use crate::testing::{
    BINARY, ID, LOGITS, LeadOfCodes, Quantized, SOFTMAX, TERNARY, ask, binary_artifact, calibrated,
    code_artifact, device, margin_artifact, multi_class_artifact, randomized_margin_artifact,
    top_label_artifact, top_label_code_artifact, top_label_code_margin_artifact, top_label_margin_artifact,
    values,
};

#[test]
fn codes_and_floats_are_never_taken_for_each_other() {
    let slot = code_artifact();
    let encoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
    let mut device =
        device(&BINARY, slot.as_bytes(), &[State::Low, State::High, State::High, State::High, State::High]);
    for (key, prob) in [(127, 0.25), (128, 0.75)] {
        let ReplyBody::Answer(prediction) = ask(&mut device, RequestBody::predict(Scores::Code(key))) else {
            panic!("refused");
        };
        assert_eq!((prediction.class, prediction.score), (1, ScoreEcho::Code(key)));
        assert_eq!((calibrated(prediction.outcome), prediction.word), (prob, None));
    }
    let refused = |body| match body {
        ReplyBody::Refused(refusal) => refusal,
        other => panic!("not refused: {other:?}"),
    };
    let code = ask(&mut device, RequestBody::predict(Scores::Code(256)));
    assert_eq!(refused(code), Refusal::Code(CodeError::OutOfRange(256)));
    for body in [
        RequestBody::predict(Scores::Score(0.5)),
        RequestBody::predict(Scores::Features(values(&[0.0, 0.0]))),
    ] {
        assert_eq!(refused(ask(&mut device, body)), Refusal::Encoding(encoding));
    }
    let measure = RequestBody::Measure { features: values(&[0.0, 0.0]), repeat: 1 };
    assert_eq!(refused(ask(&mut device, measure)), Refusal::Encoding(encoding));
    device.alarm.free().done();
}

#[test]
fn codes_of_several_classes_are_calibrated_by_the_first_of_the_largest() {
    let slot = top_label_code_artifact();
    let mut device = device(&Quantized, slot.as_bytes(), &[State::Low, State::High, State::Low, State::High]);
    let of_features = |features: &[f32]| RequestBody::predict(Scores::Features(values(features)));
    let of_keys = |keys: &[u16]| RequestBody::predict(Scores::Codes(keys.iter().copied().collect()));
    for (body, class, key, prob) in [
        (of_keys(&[191, 65, 0]), 0, 191, Some(0.25)),
        (of_keys(&[192, 192, 64]), 0, 192, Some(0.75)),
        (of_features(&[-28.0, -28.0, -128.0]), 0, 100, Some(0.25)),
        (of_features(&[-100.0, -50.0, 5.0]), 2, 133, None),
    ] {
        let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
        assert_eq!((prediction.class, prediction.score), (class, ScoreEcho::Code(key)));
        match prob {
            Some(prob) => assert_eq!(calibrated(prediction.outcome), prob),
            None => assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::Class)),
        }
    }
    device.alarm.free().done();
}

#[test]
fn codes_of_several_classes_are_never_taken_for_something_else() {
    let refused = |body| match body {
        ReplyBody::Refused(refusal) => refusal,
        other => panic!("not refused: {other:?}"),
    };
    let codes = |keys: &[u16]| RequestBody::predict(Scores::Codes(keys.iter().copied().collect()));
    let over_codes = top_label_code_artifact();
    let mut held = device(&TERNARY, over_codes.as_bytes(), &[State::High; 5]);
    for (body, refusal) in [
        (codes(&[1, 2]), Refusal::Kind { classes: 3 }),
        (codes(&[1, 2, 256]), Refusal::Code(CodeError::OutOfRange(128))),
        (RequestBody::predict(Scores::Code(7)), Refusal::Kind { classes: 3 }),
        (RequestBody::predict(Scores::Probs(values(&[0.5, 0.25, 0.25]))), Refusal::Encoding(SOFTMAX)),
        (RequestBody::predict(Scores::Features(values(&[1.0, 0.0]))), Refusal::Encoding(SOFTMAX)),
        // This one leaves the alarm alone.
        (RequestBody::Measure { features: values(&[0.0, 0.0]), repeat: 1 }, Refusal::Encoding(SOFTMAX)),
    ] {
        assert_eq!(refused(ask(&mut held, body)), refusal);
    }
    held.alarm.free().done();

    let binary = code_artifact();
    let mut binary = device(&BINARY, binary.as_bytes(), &[State::High]);
    assert_eq!(refused(ask(&mut binary, codes(&[1, 2]))), Refusal::Kind { classes: 2 });
    binary.alarm.free().done();

    let floats = Refusal::Encoding(ScoreEncoding::F32);
    for slot in [top_label_artifact(None), multi_class_artifact(Reduction::ClassWise)] {
        let mut ternary = device(&TERNARY, slot.as_bytes(), &[State::High]);
        assert_eq!(refused(ask(&mut ternary, codes(&[1, 2, 3]))), floats);
        ternary.alarm.free().done();
    }

    let mut none = device(&TERNARY, &[], &[State::High]);
    let ReplyBody::Answer(prediction) = ask(&mut none, codes(&[1, 40_000, 40_000])) else {
        panic!("refused")
    };
    assert_eq!((prediction.class, prediction.score), (1, ScoreEcho::Code(40_000)));
    assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::NoArtifact));
    none.alarm.free().done();
}

#[test]
fn a_code_for_a_calibrator_of_floats_or_for_none() {
    let slot = binary_artifact(None);
    let mut floats = device(&BINARY, slot.as_bytes(), &[State::High]);
    let refusal = Refusal::Encoding(ScoreEncoding::F32);
    assert_eq!(ask(&mut floats, RequestBody::predict(Scores::Code(7))), ReplyBody::Refused(refusal));
    floats.alarm.free().done();

    let mut none = device(&BINARY, &[], &[State::High]);
    let ReplyBody::Answer(prediction) = ask(&mut none, RequestBody::predict(Scores::Code(7))) else {
        panic!("refused")
    };
    assert_eq!(prediction.score, ScoreEcho::Code(7));
    assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::NoArtifact));
    none.alarm.free().done();

    let mut ternary = device(&TERNARY, &[], &[State::High]);
    let refusal = Refusal::Kind { classes: 3 };
    assert_eq!(ask(&mut ternary, RequestBody::predict(Scores::Code(7))), ReplyBody::Refused(refusal));
    ternary.alarm.free().done();
}

#[test]
fn margins_are_calibrated_and_the_calibrators_rule_decides() {
    let slot = margin_artifact();
    let mut device = device(&BINARY, slot.as_bytes(), &[State::Low, State::Low, State::High, State::Low]);
    let (below, edge) = ((-2.5f32).next_down(), -2.5);
    for (body, margin, prob, action, word) in [
        (RequestBody::predict(Scores::Margin(below)), below, 0.05, 0, None),
        (RequestBody::predict(Scores::Margin(edge)), edge, 0.4, 0, None),
        (
            RequestBody::Predict(Question { group: None, word: Some(9), scores: Scores::Margin(f32::MAX) }),
            f32::MAX,
            0.9,
            1,
            Some(9),
        ),
        (RequestBody::predict(Scores::Margin(-0.0)), 0.0, 0.4, 0, None),
    ] {
        let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
        assert_eq!(
            (prediction.class, prediction.score),
            (1, ScoreEcho::Margin(Margin::new(margin).unwrap()))
        );
        assert_eq!((calibrated(prediction.outcome), prediction.word), (prob, word));
        assert_eq!((prediction.action, prediction.alarm), (Some(action), action == 1));
    }
    let ReplyBody::Status(status) = ask(&mut device, RequestBody::Status) else { panic!("refused") };
    assert_eq!(status.calibrator.unwrap().encoding, ScoreEncoding::Margin);
    device.alarm.free().done();
}

#[test]
fn a_randomized_calibrator_of_margins_is_given_a_word() {
    let slot = randomized_margin_artifact();
    let mut device = device(&BINARY, slot.as_bytes(), &[State::Low, State::High, State::High]);
    for (body, prob, word) in [
        (RequestBody::predict(Scores::Margin(-1.0)), 0.25, 0x1000_0000),
        (RequestBody::predict(Scores::Margin(-1.0)), 0.75, 0x2000_0000),
        (
            RequestBody::Predict(Question {
                group: None,
                word: Some(0x1800_0000),
                scores: Scores::Margin(-1.0),
            }),
            0.75,
            0x1800_0000,
        ),
    ] {
        let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
        assert_eq!((calibrated(prediction.outcome), prediction.word), (prob, Some(word)));
        assert_eq!(prediction.outcome.calibrated().unwrap().epsilon, Some(0.125));
    }
    device.alarm.free().done();
}

#[test]
fn logits_are_calibrated_by_their_top2_margin_if_the_calibrator_takes_it() {
    let slot = top_label_margin_artifact();
    let states = [State::Low, State::High, State::Low, State::High, State::Low];
    let mut device = device(&TERNARY, slot.as_bytes(), &states);
    for (body, class, top2_margin, prob) in [
        (RequestBody::predict(Scores::Logits(values(&[3.0, 1.5, -9.0]))), 0, 1.5, Some(0.25)),
        (RequestBody::predict(Scores::Logits(values(&[3.0, 1.0, 0.5]))), 0, 2.0, Some(0.75)),
        // Ties go to the lowest class, with a top-two margin of 0.
        (RequestBody::predict(Scores::Logits(values(&[5.0, 5.0, 5.0]))), 0, 0.0, Some(0.25)),
        (RequestBody::predict(Scores::Logits(values(&[-3.0, -2.0, f32::MAX]))), 2, f32::MAX, None),
        (RequestBody::predict(Scores::Features(values(&[0.5, 4.5]))), 1, 4.0, Some(0.125)),
    ] {
        let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
        let score = ScoreEcho::Margin(Margin::new(top2_margin).unwrap());
        assert_eq!((prediction.class, prediction.score), (class, score));
        match prob {
            Some(prob) => assert_eq!(calibrated(prediction.outcome), prob),
            None => assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::Class)),
        }
    }
    let features = values(&[0.5, 4.5]);
    let measured = ask(&mut device, RequestBody::Measure { features, repeat: 1 });
    assert!(matches!(measured, ReplyBody::Measurement(_)));
    device.alarm.free().done();
}

#[test]
fn codes_of_logits_are_calibrated_by_their_top2_margin_if_the_calibrator_takes_it() {
    let slot = top_label_code_margin_artifact();
    let mut device =
        device(&LeadOfCodes, slot.as_bytes(), &[State::Low, State::High, State::Low, State::High]);
    let of_keys = |keys: &[u16]| RequestBody::predict(Scores::Codes(keys.iter().copied().collect()));
    for (body, class, top2_margin, prob) in [
        (of_keys(&[100, 93, 0]), 0, 7, Some(0.25)),
        (of_keys(&[100, 92, 0]), 0, 8, Some(0.75)),
        (of_keys(&[0, 255, 0]), 1, 255, Some(0.125)),
        (RequestBody::predict(Scores::Features(values(&[-100.0, -50.0, 5.0]))), 2, 55, None),
    ] {
        let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
        assert_eq!((prediction.class, prediction.score), (class, ScoreEcho::Top2Margin(top2_margin)));
        match prob {
            Some(prob) => assert_eq!(calibrated(prediction.outcome), prob),
            None => assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::Class)),
        }
    }
    device.alarm.free().done();
}

/// A device with this calibrator refuses all of this, and raises the alarm.
fn refuses<C: Classifier>(classifier: &'static C, slot: &[u8], questions: &[(RequestBody, Refusal)]) {
    let mut device = device(classifier, slot, &std::vec![State::High; questions.len()]);
    for (body, refusal) in questions {
        assert_eq!(ask(&mut device, body.clone()), ReplyBody::Refused(*refusal), "{body:?}");
    }
    device.alarm.free().done();
}

#[test]
fn margins_and_probabilities_are_never_taken_for_each_other() {
    let margins = Refusal::Encoding(ScoreEncoding::Margin);
    let floats = Refusal::Encoding(ScoreEncoding::F32);
    let codes = |keys: &[u16]| RequestBody::predict(Scores::Codes(keys.iter().copied().collect()));
    let with_word = |margin| {
        RequestBody::Predict(Question { group: None, word: Some(1), scores: Scores::Margin(margin) })
    };
    refuses(
        &BINARY,
        margin_artifact().as_bytes(),
        &[
            (RequestBody::predict(Scores::Score(0.5)), margins),
            (
                RequestBody::Predict(Question { group: None, word: Some(1), scores: Scores::Score(0.5) }),
                margins,
            ),
            (RequestBody::predict(Scores::Features(values(&[0.0, 0.0]))), margins),
            (RequestBody::predict(Scores::Code(7)), margins),
            (RequestBody::predict(Scores::Margin(f32::NAN)), Refusal::Score(ScoreError::NaN)),
            (RequestBody::predict(Scores::Margin(f32::INFINITY)), Refusal::Score(ScoreError::Infinite)),
            (with_word(f32::NEG_INFINITY), Refusal::Score(ScoreError::Infinite)),
            (RequestBody::predict(Scores::Logits(values(&[1.0, 2.0]))), Refusal::Kind { classes: 2 }),
        ],
    );
    let two = &[(RequestBody::predict(Scores::Margin(0.5)), floats), (with_word(0.5), floats)];
    refuses(&BINARY, binary_artifact(Some(ID)).as_bytes(), two);
    let over_codes = Refusal::Encoding(ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 });
    refuses(&BINARY, code_artifact().as_bytes(), &[(RequestBody::predict(Scores::Margin(0.5)), over_codes)]);
    refuses(
        &TERNARY,
        top_label_margin_artifact().as_bytes(),
        &[
            (RequestBody::predict(Scores::Probs(values(&[0.5, 0.25, 0.25]))), margins),
            (codes(&[1, 2, 3]), margins),
            (RequestBody::predict(Scores::Margin(0.5)), Refusal::Kind { classes: 3 }),
            (
                RequestBody::predict(Scores::Logits(values(&[0.0, 1.0, f32::NAN]))),
                Refusal::Logits(LogitsError::NaN(2)),
            ),
        ],
    );
    let logits = Refusal::Encoding(LOGITS);
    refuses(
        &TERNARY,
        top_label_code_margin_artifact().as_bytes(),
        &[
            (RequestBody::predict(Scores::Logits(values(&[0.5, 0.25, 0.25]))), logits),
            (RequestBody::predict(Scores::Probs(values(&[0.5, 0.25, 0.25]))), logits),
            (codes(&[1, 2, 256]), Refusal::Code(CodeError::OutOfRange(128))),
            (codes(&[1, 2]), Refusal::Kind { classes: 3 }),
        ],
    );
}

#[test]
fn a_code_and_its_top2_margin_are_never_taken_for_each_other() {
    let features = || RequestBody::predict(Scores::Features(values(&[1.0, 2.0, 3.0])));
    let (by_code, by_top2_margin) = (top_label_code_artifact(), top_label_code_margin_artifact());
    refuses(&LeadOfCodes, by_code.as_bytes(), &[(features(), Refusal::ClassScore)]);
    refuses(&Quantized, by_top2_margin.as_bytes(), &[(features(), Refusal::ClassScore)]);
    let floats = Refusal::Encoding(ScoreEncoding::F32);
    refuses(&LeadOfCodes, top_label_artifact(None).as_bytes(), &[(features(), floats)]);
}

#[test]
fn a_margin_without_a_calibrator_is_told_and_never_a_number() {
    let mut none = device(&BINARY, &[], &[State::High]);
    let ReplyBody::Answer(prediction) = ask(&mut none, RequestBody::predict(Scores::Margin(-2.5))) else {
        panic!("refused")
    };
    assert_eq!(prediction.score, ScoreEcho::Margin(Margin::new(-2.5).unwrap()));
    assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::NoArtifact));
    none.alarm.free().done();
}
