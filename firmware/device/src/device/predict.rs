//! What a device predicts.

use calib_core::decision::{ClassSet, Verdict};
use calib_core::score::{CodeVector, CodeVectorError};
use calib_core::wire::{Answer, Prediction, Refusal, Reply, ReplyBody, RequestBody, ScoresRef};
use calib_core::{Logits, Margin, Outcome, Probs, QuantizedScore, Score, ScoreEncoding};
use embedded_hal::digital::OutputPin;

use super::Device;
use super::rest::Rest;
use crate::{
    Alarm, Calibration, Classifier, Entropy, Features, Gives, Kind, Meter, Output, Scratch, Slot, Watch, log,
};

/// What there is to say of a request's scores.
struct Found<'p> {
    first: Calibration,
    rest: Rest<'p>,
    /// What the calibrator's thresholds say, and whether that raises the alarm.
    verdict: Option<(Verdict, bool)>,
    set: Option<ClassSet>,
}

impl<C: Classifier, P: OutputPin, M: Meter, E: Entropy, W: Watch> Device<'_, C, P, M, E, W> {
    /// The reply to a request for a prediction; sets the alarm.
    pub(super) fn predict(&mut self, id: u32, request: &RequestBody) -> Result<Reply, P::Error> {
        let word = match request.word() {
            // The host's word is no secret of the device: it is told back even if nothing needs it. Whether it is random is the
            // host's to know: the reply states the epsilon that holds if it is.
            Some(word) => Some(word),
            None if self.slot.is_randomized() => self.entropy.word(),
            None => None,
        };
        let Self { classifier, slot, alarm, watch, scratch, space, .. } = self;
        let found = slot.select(request.group()).and_then(|group| {
            let found = find(classifier, slot, request, word, group, (scratch, space))?;
            Ok((found, group))
        });
        match found {
            Ok((Found { first, rest, verdict, set }, group)) => {
                let Calibration { class, score, outcome } = first;
                let (alarm, action) = decide(slot, alarm, &outcome, verdict, set)?;
                if let Some(artifact) = slot.artifact().filter(|_| !request.is_trial()) {
                    watch.count(artifact, group, &first);
                }
                let top = Prediction { class, score, outcome, alarm, word, action };
                log::prediction(&top);
                let body = match request {
                    RequestBody::Ask(_) => {
                        let verdict = verdict.map(|(verdict, _)| verdict);
                        ReplyBody::Answer(Answer { prediction: top, group, verdict, set })
                    }
                    _ => rest.reply(top),
                };
                Ok(Reply { id, body })
            }
            Err(refusal) => {
                alarm.raise()?;
                log::refused(refusal);
                Ok(Reply { id, body: ReplyBody::Refused(refusal) })
            }
        }
    }
}

/// Sets the alarm by what the calibrator says, or else by the built-in rule; returns whether it is raised, and the action if the
/// calibrator has a decision rule.
///
/// Thresholds decide by their verdict. Prediction sets raise the alarm unless exactly one class is in the set: only that is an answer
/// which needs nobody else.
fn decide<P: OutputPin>(
    slot: &Slot<'_>,
    alarm: &mut Alarm<P>,
    outcome: &Outcome,
    verdict: Option<(Verdict, bool)>,
    set: Option<ClassSet>,
) -> Result<(bool, Option<u8>), P::Error> {
    match (slot.decision(), verdict, set) {
        (Some(rule), ..) => Ok((alarm.follow(rule, outcome)?, Some(rule.decide(outcome)))),
        (None, Some((_, raised)), _) => Ok((alarm.set(raised)?, None)),
        (None, None, Some(set)) => Ok((alarm.set(set.alone().is_none())?, None)),
        (None, None, None) => Ok((alarm.update(outcome)?, None)),
    }
}

/// The calibrated scores with what the calibrator's thresholds and prediction sets say of them.
fn find<'p>(
    classifier: &impl Classifier,
    slot: &Slot<'_>,
    request: &RequestBody,
    word: Option<u32>,
    group: Option<u8>,
    (scratch, space): (&mut Scratch, &'p mut [f32]),
) -> Result<Found<'p>, Refusal> {
    let other_kind = Refusal::Kind { classes: classifier.kind().classes() };
    let output = output(classifier, slot, request.scores().ok_or(other_kind)?, scratch)?;
    let (first, rest) = match slot.gives() {
        Gives::One => (slot.calibrate(output, word)?, Rest::None),
        Gives::TopK | Gives::Classes => {
            Rest::calibrate(slot, output.vector().ok_or(other_kind)?, word, space)?
        }
    };
    let verdict = slot.verdict(&first.score, group)?;
    let set = slot.prediction_set(&output)?;
    Ok(Found { first, rest, verdict, set })
}

/// The keys of the codes of all classes.
fn codes<'s>(slot: &Slot<'_>, keys: &'s [u16]) -> Result<CodeVector<'s>, Refusal> {
    CodeVector::new(encoding_of_codes(slot)?, keys).map_err(|error| match error {
        CodeVectorError::Code(_, cause) => Refusal::Code(cause),
        _ => Refusal::Kind { classes: keys.len() as u16 },
    })
}

/// The encoding of the codes that the calibrator takes; without a calibrator one in which every key is a code.
fn encoding_of_codes(slot: &Slot<'_>) -> Result<ScoreEncoding, Refusal> {
    match slot.encoding() {
        Ok(encoding) if encoding.is_quantized() => Ok(encoding),
        Ok(encoding) => Err(Refusal::Encoding(encoding)),
        Err(_) => Ok(ScoreEncoding::U16 { scale: 1.0, zero_point: 0 }),
    }
}

/// The output to calibrate: the classifier's, or what the host sent in its place.
fn output<'s>(
    classifier: &impl Classifier,
    slot: &Slot<'_>,
    scores: ScoresRef<'s>,
    scratch: &'s mut Scratch,
) -> Result<Output<'s>, Refusal> {
    let kind = classifier.kind();
    match scores {
        ScoresRef::Features(values) => {
            classifier.classify(Features::new(values, classifier.feature_count())?, scratch)
        }
        ScoresRef::Score(value) if kind == Kind::Binary => {
            Score::new(value).map(Output::Binary).map_err(Refusal::Score)
        }
        ScoresRef::Margin(value) if kind == Kind::Binary => {
            Margin::new(value).map(Output::Margin).map_err(Refusal::Score)
        }
        ScoresRef::Code(key) if kind == Kind::Binary => {
            let score = QuantizedScore::from_key(encoding_of_codes(slot)?, key);
            score.map(Output::Code).map_err(Refusal::Code)
        }
        ScoresRef::Logits(values) if kind.has_classes(values.len()) => {
            Logits::new(values).map(Output::Logits).map_err(Refusal::Logits)
        }
        ScoresRef::Probs(values) if kind.has_classes(values.len()) => {
            Probs::new(values).map(Output::Probs).map_err(Refusal::Probs)
        }
        ScoresRef::Codes(keys) if kind.has_classes(keys.len()) => codes(slot, keys).map(Output::Codes),
        _ => Err(Refusal::Kind { classes: kind.classes() }),
    }
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::Reduction;
    use calib_core::score::{CodeError, LogitsError, ProbsError};
    use calib_core::wire::{RawScore, Request, Values};
    use calib_core::{Anybody, BinFlags, ClassifierId, ScoreEncoding, ScoreError, Uncalibrated};
    use embedded_hal_mock::eh1::digital::{Mock, State, Transaction};

    use super::*;
    use crate::testing::{
        BINARY, ID, LOGITS, LeadOfCodes, OTHER_ID, Quantized, SOFTMAX, StopWatch, TERNARY,
        artifact_with_an_empty_bin, ask, binary_artifact, calibrated, code_artifact, deciding_artifact,
        device, margin_artifact, multi_class_artifact, randomized_artifact, randomized_margin_artifact,
        top_label_artifact, top_label_code_artifact, top_label_code_margin_artifact,
        top_label_margin_artifact, values,
    };
    use crate::{AlarmRule, NoEntropy};

    #[test]
    fn a_binary_device_calibrates_scores_and_features() {
        let slot = binary_artifact(Some(ID));
        let mut device = device(&BINARY, slot.as_bytes(), &[State::Low, State::High, State::High]);
        for (body, score, prob, alarm) in [
            (RequestBody::Score(0.1), 0.1, 0.05, false),
            (RequestBody::Score(0.7), 0.7, 0.9, true),
            (RequestBody::Classify(values(&[10.0, 0.0])), 0.999_954_6, 0.9, true),
        ] {
            let ReplyBody::Prediction(prediction) = ask(&mut device, body) else { panic!("refused") };
            assert_eq!(prediction.class, 1);
            assert_eq!(prediction.score, RawScore::F32(Score::new(score).unwrap()));
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
                let body = RequestBody::Score(score);
                let ReplyBody::Prediction(prediction) = ask(&mut device, body) else { panic!("refused") };
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
            (RequestBody::Logits(values(&[0.0, 9.0, 0.0])), 1, Some(0.8)),
            (RequestBody::Probs(values(&[0.5, 0.3, 0.2])), 0, Some(0.3)),
            // The last class had too few points.
            (RequestBody::Classify(values(&[-5.0, -5.0])), 2, None),
        ] {
            let ReplyBody::Prediction(prediction) = ask(&mut device, body) else { panic!("refused") };
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
                (RequestBody::Probs(values(&[0.25, 0.5, 0.25])), 1, [0.1, 0.8]),
                (RequestBody::Probs(values(&[0.4, 0.3, 0.3])), 0, [0.1, 0.2]),
                (RequestBody::Classify(values(&[-5.0, -5.0])), 2, [0.1, 0.2]),
            ] {
                let ReplyBody::Classes(prediction) = ask(&mut device, body) else {
                    panic!("not all classes")
                };
                let expected = share(probs);
                assert_eq!(prediction.probs, expected);
                assert_eq!((prediction.top.class, prediction.top.alarm), (class, class != 0));
                match expected[usize::from(class)] {
                    Some(prob) => {
                        assert_eq!(calibrated(prediction.top.outcome), prob);
                        let flags = if sum.is_some() { BinFlags::SHARED_OUT } else { BinFlags::NONE };
                        assert_eq!(prediction.top.outcome.calibrated().unwrap().flags, flags);
                    }
                    None => assert_eq!(prediction.top.outcome, Outcome::Uncalibrated(Uncalibrated::Class)),
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
            let ReplyBody::TopK(prediction) = ask(&mut device, RequestBody::Probs(values(&row))) else {
                panic!("no pairs")
            };
            assert_eq!((prediction.ranked.len(), prediction.alarm, prediction.word), (3, alarm, None));
            for (ranked, (class, prob)) in prediction.ranked.iter().zip(classes.into_iter().zip(probs)) {
                assert_eq!(ranked.class, class);
                assert_eq!(ranked.score, RawScore::F32(Score::new(row[usize::from(class)]).unwrap()));
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
            let body = RequestBody::Logits(values(&row));
            let ReplyBody::Prediction(prediction) = ask(&mut device, body) else { panic!("refused") };
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
            for body in [RequestBody::Score(0.0), RequestBody::Classify(values(&[0.0, 0.0]))] {
                let ReplyBody::Prediction(prediction) = ask(&mut device, body) else { panic!("refused") };
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
            (RequestBody::Score(f32::NAN), Refusal::Score(ScoreError::NaN)),
            (RequestBody::Score(1.5), Refusal::Score(ScoreError::OutOfRange(1.5))),
            (RequestBody::Classify(values(&[1.0])), Refusal::FeatureCount { expected: 2, got: 1 }),
            (RequestBody::Classify(values(&[1.0, f32::INFINITY])), Refusal::Feature(1)),
            (RequestBody::Logits(values(&[1.0, 2.0])), Refusal::Kind { classes: 2 }),
            (RequestBody::Probs(values(&[0.5, 0.5])), Refusal::Kind { classes: 2 }),
        ];
        let mut binary = device(&BINARY, slot.as_bytes(), &[State::High; 6]);
        for (body, refusal) in questions {
            assert_eq!(ask(&mut binary, body), ReplyBody::Refused(refusal));
        }
        binary.alarm.free().done();

        let questions = [
            (RequestBody::Score(0.5), Refusal::Kind { classes: 3 }),
            (RequestBody::Logits(values(&[1.0; 4])), Refusal::Kind { classes: 3 }),
            (RequestBody::Logits(values(&[0.0, 1.0, f32::NAN])), Refusal::Logits(LogitsError::NaN(2))),
            (RequestBody::Probs(values(&[0.5, 0.5])), Refusal::Kind { classes: 3 }),
            (RequestBody::Probs(values(&[0.0; 3])), Refusal::Probs(ProbsError::Sum(0.0))),
        ];
        let mut ternary = device(&TERNARY, &[], &[State::High; 5]);
        for (body, refusal) in questions {
            assert_eq!(ask(&mut ternary, body), ReplyBody::Refused(refusal));
        }
        ternary.alarm.free().done();
    }

    #[test]
    fn a_randomised_calibrator_is_given_a_word_which_the_reply_tells() {
        let slot = randomized_artifact();
        let mut device =
            device(&BINARY, slot.as_bytes(), &[State::Low, State::High, State::Low, State::High]);
        // The dice show 0x1000_0000 more every time; the edge's word is 0x1800_0000.
        for (body, prob, word) in [
            (RequestBody::Score(0.5), 0.25, 0x1000_0000),
            (RequestBody::Classify(values(&[0.0, 0.0])), 0.75, 0x2000_0000),
            (RequestBody::ScoreWithWord { score: 0.5, word: 0x17FF_FFFF }, 0.25, 0x17FF_FFFF),
            (RequestBody::ScoreWithWord { score: 0.5, word: 0x1800_0000 }, 0.75, 0x1800_0000),
        ] {
            let ReplyBody::Prediction(prediction) = ask(&mut device, body) else { panic!("refused") };
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
            let request = Request { id: 1, body: RequestBody::Score(score) };
            let reply = device.answer(&request).unwrap();
            let ReplyBody::Prediction(prediction) = reply.body else { panic!("refused") };
            let Outcome::Calibrated(calibrated) = prediction.outcome else { panic!("uncalibrated") };
            assert_eq!((prediction.word, calibrated.epsilon), (None, None));
        }
        device.alarm.free().done();
    }

    #[test]
    fn codes_and_floats_are_never_taken_for_each_other() {
        let slot = code_artifact();
        let encoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
        let mut device = device(
            &BINARY,
            slot.as_bytes(),
            &[State::Low, State::High, State::High, State::High, State::High],
        );
        for (key, prob) in [(127, 0.25), (128, 0.75)] {
            let ReplyBody::Prediction(prediction) = ask(&mut device, RequestBody::Code(key)) else {
                panic!("refused");
            };
            assert_eq!((prediction.class, prediction.score), (1, RawScore::Code(key)));
            assert_eq!((calibrated(prediction.outcome), prediction.word), (prob, None));
        }
        let refused = |body| match body {
            ReplyBody::Refused(refusal) => refusal,
            other => panic!("not refused: {other:?}"),
        };
        let code = ask(&mut device, RequestBody::Code(256));
        assert_eq!(refused(code), Refusal::Code(CodeError::OutOfRange(256)));
        for body in [RequestBody::Score(0.5), RequestBody::Classify(values(&[0.0, 0.0]))] {
            assert_eq!(refused(ask(&mut device, body)), Refusal::Encoding(encoding));
        }
        let measure = RequestBody::Measure { features: values(&[0.0, 0.0]), repeat: 1 };
        assert_eq!(refused(ask(&mut device, measure)), Refusal::Encoding(encoding));
        device.alarm.free().done();
    }

    #[test]
    fn codes_of_several_classes_are_calibrated_by_the_first_of_the_largest() {
        let slot = top_label_code_artifact();
        let mut device =
            device(&Quantized, slot.as_bytes(), &[State::Low, State::High, State::Low, State::High]);
        let of_features = |features: &[f32]| RequestBody::Classify(values(features));
        let of_keys = |keys: &[u16]| RequestBody::Codes(keys.iter().copied().collect());
        for (body, class, key, prob) in [
            (of_keys(&[191, 65, 0]), 0, 191, Some(0.25)),
            (of_keys(&[192, 192, 64]), 0, 192, Some(0.75)),
            (of_features(&[-28.0, -28.0, -128.0]), 0, 100, Some(0.25)),
            (of_features(&[-100.0, -50.0, 5.0]), 2, 133, None),
        ] {
            let ReplyBody::Prediction(prediction) = ask(&mut device, body) else { panic!("refused") };
            assert_eq!((prediction.class, prediction.score), (class, RawScore::Code(key)));
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
        let codes = |keys: &[u16]| RequestBody::Codes(keys.iter().copied().collect());
        let over_codes = top_label_code_artifact();
        let mut held = device(&TERNARY, over_codes.as_bytes(), &[State::High; 5]);
        for (body, refusal) in [
            (codes(&[1, 2]), Refusal::Kind { classes: 3 }),
            (codes(&[1, 2, 256]), Refusal::Code(CodeError::OutOfRange(128))),
            (RequestBody::Code(7), Refusal::Kind { classes: 3 }),
            (RequestBody::Probs(values(&[0.5, 0.25, 0.25])), Refusal::Encoding(SOFTMAX)),
            (RequestBody::Classify(values(&[1.0, 0.0])), Refusal::Encoding(SOFTMAX)),
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
        let ReplyBody::Prediction(prediction) = ask(&mut none, codes(&[1, 40_000, 40_000])) else {
            panic!("refused")
        };
        assert_eq!((prediction.class, prediction.score), (1, RawScore::Code(40_000)));
        assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::NoArtifact));
        none.alarm.free().done();
    }

    #[test]
    fn a_code_for_a_calibrator_of_floats_or_for_none() {
        let slot = binary_artifact(None);
        let mut floats = device(&BINARY, slot.as_bytes(), &[State::High]);
        let refusal = Refusal::Encoding(ScoreEncoding::F32);
        assert_eq!(ask(&mut floats, RequestBody::Code(7)), ReplyBody::Refused(refusal));
        floats.alarm.free().done();

        let mut none = device(&BINARY, &[], &[State::High]);
        let ReplyBody::Prediction(prediction) = ask(&mut none, RequestBody::Code(7)) else {
            panic!("refused")
        };
        assert_eq!(prediction.score, RawScore::Code(7));
        assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::NoArtifact));
        none.alarm.free().done();

        let mut ternary = device(&TERNARY, &[], &[State::High]);
        let refusal = Refusal::Kind { classes: 3 };
        assert_eq!(ask(&mut ternary, RequestBody::Code(7)), ReplyBody::Refused(refusal));
        ternary.alarm.free().done();
    }

    #[test]
    fn margins_are_calibrated_and_the_calibrators_rule_decides() {
        let slot = margin_artifact();
        let mut device = device(&BINARY, slot.as_bytes(), &[State::Low, State::Low, State::High, State::Low]);
        let (below, edge) = ((-2.5f32).next_down(), -2.5);
        for (body, margin, prob, action, word) in [
            (RequestBody::Margin(below), below, 0.05, 0, None),
            (RequestBody::Margin(edge), edge, 0.4, 0, None),
            (RequestBody::MarginWithWord { margin: f32::MAX, word: 9 }, f32::MAX, 0.9, 1, Some(9)),
            (RequestBody::Margin(-0.0), 0.0, 0.4, 0, None),
        ] {
            let ReplyBody::Prediction(prediction) = ask(&mut device, body) else { panic!("refused") };
            assert_eq!(
                (prediction.class, prediction.score),
                (1, RawScore::Margin(Margin::new(margin).unwrap()))
            );
            assert_eq!((calibrated(prediction.outcome), prediction.word), (prob, word));
            assert_eq!((prediction.action, prediction.alarm), (Some(action), action == 1));
        }
        let ReplyBody::Status(status) = ask(&mut device, RequestBody::Status) else { panic!("refused") };
        assert_eq!(status.calibrator.unwrap().encoding, ScoreEncoding::Margin);
        device.alarm.free().done();
    }

    #[test]
    fn a_randomised_calibrator_of_margins_is_given_a_word() {
        let slot = randomized_margin_artifact();
        let mut device = device(&BINARY, slot.as_bytes(), &[State::Low, State::High, State::High]);
        for (body, prob, word) in [
            (RequestBody::Margin(-1.0), 0.25, 0x1000_0000),
            (RequestBody::Margin(-1.0), 0.75, 0x2000_0000),
            (RequestBody::MarginWithWord { margin: -1.0, word: 0x1800_0000 }, 0.75, 0x1800_0000),
        ] {
            let ReplyBody::Prediction(prediction) = ask(&mut device, body) else { panic!("refused") };
            assert_eq!((calibrated(prediction.outcome), prediction.word), (prob, Some(word)));
            assert_eq!(prediction.outcome.calibrated().unwrap().epsilon, Some(0.125));
        }
        device.alarm.free().done();
    }

    #[test]
    fn logits_are_calibrated_by_their_lead_if_the_calibrator_takes_it() {
        let slot = top_label_margin_artifact();
        let states = [State::Low, State::High, State::Low, State::High, State::Low];
        let mut device = device(&TERNARY, slot.as_bytes(), &states);
        for (body, class, lead, prob) in [
            (RequestBody::Logits(values(&[3.0, 1.5, -9.0])), 0, 1.5, Some(0.25)),
            (RequestBody::Logits(values(&[3.0, 1.0, 0.5])), 0, 2.0, Some(0.75)),
            // Ties go to the lowest class, with a lead of 0.
            (RequestBody::Logits(values(&[5.0, 5.0, 5.0])), 0, 0.0, Some(0.25)),
            (RequestBody::Logits(values(&[-3.0, -2.0, f32::MAX])), 2, f32::MAX, None),
            (RequestBody::Classify(values(&[0.5, 4.5])), 1, 4.0, Some(0.125)),
        ] {
            let ReplyBody::Prediction(prediction) = ask(&mut device, body) else { panic!("refused") };
            let score = RawScore::Margin(Margin::new(lead).unwrap());
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
    fn codes_of_logits_are_calibrated_by_their_lead_if_the_calibrator_takes_it() {
        let slot = top_label_code_margin_artifact();
        let mut device =
            device(&LeadOfCodes, slot.as_bytes(), &[State::Low, State::High, State::Low, State::High]);
        let of_keys = |keys: &[u16]| RequestBody::Codes(keys.iter().copied().collect());
        for (body, class, lead, prob) in [
            (of_keys(&[100, 93, 0]), 0, 7, Some(0.25)),
            (of_keys(&[100, 92, 0]), 0, 8, Some(0.75)),
            (of_keys(&[0, 255, 0]), 1, 255, Some(0.125)),
            (RequestBody::Classify(values(&[-100.0, -50.0, 5.0])), 2, 55, None),
        ] {
            let ReplyBody::Prediction(prediction) = ask(&mut device, body) else { panic!("refused") };
            assert_eq!((prediction.class, prediction.score), (class, RawScore::Lead(lead)));
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
        let codes = |keys: &[u16]| RequestBody::Codes(keys.iter().copied().collect());
        let with_word = |margin| RequestBody::MarginWithWord { margin, word: 1 };
        refuses(
            &BINARY,
            margin_artifact().as_bytes(),
            &[
                (RequestBody::Score(0.5), margins),
                (RequestBody::ScoreWithWord { score: 0.5, word: 1 }, margins),
                (RequestBody::Classify(values(&[0.0, 0.0])), margins),
                (RequestBody::Code(7), margins),
                (RequestBody::Margin(f32::NAN), Refusal::Score(ScoreError::NaN)),
                (RequestBody::Margin(f32::INFINITY), Refusal::Score(ScoreError::Infinite)),
                (with_word(f32::NEG_INFINITY), Refusal::Score(ScoreError::Infinite)),
                (RequestBody::Logits(values(&[1.0, 2.0])), Refusal::Kind { classes: 2 }),
            ],
        );
        let two = &[(RequestBody::Margin(0.5), floats), (with_word(0.5), floats)];
        refuses(&BINARY, binary_artifact(Some(ID)).as_bytes(), two);
        let over_codes = Refusal::Encoding(ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 });
        refuses(&BINARY, code_artifact().as_bytes(), &[(RequestBody::Margin(0.5), over_codes)]);
        refuses(
            &TERNARY,
            top_label_margin_artifact().as_bytes(),
            &[
                (RequestBody::Probs(values(&[0.5, 0.25, 0.25])), margins),
                (codes(&[1, 2, 3]), margins),
                (RequestBody::Margin(0.5), Refusal::Kind { classes: 3 }),
                (RequestBody::Logits(values(&[0.0, 1.0, f32::NAN])), Refusal::Logits(LogitsError::NaN(2))),
            ],
        );
        let logits = Refusal::Encoding(LOGITS);
        refuses(
            &TERNARY,
            top_label_code_margin_artifact().as_bytes(),
            &[
                (RequestBody::Logits(values(&[0.5, 0.25, 0.25])), logits),
                (RequestBody::Probs(values(&[0.5, 0.25, 0.25])), logits),
                (codes(&[1, 2, 256]), Refusal::Code(CodeError::OutOfRange(128))),
                (codes(&[1, 2]), Refusal::Kind { classes: 3 }),
            ],
        );
    }

    #[test]
    fn a_code_and_its_lead_are_never_taken_for_each_other() {
        let features = || RequestBody::Classify(values(&[1.0, 2.0, 3.0]));
        let (by_code, by_lead) = (top_label_code_artifact(), top_label_code_margin_artifact());
        refuses(&LeadOfCodes, by_code.as_bytes(), &[(features(), Refusal::ClassScore)]);
        refuses(&Quantized, by_lead.as_bytes(), &[(features(), Refusal::ClassScore)]);
        let floats = Refusal::Encoding(ScoreEncoding::F32);
        refuses(&LeadOfCodes, top_label_artifact(None).as_bytes(), &[(features(), floats)]);
    }

    #[test]
    fn a_margin_without_a_calibrator_is_told_and_never_a_number() {
        let mut none = device(&BINARY, &[], &[State::High]);
        let ReplyBody::Prediction(prediction) = ask(&mut none, RequestBody::Margin(-2.5)) else {
            panic!("refused")
        };
        assert_eq!(prediction.score, RawScore::Margin(Margin::new(-2.5).unwrap()));
        assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::NoArtifact));
        none.alarm.free().done();
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
            fn kind(&self) -> Kind {
                Kind::TopLabel { classes: 3 }
            }
            fn classify<'s>(&self, _: Features<'_>, _: &'s mut Scratch) -> Result<Output<'s>, Refusal> {
                Ok(Output::Binary(Score::ONE))
            }
        }
        let pin = Mock::new(&[Transaction::set(State::High), Transaction::set(State::High)]);
        let alarm = Alarm::new(pin, AlarmRule::AtLeast(0.5)).unwrap();
        let mut device = Device::new(Liar, &[], Anybody, alarm, StopWatch { ticks: None }, NoEntropy);
        let request = Request { id: 1, body: RequestBody::Classify(Values::new()) };
        let reply = device.answer(&request).unwrap();
        assert_eq!(reply.body, ReplyBody::Refused(Refusal::Kind { classes: 3 }));
        device.alarm.free().done();
    }
}
