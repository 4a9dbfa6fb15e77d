//! The place in flash that holds a calibrator.

use calib_core::artifact::Reduction;
use calib_core::calibrator::GroupedCalibrator;
use calib_core::decision::{ClassSet, Verdict};
use calib_core::score::CodeVector;
use calib_core::slot::{Admitted, MonitorRoom, PassedOver, Refused, SlotFault};
use calib_core::wire::{CalibratorStatus, Missing, RankedList, Refusal, ScoreEcho};
use calib_core::{
    Anybody, Artifact, Calibrator, ClassProbs, ClassifierId, DecisionRule, Logits, Outcome, ParseError,
    PredictionSets, QuantizedScore, ScoreEncoding, ScoreVector, TopLabel, TopLabelCodeMargin, TopLabelMargin,
    Uncalibrated,
};

use crate::{Kind, Output};

/// What a calibrator slot holds for a classifier: a calibrator that fits it, or why there is none.
///
/// A calibrator that exists was checked against its bytes and against the classifier.
#[derive(Clone, Debug)]
pub struct Slot<'a> {
    kind: Kind,
    content: Result<Content<'a>, Missing>,
    passed_over: Option<PassedOver>,
}

/// An artefact, and the calibrator that it holds: made once, not for every score.
#[derive(Clone, Debug)]
struct Content<'a> {
    artifact: Artifact<'a>,
    /// The calibrator, of an artefact with groups the one of the group that was asked for last.
    calibrator: Calibrator<'a>,
    groups: Option<GroupedCalibrator<'a>>,
}

/// A calibrated output: of class 1 of a binary classifier, otherwise of the predicted class.
pub type Calibration = calib_core::wire::Ranked;

/// How many probabilities a calibrator gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Gives {
    /// One: [`Slot::calibrate`]. Or none, because there is no calibrator.
    One,
    /// One for each of the first few classes: [`Slot::calibrate_top_k`].
    TopK,
    /// One for each class: [`Slot::calibrate_classes`].
    Classes,
}

impl<'a> Slot<'a> {
    /// Reads a slot once, for the classifier of this identity and kind.
    ///
    /// `bytes` is the whole slot and starts at a multiple of 4 in memory. An artefact that names another
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
    /// # use calib_firmware::{Kind, Slot};
    /// fn read<T: Trust>(slot: &[u8], key: T) -> Slot<'_> {
    ///     Slot::read(slot, key, ClassifierId([7; 8]), Kind::Binary)
    /// }
    /// ```
    ///
    /// ```
    /// # use calib_core::{Anybody, ClassifierId};
    /// # use calib_core::slot::Trust;
    /// # use calib_firmware::{Kind, Slot};
    /// fn read(slot: &[u8]) -> Slot<'_> {
    ///     Slot::read(slot, Anybody, ClassifierId([7; 8]), Kind::Binary)
    /// }
    /// ```
    ///
    /// # Monitors
    ///
    /// An artefact that asks for an [action](Artifact::monitor_action) on its monitors' alarms is not used: see [`Slot::read_watched`].
    pub fn read(bytes: &'a [u8], trust: Anybody, id: ClassifierId, kind: Kind) -> Self {
        Self::read_watched(bytes, trust, id, kind, MonitorRoom::NONE)
    }

    /// As [`Slot::read`], for a device whose monitors have [this room](crate::Watch::room).
    pub fn read_watched(
        bytes: &'a [u8],
        _: Anybody,
        id: ClassifierId,
        kind: Kind,
        room: MonitorRoom,
    ) -> Self {
        let content = Artifact::parse_slot(bytes).map_err(Missing::Artifact).and_then(|artifact| {
            let content = Content::of(artifact, kind);
            let content = content.filter(|_| artifact.is_for(id)).ok_or(other_classifier(&artifact))?;
            if room.can_act_for(&artifact) { Ok(content) } else { Err(Missing::Monitors) }
        });
        Self { kind, content, passed_over: None }
    }

    /// What a [store](calib_core::SlotStore) loaded, for the classifier of this kind.
    pub fn admitted(loaded: Result<Admitted<'a>, [SlotFault; 2]>, kind: Kind) -> Self {
        let content = loaded.map_err(Missing::Slots).and_then(|admitted| {
            let artifact = *admitted.artifact();
            Content::of(artifact, kind).ok_or(other_classifier(&artifact))
        });
        Self { kind, content, passed_over: None }
    }

    /// The same slot with what its [store](calib_core::SlotStore) passed over to load it.
    pub fn passing_over(self, passed_over: Option<PassedOver>) -> Self {
        Self { passed_over, ..self }
    }

    /// Whether an artefact is for a classifier of this kind.
    ///
    /// # Errors
    ///
    /// If it is not, or is none.
    pub fn fits(artifact: &[u8], kind: Kind) -> Result<(), Refused> {
        let artifact = Artifact::parse(artifact).map_err(Refused::Artifact)?;
        match Content::of(artifact, kind) {
            Some(_) => Ok(()),
            None => Err(Refused::OtherClassifier(artifact.header().provenance.classifier)),
        }
    }

    /// The calibrator's description, or why there is none.
    ///
    /// # Errors
    ///
    /// Why the device is uncalibrated.
    pub fn status(&self) -> Result<CalibratorStatus, Missing> {
        let Content { artifact, .. } = self.content.as_ref().map_err(|missing| *missing)?;
        let header = artifact.header();
        Ok(CalibratorStatus {
            identity: artifact.identity(),
            counter: artifact.counter(),
            // An artefact states its length in 32 bits.
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

    /// The artefact of the calibrator, if there is one.
    pub fn artifact(&self) -> Option<&Artifact<'a>> {
        self.content.as_ref().ok().map(|content| &content.artifact)
    }

    /// The slot that may hold a newer calibrator and is of no use, as the store [said](Self::passing_over).
    pub const fn passed_over(&self) -> Option<PassedOver> {
        self.passed_over
    }

    /// Whether the calibrator is to be given a random word with every output.
    pub fn is_randomized(&self) -> bool {
        self.content.as_ref().is_ok_and(|content| content.artifact.is_randomized())
    }

    /// The calibrator's own decision rule, if there is a calibrator and it has one.
    pub fn decision(&self) -> Option<&DecisionRule<'a>> {
        self.content.as_ref().ok()?.artifact.decision()
    }

    /// What kind of number the calibrator takes for a score.
    ///
    /// # Errors
    ///
    /// Why there is no calibrator, if there is none.
    pub fn encoding(&self) -> Result<ScoreEncoding, Uncalibrated> {
        match &self.content {
            Ok(content) => Ok(content.artifact.header().encoding),
            Err(missing) => Err(reason(*missing)),
        }
    }

    /// How many probabilities the calibrator gives.
    pub fn gives(&self) -> Gives {
        match self.calibrator() {
            Ok(Calibrator::TopK(_)) => Gives::TopK,
            Ok(Calibrator::Vector(_)) => Gives::Classes,
            _ => Gives::One,
        }
    }

    /// Calibrates an output; without a calibrator the outcome says why there is no probability.
    ///
    /// `word` is a random word for a calibrator that [is randomised](Slot::is_randomized). Without one it still
    /// calibrates, but promises nothing: the outcome has no epsilon.
    ///
    /// # Errors
    ///
    /// [`Refusal::Kind`] if the output is not of the classifier's kind, or the calibrator gives more than
    /// [one](Gives::One) probability; [`Refusal::Encoding`] if the score is in another encoding than the calibrator's;
    /// [`Refusal::ClassScore`] if the code of the predicted class meets a calibrator of its lead, or the other way round.
    #[inline]
    pub fn calibrate(&self, output: Output<'_>, word: Option<u32>) -> Result<Calibration, Refusal> {
        if !output.is_of(self.kind) {
            return Err(self.other_kind());
        }
        match output {
            Output::Binary(score) => self.score(TopLabel { class: 1, score }, word),
            Output::Margin(margin) => self.margin(TopLabelMargin { class: 1, margin }, word),
            Output::Logits(logits) => self.logits(logits, word),
            Output::Probs(probs) => self.score(probs.top_label(), word),
            Output::Code(score) => self.code(1, score),
            Output::TopLabelCode(top) => self.code(top.class(), top.score()),
            Output::TopLabelCodeMargin(top) => self.lead(top),
            Output::QuantizedLogits { logits, .. } if self.takes_floats() => self.logits(logits, word),
            Output::Codes(codes) | Output::QuantizedLogits { codes, .. } => self.codes(codes),
        }
    }

    /// Takes the tables of the group with this code from now on, and returns the code if the tables or thresholds are each group's
    /// own. Without groups the code is not looked at.
    ///
    /// # Errors
    ///
    /// [`Refusal::Group`] if there are groups, and none has this code.
    pub fn select(&mut self, group: Option<u8>) -> Result<Option<u8>, Refusal> {
        let Ok(Content { artifact, calibrator, groups }) = &mut self.content else { return Ok(None) };
        let Some(names) = artifact.groups() else { return Ok(None) };
        // There are at most 255.
        let refusal = Refusal::Group(names.count() as u8);
        let code = group.filter(|&code| usize::from(code) < names.count()).ok_or(refusal)?;
        if let Some(groups) = groups {
            *calibrator = groups.of_group(code).ok_or(refusal)?;
        }
        Ok(Some(code))
    }

    /// What the calibrator's thresholds say of a score, and whether that raises the alarm; `None` if it has no thresholds.
    ///
    /// `group` is what [`Slot::select`] returned. Where all groups have the same thresholds, or there are none, it is not looked at.
    ///
    /// # Errors
    ///
    /// [`Refusal::Encoding`] if the thresholds are of other scores, [`Refusal::Group`] if there is no such group.
    pub fn verdict(&self, score: &ScoreEcho, group: Option<u8>) -> Result<Option<(Verdict, bool)>, Refusal> {
        let points = self.content.as_ref().ok().and_then(|content| content.artifact.operating_points());
        let Some(points) = points else { return Ok(None) };
        let group = match points.groups() {
            1 => 0,
            groups => group.map(usize::from).ok_or(Refusal::Group(groups as u8))?,
        };
        let verdict = match *score {
            ScoreEcho::F32(score) => points.point(group).map(|point| point.verdict(score)),
            ScoreEcho::Margin(margin) => points.point(group).map(|point| point.verdict(margin)),
            ScoreEcho::Code(key) => points.code_point(group).and_then(|point| {
                let score = QuantizedScore::from_key(points.encoding(), key).ok()?;
                point.verdict(score).ok()
            }),
            ScoreEcho::Lead(_) => None,
        };
        let verdict = verdict.ok_or(Refusal::Encoding(points.encoding()))?;
        Ok(Some((verdict, points.is_raised_by(verdict))))
    }

    /// The calibrator's prediction sets, if it has some.
    pub fn prediction_sets(&self) -> Option<&PredictionSets<'a>> {
        self.content.as_ref().ok()?.artifact.prediction_sets()
    }

    /// The prediction set of an output; `None` if the calibrator has no sets.
    ///
    /// # Errors
    ///
    /// [`Refusal::AllClasses`] if the output is the predicted class's code alone, [`Refusal::Encoding`] if the sets are of other
    /// scores.
    pub fn prediction_set(&self, output: &Output<'_>) -> Result<Option<ClassSet>, Refusal> {
        let Some(sets) = self.prediction_sets() else { return Ok(None) };
        let set = match *output {
            Output::Binary(score) => sets.of_score(score),
            Output::Margin(margin) => sets.of_margin(margin),
            Output::Code(score) => sets.of_code(score),
            Output::Logits(logits) => sets.of_logits(logits),
            Output::Probs(probs) => sets.of_probs(probs),
            Output::QuantizedLogits { logits, .. } if !sets.encoding().is_quantized() => {
                sets.of_logits(logits)
            }
            Output::Codes(codes) | Output::QuantizedLogits { codes, .. }
                if codes.encoding() == sets.encoding() =>
            {
                sets.of_keys(codes.keys()).ok()
            }
            Output::Codes(_) | Output::QuantizedLogits { .. } => None,
            Output::TopLabelCode(_) | Output::TopLabelCodeMargin(_) => return Err(Refusal::AllClasses),
        };
        set.map(Some).ok_or(Refusal::Encoding(sets.encoding()))
    }

    /// Calibrates codes by what the calibrator takes: the highest one, or its lead.
    #[inline]
    fn codes(&self, codes: CodeVector<'_>) -> Result<Calibration, Refusal> {
        if self.takes_lead() {
            return self.lead(codes.top_label_margin());
        }
        let top = codes.top_label();
        self.code(top.class(), top.score())
    }

    /// Calibrates logits by what the calibrator takes: only one that does not take their lead needs exponentials.
    #[inline]
    fn logits(&self, logits: Logits<'_>, word: Option<u32>) -> Result<Calibration, Refusal> {
        match self.calibrator() {
            Ok(Calibrator::TopLabelMargin(_)) => self.margin(logits.top_label_margin(), word),
            _ => self.score(logits.top_label(), word),
        }
    }

    /// Calibrates the margin of a class, which is 1 of a binary classifier and otherwise the predicted one.
    // Not inlined: its frame would lie below that of the other paths.
    #[inline(never)]
    fn margin(&self, top: TopLabelMargin, word: Option<u32>) -> Result<Calibration, Refusal> {
        let outcome = match &self.content {
            Ok(Content { artifact, calibrator, .. }) => match calibrator {
                Calibrator::BinaryMargin(binary) => binary.calibrate_with(top.margin, word),
                Calibrator::TopLabelMargin(top_label) => top_label.calibrate_with(top, word),
                Calibrator::None if artifact.header().encoding.is_margin() => NO_TABLE,
                _ => return Err(Refusal::Encoding(artifact.header().encoding)),
            },
            Err(missing) => Outcome::Uncalibrated(reason(*missing)),
        };
        Ok(Calibration { class: top.class, score: ScoreEcho::Margin(top.margin), outcome })
    }

    #[inline]
    fn score(&self, top: TopLabel, word: Option<u32>) -> Result<Calibration, Refusal> {
        let outcome = match &self.content {
            Ok(Content { artifact, calibrator, .. }) => match calibrator {
                Calibrator::Binary(binary) => binary.calibrate_with(top.score, word),
                Calibrator::TopLabel(top_label) => top_label.calibrate_with(top, word),
                Calibrator::TopK(_) | Calibrator::Vector(_) => return Err(self.other_kind()),
                Calibrator::None if artifact.header().encoding == ScoreEncoding::F32 => NO_TABLE,
                _ => return Err(Refusal::Encoding(artifact.header().encoding)),
            },
            Err(missing) => Outcome::Uncalibrated(reason(*missing)),
        };
        Ok(calibration(top, outcome))
    }

    /// Calibrates the code of the score of a class, which is 1 of a binary classifier and otherwise the predicted one.
    // One for all callers: inlined, it took more flash.
    #[inline(never)]
    pub(crate) fn code(&self, class: u16, score: QuantizedScore) -> Result<Calibration, Refusal> {
        let outcome = match &self.content {
            Ok(Content { artifact, calibrator, .. }) => match calibrator {
                Calibrator::BinaryCode(binary) => binary.calibrate(score),
                Calibrator::TopLabelCode(top_label) => top_label.calibrate(class, score),
                Calibrator::TopLabelCodeMargin(_) => return Err(Refusal::ClassScore),
                Calibrator::None if artifact.header().encoding == score.encoding() => Ok(NO_TABLE),
                _ => return Err(Refusal::Encoding(artifact.header().encoding)),
            }
            .map_err(|error| Refusal::Encoding(error.expected))?,
            Err(missing) => Outcome::Uncalibrated(reason(*missing)),
        };
        Ok(Calibration { class, score: ScoreEcho::Code(score.key()), outcome })
    }

    /// Calibrates the lead of the predicted class's code.
    #[inline(never)]
    pub(crate) fn lead(&self, top: TopLabelCodeMargin) -> Result<Calibration, Refusal> {
        let outcome = match &self.content {
            Ok(Content { artifact, calibrator, .. }) => match calibrator {
                Calibrator::TopLabelCodeMargin(top_label) => top_label.calibrate(top),
                Calibrator::TopLabelCode(_) => return Err(Refusal::ClassScore),
                _ => return Err(Refusal::Encoding(artifact.header().encoding)),
            }
            .map_err(|error| Refusal::Encoding(error.expected))?,
            Err(missing) => Outcome::Uncalibrated(reason(*missing)),
        };
        Ok(Calibration { class: top.class(), score: ScoreEcho::Lead(top.lead()), outcome })
    }

    /// Whether there is a calibrator, and it takes floats.
    fn takes_floats(&self) -> bool {
        self.encoding().is_ok_and(|encoding| !encoding.is_quantized())
    }

    /// Whether the calibrator takes the lead of the predicted class's code, and not the code.
    pub(crate) fn takes_lead(&self) -> bool {
        matches!(self.calibrator(), Ok(Calibrator::TopLabelCodeMargin(_)))
    }
}

impl Slot<'_> {
    /// Calibrates the first few classes: returns the first, and the others in descending order of score.
    ///
    /// # Errors
    ///
    /// [`Refusal::Kind`] if the vector is not of the classifier's kind, or the calibrator [gives](Slot::gives) something
    /// else.
    pub fn calibrate_top_k(
        &self,
        vector: ScoreVector<'_>,
        word: Option<u32>,
    ) -> Result<(Calibration, RankedList), Refusal> {
        let Ok(Calibrator::TopK(calibrator)) = self.calibrator() else { return Err(self.other_kind()) };
        let ranked = calibrator.calibrate_all(vector, word).map_err(|_| self.other_kind())?;
        let mut ranked = ranked.map(|(top, outcome)| calibration(top, outcome));
        // There is at least one rank, and room for all.
        let first = ranked.next().ok_or(Refusal::Kind { classes: 0 })?;
        Ok((first, ranked.collect()))
    }

    /// Calibrates every class, into `space`, and says what is known of the predicted one.
    ///
    /// # Errors
    ///
    /// As [`Slot::calibrate_top_k`].
    pub fn calibrate_classes<'p>(
        &self,
        vector: ScoreVector<'_>,
        word: Option<u32>,
        space: &'p mut [f32],
    ) -> Result<(Calibration, ClassProbs<'p>), Refusal> {
        let Ok(Calibrator::Vector(calibrator)) = self.calibrator() else { return Err(self.other_kind()) };
        let probs = calibrator.calibrate(vector, word, space).map_err(|_| self.other_kind())?;
        let top = vector.top_label();
        Ok((calibration(top, calibrator.outcome(top, word, probs)), probs))
    }

    const fn calibrator(&self) -> Result<&Calibrator<'_>, Missing> {
        match &self.content {
            Ok(content) => Ok(&content.calibrator),
            Err(missing) => Err(*missing),
        }
    }

    const fn other_kind(&self) -> Refusal {
        Refusal::Kind { classes: self.kind.classes() }
    }
}

/// The outcome where there is no calibrator beside thresholds or sets.
const NO_TABLE: Outcome = Outcome::Uncalibrated(Uncalibrated::NoTable);

const fn calibration(top: TopLabel, outcome: Outcome) -> Calibration {
    Calibration { class: top.class, score: ScoreEcho::F32(top.score), outcome }
}

impl<'a> Content<'a> {
    /// The calibrator of an artefact; `None` if it is for another kind or number of scores.
    fn of(artifact: Artifact<'a>, kind: Kind) -> Option<Self> {
        let (calibrator, groups) = match artifact.calibrator() {
            // The tables of all groups are alike.
            Calibrator::Grouped(groups) => (groups.of_group(0)?, Some(groups)),
            calibrator => (calibrator, None),
        };
        let fits = match calibrator {
            Calibrator::Binary(_) | Calibrator::BinaryMargin(_) | Calibrator::BinaryCode(_) => {
                kind == Kind::Binary
            }
            Calibrator::TopLabel(top) => kind.has_classes(top.classes()),
            Calibrator::TopLabelCode(top) => kind.has_classes(top.classes()),
            Calibrator::TopLabelMargin(top) => kind.has_classes(top.classes()),
            Calibrator::TopLabelCodeMargin(top) => kind.has_classes(top.classes()),
            Calibrator::TopK(top) => kind.has_classes(top.classes()),
            Calibrator::Vector(vector) => kind.has_classes(vector.classes()),
            Calibrator::None => match artifact.header().reduction {
                Reduction::Binary => kind == Kind::Binary,
                _ => kind.has_classes(artifact.header().classes.into()),
            },
            _ => false,
        };
        fits.then_some(Self { artifact, calibrator, groups })
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
    use calib_core::{Margin, Probs, Score};

    use super::*;
    use crate::testing::{
        ID, LOGITS, OTHER_ID, SOFTMAX, binary_artifact, top_label_artifact, top_label_code_artifact,
        top_label_code_margin_artifact, top_label_margin_artifact,
    };

    const HALF: Output<'_> = match Score::new(0.5) {
        Ok(score) => Output::Binary(score),
        Err(_) => unreachable!(),
    };

    fn outcome(slot: &Slot<'_>, output: Output<'_>) -> Outcome {
        slot.calibrate(output, None).unwrap().outcome
    }

    #[test]
    fn a_fitting_calibrator_is_used() {
        for id in [Some(ID), None] {
            let artifact = binary_artifact(id);
            let slot = Slot::read(artifact.as_bytes(), Anybody, ID, Kind::Binary);
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
            (binary_artifact(Some(OTHER_ID)), Kind::Binary, Some(OTHER_ID)),
            (binary_artifact(Some(ID)), Kind::TopLabel { classes: 2 }, Some(ID)),
            (top_label_artifact(Some(ID)), Kind::Binary, Some(ID)),
            (top_label_artifact(None), Kind::TopLabel { classes: 4 }, None),
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
            let slot = Slot::read(bad.as_bytes(), Anybody, ID, Kind::Binary);
            assert!(matches!(slot.status(), Err(Missing::Artifact(_))), "bit {bit} went unnoticed");
            assert_eq!(outcome(&slot, HALF), Outcome::Uncalibrated(Uncalibrated::BadArtifact));
        }
        for blank in [0x00, 0xFF] {
            let slot = [blank; 256];
            let slot = Slot::read(&slot, Anybody, ID, Kind::Binary);
            assert_eq!(slot.status(), Err(Missing::Artifact(ParseError::Blank)));
            assert_eq!(outcome(&slot, HALF), Outcome::Uncalibrated(Uncalibrated::NoArtifact));
        }
    }

    /// One output for calibrators of codes and of floats.
    #[test]
    fn quantised_logits_are_taken_as_what_the_calibrator_was_fitted_to() {
        // 9 codes apart, a quarter each.
        let keys = [159, 150, 100];
        let codes = CodeVector::new(LOGITS, &keys).unwrap();
        let floats = keys.map(|key| QuantizedScore::from_key(LOGITS, key).unwrap().dequantized());
        let logits = Logits::new(&floats).unwrap();
        let (output, kind) = (Output::QuantizedLogits { codes, logits }, Kind::TopLabel { classes: 3 });
        let (lead, margin) = (ScoreEcho::Lead(9), ScoreEcho::Margin(Margin::new(2.25).unwrap()));
        let softmax = ScoreEcho::F32(logits.top_label().score);
        for (artifact, score, prob) in [
            (top_label_code_margin_artifact(), lead, 0.75),
            (top_label_margin_artifact(), margin, 0.75),
            (top_label_artifact(Some(ID)), softmax, 0.3),
        ] {
            let slot = Slot::read(artifact.as_bytes(), Anybody, ID, kind);
            let Calibration { class, score: got, outcome } = slot.calibrate(output, None).unwrap();
            assert_eq!((class, got, outcome.calibrated().unwrap().prob), (0, score, prob));
        }
        // Codes of other steps than the calibrator's are refused as ever, and without a calibrator codes are told.
        let other = top_label_code_artifact();
        let other = Slot::read(other.as_bytes(), Anybody, ID, kind);
        assert_eq!(other.calibrate(output, None), Err(Refusal::Encoding(SOFTMAX)));
        let none = Slot::read(&[], Anybody, ID, kind).calibrate(output, None).unwrap();
        assert_eq!((none.class, none.score), (0, ScoreEcho::Code(159)));
        let binary = Slot::read(&[], Anybody, ID, Kind::Binary);
        assert_eq!(binary.calibrate(output, None), Err(Refusal::Kind { classes: 2 }));
    }

    #[test]
    fn an_output_of_another_kind_is_refused() {
        let row = [0.25; 4];
        let probs = Output::Probs(Probs::new(&row).unwrap());
        let binary = Slot::read(&[], Anybody, ID, Kind::Binary);
        assert_eq!(binary.calibrate(probs, None), Err(Refusal::Kind { classes: 2 }));
        let ternary = Slot::read(&[], Anybody, ID, Kind::TopLabel { classes: 3 });
        assert_eq!(ternary.calibrate(probs, None), Err(Refusal::Kind { classes: 3 }));
        assert_eq!(ternary.calibrate(HALF, None), Err(Refusal::Kind { classes: 3 }));
    }
}
