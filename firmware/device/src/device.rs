//! The device: what it is asked, and what it answers.

use core::hint::black_box;

use calib_core::wire::{
    MAX_VALUES, Measurement, Name, Prediction, Refusal, Reply, ReplyBody, Request, RequestBody, Status,
};
use calib_core::{Logits, Probs, Score};
use embedded_hal::digital::OutputPin;

use crate::{Alarm, Classifier, Features, Kind, Meter, Output, Scratch, Slot, log};

/// A classifier, the calibrator in its slot, an alarm and a meter.
#[derive(Debug)]
pub struct Device<'a, C, P, M> {
    classifier: C,
    slot: Slot<'a>,
    alarm: Alarm<P>,
    meter: M,
    scratch: Scratch,
}

impl<'a, C: Classifier, P: OutputPin, M: Meter> Device<'a, C, P, M> {
    /// Joins the parts and logs what the slot holds.
    ///
    /// `slot` is the whole calibrator slot and starts at a multiple of 4 in memory.
    pub fn new(classifier: C, slot: &'a [u8], alarm: Alarm<P>, meter: M) -> Self {
        let slot = Slot::read(slot, classifier.id(), classifier.kind());
        log::start(classifier.name(), slot.status());
        Self { classifier, slot, alarm, meter, scratch: [0.0; MAX_VALUES] }
    }

    /// Answers a request. A request for a prediction sets the alarm, the others leave it alone.
    ///
    /// # Errors
    ///
    /// The alarm pin's: a device whose alarm is stuck must not go on as if it were not.
    pub fn answer(&mut self, request: &Request) -> Result<Reply, P::Error> {
        let body = match &request.body {
            RequestBody::Status => ReplyBody::Status(self.status()),
            RequestBody::Measure { features, repeat } => match self.measure(features, *repeat) {
                Ok(measurement) => ReplyBody::Measurement(measurement),
                Err(refusal) => ReplyBody::Refused(refusal),
            },
            question => self.predict(question)?,
        };
        Ok(Reply { id: request.id, body })
    }

    fn status(&mut self) -> Status {
        Status {
            firmware: fitting(env!("CARGO_PKG_VERSION")),
            classifier: fitting(self.classifier.name()),
            classifier_id: self.classifier.id(),
            features: self.classifier.feature_count(),
            classes: self.classifier.kind().classes(),
            alarm_rule: self.alarm.rule(),
            stack_high_water_bytes: self.meter.stack_high_water_bytes(),
            calibrator: self.slot.status(),
        }
    }

    fn predict(&mut self, question: &RequestBody) -> Result<ReplyBody, P::Error> {
        let output = output(&self.classifier, question, &mut self.scratch);
        match output.and_then(|output| self.slot.calibrate(output)) {
            Ok((top, outcome)) => {
                let alarm = self.alarm.update(&outcome)?;
                let prediction = Prediction { class: top.class, score: top.score, outcome, alarm };
                log::prediction(&prediction);
                Ok(ReplyBody::Prediction(prediction))
            }
            Err(refusal) => {
                self.alarm.raise()?;
                log::refused(refusal);
                Ok(ReplyBody::Refused(refusal))
            }
        }
    }

    fn measure(&mut self, features: &[f32], repeat: u16) -> Result<Measurement, Refusal> {
        let Self { classifier, slot, meter, scratch, .. } = self;
        let features = Features::new(features, classifier.feature_count())?;
        if repeat == 0 {
            return Err(Refusal::Measure);
        }
        let empty_ticks = repeated(meter, repeat, || {
            black_box(features);
        })?;
        let classify_ticks = repeated(meter, repeat, || {
            // A refusal shows below; here only the time matters.
            let _ = black_box(classifier.classify(black_box(features), scratch));
        })?;
        let output = classifier.classify(features, scratch)?;
        slot.calibrate(output)?;
        let calibrate_ticks = repeated(meter, repeat, || {
            let _ = black_box(slot.calibrate(black_box(output)));
        })?;
        Ok(Measurement { repeat, empty_ticks, classify_ticks, calibrate_ticks })
    }
}

/// The ticks that `repeat` times `work` take.
fn repeated(meter: &mut impl Meter, repeat: u16, mut work: impl FnMut()) -> Result<u32, Refusal> {
    meter.measure_ticks(|| (0..repeat).for_each(|_| work())).ok_or(Refusal::Measure)
}

/// The output to calibrate: the classifier's, or what the host sent in its place.
fn output<'s>(
    classifier: &impl Classifier,
    question: &'s RequestBody,
    scratch: &'s mut Scratch,
) -> Result<Output<'s>, Refusal> {
    let kind = classifier.kind();
    let other_kind = Refusal::Kind { classes: kind.classes() };
    let has_classes = |got: usize| kind != Kind::Binary && got == usize::from(kind.classes());
    match question {
        RequestBody::Classify(values) => {
            classifier.classify(Features::new(values, classifier.feature_count())?, scratch)
        }
        RequestBody::Score(value) if kind == Kind::Binary => {
            Score::new(*value).map(Output::Binary).map_err(Refusal::Score)
        }
        RequestBody::Logits(values) if has_classes(values.len()) => {
            Logits::new(values).map(Output::Logits).map_err(Refusal::Logits)
        }
        RequestBody::Probs(values) if has_classes(values.len()) => {
            Probs::new(values).map(Output::Probs).map_err(Refusal::Probs)
        }
        _ => Err(other_kind),
    }
}

/// As much of `text` as a name holds.
fn fitting(text: &str) -> Name {
    let mut name = Name::new();
    for character in text.chars() {
        if name.push(character).is_err() {
            break;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use calib_core::wire::{Missing, Values};
    use calib_core::{ClassifierId, LogitsError, Outcome, ParseError, ProbsError, ScoreError, Uncalibrated};
    use embedded_hal_mock::eh1::digital::{Mock, State, Transaction};

    use super::*;
    use crate::testing::{
        BINARY, ID, OTHER_ID, StopWatch, TERNARY, binary_artifact, calibrated, top_label_artifact,
    };
    use crate::{AlarmRule, LinearClassifier};

    type Under<'a, const O: usize> = Device<'a, &'static LinearClassifier<2, O>, Mock, StopWatch>;

    /// A device whose alarm pin is expected to go through these states, after the first.
    fn device<'a, const O: usize>(
        classifier: &'static LinearClassifier<2, O>,
        slot: &'a [u8],
        states: &[State],
    ) -> Under<'a, O> {
        let expected: std::vec::Vec<_> =
            core::iter::once(&State::High).chain(states).map(|&state| Transaction::set(state)).collect();
        let alarm = Alarm::new(Mock::new(&expected), AlarmRule::AtLeast(0.5)).unwrap();
        Device::new(classifier, slot, alarm, StopWatch { ticks: Some(40) })
    }

    fn ask<const O: usize>(device: &mut Under<'_, O>, body: RequestBody) -> ReplyBody {
        let reply = device.answer(&Request { id: 3, body }).unwrap();
        assert_eq!(reply.id, 3);
        reply.body
    }

    fn values(values: &[f32]) -> Values {
        values.iter().copied().collect()
    }

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
            assert_eq!(prediction.score.get(), score);
            assert_eq!(calibrated(prediction.outcome), prob);
            assert_eq!(prediction.alarm, alarm);
        }
        device.alarm.free().done();
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
    fn tells_what_it_is() {
        let mut device = device(&TERNARY, &[], &[]);
        let ReplyBody::Status(status) = ask(&mut device, RequestBody::Status) else { panic!("refused") };
        assert_eq!((status.features, status.classes, status.classifier_id), (2, 3, ID));
        assert_eq!((status.classifier.as_str(), status.alarm_rule), ("ternary", AlarmRule::AtLeast(0.5)));
        assert_eq!(status.stack_high_water_bytes, 1234);
        assert_eq!(status.calibrator, Err(Missing::Artifact(ParseError::Blank)));
        device.alarm.free().done();
    }

    #[test]
    fn measures_or_says_that_it_cannot() {
        let mut device = device(&BINARY, &[], &[]);
        let measure = |repeat, features: &[f32]| RequestBody::Measure { features: values(features), repeat };
        assert_eq!(
            ask(&mut device, measure(9, &[0.0, 1.0])),
            ReplyBody::Measurement(Measurement {
                repeat: 9,
                empty_ticks: 40,
                classify_ticks: 40,
                calibrate_ticks: 40
            })
        );
        assert_eq!(ask(&mut device, measure(0, &[0.0, 1.0])), ReplyBody::Refused(Refusal::Measure));
        assert_eq!(ask(&mut device, measure(9, &[f32::NAN, 1.0])), ReplyBody::Refused(Refusal::Feature(0)));
        assert_eq!(
            ask(&mut device, measure(9, &[f32::MAX, f32::MAX])),
            ReplyBody::Refused(Refusal::Score(ScoreError::Infinite))
        );
        device.meter.ticks = None;
        assert_eq!(ask(&mut device, measure(9, &[0.0, 1.0])), ReplyBody::Refused(Refusal::Measure));
        device.alarm.free().done();
    }

    #[test]
    fn a_stuck_alarm_pin_is_an_error() {
        use embedded_hal_mock::eh1::MockError;
        let failure = MockError::Io(std::io::ErrorKind::Other);
        let pin = Mock::new(&[
            Transaction::set(State::High),
            Transaction::set(State::High).with_error(failure.clone()),
        ]);
        let alarm = Alarm::new(pin, AlarmRule::AtLeast(0.5)).unwrap();
        let mut device = Device::new(&BINARY, &[], alarm, StopWatch { ticks: None });
        let request = Request { id: 1, body: RequestBody::Score(0.5) };
        assert_eq!(device.answer(&request), Err(failure));
        device.alarm.free().done();
    }

    #[test]
    fn long_names_are_cut_at_a_character() {
        assert_eq!(fitting("").as_str(), "");
        assert_eq!(fitting(&"é".repeat(20)).as_str(), "é".repeat(16));
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
        let mut device = Device::new(Liar, &[], alarm, StopWatch { ticks: None });
        let request = Request { id: 1, body: RequestBody::Classify(Values::new()) };
        let reply = device.answer(&request).unwrap();
        assert_eq!(reply.body, ReplyBody::Refused(Refusal::Kind { classes: 3 }));
        device.alarm.free().done();
    }
}
