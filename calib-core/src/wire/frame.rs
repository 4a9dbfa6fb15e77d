//! Messages as frames.

use core::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::stuffing::{Framer, unstuff};
use crate::artifact::CRC_32C;

/// The length of the longest frame in bytes, rounded up.
pub const MAX_FRAME: usize = 608;

/// Why a frame was not encoded or decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FrameError {
    /// The frame is longer than the buffer.
    TooLong,
    /// The bytes are not COBS, or the CRC does not match.
    Damaged,
    /// The frame is intact, and its content is not one message: its sender speaks another version of the protocol.
    Unknown {
        /// The number of the request, with which every message begins.
        id: u32,
    },
}

/// Encodes a message as a frame at the start of `buf`, and returns the frame with its ending zero.
///
/// # Errors
///
/// If the frame does not fit; [`MAX_FRAME`] bytes suffice for every message.
pub fn encode<'b, T: Serialize>(message: &T, buf: &'b mut [u8]) -> Result<&'b [u8], FrameError> {
    let framer = Framer::new(buf);
    let len = postcard::serialize_with_flavor(message, framer).map_err(|_| FrameError::TooLong)?;
    *buf.get_mut(len).ok_or(FrameError::TooLong)? = 0;
    buf.get(..=len).ok_or(FrameError::TooLong)
}

/// Decodes a frame without its ending zero, in place.
///
/// ```
/// use calib_core::wire::{FrameError, Request, RequestBody, decode, encode};
///
/// let mut buf = [0; 32];
/// let len = encode(&Request { id: 1, body: RequestBody::Status }, &mut buf)?.len();
/// let request: Request = decode(&mut buf[..len - 1])?;
/// assert_eq!(request.body, RequestBody::Status);
/// assert_eq!(decode::<Request>(&mut [2, 1]), Err(FrameError::Damaged));
/// # Ok::<(), FrameError>(())
/// ```
///
/// # Errors
///
/// If the frame is damaged, or holds something else than one message of this version.
pub fn decode<T: DeserializeOwned>(frame: &mut [u8]) -> Result<T, FrameError> {
    let decoded = unstuff(frame).ok_or(FrameError::Damaged)?;
    let (payload, crc) = decoded.split_last_chunk::<4>().ok_or(FrameError::Damaged)?;
    if CRC_32C.checksum(payload) != u32::from_le_bytes(*crc) {
        return Err(FrameError::Damaged);
    }
    match postcard::take_from_bytes(payload) {
        Ok((message, [])) => Ok(message),
        _ => Err(unknown(payload)),
    }
}

/// What is said of an intact frame without a message.
fn unknown(payload: &[u8]) -> FrameError {
    match postcard::take_from_bytes(payload) {
        Ok((id, [_, ..])) => FrameError::Unknown { id },
        _ => FrameError::Damaged,
    }
}

/// Collects bytes into frames.
#[derive(Debug, Default)]
pub struct FrameReader {
    buf: heapless::Vec<u8, MAX_FRAME>,
    overflowed: bool,
}

impl FrameReader {
    /// Makes a reader at the start of a frame.
    pub const fn new() -> Self {
        Self { buf: heapless::Vec::new(), overflowed: false }
    }

    /// Takes a byte. At the end of a frame returns the message, or why there is none; empty frames are ignored.
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
            Self::Unknown { .. } => "the frame holds a message that is not known",
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
    use crate::artifact::{Identity, MonitorAction};
    use crate::decision::{ClassSet, Verdict};
    use crate::monitor::LogEvidence;
    use crate::outcome::{BinFlags, Calibrated, Outcome, ProbInterval};
    use crate::score::{MAX_TOP_K, Score};
    use crate::wire::*;

    fn longest() -> Request {
        let features = core::iter::repeat_n(f32::MIN_POSITIVE, MAX_VALUES).collect();
        let (group, word) = (Some(u8::MAX), Some(u32::MAX));
        let question = Question { group, word, scores: Scores::Features(features) };
        Request { id: u32::MAX, body: RequestBody::Predict(question) }
    }

    /// The longest replies: every number takes as many bytes as any.
    fn longest_replies() -> [Reply; 3] {
        let interval = ProbInterval { lo: 0.25, hi: 0.75 };
        let outcome = Outcome::Calibrated(Calibrated {
            prob: 0.5,
            bin: u16::MAX,
            epsilon: Some(0.5),
            flags: BinFlags::EMPTY,
            interval: Some(interval),
        });
        let (class, score) = (u16::MAX, ScoreEcho::F32(Score::ONE));
        let answer = |beside| {
            ReplyBody::Answer(Answer {
                word: Some(u32::MAX),
                action: Some(u8::MAX),
                group: Some(u8::MAX),
                verdict: Some(Verdict::Positive),
                set: Some((0..ClassSet::MAX_CLASSES as u16).collect()),
                beside,
                ..Answer::new(Ranked { class, score, outcome }, true)
            })
        };
        let probs = core::iter::repeat_n(f32::MIN_POSITIVE, MAX_VALUES).collect();
        let ranked = core::iter::repeat_n(Ranked { class, score, outcome }, MAX_TOP_K - 1).collect();
        [
            answer(Beside::Probs(probs)),
            answer(Beside::Ranked(ranked)),
            ReplyBody::Counters(longest_counters()),
        ]
        .map(|body| Reply { id: u32::MAX, body })
    }

    fn longest_counters() -> Counters {
        let evidence = LogEvidence::from_units(i64::MIN);
        let watched = Watched { evidence, alarm: evidence, raised: Some(Raised::By(u32::MAX)) };
        let known = KnownOutcomes { labeled: u32::MAX, positives: u32::MAX };
        Counters {
            calibrator: Identity([0xFF; 8]),
            table: u16::MAX,
            tables: u16::MAX,
            predictions: core::iter::repeat_n(u32::MAX, MAX_COUNTED_BINS).collect(),
            outcomes: core::iter::repeat_n(known, MAX_COUNTED_BINS).collect(),
            shift: watched,
            change: watched,
            guarantee: Some(watched),
            is_full: true,
            persistence: Persistence::SavedExcept(u32::MAX),
            takes_outcomes: true,
            action: Some(ActionOnAlarm { action: MonitorAction::Uncalibrated, is_done: true }),
        }
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
        let codes = Request { id: u32::MAX, body: RequestBody::predict(Scores::Codes(keys)) };
        let frame = encode(&codes, &mut buf).unwrap();
        assert_eq!(feed(&mut FrameReader::new(), frame), [Ok(codes)]);
        for reply in longest_replies() {
            let mut frame = encode(&reply, &mut buf).unwrap().to_vec();
            assert_eq!(frame.pop(), Some(0));
            assert_eq!(decode(&mut frame), Ok(reply));
        }
    }

    #[test]
    fn requests_have_their_numbers() {
        for (body, bytes) in [
            (RequestBody::predict(Scores::Code(200)), &[7, 1, 0, 0, 5, 0xC8, 1][..]),
            (RequestBody::Install, &[7, 6]),
            (
                RequestBody::predict(Scores::Codes([200, 56, 0].into_iter().collect())),
                &[7, 1, 0, 0, 6, 3, 0xC8, 1, 56, 0],
            ),
        ] {
            assert_eq!(postcard::to_slice(&Request { id: 7, body }, &mut [0; 16]).unwrap(), bytes);
        }
    }

    #[test]
    fn every_single_bit_flip_is_refused() {
        let mut buf = [0; MAX_FRAME];
        let request = Request { id: 7, body: RequestBody::predict(Scores::Score(0.25)) };
        let frame = encode(&request, &mut buf).unwrap().to_vec();
        for bit in 0..8 * (frame.len() - 1) {
            let mut bad = frame.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let got = feed(&mut FrameReader::new(), &bad);
            assert!(got.iter().all(Result::is_err), "bit {bit} went unnoticed: {got:?}");
        }
    }

    #[test]
    fn resynchronizes_after_an_overlong_frame() {
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
