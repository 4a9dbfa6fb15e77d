//! The device protocol: requests and replies as frames on a serial line.
//!
//! A frame is `COBS(postcard(message) ++ CRC-32C) ++ 0x00`. The CRC is needed because postcard checks nothing: a flipped bit in a
//! probability would decode as another probability. A damaged frame is dropped; the zero byte at its end is where the next frame
//! begins.
//!
//! The protocol has a [version](PROTOCOL_VERSION). A message keeps its bytes for ever, and new messages and reasons are added behind
//! the others. So either side may be the older one: a device answers an intact request that it does not know with
//! [`Refusal::Unknown`], and a host learns of an intact reply that it does not know by [`FrameError::Unknown`]. To ask for the
//! version is safe: a device of version 1, which is that of calib 0.1.0, stays silent, and its alarm is as before.
//!
//! ```
//! use calib_core::wire::{FrameReader, MAX_FRAME, Request, RequestBody, encode};
//!
//! let request = Request { id: 7, body: RequestBody::Score(0.93) };
//! let mut buf = [0; MAX_FRAME];
//! let frame = encode(&request, &mut buf)?;
//!
//! let mut reader = FrameReader::new();
//! let received = frame.iter().find_map(|&byte| reader.push::<Request>(byte));
//! assert_eq!(received, Some(Ok(request)));
//! # Ok::<(), calib_core::wire::FrameError>(())
//! ```
//!
//! This is the last room: its messages are about everything that a device has, and no other room imports them.

mod counters;
mod frame;
mod message;
mod prediction;
mod question;
mod stuffing;
mod update;

pub use counters::{
    ActionOnAlarm, Counters, CountersRefusal, Kept, KnownOutcomes, MAX_COUNTED_BINS, PredictionOutcome,
    Raised, Watched,
};
pub use frame::{FrameError, FrameReader, MAX_FRAME, decode, encode};
pub use message::{
    CalibratorStatus, Held, Measurement, Missing, Name, PROTOCOL_VERSION, Questions, Refusal, Reply,
    ReplyBody, Request, RequestBody, Standing, Status,
};
pub use prediction::{
    Answer, ClassProbList, ClassesPrediction, Prediction, Ranked, RankedList, RawScore, TopKPrediction,
};
pub use question::{Keys, MAX_VALUES, Question, Scores, ScoresRef, Values};
pub use update::{Chunk, MAX_CHUNK, REPORT_LEN, Slots, UpdateRefusal, UpdateStatus};
