//! Fit calibrators to held-out scores and labels, with distribution-free guarantees; assess them; write them
//! for a device.
//!
//! ```
//! use calib_host::{BinaryData, BinaryMethod, Boundary, Umd, artifact_bytes, fit_binary};
//!
//! // 400 held-out scores; the classifier is overconfident: a score of s is right in s / 2 of the cases.
//! let scores: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
//! let labels: Vec<bool> = (0..400).map(|i| i % 40 < i / 20).collect();
//! let data = BinaryData::new(scores, labels)?;
//!
//! let umd = Umd { bins: 4, boundary: Boundary::Ceil };
//! let fit = fit_binary(&data, &BinaryMethod::Umd(umd), 0.1)?;
//! let bytes = artifact_bytes(&fit, &Default::default())?;
//! assert!(fit.guarantee.unwrap().epsilon < 0.17 && bytes.len() < 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod apply;
mod assess;
mod binned;
mod binning;
mod bootstrap;
mod compile;
mod data;
mod error;
mod fit;
mod guarantee;
pub mod input;
mod isotonic;
mod output;
mod stored;
mod umd;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub use apply::{Applied, apply_scores, apply_vectors};
pub use assess::{Assessment, EstimateWithInterval, Prediction, assess};
pub use binned::{Bin, BinnedModel};
pub use binning::{Binning, Cell};
pub use bootstrap::{Bootstrap, Interval};
pub use compile::{CompileError, Origin, artifact_bytes};
pub use data::{BinaryData, DataError, TopLabelData, VectorKind, Vectors};
pub use error::{Error, Place, Problem};
pub use fit::{BinaryMethod, Fit, FitError, TopLabelOptions, fit_binary, fit_top_label};
pub use guarantee::{Guarantee, gr21_theorem3, gr21_theorem3_smallest_n, gr22_theorem1};
pub use isotonic::{Block, Isotonic, isotonic_blocks};
pub use output::{OutputError, write_file};
pub use stored::StoredArtifact;
pub use umd::{Boundary, Umd};
