//! The device: what it is asked, and what it answers.

#[cfg(test)]
mod counting;
#[cfg(test)]
mod encodings;
mod measure;
#[cfg(test)]
mod monitor_action;
mod predict;
#[cfg(test)]
mod predicting;
#[cfg(test)]
mod rules;

use calib_core::wire::{
    MAX_VALUES, Name, PROTOCOL_VERSION, Questions, Refusal, Reply, ReplyBody, Request, RequestBody, Status,
    UpdateRefusal,
};
use calib_core::{Anybody, Artifact};
use embedded_hal::digital::OutputPin;

use crate::{Alarm, Classifier, Entropy, Meter, NoMonitors, Scratch, Slot, Watch, log};

/// A classifier, the calibrator in its slot, an alarm, a meter, a source of random words, and what counts predictions.
#[derive(Debug)]
pub struct Device<'a, C, P, M, E, W = NoMonitors> {
    classifier: C,
    slot: Slot<'a>,
    alarm: Alarm<P>,
    meter: M,
    entropy: E,
    watch: W,
    questions: Questions,
    takes_outcomes: bool,
    /// For the classifier's output.
    scratch: Scratch,
    /// For calibrated probabilities, and as many numbers on the way to them.
    space: [f32; 2 * MAX_VALUES],
}

impl<'a, C: Classifier, P: OutputPin, M: Meter, E: Entropy> Device<'a, C, P, M, E> {
    /// Joins the parts and logs what the slot holds.
    ///
    /// `slot` is the whole calibrator slot and starts at a multiple of 4 in memory. Its signature is not looked at, see
    /// [`Slot::read`]; a device that demands one is served by [`serve_updatable`](crate::serve_updatable).
    pub fn new(classifier: C, slot: &'a [u8], trust: Anybody, alarm: Alarm<P>, meter: M, entropy: E) -> Self {
        let slot = Slot::read(slot, trust, classifier.id(), classifier.task());
        Self::with_slot(classifier, slot, alarm, meter, entropy)
    }

    /// Joins the parts with a slot that was read already, as [`Device::with_parts`] does, and counts no predictions.
    pub fn with_slot(classifier: C, slot: Slot<'a>, alarm: Alarm<P>, meter: M, entropy: E) -> Self {
        Self::with_parts((classifier, alarm, meter, entropy, NoMonitors), slot)
    }
}

impl<'a, C: Classifier, P: OutputPin, M: Meter, E: Entropy, W: Watch> Device<'a, C, P, M, E, W> {
    /// Joins the parts with a slot that was read already, and logs what it holds. The device answers all questions and takes outcomes;
    /// predictions are counted by what is last in `parts`, such as [`Monitors`](crate::Monitors).
    pub fn with_parts(parts: (C, Alarm<P>, M, E, W), slot: Slot<'a>) -> Self {
        let (classifier, alarm, meter, entropy, mut watch) = parts;
        log::start(classifier.name(), slot.status());
        watch.begin(slot.artifact(), slot.fallback_from().is_some());
        Self {
            classifier,
            slot,
            alarm,
            meter,
            entropy,
            watch,
            questions: Questions::All,
            takes_outcomes: true,
            scratch: [0.0; MAX_VALUES],
            space: [0.0; 2 * MAX_VALUES],
        }
    }

    /// The same device, which answers these questions alone.
    #[must_use]
    pub fn answering(self, questions: Questions) -> Self {
        Self { questions, ..self }
    }

    /// The same device, which takes outcomes and sets counters back when it is asked to, or refuses.
    #[must_use]
    pub fn taking_outcomes(self, takes_outcomes: bool) -> Self {
        Self { takes_outcomes, ..self }
    }

    #[cfg(test)]
    pub(crate) const fn watch_mut(&mut self) -> &mut W {
        &mut self.watch
    }

    /// Gives the parts back except for the slot. The alarm stays as it is.
    pub fn free(self) -> (C, Alarm<P>, M, E, W) {
        (self.classifier, self.alarm, self.meter, self.entropy, self.watch)
    }

    /// The active calibrator, if there is one.
    pub fn artifact(&self) -> Option<&Artifact<'a>> {
        self.slot.artifact()
    }

    /// Answers a request. A request for a prediction sets the alarm; the others leave it alone, and so does one that is
    /// [switched off](Device::answering). One about counters raises it if the calibrator asks for that on an alarm of its monitors, and
    /// there is one.
    ///
    /// # Errors
    ///
    /// The alarm pin's: a device whose alarm is stuck must not go on as if it were not.
    pub fn answer(&mut self, request: &Request) -> Result<Reply, P::Error> {
        let body = match &request.body {
            trial if self.questions == Questions::NoTrials && trial.is_trial() => {
                ReplyBody::Refused(Refusal::SwitchedOff)
            }
            change if !self.takes_outcomes && change.changes_counters() => {
                ReplyBody::Refused(Refusal::SwitchedOff)
            }
            RequestBody::Status => ReplyBody::Status(self.status()),
            RequestBody::Predict(question) => return self.predict(request.id, question),
            RequestBody::Measure { features, repeat } => match self.measure(features, *repeat) {
                Ok(measurement) => ReplyBody::Measurement(measurement),
                Err(refusal) => ReplyBody::Refused(refusal),
            },
            // Anyone who updates the calibrator answers these before they come here.
            RequestBody::Slots
            | RequestBody::Announce { .. }
            | RequestBody::Chunk { .. }
            | RequestBody::Install => ReplyBody::Refused(Refusal::Update(UpdateRefusal::NotUpdatable)),
            RequestBody::Counters { .. } | RequestBody::Outcome(_) | RequestBody::ResetCounters { .. } => {
                let body = self.watch.answer(self.slot.artifact(), &request.body, self.takes_outcomes);
                // An outcome may bring an alarm, and anyone who asks lets the device look.
                self.hold_alarm()?;
                body
            }
        };
        Ok(Reply { id: request.id, body })
    }

    fn status(&mut self) -> Status {
        Status {
            protocol: PROTOCOL_VERSION,
            firmware: fitting(env!("CARGO_PKG_VERSION")),
            classifier: fitting(self.classifier.name()),
            classifier_id: self.classifier.id(),
            features: self.classifier.feature_count(),
            classes: self.classifier.task().classes(),
            alarm_rule: self.alarm.rule(),
            stack_high_water_bytes: self.meter.stack_high_water_bytes(),
            calibrator: self.slot.status(),
            fallback_from: self.slot.fallback_from(),
            questions: self.questions,
        }
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
    use calib_core::wire::{Missing, Question, Scores};
    use calib_core::{Identity, ParseError};
    use embedded_hal_mock::eh1::digital::{Mock, State, Transaction};

    use super::*;
    use crate::testing::{BINARY, ID, StopWatch, TERNARY, ask, binary_artifact, device, values};
    use crate::{AlarmRule, NoEntropy};

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
    fn tells_the_protocol_and_which_calibrator_answers() {
        let slot = binary_artifact(Some(ID));
        let mut device = device(&BINARY, slot.as_bytes(), &[]);
        let ReplyBody::Status(status) = ask(&mut device, RequestBody::Status) else { panic!("refused") };
        let held = status.calibrator.map(|held| (held.identity, held.counter));
        assert_eq!((status.protocol, held), (PROTOCOL_VERSION, Ok((Identity([1; 8]), 0))));
        assert_eq!((status.fallback_from, status.questions), (None, Questions::All));
        device.alarm.free().done();
    }

    /// The alarm's pin expects one change, by the classifier's own answer.
    #[test]
    fn trials_are_switched_off_and_leave_the_alarm() {
        let slot = binary_artifact(Some(ID));
        let mut device = device(&BINARY, slot.as_bytes(), &[State::Low]).answering(Questions::NoTrials);
        let features = || values(&[-9.0, 0.0]);
        for trial in [
            RequestBody::predict(Scores::Score(0.0)),
            RequestBody::Predict(Question { group: None, word: Some(1), scores: Scores::Score(0.0) }),
            RequestBody::predict(Scores::Logits(features())),
            RequestBody::predict(Scores::Probs(features())),
            RequestBody::predict(Scores::Code(0)),
            RequestBody::predict(Scores::Codes([0, 1].into_iter().collect())),
            RequestBody::predict(Scores::Margin(-9.0)),
            RequestBody::Predict(Question { group: None, word: Some(1), scores: Scores::Margin(-9.0) }),
            RequestBody::Measure { features: features(), repeat: u16::MAX },
        ] {
            assert_eq!(ask(&mut device, trial), ReplyBody::Refused(Refusal::SwitchedOff));
        }
        // What the classifier itself makes of features still counts.
        let reply = ask(&mut device, RequestBody::predict(Scores::Features(features())));
        assert!(matches!(reply, ReplyBody::Answer(prediction) if !prediction.alarm));
        let refused = ReplyBody::Refused(Refusal::Update(UpdateRefusal::NotUpdatable));
        assert_eq!(ask(&mut device, RequestBody::Install), refused);
        let ReplyBody::Status(status) = ask(&mut device, RequestBody::Status) else { panic!("refused") };
        assert_eq!(status.questions, Questions::NoTrials);
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
        let mut device = Device::new(&BINARY, &[], Anybody, alarm, StopWatch { ticks: None }, NoEntropy);
        let request = Request { id: 1, body: RequestBody::predict(Scores::Score(0.5)) };
        assert_eq!(device.answer(&request), Err(failure));
        device.alarm.free().done();
    }

    #[test]
    fn long_names_are_cut_at_a_character() {
        assert_eq!(fitting("").as_str(), "");
        assert_eq!(fitting(&"é".repeat(20)).as_str(), "é".repeat(16));
    }
}
