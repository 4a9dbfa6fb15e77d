//! What a device predicts.

use calib_core::artifact::MonitorAction;
use calib_core::predict::{OtherClasses, Output, Prediction, Query, Ranked, Task};
use calib_core::score::{CodeVector, CodeVectorError};
use calib_core::wire::{Answer, Beside, MAX_VALUES, Question, Refusal, Reply, ReplyBody, Scores};
use calib_core::{Logits, Margin, Outcome, Probs, QuantizedScore, Score, ScoreEncoding, Uncalibrated};
use embedded_hal::digital::OutputPin;

use super::Device;
use crate::{Alarm, Classifier, Entropy, Features, Meter, Scratch, Slot, Watch, log};

/// The outcome where the monitors raised an alarm, and no probability is wanted from then on.
const ALARMED: Outcome = Outcome::Uncalibrated(Uncalibrated::Alarmed);

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
        let query = output(classifier, slot, &question.scores, scratch).map(|output| Query {
            output,
            group: question.group,
            word,
        });
        let predicted = match &query {
            Ok(query) => slot.predict_classes(query, space),
            Err(refusal) => Err(*refusal),
        };
        // Looked at where they are: the other classes are of half a kilobyte.
        let refusal = match &predicted {
            // A classifier's output has no more classes than a list has room for.
            Ok((_, OtherClasses::Probs(probs))) if probs.classes() > MAX_VALUES => {
                Refusal::Kind { classes: probs.classes() as u16 }
            }
            Ok((prediction, others)) => {
                let mut told = tell(prediction, slot, alarm, active_monitor_action(slot, watch))?;
                if let Some(artifact) = slot.artifact().filter(|_| !question.is_trial()) {
                    let before = active_monitor_action(slot, watch);
                    watch.count(artifact, prediction.group, &prediction.first);
                    // The prediction with which an alarm comes is answered as those after it.
                    let now = active_monitor_action(slot, watch);
                    if now != before {
                        told = tell(prediction, slot, alarm, now)?;
                    }
                }
                let (Prediction { first, group, verdict, set, action, .. }, alarm) = told;
                let Ranked { class, score, outcome } = first;
                log::prediction(class, score, outcome, alarm);
                let of_artifact = slot.artifact().zip(query.as_ref().ok());
                let beside = match of_artifact.and_then(|(artifact, query)| artifact.band_at(&query.output)) {
                    // What withholds the probability withholds what is said of it.
                    Some(band) if outcome != ALARMED => Beside::Band(band),
                    _ => others.into(),
                };
                let answer =
                    Answer { class, score, outcome, alarm, word, action, group, verdict, set, beside };
                return Ok(Reply { id, body: ReplyBody::Answer(answer) });
            }
            Err(refusal) => *refusal,
        };
        alarm.raise()?;
        log::refused(refusal);
        Ok(Reply { id, body: ReplyBody::Refused(refusal) })
    }

    /// Raises the alarm if that is done on an alarm of the monitors, and there is one.
    pub(super) fn hold_alarm(&mut self) -> Result<(), P::Error> {
        match active_monitor_action(&self.slot, &self.watch) {
            Some(_) => self.alarm.raise(),
            None => Ok(()),
        }
    }
}

/// What is done now because the monitors raised an alarm.
fn active_monitor_action(slot: &Slot<'_>, watch: &impl Watch) -> Option<MonitorAction> {
    slot.artifact()?.monitor_action().filter(|_| watch.is_alarmed())
}

/// Sets the alarm by what the calibrator decides, or else by the built-in rule; after an alarm of the monitors by what is done then.
/// Returns what is said of the prediction, and whether the alarm is raised.
fn tell<P: OutputPin>(
    prediction: &Prediction,
    slot: &Slot<'_>,
    alarm: &mut Alarm<P>,
    monitors: Option<MonitorAction>,
) -> Result<(Prediction, bool), P::Error> {
    let Some(monitors) = monitors else {
        let is_raised = match prediction.alarm {
            Some(is_raised) => alarm.set(is_raised)?,
            None => alarm.update(&prediction.first.outcome)?,
        };
        return Ok((*prediction, is_raised));
    };
    // The pin does not fall in between.
    alarm.raise()?;
    let told = match monitors {
        MonitorAction::Alarm => *prediction,
        MonitorAction::Uncalibrated => {
            let rule = slot.artifact().and_then(|artifact| artifact.decision());
            let action = rule.map(|rule| rule.decide(&ALARMED, || None));
            let first = Ranked { outcome: ALARMED, ..prediction.first };
            Prediction { first, action, verdict: None, set: None, ..*prediction }
        }
    };
    Ok((told, true))
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
    match slot.artifact().map(|artifact| artifact.header().encoding) {
        Some(encoding) if encoding.is_quantized() => Ok(encoding),
        Some(encoding) => Err(Refusal::Encoding(encoding)),
        None => Ok(ScoreEncoding::U16 { scale: 1.0, zero_point: 0 }),
    }
}

/// The output to calibrate: the classifier's, or what the host sent in its place.
fn output<'s>(
    classifier: &impl Classifier,
    slot: &Slot<'_>,
    scores: &'s Scores,
    scratch: &'s mut Scratch,
) -> Result<Output<'s>, Refusal> {
    let task = classifier.task();
    match scores {
        Scores::Features(values) => {
            classifier.classify(Features::new(values, classifier.feature_count())?, scratch)
        }
        Scores::Score(value) if task == Task::Binary => {
            Score::new(*value).map(Output::Score).map_err(Refusal::Score)
        }
        Scores::Margin(value) if task == Task::Binary => {
            Margin::new(*value).map(Output::Margin).map_err(Refusal::Score)
        }
        Scores::Code(key) if task == Task::Binary => {
            let score = QuantizedScore::from_key(encoding_of_codes(slot)?, *key);
            score.map(Output::Code).map_err(Refusal::Code)
        }
        Scores::Logits(values) if task.has_classes(values.len()) => {
            Logits::new(values).map(Output::Logits).map_err(Refusal::Logits)
        }
        Scores::Probs(values) if task.has_classes(values.len()) => {
            Probs::new(values).map(Output::Probs).map_err(Refusal::Probs)
        }
        Scores::Codes(keys) if task.has_classes(keys.len()) => codes(slot, keys).map(Output::Codes),
        _ => Err(Refusal::Kind { classes: task.classes() }),
    }
}
