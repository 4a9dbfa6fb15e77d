//! What a user asks for, as functions of data and options: a command, Python and a test call them alike.
//!
//! A result is `Serialize`: as JSON it is what the command prints with `--json`. Imports every other room.

mod fit;
mod plan;

pub use fit::{
    Chosen, ClassScore, DirectionsName, Finding, FitOptions, Fitted, FittedModel, MethodChoice, MethodName,
    MonitorOptions, NamedMethod, NotFitted, POINTS_PER_BIN, ReductionName, ScalingName, ScoresOf, Smoothing,
    TableWidth, fit,
};
pub use plan::{
    PlanAnswer, PlanOptions, Planned, PlannedPoints, PlannedThreshold, PlannedThresholds, PlannedValidation,
    ThresholdPlanOptions, plan, plan_thresholds, plan_validation,
};
