//! From a probability to what is done about it.
//!
//! A [`DecisionRule`] is part of an artefact and has an action for every probability. An [`AlarmRule`] is part of the device: a
//! threshold for artefacts without a decision rule.
//!
//! This room imports [`score`](crate::score), [`outcome`](crate::outcome) and [`table`](crate::table).

mod alarm_rule;
mod rule;

pub use alarm_rule::AlarmRule;
pub use rule::{Action, DecisionError, DecisionParts, DecisionRule};
