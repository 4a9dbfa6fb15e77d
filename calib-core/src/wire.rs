//! The device protocol: requests and replies as frames on a serial line.
//!
//! A frame is `COBS(postcard(message) ++ CRC-32C) ++ 0x00`. The CRC is there because postcard checks nothing:
//! a flipped bit in a probability would decode as another probability. A damaged frame is dropped, and the
//! zero byte that ends it is where the next one begins.

use core::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::crc32c::CRC_32C;
use crate::stuffing::{Framer, unstuff};
use crate::{
    AlarmRule, ClassifierId, CodeError, Guarantee, Identity, LogitsError, MAX_TOP_K, Method, Outcome,
    ParseError, ProbsError, Reduction, Score, ScoreEncoding, ScoreError, SlotFault,
};

pub use crate::wire_update::{Chunk, MAX_CHUNK, REPORT_LEN, Slots, UpdateRefusal, UpdateStatus};

/// The largest number of features, logits, probabilities or codes in a request.
pub const MAX_VALUES: usize = 128;
/// The length of the longest frame in bytes, rounded up.
pub const MAX_FRAME: usize = 704;

/// Features, logits or probabilities.
pub type Values = heapless::Vec<f32, MAX_VALUES>;
/// The integer code of every class's score, as [keys](crate::QuantizedScore::key).
pub type Keys = heapless::Vec<u16, MAX_VALUES>;
/// A calibrated probability for every class, `None` for one that is uncalibrated.
pub type ClassProbList = heapless::Vec<Option<f32>, MAX_VALUES>;
/// The first few classes.
pub type RankedList = heapless::Vec<Ranked, MAX_TOP_K>;
/// A short name.
pub type Name = heapless::String<32>;

/// What the host asks of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Request {
    /// Returned in the reply.
    pub id: u32,
    /// The question.
    pub body: RequestBody,
}

/// The kinds of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum RequestBody {
    /// What are you, and what calibrator do you hold?
    Status,
    /// Classify these features and calibrate the result.
    Classify(Values),
    /// Calibrate the score of class 1 of a binary classifier.
    Score(f32),
    /// Calibrate the prediction in these logits.
    Logits(Values),
    /// Calibrate the prediction in these probabilities.
    Probs(Values),
    /// Classify these features, and calibrate the result, so many times each, and tell how long it took.
    Measure {
        /// The features.
        features: Values,
        /// How often, at least 1.
        repeat: u16,
    },
    /// Calibrate the score of class 1 of a binary classifier, with this random word in place of one that the device
    /// draws.
    ScoreWithWord {
        /// The score.
        score: f32,
        /// The word.
        word: u32,
    },
    /// Calibrate the integer code of the score of class 1, given as a [key](crate::QuantizedScore::key) of the
    /// calibrator's encoding.
    Code(u16),
    /// What do your slots hold, and how far is an update?
    Slots,
    /// Prepare for this artefact. If it was announced before, go on where that ended.
    Announce {
        /// Its length in bytes.
        len_bytes: u32,
        /// The CRC-32C of all its bytes.
        crc: u32,
    },
    /// Take a part of the announced artefact.
    Chunk {
        /// Where it begins.
        offset: u32,
        /// Its bytes.
        bytes: Chunk,
    },
    /// Check the announced artefact, and do the next step of its installation: erase a sector, or write or compare up to
    /// 256 bytes. Ask until it is installed.
    Install,
    /// Calibrate the prediction in these integer codes of the calibrator's encoding.
    Codes(Keys),
}

/// What a device answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Reply {
    /// The request's.
    pub id: u32,
    /// The answer.
    pub body: ReplyBody,
}

/// The kinds of reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[expect(clippy::large_enum_variant, reason = "there is one reply at a time, and no allocator to box it")]
#[non_exhaustive]
pub enum ReplyBody {
    /// To [`RequestBody::Status`].
    Status(Status),
    /// To every request for a calibrated result, from a calibrator that gives one probability, or if there is none.
    Prediction(Prediction),
    /// To [`RequestBody::Measure`].
    Measurement(Measurement),
    /// The request could not be met.
    Refused(Refusal),
    /// To [`RequestBody::Slots`].
    Slots(Slots),
    /// To [`RequestBody::Announce`], [`RequestBody::Chunk`] and [`RequestBody::Install`].
    Update(UpdateStatus),
    /// To every request for a calibrated result, from a calibrator that gives the first few classes.
    TopK(TopKPrediction),
    /// To every request for a calibrated result, from a calibrator that gives a probability for every class.
    Classes(ClassesPrediction),
}

/// A device and its calibrator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Status {
    /// The firmware's version.
    pub firmware: Name,
    /// The classifier's name.
    pub classifier: Name,
    /// The classifier's identity.
    pub classifier_id: ClassifierId,
    /// How many features the classifier takes.
    pub features: u16,
    /// How many classes it tells apart.
    pub classes: u16,
    /// Which probabilities raise the alarm, unless the calibrator has a decision rule of its own.
    pub alarm_rule: AlarmRule,
    /// The most stack used since the start, in bytes.
    pub stack_high_water_bytes: u32,
    /// The calibrator, or why there is none.
    pub calibrator: Result<CalibratorStatus, Missing>,
}

/// A device's calibrator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CalibratorStatus {
    /// The artefact's identity.
    pub identity: Identity,
    /// The artefact's length in bytes.
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
    /// What kind of number it takes for a score.
    pub encoding: ScoreEncoding,
    /// The number of actions of its decision rule, which then drives the alarm; 0 if it has none.
    pub actions: u8,
}

/// Why a device is uncalibrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Missing {
    /// The slot does not hold a valid artefact.
    Artifact(ParseError),
    /// The artefact was fitted for this classifier, not for the device's.
    OtherClassifier(Option<ClassifierId>),
    /// Neither of its slots is valid.
    Slots([SlotFault; 2]),
}

/// A prediction with its calibrated probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Prediction {
    /// The class that the score and the probability are of: 1 for a binary classifier, otherwise the predicted.
    pub class: u16,
    /// The classifier's score. Not a probability.
    pub score: RawScore,
    /// The calibrated probability, or why there is none.
    pub outcome: Outcome,
    /// Whether the alarm is raised.
    pub alarm: bool,
    /// The random word that the calibrator was given: drawn by the device, or the host's. `None` if it is not
    /// randomised, or the device has no source of words.
    pub word: Option<u32>,
    /// What to do, by the calibrator's decision rule: the index of an action. `None` if it has no rule, or there is no
    /// calibrator.
    pub action: Option<u8>,
}

/// The first few classes with their calibrated probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TopKPrediction {
    /// In descending order of score; as many as the calibrator has ranks.
    pub ranked: RankedList,
    /// Whether the alarm is raised: by the probability of the first.
    pub alarm: bool,
    /// The random word that the calibrator was given, for all ranks the same, as in [`Prediction::word`].
    pub word: Option<u32>,
    /// The action of the calibrator's decision rule for the first, as in [`Prediction::action`].
    pub action: Option<u8>,
}

/// A class and its calibrated probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ranked {
    /// The class.
    pub class: u16,
    /// The classifier's score for it. Not a probability.
    pub score: RawScore,
    /// The calibrated probability, or why there is none.
    pub outcome: Outcome,
}

/// Every class's calibrated probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassesPrediction {
    /// The class that the classifier predicts, with the evidence of its probability. The alarm is raised by that
    /// probability, whether or not another class has a higher one. A random word is for all classes the same.
    pub top: Prediction,
    /// The probabilities in the order of the classes, `None` for one that is uncalibrated. Whether they sum to one the
    /// calibrator's reduction says.
    pub probs: ClassProbList,
}

/// A score as the calibrator was given it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum RawScore {
    /// A float.
    F32(Score),
    /// The key of an integer code.
    Code(u16),
}

/// How long classifying and calibrating took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Measurement {
    /// How often each was done.
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
        /// What it takes.
        expected: u16,
        /// What was sent.
        got: u16,
    },
    /// This feature is NaN or infinite.
    Feature(u16),
    /// The classifier's output, or the score sent, is not a score.
    Score(ScoreError),
    /// What was sent are not logits.
    Logits(LogitsError),
    /// What was sent are not probabilities.
    Probs(ProbsError),
    /// The calibrator takes another kind or number of scores.
    Kind {
        /// What it takes: 2 for a binary score, otherwise the number of classes.
        classes: u16,
    },
    /// A repeat count of zero, or a result too large for the timer.
    Measure,
    /// The calibrator takes scores in this encoding, not in the one at hand.
    Encoding(ScoreEncoding),
    /// What was sent is not a code of the calibrator's encoding.
    Code(CodeError),
    /// The update does not go on.
    Update(UpdateRefusal),
}

/// Why a frame was not encoded or decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FrameError {
    /// It is longer than the buffer.
    TooLong,
    /// It is not COBS, its CRC does not match, or it is not a message.
    Damaged,
}

/// Encodes a message as a frame, the ending zero included, at the start of `buf`.
///
/// # Errors
///
/// If it does not fit; [`MAX_FRAME`] bytes suffice for every message.
pub fn encode<'b, T: Serialize>(message: &T, buf: &'b mut [u8]) -> Result<&'b [u8], FrameError> {
    let framer = Framer::new(buf);
    let len = postcard::serialize_with_flavor(message, framer).map_err(|_| FrameError::TooLong)?;
    *buf.get_mut(len).ok_or(FrameError::TooLong)? = 0;
    buf.get(..=len).ok_or(FrameError::TooLong)
}

/// Decodes a frame without its ending zero, in place.
///
/// # Errors
///
/// If it is damaged or holds more or less than one message.
pub fn decode<T: DeserializeOwned>(frame: &mut [u8]) -> Result<T, FrameError> {
    let decoded = unstuff(frame).ok_or(FrameError::Damaged)?;
    let (payload, crc) = decoded.split_last_chunk::<4>().ok_or(FrameError::Damaged)?;
    if CRC_32C.checksum(payload) != u32::from_le_bytes(*crc) {
        return Err(FrameError::Damaged);
    }
    match postcard::take_from_bytes(payload) {
        Ok((message, [])) => Ok(message),
        _ => Err(FrameError::Damaged),
    }
}

/// Collects bytes into frames.
#[derive(Debug, Default)]
pub struct FrameReader {
    buf: heapless::Vec<u8, MAX_FRAME>,
    overflowed: bool,
}

impl FrameReader {
    /// A reader at the start of a frame.
    pub const fn new() -> Self {
        Self { buf: heapless::Vec::new(), overflowed: false }
    }

    /// Takes a byte; returns the message, or why there is none, once a frame ends. Empty frames are ignored.
    pub fn push<T: DeserializeOwned>(&mut self, byte: u8) -> Option<Result<T, FrameError>> {
        if byte != 0 {
            self.overflowed |= self.buf.push(byte).is_err();
            return None;
        }
        let result = match (self.overflowed, self.buf.is_empty()) {
            (true, _) => Some(Err(FrameError::TooLong)),
            (false, true) => None,
            (false, false) => Some(decode(&mut self.buf)),
        };
        self.buf.clear();
        self.overflowed = false;
        result
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "the frame is too long",
            Self::Damaged => "the frame is damaged",
        })
    }
}

impl core::error::Error for FrameError {}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::{BinFlags, Calibrated, ProbInterval};

    fn longest() -> Request {
        let features = core::iter::repeat_n(f32::MIN_POSITIVE, MAX_VALUES).collect();
        Request { id: u32::MAX, body: RequestBody::Measure { features, repeat: u16::MAX } }
    }

    /// The longest replies: every number takes as many bytes as any.
    fn longest_replies() -> [Reply; 2] {
        let interval = ProbInterval { lo: 0.25, hi: 0.75 };
        let outcome = Outcome::Calibrated(Calibrated {
            prob: 0.5,
            bin: u16::MAX,
            epsilon: Some(0.5),
            flags: BinFlags::EMPTY,
            interval: Some(interval),
        });
        let (class, score, word) = (u16::MAX, RawScore::F32(Score::ONE), Some(u32::MAX));
        let top = Prediction { class, score, outcome, alarm: true, word, action: Some(u8::MAX) };
        let probs = core::iter::repeat_n(Some(f32::MIN_POSITIVE), MAX_VALUES).collect();
        let ranked = core::iter::repeat_n(Ranked { class, score, outcome }, MAX_TOP_K).collect();
        [
            ReplyBody::Classes(ClassesPrediction { top, probs }),
            ReplyBody::TopK(TopKPrediction { ranked, alarm: true, word, action: Some(u8::MAX) }),
        ]
        .map(|body| Reply { id: u32::MAX, body })
    }

    fn feed(reader: &mut FrameReader, bytes: &[u8]) -> Vec<Result<Request, FrameError>> {
        bytes.iter().filter_map(|&byte| reader.push(byte)).collect()
    }

    #[test]
    fn the_longest_messages_fit_a_frame() {
        let mut buf = [0; MAX_FRAME];
        let frame = encode(&longest(), &mut buf).unwrap();
        assert_eq!(frame.last(), Some(&0));
        assert_eq!(feed(&mut FrameReader::new(), frame), [Ok(longest())]);
        let bytes = core::iter::repeat_n(0xFF, MAX_CHUNK).collect();
        let chunk = Request { id: u32::MAX, body: RequestBody::Chunk { offset: u32::MAX, bytes } };
        let frame = encode(&chunk, &mut buf).unwrap();
        assert_eq!(feed(&mut FrameReader::new(), frame), [Ok(chunk)]);
        assert_eq!(encode(&longest(), &mut [0; 100]), Err(FrameError::TooLong));
        let keys = core::iter::repeat_n(u16::MAX, MAX_VALUES).collect();
        let codes = Request { id: u32::MAX, body: RequestBody::Codes(keys) };
        let frame = encode(&codes, &mut buf).unwrap();
        assert_eq!(feed(&mut FrameReader::new(), frame), [Ok(codes)]);
        for reply in longest_replies() {
            let mut frame = encode(&reply, &mut buf).unwrap().to_vec();
            assert_eq!(frame.pop(), Some(0));
            assert_eq!(decode(&mut frame), Ok(reply));
        }
    }

    #[test]
    fn requests_keep_their_numbers() {
        for (body, bytes) in [
            (RequestBody::Code(200), &[7, 7, 0xC8, 1][..]),
            (RequestBody::Install, &[7, 11]),
            (RequestBody::Codes([200, 56, 0].into_iter().collect()), &[7, 12, 3, 0xC8, 1, 56, 0]),
        ] {
            assert_eq!(postcard::to_slice(&Request { id: 7, body }, &mut [0; 16]).unwrap(), bytes);
        }
    }

    #[test]
    fn every_single_bit_flip_is_refused() {
        let mut buf = [0; MAX_FRAME];
        let request = Request { id: 7, body: RequestBody::Score(0.25) };
        let frame = encode(&request, &mut buf).unwrap().to_vec();
        for bit in 0..8 * (frame.len() - 1) {
            let mut bad = frame.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let got = feed(&mut FrameReader::new(), &bad);
            assert!(got.iter().all(Result::is_err), "bit {bit} went unnoticed: {got:?}");
        }
    }

    #[test]
    fn resynchronises_after_an_overlong_frame() {
        let mut buf = [0; MAX_FRAME];
        let request = Request { id: 1, body: RequestBody::Status };
        let mut bytes = std::vec![1; 3 * MAX_FRAME];
        bytes.push(0);
        bytes.extend(encode(&request, &mut buf).unwrap());
        assert_eq!(feed(&mut FrameReader::new(), &bytes), [Err(FrameError::TooLong), Ok(request)]);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            for result in feed(&mut FrameReader::new(), &bytes) {
                prop_assert!(result.is_err());
            }
        }
    }
}
