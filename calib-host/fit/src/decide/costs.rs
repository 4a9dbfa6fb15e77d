//! What is stated of actions and their costs.

use super::actions::Actions;
use super::rule::Rule;

/// Actions, and what else is stated of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// The actions.
    pub actions: Actions,
    /// The rule, if an interval is stated for every action.
    pub stated: Option<Rule>,
    /// Over how many decisions start-up costs are spread.
    pub cases: Option<u64>,
}
