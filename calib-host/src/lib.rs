//! Fit calibrators to held-out scores and labels, with distribution-free guarantees; assess them; write them
//! for a device.
//!
//! ```
//! use calib_host::{BinaryData, BinaryMethod, Umd, artifact_bytes, fit_binary};
//!
//! // 400 held-out scores; the classifier is overconfident: a score of s is right in s / 2 of the cases.
//! let scores: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
//! let labels: Vec<bool> = (0..400).map(|i| i % 40 < i / 20).collect();
//! let data = BinaryData::new(scores, labels)?;
//!
//! let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
//! let bytes = artifact_bytes(&fit, &Default::default())?;
//! assert!(fit.guarantee.unwrap().epsilon < 0.17 && bytes.len() < 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rooms
//!
//! Fitting is a package of its own, calib-fit, whose rooms are here, too: [`data`] is fitted to ([`binary`] for one score,
//! [`reduction`] for several classes as binary problems, [`joint`] for whole vectors), becomes an [`artifact`], is
//! [applied](apply), [assessed](assess), [compared](compare) and [decided](decide) upon.
//!
//! This package is the world around: [`files`] < [`draw`] < [`input`] < [`output`] < [`export`] < [`sql`] < [`device`] < [`report`], where a room
//! imports rooms to its left only; and, with the feature `cli`, the command `calib`, which `cli` runs.
#![forbid(unsafe_code)]

// The files of the command call the library by its name, as another program would.
#[cfg(feature = "cli")]
extern crate self as calib_host;

#[cfg(feature = "cli")]
pub mod cli;
pub mod device;
pub mod draw;
pub mod export;
pub mod files;
pub mod input;
pub mod output;
pub mod report;
pub mod sql;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub use calib_fit::{
    ArtifactOptions, BinaryData, BinaryMethod, Fit, FitError, JointMethod, ReductionOptions, ScoreKind,
    StoredArtifact, TopLabelData, Umd, VectorData, VectorKind, Vectors, apply_margins, apply_scores,
    apply_vectors, artifact_bytes, fit_binary, fit_joint, fit_top_label, joint_artifact_bytes,
};
pub use calib_fit::{
    adjust, apply, artifact, assess, binary, compare, data, decide, error, fit, fleet, guarantee, joint,
    operating, passes, points, reduction, sets, stats, stop,
};
pub use files::{read_artifact, write_file};
