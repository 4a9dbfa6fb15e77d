//! What host and device say to each other.

use serde::{Deserialize, Serialize};

use super::counters::{Counters, CountersRefusal, PredictionOutcome};
use super::prediction::Answer;
use super::question::{Question, Scores, Values};
use super::update::{Chunk, Slots, UpdateRefusal, UpdateStatus};
use crate::artifact::{ClassifierId, Guarantee, Identity, Method, ParseError, Reduction};
use crate::decision::AlarmRule;
use crate::predict::Mismatch;
use crate::score::{CodeError, LogitsError, ProbsError, ScoreEncoding, ScoreError};
use crate::slot::{SlotFault, UnusableSlot};

/// The version of the device protocol, which a device states in its [status](Status::protocol).
///
/// A device answers a request that it does not know with [`Refusal::Unknown`].
pub const PROTOCOL_VERSION: u16 = 1;

/// A short name.
pub type Name = heapless::String<32>;

/// What the host asks of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Request {
    /// The number that the reply repeats.
    pub id: u32,
    /// The question.
    pub body: RequestBody,
}

/// The kinds of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum RequestBody {
    /// State the device and its calibrator.
    Status,
    /// Calibrate these scores, or what the classifier makes of these features, and state all that the calibrator says of them.
    Predict(Question),
    /// Classify these features and calibrate the result, `repeat` times each, and state how long it took.
    Measure {
        /// The features.
        features: Values,
        /// The number of repetitions, at least 1.
        repeat: u16,
    },
    /// State what the slots hold, and how far an update is.
    Slots,
    /// Prepare for this artifact. If the same artifact was announced before, keep what was received.
    Announce {
        /// The artifact's length in bytes.
        len_bytes: u32,
        /// The CRC-32C of all its bytes.
        crc: u32,
    },
    /// Take a part of the announced artifact.
    Chunk {
        /// The offset of the part in the artifact.
        offset: u32,
        /// The bytes of the part.
        bytes: Chunk,
    },
    /// Check the announced artifact, and do the next step of its installation: erase a sector, or write or compare up to 256 bytes.
    /// The host repeats the request until the artifact is installed.
    Install,
    /// State what the monitors of this table counted, and what they make of it.
    Counters {
        /// The table, as an index of the calibrator's.
        table: u16,
    },
    /// Count the outcome of an earlier prediction.
    Outcome(PredictionOutcome),
    /// Set the counters of all tables of this calibrator back to 0, and their alarms with them.
    ResetCounters {
        /// The calibrator.
        calibrator: Identity,
    },
}

impl RequestBody {
    /// Asks for the prediction of these scores, without a group or a random word.
    ///
    /// ```
    /// use calib_core::wire::{RequestBody, Scores};
    ///
    /// assert!(RequestBody::predict(Scores::Margin(-2.5)).is_trial());
    /// assert!(!RequestBody::Status.is_trial());
    /// ```
    pub const fn predict(scores: Scores) -> Self {
        Self::Predict(Question { group: None, word: None, scores })
    }

    /// Tells whether the request gives the scores that a classifier would, or keeps the device busy for as long as the host likes.
    pub const fn is_trial(&self) -> bool {
        match self {
            Self::Measure { .. } => true,
            Self::Predict(question) => question.is_trial(),
            _ => false,
        }
    }

    /// Tells whether the request brings outcomes or sets counters back. Anyone who may do that can silence a monitor.
    pub const fn changes_counters(&self) -> bool {
        matches!(self, Self::Outcome(_) | Self::ResetCounters { .. })
    }
}

/// What a device answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Reply {
    /// The request's number.
    pub id: u32,
    /// The answer.
    pub body: ReplyBody,
}

/// The kinds of reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ReplyBody {
    /// To [`RequestBody::Status`].
    Status(Status),
    /// To [`RequestBody::Predict`].
    Answer(Answer),
    /// To [`RequestBody::Measure`].
    Measurement(Measurement),
    /// The request could not be met.
    Refused(Refusal),
    /// To [`RequestBody::Slots`].
    Slots(Slots),
    /// To [`RequestBody::Announce`], [`RequestBody::Chunk`] and [`RequestBody::Install`].
    Update(UpdateStatus),
    /// To [`RequestBody::Counters`], [`RequestBody::Outcome`] and [`RequestBody::ResetCounters`]: of the table that was asked for, the
    /// prediction's, or the first that is monitored.
    Counters(Counters),
}

/// What anybody on the line may ask of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Questions {
    /// Everything.
    All,
    /// Everything but [trials](RequestBody::is_trial): no score but the classifier's own sets the alarm.
    NoTrials,
}

/// A device and its calibrator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Status {
    /// The [version](PROTOCOL_VERSION) of the protocol that the device speaks.
    pub protocol: u16,
    /// The firmware's version.
    pub firmware: Name,
    /// The classifier's name.
    pub classifier: Name,
    /// The classifier's identity.
    pub classifier_id: ClassifierId,
    /// The number of features that the classifier takes.
    pub features: u16,
    /// The number of classes that the classifier tells apart.
    pub classes: u16,
    /// The alarm's rule, unless the calibrator has a separate decision rule.
    pub alarm_rule: AlarmRule,
    /// The most stack used since the start, in bytes.
    pub stack_high_water_bytes: u32,
    /// The calibrator, or why there is none.
    pub calibrator: Result<CalibratorStatus, Missing>,
    /// The slot that may hold a newer calibrator than the active one, and is of no use: the device has fallen back.
    pub fallback_from: Option<UnusableSlot>,
    /// What is answered.
    pub questions: Questions,
}

/// A device's calibrator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CalibratorStatus {
    /// The artifact's identity.
    pub identity: Identity,
    /// The artifact's counter; 0 if it has none.
    pub counter: u32,
    /// The artifact's length in bytes.
    pub len_bytes: u32,
    /// The binary method.
    pub method: Method,
    /// The reduction.
    pub reduction: Reduction,
    /// The number of bins over all tables.
    pub bins: u32,
    /// The number of calibration points.
    pub n: u64,
    /// What is guaranteed.
    pub guarantee: Option<Guarantee>,
    /// The encoding of the scores that the calibrator takes.
    pub encoding: ScoreEncoding,
    /// The number of actions of the calibrator's decision rule, which then drives the alarm; 0 if there is no rule.
    pub actions: u8,
}

/// Why a device is uncalibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Missing {
    /// The slot does not hold a valid artifact.
    Artifact(ParseError),
    /// The artifact was fitted for this classifier, not for the device's.
    OtherClassifier(Option<ClassifierId>),
    /// Neither slot is valid.
    Slots([SlotFault; 2]),
    /// The artifact asks for an action on an alarm of its monitors, and the device has none, or none with room for its tables.
    Monitors,
}

/// The time that classifying and calibrating took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Measurement {
    /// The number of repetitions of each.
    pub repeat: u16,
    /// Timer ticks for an empty loop.
    pub empty_ticks: u32,
    /// Timer ticks for classifying.
    pub classify_ticks: u32,
    /// Timer ticks for calibrating the classifier's output.
    pub calibrate_ticks: u32,
}

/// Why a request could not be met.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Refusal {
    /// The classifier takes another number of features.
    FeatureCount {
        /// The number that the classifier takes.
        expected: u16,
        /// The number that was sent.
        got: u16,
    },
    /// This feature is NaN or infinite.
    Feature(u16),
    /// The classifier's output, or the score sent, is not a score.
    Score(ScoreError),
    /// The numbers sent are not logits.
    Logits(LogitsError),
    /// The numbers sent are not probabilities.
    Probs(ProbsError),
    /// The calibrator takes another kind or number of scores.
    Kind {
        /// The number of classes that the calibrator takes; 2 stands for a binary score.
        classes: u16,
    },
    /// A repeat count of zero, or a result too large for the timer.
    Measure,
    /// The calibrator takes scores in this encoding, not in the one sent.
    Encoding(ScoreEncoding),
    /// The number sent is not a code of the calibrator's encoding.
    Code(CodeError),
    /// The update does not go on, for this reason.
    Update(UpdateRefusal),
    /// The device does not know this request: it speaks another version of the protocol. The alarm is as before.
    Unknown,
    /// The device was built not to answer this request: see [`Questions`]. The alarm is as before.
    SwitchedOff,
    /// The classifier gives the predicted class with its code, and the calibrator takes the top-two margin of the codes, or the other way round.
    ClassScore,
    /// The calibrator has tables or thresholds for groups with the codes below this number, and the request names none of them.
    Group(u8),
    /// The calibrator has prediction sets, for which it takes the codes of all classes; the classifier gives the predicted class's
    /// alone.
    AllClasses,
    /// The monitors do not answer, for this reason.
    Counters(CountersRefusal),
}

impl From<Mismatch> for Refusal {
    fn from(mismatch: Mismatch) -> Self {
        match mismatch {
            Mismatch::Kind { classes } => Self::Kind { classes },
            Mismatch::Encoding(encoding) => Self::Encoding(encoding),
            Mismatch::ClassScore => Self::ClassScore,
            Mismatch::AllClasses => Self::AllClasses,
            Mismatch::Group(groups) => Self::Group(groups),
        }
    }
}
