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
mod canonical;
mod clopper_pearson;
mod code_vectors;
mod codes;
mod compact;
mod compare;
mod compile;
mod compile_joint;
mod count_tree;
mod cross_validation;
mod data;
mod data_error;
pub mod decide;
pub mod device;
mod device_cost;
pub mod draw;
pub mod export;
pub mod files;
mod fit;
mod fit_error;
mod groups;
mod guarantee;
mod held_out_loss;
mod histogram;
pub mod input;
mod irp;
mod isotonic;
mod joint;
mod least_squares;
mod log_loss;
mod method;
mod multiclass_irp;
mod newton;
mod packed;
mod passes;
mod plan;
mod points;
mod problems;
mod promise;
pub mod report;
mod roc_monotony;
mod scaling;
mod scaling_binning;
mod spill;
mod split;
mod split_search;
mod stored;
mod sums;
mod umd;
mod ums;
mod vector_data;
mod vector_scaling;
mod vectors;
mod venn_abers;
mod weighted;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub use apply::{
    Applied, AppliedClasses, AppliedVector, apply_code_vectors, apply_codes, apply_probs, apply_scores,
    apply_vectors,
};
pub use assess::{
    AssessOptions, Assessment, BeforeAfter, BinnedEstimate, Binning, BinsTried, Bootstrap, BrierSplit,
    CEmpEstimate, CalibrationError, Cell, Change, ClassAssessment, EstimateWithInterval, Groups, HullVolume,
    Interval, IntervalKind, LpEstimate, Prediction, PredictionKind, ProbMatrix, ProperScore, ReliabilityBin,
    Roc, RocPoint, RocSummary, RocSurface, SurfaceVolume, TopKAssessment, Validity, ValidityStep,
    VectorAssessment, assess, assess_before_after, assess_top_k, assess_vectors, c_emp, c_emp_interval,
    calibration_error, cells, choose_bins, halves, reliability, roc_surface,
};
pub use binned::{Bin, BinnedModel, RandomizedModel};
pub use canonical::{
    CanonicalError, CanonicalMethod, CanonicalModel, Directions, Partition, ProjectionBinning, SimplexCell,
};
pub use clopper_pearson::clopper_pearson;
pub use code_vectors::CodeVectors;
pub use codes::{CodeModel, CodesError, MAX_CODE_STEPS};
pub use compare::{
    Claim, CompareData, CompareOptions, ComparedMethod, Contender, FailedMethod, MethodComparison, Split,
    compare_methods, fits,
};
pub use compile::{ArtifactOptions, CompileError, artifact_bytes};
pub use compile_joint::joint_artifact_bytes;
pub use cross_validation::CrossValidation;
pub use data::{BinaryData, TopLabelData};
pub use data_error::DataError;
pub use device_cost::{CallInput, CoreCost, CostBasis, DeviceCost, device_costs};
pub use fit::{
    Fit, FitError, FittedTable, ReductionOptions, Unfitted, UnfittedReason, fit_binary, fit_device_scores,
    fit_reduction, fit_top_label, table_name,
};
pub use groups::Group;
pub use guarantee::{
    Guarantee, gr21_corollary1, gr21_theorem3, gr21_theorem3_smallest_n, gr21_theorem4_marginal,
    gr22_theorem1, gr22_theorem2, sample_split,
};
pub use held_out_loss::HeldOutLoss;
pub use isotonic::{Block, InterpolatedModel, Isotonic, isotonic_blocks};
pub use joint::{JointFit, JointMethod, JointModel, fit_joint};
pub use least_squares::Loss;
pub use method::{BinaryMethod, Model, Seed};
pub use multiclass_irp::{MulticlassIrp, RegionValues, SplitTreeModel, Splits};
pub use plan::Plan;
pub use problems::Problems;
pub use promise::{points_for_a_useful_epsilon, promise};
pub use scaling::{CLIP, ScalingError, ScalingMethod, ScalingModel};
pub use scaling_binning::ScalingBinning;
pub use stored::StoredArtifact;
pub use umd::{Boundary, BoundaryPoints, Umd};
pub use ums::{FixedWidth, Ums};
pub use vector_data::VectorData;
pub use vector_scaling::{Odir, VectorScalingError, VectorScalingMethod, VectorScalingModel};
pub use vectors::{VectorKind, Vectors};
pub use venn_abers::VennAbersModel;
pub use weighted::{WeightedData, fit_weighted};
