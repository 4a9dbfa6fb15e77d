//! Apply calibrated probabilities on a microcontroller.
//!
//! A classifier's score of `0.93` is rarely right 93 % of the time. `calib-host` fits a calibrator to
//! held-out scores and writes it as an *artifact*. This crate checks that artifact once. It then maps scores
//! to probabilities with one O(log B) table search. It reads the tables in place (flash, or a
//! buffer filled over a serial line).
//!
//! ```
//! use calib_core::{Score, StepTable, step_table};
//!
//! // Three bins, [0, 0.2), [0.2, 0.7) and [0.7, 1], checked while compiling and kept in flash.
//! const TABLE: StepTable<'static> = step_table!(&[0.2, 0.7], &[0.05, 0.4, 0.9]);
//!
//! let (bin, prob) = TABLE.lookup(Score::new(0.93)?);
//! assert_eq!((bin, prob), (2, 0.9));
//! # Ok::<(), calib_core::ScoreError>(())
//! ```
//!
//! # Rooms
//!
//! Each module is a room, and imports only rooms above it in this table. What programs use most is at the root, too.
//!
//! | room | holds |
//! |---|---|
//! | [`score`] | what a classifier puts out |
//! | [`outcome`] | what calibrating gives |
//! | [`table`] | calibrators of one score |
//! | [`vector`] | calibrators of a whole vector of scores |
//! | [`decision`] | from a probability to what is done about it |
//! | [`monitor`] | noticing that what was calibrated is no longer so |
//! | [`artifact`] | what the host writes and the device reads |
//! | [`calibrator`] | calibrators, ready for use |
//! | [`slot`] | two slots in flash, replaced without a gap |
//! | [`journal`] | counters that survive a restart |
//! | [`wire`] | the device protocol |
//!
//! # What this crate does not do
//!
//! It never fits or assesses a calibrator, allocates, logs, panics or touches hardware, and it holds no
//! `unsafe` code: the flash that a [`SlotStore`] writes is the board's. A CRC finds accidents, not attackers: for those
//! there are signatures.
//!
//! # Features
//!
//! * `defmt`: implements `defmt::Format` for every public type; a log line with a [`Calibrated`] adds about 300 bytes of
//!   flash.
//! * `ed25519`: adds `TrustedKey`, with which only signed artifacts are accepted.
//! * `micromath`: adds the approximate `sigmoid_fast`.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(target_endian = "big")]
compile_error!(
    "artifacts are read in place and hold little-endian words: big-endian targets are not supported"
);

pub mod artifact;
pub mod calibrator;
pub mod decision;
pub mod journal;
pub mod monitor;
pub mod outcome;
pub mod predict;
pub mod score;
pub mod slot;
pub mod table;
#[cfg(test)]
mod test_size;
pub mod vector;
pub mod wire;

pub use artifact::{Artifact, ClassifierId, Identity, ParseError};
pub use calibrator::{
    BinaryCalibrator, BinaryCodeCalibrator, BinaryMarginCalibrator, Calibrator, ClassProbs, TopKCalibrator,
    TopLabelCalibrator, TopLabelCodeCalibrator, TopLabelCodeMarginCalibrator, TopLabelMarginCalibrator,
    VectorCalibrator,
};
pub use decision::{AlarmRule, DecisionRule, OperatingPoints, PredictionSets};
pub use outcome::{BinFlags, Calibrated, Outcome, ProbInterval, Uncalibrated};
pub use score::{
    Logits, Margin, Probs, QuantizedScore, Score, ScoreEncoding, ScoreError, ScoreVector, TopLabel,
    TopLabelCode, TopLabelCodeMargin, TopLabelMargin,
};
#[cfg(feature = "ed25519")]
#[cfg_attr(docsrs, doc(cfg(feature = "ed25519")))]
pub use slot::TrustedKey;
pub use slot::{Admission, Anybody, ArtifactBuffer, Erased, SlotLayout, SlotStore};
pub use table::{FixedCodeTable, FixedMarginTable, FixedTable, MarginTable, StepTable};
