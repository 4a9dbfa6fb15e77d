//! Probabilities of exactly 0 or 1, which have no logit.

use serde::Serialize;

use super::distinct::Distinct;
use crate::names::names;

/// What a regression on logits does with probabilities of exactly 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtremeProbs {
    /// Leaves the rows out.
    #[default]
    LeaveOut,
    /// Clips all probabilities to `[2^-24, 1 - 2^-24]`, as fits of scaling functions do.
    Clip,
}

names!(ExtremeProbs, "treatment of 0 and 1":
    LeaveOut "leave-out" "Leave their rows out",
    Clip "clip" "Clip all probabilities to [2^-24, 1 - 2^-24]",
);

/// How many probabilities are exactly 0 or 1, and what was done with them in regressions on logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Extremes {
    /// Rows with probability 0.
    pub zeros: u64,
    /// How many of them have label 1 nevertheless.
    pub zeros_positive: u64,
    /// Rows with probability 1.
    pub ones: u64,
    /// How many of them have label 0 nevertheless.
    pub ones_negative: u64,
    /// What was done with them.
    pub treatment: ExtremeProbs,
}

impl Extremes {
    pub(super) fn new(distinct: &Distinct<'_>, treatment: ExtremeProbs) -> Self {
        let [lowest, highest] = distinct.ends();
        let zero = Some(lowest).filter(|group| group.score == 0.0);
        let one = Some(highest).filter(|group| group.score == 1.0);
        Self {
            zeros: zero.map_or(0, |group| group.n),
            zeros_positive: zero.map_or(0, |group| group.positives),
            ones: one.map_or(0, |group| group.n),
            ones_negative: one.map_or(0, |group| group.n - group.positives),
            treatment,
        }
    }

    /// How many rows there are of them.
    pub fn count(&self) -> u64 {
        self.zeros + self.ones
    }
}
