//! Fit calibrators to held-out scores and labels, with distribution-free guarantees; assess them; write them
//! for a device.
//!
//! ```
//! use calib_host::{BinaryData, BinaryMethod, Umd, artifact_bytes, fit_binary};
//!
//! // 400 held-out scores; the classifier is overconfident: a score of s is right in s / 2 of the rows.
//! let scores: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
//! let labels: Vec<bool> = (0..400).map(|i| i % 40 < i / 20).collect();
//! let data = BinaryData::new(scores, labels)?;
//!
//! let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
//! let bytes = artifact_bytes(&fit, &Default::default())?;
//! assert!(fit.guarantee().unwrap().epsilon < 0.17 && bytes.len() < 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! Fitting is in the package calib-fit, whose modules are here: [`data`] is fitted to ([`binary`] for one score,
//! [`reduction`] for several classes as binary problems, [`joint`] for whole vectors), becomes an [`artifact`], is
//! [applied](mod@apply), [assessed](assess), [compared](compare) and [decided](decide) upon.
//!
//! Files, tables, reports and devices are in the package calib-io, here [`io`]. The command `calib` is calib-cli.
#![forbid(unsafe_code)]

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The same of this package's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct PackageReadme;

pub use calib_fit::*;
pub use calib_io as io;
