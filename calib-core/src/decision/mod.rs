//! From a score or a probability to what is done about it.
//!
//! [`OperatingPoints`], [`PredictionSets`] and a [`DecisionRule`] are part of an artifact, which has at most one of them: thresholds
//! of the score whose accuracy is guaranteed, sets of classes that hold the true one, or an action for every calibrated probability. An
//! [`AlarmRule`] is part of the device: a threshold for artifacts without any of them.
//!
//! This room imports [`score`](crate::score), [`outcome`](crate::outcome) and [`table`](crate::table).

mod alarm_rule;
mod class_set;
mod names;
mod operating_point;
mod prediction_set;
mod rule;

pub use alarm_rule::AlarmRule;
pub use class_set::ClassSet;
pub(crate) use names::{NameError, Names, behind_name};
pub use operating_point::{
    Accuracy, AccuracyGuarantee, CodeOperatingPoint, OperatingParts, OperatingPoint, OperatingPointError,
    OperatingPoints, Threshold, Thresholds, Verdict, never,
};
pub use prediction_set::{Conformity, PredictionSets, Quantile, Quantiles, SetError, SetParts};
pub use rule::{Action, DecisionError, DecisionParts, DecisionRule, SureBy};
