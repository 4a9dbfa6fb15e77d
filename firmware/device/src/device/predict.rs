//! What a device predicts.

use calib_core::artifact::MonitorAction;
use calib_core::decision::{ClassSet, Verdict};
use calib_core::score::{CodeVector, CodeVectorError};
use calib_core::wire::{Answer, Question, Refusal, Reply, ReplyBody, Scores};
use calib_core::{Logits, Margin, Outcome, Probs, QuantizedScore, Score, ScoreEncoding, Uncalibrated};
use embedded_hal::digital::OutputPin;

use super::Device;
use super::rest::Rest;
use crate::{
    Alarm, Calibration, Classifier, Entropy, Features, Gives, Kind, Meter, Output, Scratch, Slot, Watch, log,
};

/// What there is to say of a request's scores.
struct Found<'p> {
    /// What the calibrator makes of the scores, which is counted.
    first: Calibration,
    rest: Rest<'p>,
    /// What the calibrator's thresholds say, and whether that raises the alarm.
    verdict: Option<(Verdict, bool)>,
    set: Option<ClassSet>,
}

impl<C: Classifier, P: OutputPin, M: Meter, E: Entropy, W: Watch> Device<'_, C, P, M, E, W> {
    /// The reply to a question; sets the alarm.
    pub(super) fn predict(&mut self, id: u32, question: &Question) -> Result<Reply, P::Error> {
        let word = match question.word {
            // The host's word is no secret of the device: it is told back even if nothing needs it. Whether it is random is the
            // host's to know: the reply states the epsilon that holds if it is.
            Some(word) => Some(word),
            None if self.slot.is_randomized() => self.entropy.word(),
            None => None,
        };
        let Self { classifier, slot, alarm, watch, scratch, space, .. } = self;
        let found = slot.select(question.group).and_then(|group| {
            let found = find(classifier, slot, &question.scores, word, group, (scratch, space))?;
            Ok((found, group))
        });
        match found {
            Ok((Found { first, rest, verdict, set }, group)) => {
                let said = Said { outcome: first.outcome, verdict, set };
                let mut answered = said.answered(slot, alarm, acting(slot, watch))?;
                if let Some(artifact) = slot.artifact().filter(|_| !question.is_trial()) {
                    let before = acting(slot, watch);
                    watch.count(artifact, group, &first);
                    // The prediction with which an alarm comes is answered as those after it.
                    let now = acting(slot, watch);
                    if now != before {
                        answered = said.answered(slot, alarm, now)?;
                    }
                }
                let Answered { said: Said { outcome, verdict, set }, alarm, action } = answered;
                let Calibration { class, score, .. } = first;
                log::prediction(class, score, outcome, alarm);
                let (verdict, others) = (verdict.map(|(verdict, _)| verdict), rest.others());
                let answer =
                    Answer { class, score, outcome, alarm, word, action, group, verdict, set, others };
                Ok(Reply { id, body: ReplyBody::Answer(answer) })
            }
            Err(refusal) => {
                alarm.raise()?;
                log::refused(refusal);
                Ok(Reply { id, body: ReplyBody::Refused(refusal) })
            }
        }
    }

    /// Raises the alarm if that is done on an alarm of the monitors, and there is one.
    pub(super) fn hold_alarm(&mut self) -> Result<(), P::Error> {
        match acting(&self.slot, &self.watch) {
            Some(_) => self.alarm.raise(),
            None => Ok(()),
        }
    }
}

/// What the calibrator says of a score.
#[derive(Clone, Copy)]
struct Said {
    outcome: Outcome,
    /// What the calibrator's thresholds say, and whether that raises the alarm.
    verdict: Option<(Verdict, bool)>,
    set: Option<ClassSet>,
}

/// What is answered of it.
struct Answered {
    said: Said,
    alarm: bool,
    action: Option<u8>,
}

/// What is done now because the monitors raised an alarm.
fn acting(slot: &Slot<'_>, watch: &impl Watch) -> Option<MonitorAction> {
    slot.artifact()?.monitor_action().filter(|_| watch.is_alarmed())
}

impl Said {
    /// Sets the alarm.
    fn answered<P: OutputPin>(
        self,
        slot: &Slot<'_>,
        alarm: &mut Alarm<P>,
        acting: Option<MonitorAction>,
    ) -> Result<Answered, P::Error> {
        let said = match acting {
            None => {
                let (alarm, action) = self.decide(slot, alarm)?;
                return Ok(Answered { said: self, alarm, action });
            }
            Some(MonitorAction::Alarm) => self,
            Some(MonitorAction::Uncalibrated) => {
                Self { outcome: Outcome::Uncalibrated(Uncalibrated::Alarmed), verdict: None, set: None }
            }
        };
        // The pin does not fall in between.
        alarm.raise()?;
        let action = slot.decision().map(|rule| rule.decide(&said.outcome));
        Ok(Answered { said, alarm: true, action })
    }

    /// Sets the alarm by what the calibrator says, or else by the built-in rule; returns whether it is raised, and the action if the
    /// calibrator has a decision rule.
    ///
    /// Thresholds decide by their verdict. Prediction sets raise the alarm unless exactly one class is in the set: only that is an
    /// answer which needs nobody else.
    fn decide<P: OutputPin>(
        &self,
        slot: &Slot<'_>,
        alarm: &mut Alarm<P>,
    ) -> Result<(bool, Option<u8>), P::Error> {
        let Self { outcome, verdict, set } = self;
        match (slot.decision(), verdict, set) {
            (Some(rule), ..) => Ok((alarm.follow(rule, outcome)?, Some(rule.decide(outcome)))),
            (None, Some((_, raised)), _) => Ok((alarm.set(*raised)?, None)),
            (None, None, Some(set)) => Ok((alarm.set(set.alone().is_none())?, None)),
            (None, None, None) => Ok((alarm.update(outcome)?, None)),
        }
    }
}

/// The calibrated scores with what the calibrator's thresholds and prediction sets say of them.
fn find<'p>(
    classifier: &impl Classifier,
    slot: &Slot<'_>,
    scores: &Scores,
    word: Option<u32>,
    group: Option<u8>,
    (scratch, space): (&mut Scratch, &'p mut [f32]),
) -> Result<Found<'p>, Refusal> {
    let other_kind = Refusal::Kind { classes: classifier.kind().classes() };
    let output = output(classifier, slot, scores, scratch)?;
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
    scores: &'s Scores,
    scratch: &'s mut Scratch,
) -> Result<Output<'s>, Refusal> {
    let kind = classifier.kind();
    match scores {
        Scores::Features(values) => {
            classifier.classify(Features::new(values, classifier.feature_count())?, scratch)
        }
        Scores::Score(value) if kind == Kind::Binary => {
            Score::new(*value).map(Output::Binary).map_err(Refusal::Score)
        }
        Scores::Margin(value) if kind == Kind::Binary => {
            Margin::new(*value).map(Output::Margin).map_err(Refusal::Score)
        }
        Scores::Code(key) if kind == Kind::Binary => {
            let score = QuantizedScore::from_key(encoding_of_codes(slot)?, *key);
            score.map(Output::Code).map_err(Refusal::Code)
        }
        Scores::Logits(values) if kind.has_classes(values.len()) => {
            Logits::new(values).map(Output::Logits).map_err(Refusal::Logits)
        }
        Scores::Probs(values) if kind.has_classes(values.len()) => {
            Probs::new(values).map(Output::Probs).map_err(Refusal::Probs)
        }
        Scores::Codes(keys) if kind.has_classes(keys.len()) => codes(slot, keys).map(Output::Codes),
        _ => Err(Refusal::Kind { classes: kind.classes() }),
    }
}
