//! The device protocol: requests and replies as frames on a serial line.
//!
//! A frame is `COBS(postcard(message) ++ CRC-32C) ++ 0x00`. The CRC is there because postcard checks nothing:
//! a flipped bit in a probability would decode as another probability. A damaged frame is dropped, and the
//! zero byte that ends it is where the next one begins.
//!
//! This is the last room: messages speak of everything that a device has, and nothing imports them.

mod frame;
mod message;
mod stuffing;
mod update;

pub use frame::{FrameError, FrameReader, MAX_FRAME, decode, encode};
pub use message::{
    CalibratorStatus, ClassProbList, ClassesPrediction, Keys, MAX_VALUES, Measurement, Missing, Name,
    Prediction, Ranked, RankedList, RawScore, Refusal, Reply, ReplyBody, Request, RequestBody, Status,
    TopKPrediction, Values,
};
pub use update::{Chunk, MAX_CHUNK, REPORT_LEN, Slots, UpdateRefusal, UpdateStatus};
