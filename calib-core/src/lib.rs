//! Apply calibrated probabilities on a microcontroller.
//!
//! A classifier's score of `0.93` is rarely right 93 % of the time. `calib-host` fits a calibrator to
//! held-out scores and writes it as an *artefact*; this crate checks that artefact once and then maps
//! scores to probabilities with one O(log B) table search, reading the tables where they lie (flash, or a
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
//! * `ed25519`: adds `TrustedKey`, with which only signed artefacts are accepted.
//! * `micromath`: adds the approximate `sigmoid_fast`.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(target_endian = "big")]
compile_error!(
    "artefacts are read in place and hold little-endian words: big-endian targets are not supported"
);

mod admission;
mod alarm_rule;
mod artifact;
mod buffer;
mod calibrator;
mod cells;
mod class_probs;
mod class_wise;
mod classes;
mod code_table;
mod compact_table;
mod crc32c;
mod decision_rule;
mod encoding;
mod fixed_code_table;
mod fixed_search;
mod fixed_table;
mod fraction;
mod interpolated;
mod interval;
mod joint;
mod limits;
mod logits;
mod normalized;
mod outcome;
mod probs;
mod projection;
mod randomized;
mod ranking;
mod scaling;
mod score;
mod score_vector;
mod search;
mod sierpinski;
mod sigmoid;
mod simplex_grid;
mod slot_store;
mod softmax;
mod split_tree;
mod stuffing;
mod table;
mod table_error;
#[cfg(test)]
mod test_size;
mod top_k;
mod top_label;
mod top_label_code;
#[cfg(feature = "ed25519")]
mod trusted_key;
mod values;
mod vector_calibrator;
mod vector_error;
mod vector_scaling;
mod venn_abers;
pub mod wire;
mod wire_update;

pub use admission::{Admission, Admitted, Anybody, Refused, SignatureError, Trust};
pub use alarm_rule::AlarmRule;
pub use artifact::{
    Artifact, ArtifactWriter, ClassifierId, FORMAT_VERSION, Guarantee, Header, HeaderFlags, Identity, KeyId,
    Method, PREFIX_LEN, ParseError, Provenance, Reduction, SIGNATURE_SECTION_LEN, SectionKind, Signature,
    SignedPart, Table, TableFault, TableForm, Tables, Theorem, WriteError, sign,
};
pub use buffer::{ArtifactBuffer, BufferFull};
pub use calibrator::{
    BinaryCalibrator, BinaryCodeCalibrator, Calibrator, TopLabelCalibrator, TopLabelCodeCalibrator,
};
pub use cells::{CellScheme, CellTable};
pub use class_probs::ClassProbs;
pub use class_wise::ClassWiseCalibrator;
pub use classes::{ClassCountError, MAX_CLASSES, MAX_TOP_K};
pub use code_table::CodeTable;
pub use compact_table::CompactTable;
pub use crc32c::crc32c;
pub use decision_rule::{Action, DecisionError, DecisionParts, DecisionRule};
pub use encoding::{CodeError, EncodingError, QuantizedScore, ScoreEncoding};
pub use fixed_code_table::{DirectTable, FixedCodeTable};
pub use fixed_table::FixedTable;
pub use interpolated::InterpolatedTable;
pub use interval::ProbInterval;
pub use joint::Joint;
pub use limits::MAX_CELLS;
pub use logits::{Logits, LogitsError};
pub use normalized::NormalizedCalibrator;
pub use outcome::{BinFlags, Calibrated, Outcome, Uncalibrated};
pub use probs::{Probs, ProbsError};
pub use projection::Projection;
pub use randomized::RandomizedTable;
pub use scaling::{Scaling, ScalingError, ScalingFunction};
pub use score::{Score, ScoreError};
pub use score_vector::ScoreVector;
pub use sierpinski::Sierpinski;
pub use sigmoid::sigmoid;
#[cfg(feature = "micromath")]
#[cfg_attr(docsrs, doc(cfg(feature = "micromath")))]
pub use sigmoid::sigmoid_fast;
pub use simplex_grid::SimplexGrid;
pub use slot_store::{
    Erased, Install, InstallError, LayoutError, Progress, Receipt, SlotContent, SlotFault, SlotLayout,
    SlotStore, slot_trailer,
};
pub use split_tree::{SplitTree, SplitTreeError};
pub use table::StepTable;
pub use table_error::TableError;
pub use top_k::TopKCalibrator;
pub use top_label::TopLabel;
pub use top_label_code::{CodeVectorError, TopLabelCode};
#[cfg(feature = "ed25519")]
#[cfg_attr(docsrs, doc(cfg(feature = "ed25519")))]
pub use trusted_key::{NotAKey, TrustedKey};
pub use vector_calibrator::VectorCalibrator;
pub use vector_error::VectorError;
pub use vector_scaling::{ScalingInput, ScalingShape, VectorScaling};
pub use venn_abers::VennAbersTable;
