//! What a user asks for, as functions of data and options: a command, Python and a test call them alike.
//!
//! A result is `Serialize`: as JSON it is what the command prints with `--json`. Imports every other room.

mod adjust;
mod assess;
mod compare;
mod contenders;
mod decide;
mod error;
mod facts;
mod finding;
mod fit;
mod hint;
mod plan;
mod rows;
mod sets;
mod target;
mod threshold;

pub use adjust::{AdjustOptions, AdjustSummary, Adjusted, AdjustedBin, GuaranteeFacts, adjust};
pub use assess::{
    AssessError, AssessOptions, Assessed, AssessedBeforeAfter, AssessedClasses, AssessedFigures,
    AssessedOperating, AssessedPredictions, AssessedRanks, AssessedSets, AssessedVectors, Calibrated,
    CheckedScores, Compared, DeviceScores, Mismatch, Predictions, Ranks, assess, assess_calibrated,
    assess_matrix, assess_predictions, binary_encoding, codes_of_classes, got_vectors, mismatch,
    needs_logits, overlap_with_fit, reads_points, scores_encoding, vectors_encoding,
};
pub use compare::{CompareOptions, compare};
pub use contenders::{ContenderName, ContenderOptions};
pub use decide::{DecideRows, Decided, decide, with_rule};
pub use error::JobError;
pub use facts::Written;
pub use finding::{Finding, KindGuess};
pub use fit::{
    AlarmAction, ClassScore, FitOptions, Fitted, FittedModel, MethodChoice, MethodName, MonitorOptions,
    NamedMethod, NotFitted, ROWS_PER_BIN, ReductionName, ScalingName, ScoresOf, Smoothing, TableWidth, fit,
};
pub use plan::{
    PlanAnswer, PlanOptions, Planned, PlannedPoints, PlannedThreshold, PlannedThresholds, PlannedValidation,
    ThresholdPlanOptions, plan, plan_thresholds, plan_validation,
};
pub use sets::{SetOptions, SetSummary, Sets, sets};
pub use target::Target;
pub use threshold::{GroupThreshold, ThresholdOptions, ThresholdSummary, Thresholds, threshold};
