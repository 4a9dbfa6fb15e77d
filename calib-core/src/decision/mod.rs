//! From a probability to what is done about it.
//!
//! A [`DecisionRule`] comes with the artefact and names an action for every probability; an [`AlarmRule`] is the device's
//! own threshold, for an artefact without a rule.
//!
//! This room imports [`score`](crate::score), [`outcome`](crate::outcome) and [`table`](crate::table).

mod alarm_rule;
mod rule;

pub use alarm_rule::AlarmRule;
pub use rule::{Action, DecisionError, DecisionParts, DecisionRule};
