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
#![forbid(unsafe_code)]

mod apply;
mod assess;
mod binned;
mod binning;
mod bootstrap;
mod clopper_pearson;
mod compile;
mod data;
mod error;
mod fit;
mod groups;
mod guarantee;
mod histogram;
pub mod input;
mod irp;
mod isotonic;
mod method;
mod output;
mod packed;
mod passes;
mod plan;
mod points;
mod scaling;
mod scaling_binning;
mod spill;
mod split;
mod stored;
mod sums;
mod umd;
mod ums;
mod venn_abers;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub use apply::{Applied, apply_probs, apply_scores, apply_vectors};
pub use assess::{Assessment, EstimateWithInterval, Prediction, assess};
pub use binned::{Bin, BinnedModel, RandomizedModel};
pub use binning::{Binning, Cell};
pub use bootstrap::{Bootstrap, Interval};
pub use clopper_pearson::clopper_pearson;
pub use compile::{ArtifactOptions, CompileError, artifact_bytes};
pub use data::{BinaryData, DataError, TopLabelData, VectorKind, Vectors};
pub use error::{Error, Place, Problem};
pub use fit::{Fit, FitError, FittedTable, TopLabelOptions, fit_binary, fit_device_scores, fit_top_label};
pub use groups::Group;
pub use guarantee::{
    Guarantee, gr21_corollary1, gr21_theorem3, gr21_theorem3_smallest_n, gr21_theorem4_marginal,
    gr22_theorem1, sample_split,
};
pub use isotonic::{Block, InterpolatedModel, Isotonic, isotonic_blocks};
pub use method::{BinaryMethod, Model, Seed};
pub use output::{OutputError, write_file};
pub use plan::Plan;
pub use scaling::{CLIP, ScalingError, ScalingMethod, ScalingModel};
pub use scaling_binning::ScalingBinning;
pub use stored::StoredArtifact;
pub use umd::{Boundary, BoundaryPoints, Umd};
pub use ums::{FixedWidth, Ums};
pub use venn_abers::VennAbersModel;
