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

pub mod device;
pub mod draw;
pub mod export;
pub mod files;
pub mod input;
pub mod report;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub use calib_fit::apply::{
    Applied, AppliedClasses, AppliedVector, apply_code_vectors, apply_codes, apply_probs, apply_scores,
    apply_vectors,
};
pub use calib_fit::artifact::{
    ArtifactOptions, CallInput, CodesError, CompileError, CoreCost, CostBasis, DeviceCost, MAX_CODE_STEPS,
    StoredArtifact, artifact_bytes, device_costs, joint_artifact_bytes, points_for_a_useful_epsilon, promise,
};
pub use calib_fit::assess::{
    AssessOptions, Assessment, BeforeAfter, BinnedEstimate, Binning, Bootstrap, BrierSplit, CEmpEstimate,
    CalibrationError, Cell, Change, ClassAssessment, EstimateWithInterval, Groups, HullVolume, IntervalKind,
    LpEstimate, Prediction, PredictionKind, ProbMatrix, ProperScore, ReliabilityBin, Roc, RocPoint,
    RocSummary, RocSurface, SurfaceVolume, TopKAssessment, Validity, ValidityStep, VectorAssessment, assess,
    assess_before_after, assess_top_k, assess_vectors, c_emp, c_emp_interval, calibration_error, cells,
    reliability, roc_surface,
};
pub use calib_fit::binary::{
    Bin, BinaryMethod, BinnedModel, Boundary, BoundaryPoints, CodeModel, FixedWidth, InterpolatedModel,
    Isotonic, Loss, Model, RandomizedModel, ScalingBinning, ScalingMethod, ScalingModel, Umd, Ums,
    VennAbersModel,
};
pub use calib_fit::compare::{
    BinsTried, Claim, CompareData, CompareOptions, ComparedMethod, Contender, FailedMethod, MethodComparison,
    Split, choose_bins, compare_methods, fits, halves,
};
pub use calib_fit::data::{
    BinaryCollector, BinaryData, CodeVectors, DataError, TopLabelData, VectorData, VectorKind, Vectors,
    WeightedData,
};
pub use calib_fit::error::{CanonicalError, FitError, ScalingError, UnfittedReason, VectorScalingError};
pub use calib_fit::fit::{
    Fit, FittedTable, Unfitted, fit_binary, fit_device_scores, fit_weighted, table_name,
};
pub use calib_fit::guarantee::{
    Guarantee, Plan, gr21_corollary1, gr21_theorem3, gr21_theorem3_smallest_n, gr21_theorem4_marginal,
    gr22_theorem1, gr22_theorem2, sample_split,
};
pub use calib_fit::joint::{
    CanonicalMethod, CanonicalModel, Directions, HeldOutLoss, JointFit, JointMethod, JointModel,
    MulticlassIrp, Odir, Partition, ProjectionBinning, RegionValues, SimplexCell, SplitTreeModel, Splits,
    VectorScalingMethod, VectorScalingModel, fit_joint,
};
pub use calib_fit::points::{Block, Group, isotonic_blocks};
pub use calib_fit::reduction::{Problems, ReductionOptions, fit_reduction, fit_top_label};
pub use calib_fit::stats::{CLIP, CrossValidation, Interval, Seed, clopper_pearson};
pub use calib_fit::{
    apply, artifact, assess, binary, compare, data, decide, fit, guarantee, joint, points, reduction, stats,
};
