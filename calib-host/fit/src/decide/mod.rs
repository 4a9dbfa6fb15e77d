//! What to do at which probability, and what it costs (Gao et al. 2017).
//!
//! Costs are exact decimals, so that thresholds, and which side of them a probability is on, are exact, too. A probability
//! is the device's `f32`.

mod actions;
mod artifact;
mod cost;
mod costs;
mod decision;
mod distribution;
mod envelope;
mod expected_cost;
mod roc;
mod rule;
mod start_up;
mod threshold;

pub use actions::{Actions, ActionsError, CostedAction};
pub use artifact::with_decision;
pub use cost::{Cost, CostError};
pub use costs::Costs;
pub use decision::{
    DecisionCost, DecisionInterval, DecisionMismatch, DecisionSummary, ReportedRule, ThresholdAccuracy,
};
pub use distribution::ProbDistribution;
pub use envelope::{Envelope, LeftOut};
pub use expected_cost::{CostInterval, Validation, actual_cost, cost_interval, expected_cost};
pub use roc::{EstimatedRoc, EstimatedRocPoint};
pub use rule::{Rule, RuleError};
pub use start_up::{CheapestActions, choose_actions};
pub use threshold::Threshold;
