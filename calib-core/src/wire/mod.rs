//! The device protocol: requests and replies as frames on a serial line.
//!
//! A frame is `COBS(postcard(message) ++ CRC-32C) ++ 0x00`. The CRC is needed because postcard checks nothing: a flipped bit in a
//! probability would decode as another probability. A damaged frame is dropped; the zero byte at its end is where the next frame
//! begins.
//!
//! The protocol has a [version](PROTOCOL_VERSION), which a device states in its status. A device answers an intact request that it does
//! not know with [`Refusal::Unknown`], and a host learns of an intact reply that it does not know by [`FrameError::Unknown`].
//!
//! ```
//! use calib_core::wire::{FrameReader, MAX_FRAME, Request, RequestBody, Scores, encode};
//!
//! let request = Request { id: 7, body: RequestBody::predict(Scores::Score(0.93)) };
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

pub use crate::predict::{Ranked, RankedList, ScoreEcho};
pub use counters::{
    ActionOnAlarm, Counters, CountersRefusal, KnownOutcomes, MAX_COUNTED_BINS, Persistence,
    PredictionOutcome, Raised, Watched,
};
pub use frame::{FrameError, FrameReader, MAX_FRAME, decode, encode};
pub use message::{
    CalibratorStatus, Measurement, Missing, Name, PROTOCOL_VERSION, Questions, Refusal, Reply, ReplyBody,
    Request, RequestBody, Status,
};
pub use prediction::{Answer, Beside};
pub use question::{Keys, MAX_VALUES, Question, Scores, Values};
pub use update::{Chunk, MAX_CHUNK, REPORT_LEN, Slots, UpdateRefusal, UpdateStatus};
