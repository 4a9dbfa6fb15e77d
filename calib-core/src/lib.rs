//! Apply calibrated probabilities on a microcontroller.
//!
//! A classifier's score of `0.93` is rarely right 93 % of the time. `calib-host` fits a calibrator to
//! held-out scores and writes it as an *artefact*; this crate checks that artefact once and then maps
//! scores to probabilities with one O(log B) table search, reading the tables where they lie (flash, or a
//! buffer filled over a serial line).
//!
//! ```
//! use calib_core::{Score, StepTable};
//!
//! // Three bins, [0, 0.2), [0.2, 0.7) and [0.7, 1], checked while compiling and kept in flash.
//! const TABLE: StepTable<'static> = StepTable::new_const(&[0.2, 0.7], &[0.05, 0.4, 0.9]);
//!
//! let (bin, prob) = TABLE.lookup(Score::new(0.93)?);
//! assert_eq!((bin, prob), (2, 0.9));
//! # Ok::<(), calib_core::ScoreError>(())
//! ```
//!
//! # What this crate does not do
//!
//! It never fits or assesses a calibrator, allocates, logs, panics or touches hardware, and it holds no
//! `unsafe` code. A CRC finds accidents, not attackers: the artefact is not signed.
//!
//! # Features
//!
//! * `defmt`: implements `defmt::Format` for every public type.
//! * `micromath`: adds the approximate `sigmoid_fast`.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(target_endian = "big")]
compile_error!(
    "artefacts are read in place and hold little-endian words: big-endian targets are not supported"
);

mod alarm_rule;
mod artifact;
mod buffer;
mod calibrator;
mod code_table;
mod crc32c;
mod encoding;
mod fixed_code_table;
mod fixed_table;
mod interpolated;
mod interval;
mod logits;
mod outcome;
mod probs;
mod randomized;
mod scaling;
mod score;
mod search;
mod sigmoid;
mod table;
mod values;
mod venn_abers;
pub mod wire;

pub use alarm_rule::AlarmRule;
pub use artifact::{
    Artifact, ArtifactWriter, ClassifierId, FORMAT_VERSION, Guarantee, Header, HeaderFlags, Identity,
    MAX_CLASSES, Method, PREFIX_LEN, ParseError, Provenance, Reduction, SectionKind, Table, TableFault,
    TableForm, Tables, Theorem, WriteError,
};
pub use buffer::{ArtifactBuffer, BufferFull};
pub use calibrator::{
    BinaryCalibrator, BinaryCodeCalibrator, Calibrator, ClassCountError, TopLabelCalibrator,
    TopLabelCodeCalibrator,
};
pub use code_table::CodeTable;
pub use encoding::{CodeError, EncodingError, QuantizedScore, ScoreEncoding};
pub use fixed_code_table::{DirectTable, FixedCodeTable};
pub use fixed_table::FixedTable;
pub use interpolated::InterpolatedTable;
pub use interval::ProbInterval;
pub use logits::{Logits, LogitsError};
pub use outcome::{BinFlags, Calibrated, Outcome, TopLabel, Uncalibrated};
pub use probs::{Probs, ProbsError};
pub use randomized::RandomizedTable;
pub use scaling::{Scaling, ScalingError, ScalingFunction};
pub use score::{Score, ScoreError};
pub use sigmoid::sigmoid;
#[cfg(feature = "micromath")]
#[cfg_attr(docsrs, doc(cfg(feature = "micromath")))]
pub use sigmoid::sigmoid_fast;
pub use table::{StepTable, TableError};
pub use venn_abers::VennAbersTable;
