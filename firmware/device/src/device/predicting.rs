//! What a device predicts of scores and features, from outside.

use calib_core::artifact::Reduction;
use calib_core::score::{LogitsError, ProbsError};
use calib_core::wire::{
    Beside, Question, Refusal, ReplyBody, Request, RequestBody, ScoreEcho, Scores, Values,
};
use calib_core::{Anybody, BinFlags, ClassifierId, Outcome, Score, ScoreError, Uncalibrated};
use embedded_hal_mock::eh1::digital::{Mock, State, Transaction};

use super::Device;
use crate::testing::{
    BINARY, ID, OTHER_ID, StopWatch, TERNARY, artifact_with_an_empty_bin, ask, binary_artifact, calibrated,
    deciding_artifact, device, multi_class_artifact, randomized_artifact, top_label_artifact, values,
};
use crate::{Alarm, AlarmRule, Classifier, Features, NoEntropy, Output, Scratch, Task};

#[test]
fn a_binary_device_calibrates_scores_and_features() {
    let slot = binary_artifact(Some(ID));
    let mut device = device(&BINARY, slot.as_bytes(), &[State::Low, State::High, State::High]);
    for (body, score, prob, alarm) in [
        (RequestBody::predict(Scores::Score(0.1)), 0.1, 0.05, false),
        (RequestBody::predict(Scores::Score(0.7)), 0.7, 0.9, true),
        (RequestBody::predict(Scores::Features(values(&[10.0, 0.0]))), 0.999_954_6, 0.9, true),
    ] {
        let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
        assert_eq!(prediction.class, 1);
        assert_eq!(prediction.score, ScoreEcho::F32(Score::new(score).unwrap()));
        assert_eq!(prediction.word, None);
        assert_eq!(calibrated(prediction.outcome), prob);
        assert_eq!(prediction.alarm, alarm);
    }
    device.alarm.free().done();
}

#[test]
fn a_score_in_an_empty_bin_raises_the_alarm_and_gets_the_action_for_the_uncalibrated() {
    for (decides, actions) in [(false, [None; 3]), (true, [Some(0), Some(1), Some(2)])] {
        let slot = artifact_with_an_empty_bin(decides);
        let mut device = device(&BINARY, slot.as_bytes(), &[State::Low, State::High, State::High]);
        for ((score, prob, alarm), action) in
            [(0.1, Some(0.05), false), (0.3, None, true), (0.7, Some(0.9), true)].into_iter().zip(actions)
        {
            let body = RequestBody::predict(Scores::Score(score));
            let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
            assert_eq!((prediction.alarm, prediction.action), (alarm, action), "{score}");
            match prob {
                Some(prob) => assert_eq!(calibrated(prediction.outcome), prob),
                None => assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::EmptyBin)),
            }
        }
        device.alarm.free().done();
    }
}

#[test]
fn a_multi_class_device_calibrates_logits_probs_and_features() {
    let slot = top_label_artifact(Some(ID));
    let mut device = device(&TERNARY, slot.as_bytes(), &[State::High, State::Low, State::High]);
    for (body, class, outcome) in [
        (RequestBody::predict(Scores::Logits(values(&[0.0, 9.0, 0.0]))), 1, Some(0.8)),
        (RequestBody::predict(Scores::Probs(values(&[0.5, 0.3, 0.2]))), 0, Some(0.3)),
        // The last class had too few points.
        (RequestBody::predict(Scores::Features(values(&[-5.0, -5.0]))), 2, None),
    ] {
        let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
        assert_eq!(prediction.class, class);
        match outcome {
            Some(prob) => assert_eq!(calibrated(prediction.outcome), prob),
            None => assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::Class)),
        }
    }
    device.alarm.free().done();
}

#[test]
fn a_calibrator_of_all_classes_gives_them_all_and_the_alarm_follows_the_predicted_one() {
    for (reduction, sum) in [(Reduction::ClassWise, None), (Reduction::Normalized, Some(()))] {
        let slot = multi_class_artifact(reduction);
        let share = |probs: [f32; 2]| {
            let sum = if sum.is_some() { probs[0] + probs[1] } else { 1.0 };
            [Some(probs[0] / sum), Some(probs[1] / sum), None]
        };
        // The last class is uncalibrated, so that predicting it raises the alarm, whatever the others say.
        let mut device = device(&TERNARY, slot.as_bytes(), &[State::High, State::Low, State::High]);
        for (body, class, probs) in [
            (RequestBody::predict(Scores::Probs(values(&[0.25, 0.5, 0.25]))), 1, [0.1, 0.8]),
            (RequestBody::predict(Scores::Probs(values(&[0.4, 0.3, 0.3]))), 0, [0.1, 0.2]),
            (RequestBody::predict(Scores::Features(values(&[-5.0, -5.0]))), 2, [0.1, 0.2]),
        ] {
            let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
            let Beside::Probs(found) = &prediction.beside else { panic!("not all classes") };
            let expected = share(probs);
            assert!(found.iter().map(|&prob| Some(prob).filter(|prob| !prob.is_nan())).eq(expected));
            assert_eq!((prediction.class, prediction.alarm), (class, class != 0));
            match expected[usize::from(class)] {
                Some(prob) => {
                    assert_eq!(calibrated(prediction.outcome), prob);
                    let flags = if sum.is_some() { BinFlags::SHARED_OUT } else { BinFlags::NONE };
                    assert_eq!(prediction.outcome.calibrated().unwrap().flags, flags);
                }
                None => assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::Class)),
            }
        }
        device.alarm.free().done();
    }
}

#[test]
fn a_calibrator_of_the_first_classes_gives_pairs_and_the_alarm_follows_the_first() {
    let slot = multi_class_artifact(Reduction::TopKConfidence { k: 3 });
    let mut device = device(&TERNARY, slot.as_bytes(), &[State::High, State::Low]);
    for (row, classes, probs, alarm) in [
        ([0.125, 0.625, 0.25], [1, 2, 0], [Some(0.6), Some(0.2), None], true),
        ([0.375, 0.25, 0.375], [0, 2, 1], [Some(0.1), Some(0.2), None], false),
    ] {
        let body = RequestBody::predict(Scores::Probs(values(&row)));
        let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
        let Beside::Ranked(others) = &prediction.beside else { panic!("no pairs") };
        assert_eq!((others.len(), prediction.alarm, prediction.word), (2, alarm, None));
        let ranked = core::iter::once(prediction.first()).chain(others.iter().copied());
        for (ranked, (class, prob)) in ranked.zip(classes.into_iter().zip(probs)) {
            assert_eq!(ranked.class, class);
            assert_eq!(ranked.score, ScoreEcho::F32(Score::new(row[usize::from(class)]).unwrap()));
            match prob {
                Some(prob) => assert_eq!(calibrated(ranked.outcome), prob),
                None => assert_eq!(ranked.outcome, Outcome::Uncalibrated(Uncalibrated::Class)),
            }
        }
    }
    device.alarm.free().done();
}

#[test]
fn the_calibrators_own_rule_replaces_the_built_in_one() {
    // Of 0.3, 0.8 and no probability: act, leave, ask. The built-in rule would raise at 0.8 only; asking
    // raises no alarm by itself, but having no probability does.
    let slot = deciding_artifact();
    let mut device = device(&TERNARY, slot.as_bytes(), &[State::High, State::Low, State::High]);
    for (row, action, alarm) in
        [([9.0, 0.0, 0.0], 2, true), ([0.0, 9.0, 0.0], 0, false), ([0.0, 0.0, 9.0], 1, true)]
    {
        let body = RequestBody::predict(Scores::Logits(values(&row)));
        let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
        assert_eq!((prediction.action, prediction.alarm), (Some(action), alarm), "{row:?}");
    }
    let ReplyBody::Status(status) = ask(&mut device, RequestBody::Status) else { panic!("refused") };
    assert_eq!(status.calibrator.unwrap().actions, 3);
    device.alarm.free().done();
}

#[test]
fn without_a_calibrator_there_is_never_a_number() {
    let mut damaged = binary_artifact(Some(ID));
    damaged.flip(300);
    let other = binary_artifact(Some(OTHER_ID));
    let erased = [0xFF; 64];
    for (slot, reason) in [
        (&erased[..], Uncalibrated::NoArtifact),
        (damaged.as_bytes(), Uncalibrated::BadArtifact),
        (other.as_bytes(), Uncalibrated::OtherClassifier),
    ] {
        let mut device = device(&BINARY, slot, &[State::High; 2]);
        for body in [
            RequestBody::predict(Scores::Score(0.0)),
            RequestBody::predict(Scores::Features(values(&[0.0, 0.0]))),
        ] {
            let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
            assert_eq!(prediction.outcome, Outcome::Uncalibrated(reason));
            assert_eq!(prediction.action, None);
            assert!(prediction.alarm);
        }
        device.alarm.free().done();
    }
}

#[test]
fn refuses_what_is_no_question_for_it_and_raises_the_alarm() {
    let slot = binary_artifact(Some(ID));
    let questions = [
        (RequestBody::predict(Scores::Score(f32::NAN)), Refusal::Score(ScoreError::NaN)),
        (RequestBody::predict(Scores::Score(1.5)), Refusal::Score(ScoreError::OutOfRange(1.5))),
        (
            RequestBody::predict(Scores::Features(values(&[1.0]))),
            Refusal::FeatureCount { expected: 2, got: 1 },
        ),
        (RequestBody::predict(Scores::Features(values(&[1.0, f32::INFINITY]))), Refusal::Feature(1)),
        (RequestBody::predict(Scores::Logits(values(&[1.0, 2.0]))), Refusal::Kind { classes: 2 }),
        (RequestBody::predict(Scores::Probs(values(&[0.5, 0.5]))), Refusal::Kind { classes: 2 }),
    ];
    let mut binary = device(&BINARY, slot.as_bytes(), &[State::High; 6]);
    for (body, refusal) in questions {
        assert_eq!(ask(&mut binary, body), ReplyBody::Refused(refusal));
    }
    binary.alarm.free().done();

    let questions = [
        (RequestBody::predict(Scores::Score(0.5)), Refusal::Kind { classes: 3 }),
        (RequestBody::predict(Scores::Logits(values(&[1.0; 4]))), Refusal::Kind { classes: 3 }),
        (
            RequestBody::predict(Scores::Logits(values(&[0.0, 1.0, f32::NAN]))),
            Refusal::Logits(LogitsError::NaN(2)),
        ),
        (RequestBody::predict(Scores::Probs(values(&[0.5, 0.5]))), Refusal::Kind { classes: 3 }),
        (RequestBody::predict(Scores::Probs(values(&[0.0; 3]))), Refusal::Probs(ProbsError::Sum(0.0))),
    ];
    let mut ternary = device(&TERNARY, &[], &[State::High; 5]);
    for (body, refusal) in questions {
        assert_eq!(ask(&mut ternary, body), ReplyBody::Refused(refusal));
    }
    ternary.alarm.free().done();
}

#[test]
fn a_randomized_calibrator_is_given_a_word_which_the_reply_tells() {
    let slot = randomized_artifact();
    let mut device = device(&BINARY, slot.as_bytes(), &[State::Low, State::High, State::Low, State::High]);
    // The dice show 0x1000_0000 more every time; the edge's word is 0x1800_0000.
    for (body, prob, word) in [
        (RequestBody::predict(Scores::Score(0.5)), 0.25, 0x1000_0000),
        (RequestBody::predict(Scores::Features(values(&[0.0, 0.0]))), 0.75, 0x2000_0000),
        (
            RequestBody::Predict(Question {
                group: None,
                word: Some(0x17FF_FFFF),
                scores: Scores::Score(0.5),
            }),
            0.25,
            0x17FF_FFFF,
        ),
        (
            RequestBody::Predict(Question {
                group: None,
                word: Some(0x1800_0000),
                scores: Scores::Score(0.5),
            }),
            0.75,
            0x1800_0000,
        ),
    ] {
        let ReplyBody::Answer(prediction) = ask(&mut device, body) else { panic!("refused") };
        assert_eq!((calibrated(prediction.outcome), prediction.word), (prob, Some(word)));
    }
    device.alarm.free().done();
}

#[test]
fn without_a_source_of_words_nothing_is_guaranteed() {
    let slot = randomized_artifact();
    let pin = Mock::new(&[State::High, State::High, State::Low].map(Transaction::set));
    let alarm = Alarm::new(pin, AlarmRule::AtLeast(0.5)).unwrap();
    let mut device =
        Device::new(&BINARY, slot.as_bytes(), Anybody, alarm, StopWatch { ticks: None }, NoEntropy);
    for score in [0.5, 0.25] {
        let request = Request { id: 1, body: RequestBody::predict(Scores::Score(score)) };
        let reply = device.answer(&request).unwrap();
        let ReplyBody::Answer(prediction) = reply.body else { panic!("refused") };
        let Outcome::Calibrated(calibrated) = prediction.outcome else { panic!("uncalibrated") };
        assert_eq!((prediction.word, calibrated.epsilon), (None, None));
    }
    device.alarm.free().done();
}

#[test]
fn a_classifier_that_contradicts_its_kind_is_refused() {
    struct Liar;
    impl Classifier for Liar {
        fn name(&self) -> &str {
            "liar"
        }
        fn id(&self) -> ClassifierId {
            ID
        }
        fn feature_count(&self) -> u16 {
            0
        }
        fn task(&self) -> Task {
            Task::TopLabel { classes: 3 }
        }
        fn classify<'s>(&self, _: Features<'_>, _: &'s mut Scratch) -> Result<Output<'s>, Refusal> {
            Ok(Output::Score(Score::ONE))
        }
    }
    let pin = Mock::new(&[Transaction::set(State::High), Transaction::set(State::High)]);
    let alarm = Alarm::new(pin, AlarmRule::AtLeast(0.5)).unwrap();
    let mut device = Device::new(Liar, &[], Anybody, alarm, StopWatch { ticks: None }, NoEntropy);
    let request = Request { id: 1, body: RequestBody::predict(Scores::Features(Values::new())) };
    let reply = device.answer(&request).unwrap();
    assert_eq!(reply.body, ReplyBody::Refused(Refusal::Kind { classes: 3 }));
    device.alarm.free().done();
}
