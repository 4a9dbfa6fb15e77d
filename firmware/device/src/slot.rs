//! The place in flash that holds a calibrator.

use calib_core::predict::{OtherClasses, OutputShape, Prediction, Predictor, Query, Ranked, Task};
use calib_core::slot::{Admitted, MonitorRoom, Refused, SlotFault, UnusableSlot};
use calib_core::wire::{CalibratorStatus, Missing, Refusal};
use calib_core::{Anybody, Artifact, ClassifierId, Outcome, ParseError, Uncalibrated};

/// What a calibrator slot holds for a classifier: a calibrator that fits it, or why there is none.
///
/// A calibrator that exists was checked against its bytes and against the classifier.
#[derive(Clone, Debug)]
pub struct Slot<'a> {
    task: Task,
    content: Result<Predictor<'a>, Missing>,
    fallback_from: Option<UnusableSlot>,
}

impl<'a> Slot<'a> {
    /// Reads a slot once, for the classifier of this identity and task.
    ///
    /// `bytes` is the whole slot and starts at a multiple of 4 in memory. An artifact that names another
    /// classifier, or is for another kind or number of scores, is not used.
    ///
    /// # Signatures
    ///
    /// No signature is looked at: who can write this slot decides what the device says, as it could write another program
    /// in its place. [`Anybody`] says so where it is called. A device that accepts only signed calibrators reads them from
    /// a [store](calib_core::SlotStore) and takes what that [admitted](Self::admitted); its key does not fit here:
    ///
    /// ```compile_fail,E0308
    /// # use calib_core::{Anybody, ClassifierId};
    /// # use calib_core::slot::Trust;
    /// # use calib_firmware::{Task, Slot};
    /// fn read<T: Trust>(slot: &[u8], key: T) -> Slot<'_> {
    ///     Slot::read(slot, key, ClassifierId([7; 8]), Task::Binary)
    /// }
    /// ```
    ///
    /// ```
    /// # use calib_core::{Anybody, ClassifierId};
    /// # use calib_core::slot::Trust;
    /// # use calib_firmware::{Task, Slot};
    /// fn read(slot: &[u8]) -> Slot<'_> {
    ///     Slot::read(slot, Anybody, ClassifierId([7; 8]), Task::Binary)
    /// }
    /// ```
    ///
    /// # Monitors
    ///
    /// An artifact that asks for an [action](Artifact::monitor_action) on its monitors' alarms is not used: see [`Slot::read_watched`].
    pub fn read(bytes: &'a [u8], trust: Anybody, id: ClassifierId, task: Task) -> Self {
        Self::read_watched(bytes, trust, id, task, MonitorRoom::NONE)
    }

    /// As [`Slot::read`], for a device whose monitors have [this room](crate::Watch::room).
    pub fn read_watched(
        bytes: &'a [u8],
        _: Anybody,
        id: ClassifierId,
        task: Task,
        room: MonitorRoom,
    ) -> Self {
        let content = Artifact::parse_slot(bytes).map_err(Missing::Artifact).and_then(|artifact| {
            if !artifact.is_for(id) || Task::of(&artifact) != task {
                return Err(other_classifier(&artifact));
            }
            if room.can_act_for(&artifact) { Ok(Predictor::new(artifact)) } else { Err(Missing::Monitors) }
        });
        Self { task, content, fallback_from: None }
    }

    /// What a [store](calib_core::SlotStore) loaded, for the classifier of this task.
    pub fn admitted(loaded: Result<Admitted<'a>, [SlotFault; 2]>, task: Task) -> Self {
        let content = loaded.map_err(Missing::Slots).and_then(|admitted| {
            let artifact = *admitted.artifact();
            if Task::of(&artifact) == task {
                Ok(Predictor::new(artifact))
            } else {
                Err(other_classifier(&artifact))
            }
        });
        Self { task, content, fallback_from: None }
    }

    /// The same slot with what its [store](calib_core::SlotStore) passed over to load it.
    pub fn falling_back_from(self, fallback_from: Option<UnusableSlot>) -> Self {
        Self { fallback_from, ..self }
    }

    /// Whether an artifact is for a classifier of this task.
    ///
    /// # Errors
    ///
    /// If it is not, or is none.
    pub fn fits(artifact: &[u8], task: Task) -> Result<(), Refused> {
        let artifact = Artifact::parse(artifact).map_err(Refused::Artifact)?;
        if Task::of(&artifact) == task {
            Ok(())
        } else {
            Err(Refused::OtherClassifier(artifact.header().provenance.classifier))
        }
    }

    /// The calibrator's description, or why there is none.
    ///
    /// # Errors
    ///
    /// Why the device is uncalibrated.
    pub fn status(&self) -> Result<CalibratorStatus, Missing> {
        let artifact = self.content.as_ref().map_err(|missing| *missing)?.artifact();
        let header = artifact.header();
        Ok(CalibratorStatus {
            identity: artifact.identity(),
            counter: artifact.counter(),
            // An artifact states its length in 32 bits.
            len_bytes: artifact.len_bytes() as u32,
            method: header.method,
            reduction: header.reduction,
            bins: header.bins,
            n: header.n,
            guarantee: header.guarantee,
            encoding: header.encoding,
            // A rule has at most 16 actions.
            actions: artifact.decision().map_or(0, |rule| rule.action_count() as u8),
        })
    }

    /// The artifact of the calibrator, if there is one.
    pub fn artifact(&self) -> Option<&Artifact<'a>> {
        self.content.as_ref().ok().map(Predictor::artifact)
    }

    /// The slot that may hold a newer calibrator and is of no use, as the store [said](Self::falling_back_from).
    pub const fn fallback_from(&self) -> Option<UnusableSlot> {
        self.fallback_from
    }

    /// Whether the calibrator is to be given a random word with every output.
    pub fn is_randomized(&self) -> bool {
        self.artifact().is_some_and(Artifact::is_randomized)
    }

    /// How many probabilities the calibrator gives.
    pub fn shape(&self) -> OutputShape {
        self.content.as_ref().map_or(OutputShape::One, Predictor::shape)
    }

    /// Says all that the calibrator says of an output; without a calibrator the outcome says why there is no probability.
    ///
    /// # Errors
    ///
    /// As [`Predictor::predict`]; [`Refusal::Kind`] if the output is not of the classifier's task.
    pub fn predict(&self, query: &Query<'_>) -> Result<Prediction, Refusal> {
        match &self.content {
            Ok(predictor) => predictor.predict_as(query),
            Err(missing) => self.uncalibrated(query, *missing).map(Prediction::from),
        }
    }

    /// Says all that the calibrator says of an output, and of the other classes, as [`Predictor::predict_classes`].
    ///
    /// # Errors
    ///
    /// As [`Slot::predict`].
    pub fn predict_classes<'p>(
        &self,
        query: &Query<'_>,
        space: &'p mut [f32],
    ) -> Result<(Prediction, OtherClasses<'p>), Refusal> {
        match &self.content {
            Ok(predictor) => predictor.predict_classes_as(query, space),
            Err(missing) => Ok((self.uncalibrated(query, *missing)?.into(), OtherClasses::None)),
        }
    }

    /// Calibrates an output that has [one](OutputShape::One) probability, without what thresholds, sets and rules say of it.
    ///
    /// # Errors
    ///
    /// As [`Slot::predict`].
    #[inline]
    pub fn calibrate(&self, query: &Query<'_>) -> Result<Ranked, Refusal> {
        match &self.content {
            Ok(predictor) => predictor.calibrate_as(query),
            Err(missing) => self.uncalibrated(query, *missing),
        }
    }

    /// Calibrates an output and the other classes, without what thresholds, sets and rules say of it.
    ///
    /// # Errors
    ///
    /// As [`Slot::predict`].
    pub fn calibrate_classes<'p>(
        &self,
        query: &Query<'_>,
        space: &'p mut [f32],
    ) -> Result<(Ranked, OtherClasses<'p>), Refusal> {
        match &self.content {
            Ok(predictor) => predictor.calibrate_classes_as(query, space),
            Err(missing) => Ok((self.uncalibrated(query, *missing)?, OtherClasses::None)),
        }
    }

    // Not inlined: its frame would lie below that of the calibrator.
    #[inline(never)]
    fn uncalibrated(&self, query: &Query<'_>, missing: Missing) -> Result<Ranked, Refusal> {
        if !self.task.gives(&query.output) {
            return Err(Refusal::Kind { classes: self.task.classes() });
        }
        let (class, score) = query.output.first();
        Ok(Ranked { class, score, outcome: Outcome::Uncalibrated(reason(missing)) })
    }
}

const fn other_classifier(artifact: &Artifact<'_>) -> Missing {
    Missing::OtherClassifier(artifact.header().provenance.classifier)
}

/// The short form of why a calibrator is missing.
const fn reason(missing: Missing) -> Uncalibrated {
    match missing {
        Missing::Artifact(ParseError::Blank) => Uncalibrated::NoArtifact,
        Missing::OtherClassifier(_) => Uncalibrated::OtherClassifier,
        Missing::Monitors => Uncalibrated::NotMonitored,
        Missing::Slots([first, second]) => match (first, second) {
            (SlotFault::Refused(Refused::OtherClassifier(_)), _)
            | (_, SlotFault::Refused(Refused::OtherClassifier(_))) => Uncalibrated::OtherClassifier,
            (SlotFault::Refused(Refused::Monitors), _) | (_, SlotFault::Refused(Refused::Monitors)) => {
                Uncalibrated::NotMonitored
            }
            (SlotFault::Blank | SlotFault::Uncommitted, SlotFault::Blank | SlotFault::Uncommitted) => {
                Uncalibrated::NoArtifact
            }
            _ => Uncalibrated::BadArtifact,
        },
        Missing::Artifact(_) => Uncalibrated::BadArtifact,
    }
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::Reduction;
    use calib_core::predict::{Output, ScoreEcho};
    use calib_core::score::CodeVector;
    use calib_core::{Logits, Margin, Probs, QuantizedScore, Score};

    use super::*;
    use crate::testing::{
        ID, LOGITS, OTHER_ID, SOFTMAX, binary_artifact, top_label_artifact, top_label_code_artifact,
        top_label_code_margin_artifact, top_label_margin_artifact,
    };

    const HALF: Output<'_> = match Score::new(0.5) {
        Ok(score) => Output::Score(score),
        Err(_) => unreachable!(),
    };

    fn outcome(slot: &Slot<'_>, output: Output<'_>) -> Outcome {
        slot.calibrate(&output.into()).unwrap().outcome
    }

    #[test]
    fn a_fitting_calibrator_is_used() {
        for id in [Some(ID), None] {
            let artifact = binary_artifact(id);
            let slot = Slot::read(artifact.as_bytes(), Anybody, ID, Task::Binary);
            let status = slot.status().unwrap();
            assert_eq!((status.reduction, status.bins), (Reduction::Binary, 3));
            assert_eq!(status.len_bytes as usize, artifact.as_bytes().len());
            let Outcome::Calibrated(calibrated) = outcome(&slot, HALF) else { panic!("uncalibrated") };
            assert_eq!((calibrated.prob, calibrated.bin), (0.4, 1));
        }
    }

    #[test]
    fn another_classifier_or_another_shape_is_refused() {
        let shapes = [
            (binary_artifact(Some(OTHER_ID)), Task::Binary, Some(OTHER_ID)),
            (binary_artifact(Some(ID)), Task::TopLabel { classes: 2 }, Some(ID)),
            (top_label_artifact(Some(ID)), Task::Binary, Some(ID)),
            (top_label_artifact(None), Task::TopLabel { classes: 4 }, None),
        ];
        for (artifact, kind, named) in shapes {
            let slot = Slot::read(artifact.as_bytes(), Anybody, ID, kind);
            assert_eq!(slot.status(), Err(Missing::OtherClassifier(named)));
        }
    }

    #[test]
    fn no_damage_gives_a_number() {
        let good = binary_artifact(Some(ID));
        for bit in 0..8 * good.as_bytes().len() {
            let mut bad = good.clone();
            bad.flip(bit);
            let slot = Slot::read(bad.as_bytes(), Anybody, ID, Task::Binary);
            assert!(matches!(slot.status(), Err(Missing::Artifact(_))), "bit {bit} went unnoticed");
            assert_eq!(outcome(&slot, HALF), Outcome::Uncalibrated(Uncalibrated::BadArtifact));
        }
        for blank in [0x00, 0xFF] {
            let slot = [blank; 256];
            let slot = Slot::read(&slot, Anybody, ID, Task::Binary);
            assert_eq!(slot.status(), Err(Missing::Artifact(ParseError::Blank)));
            assert_eq!(outcome(&slot, HALF), Outcome::Uncalibrated(Uncalibrated::NoArtifact));
        }
    }

    /// One output for calibrators of codes and of floats.
    #[test]
    fn quantized_logits_are_taken_as_what_the_calibrator_was_fitted_to() {
        // 9 codes apart, a quarter each.
        let keys = [159, 150, 100];
        let codes = CodeVector::new(LOGITS, &keys).unwrap();
        let floats = keys.map(|key| QuantizedScore::from_key(LOGITS, key).unwrap().dequantized());
        let logits = Logits::new(&floats).unwrap();
        let (output, kind) = (Output::QuantizedLogits { codes, logits }, Task::TopLabel { classes: 3 });
        let (top2_margin, margin) = (ScoreEcho::Top2Margin(9), ScoreEcho::Margin(Margin::new(2.25).unwrap()));
        let softmax = ScoreEcho::F32(logits.top_label().score);
        for (artifact, score, prob) in [
            (top_label_code_margin_artifact(), top2_margin, 0.75),
            (top_label_margin_artifact(), margin, 0.75),
            (top_label_artifact(Some(ID)), softmax, 0.3),
        ] {
            let slot = Slot::read(artifact.as_bytes(), Anybody, ID, kind);
            let Ranked { class, score: got, outcome } = slot.calibrate(&output.into()).unwrap();
            assert_eq!((class, got, outcome.calibrated().unwrap().prob), (0, score, prob));
        }
        // Codes of other steps than the calibrator's are refused as ever, and without a calibrator codes are told.
        let other = top_label_code_artifact();
        let other = Slot::read(other.as_bytes(), Anybody, ID, kind);
        assert_eq!(other.calibrate(&output.into()), Err(Refusal::Encoding(SOFTMAX)));
        let none = Slot::read(&[], Anybody, ID, kind).calibrate(&output.into()).unwrap();
        assert_eq!((none.class, none.score), (0, ScoreEcho::Code(159)));
        let binary = Slot::read(&[], Anybody, ID, Task::Binary);
        assert_eq!(binary.calibrate(&output.into()), Err(Refusal::Kind { classes: 2 }));
    }

    #[test]
    fn an_output_of_another_kind_is_refused() {
        let row = [0.25; 4];
        let probs = Output::Probs(Probs::new(&row).unwrap());
        let binary = Slot::read(&[], Anybody, ID, Task::Binary);
        assert_eq!(binary.calibrate(&probs.into()), Err(Refusal::Kind { classes: 2 }));
        let ternary = Slot::read(&[], Anybody, ID, Task::TopLabel { classes: 3 });
        assert_eq!(ternary.calibrate(&probs.into()), Err(Refusal::Kind { classes: 3 }));
        assert_eq!(ternary.calibrate(&HALF.into()), Err(Refusal::Kind { classes: 3 }));
    }
}
