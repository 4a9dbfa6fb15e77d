//! Fit calibrators to held-out scores and labels, with distribution-free guarantees; assess them; write them as bytes for a
//! device.
//!
//! Numbers come in and bytes go out: nothing here reads a file, knows an option of a command, or draws.
//!
//! ```
//! use calib_fit::{BinaryData, BinaryMethod, Umd, artifact_bytes, fit_binary};
//!
//! // 400 held-out scores; the classifier is overconfident: a score of s is right in s / 2 of the cases.
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
//! # Rooms
//!
//! Every module is a room, and imports rooms to its left only:
//! [`given`] < [`mod@names`] < [`cancel`] < `parallel` < [`stats`] < [`error`] < [`points`] < [`data`] < [`dataset`] < [`guarantee`] < [`operating`] < [`sets`] < [`binary`] < [`fit`] < [`reduction`] < [`joint`] <
//! [`intervals`] < [`bands`] < [`artifact`] < [`passes`] < [`adjust`] < [`mod@apply`] < [`assess`] < [`decide`] < [`compare`] < [`fleet`] < [`job`].
//!
//! *Binary* is one score. A *reduction* treats several classes as binary problems. A *joint* calibrator takes whole vectors.
//! *Operating* points are thresholds on a score, and prediction *sets* those classes
//! that may well be true. The rest is plumbing
//! (`stats`, `points`, `data`) or use (`artifact`, `passes`, `adjust`, `apply`, `assess`, `decide`, `compare`, `fleet`).
#![forbid(unsafe_code)]

mod accessors;
pub mod adjust;
pub mod apply;
pub mod artifact;
pub mod assess;
pub mod bands;
pub mod binary;
pub mod cancel;
pub mod compare;
pub mod data;
pub mod dataset;
pub mod decide;
pub mod error;
pub mod fit;
pub mod fleet;
pub mod given;
pub mod guarantee;
pub mod intervals;
pub mod job;
pub mod joint;
pub mod names;
pub mod operating;
mod options_error;
mod parallel;
pub mod passes;
pub mod points;
pub mod reduction;
pub mod sets;
pub mod stats;

pub use calib_core;

pub use apply::{apply, apply_probs};
pub use artifact::{ArtifactOptions, StoredArtifact, artifact_bytes, guarantee_text, joint_artifact_bytes};
pub use binary::{BinaryMethod, Isotonic, ScalingMethod, Umd};
pub use data::{BinaryData, ScoreKind, VectorData, VectorKind, Vectors, WeightedData};
pub use dataset::Dataset;
pub use error::FitError;
pub use fit::{Fit, fit_binary, fit_weighted};
pub use guarantee::{Guarantee, Plan};
pub use joint::{JointFit, JointMethod, fit_joint};
pub use options_error::OptionsError;
pub use reduction::{Problems, ReductionOptions, fit_reduction};
