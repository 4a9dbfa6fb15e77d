//! What a user asks for, as functions of data and options: a command, Python and a test call them alike.
//!
//! A result is `Serialize`: as JSON it is what the command prints with `--json`. Imports every other room.

mod adjust;
mod error;
mod facts;
mod plan;
mod rows;
mod sets;
mod target;
mod threshold;

pub use adjust::{AdjustOptions, AdjustSummary, Adjusted, GuaranteeFacts, adjust};
pub use error::JobError;
pub use facts::Written;
pub use plan::{
    PlanAnswer, PlanOptions, Planned, PlannedPoints, PlannedThreshold, PlannedThresholds, PlannedValidation,
    ThresholdPlanOptions, plan, plan_thresholds, plan_validation,
};
pub use sets::{SetOptions, SetSummary, Sets, sets};
pub use target::Target;
pub use threshold::{GroupThreshold, ThresholdOptions, ThresholdSummary, Thresholds, threshold};
