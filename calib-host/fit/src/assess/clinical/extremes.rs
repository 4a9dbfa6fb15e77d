//! Probabilities of exactly 0 or 1, which have no logit.

use serde::Serialize;

use super::distinct::Distinct;
use crate::stats::CLIP;

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

/// How many probabilities are exactly 0 or 1, and what was done with them in regressions on logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

/// Logits of the rows that have one, with counts.
pub(super) struct Logits {
    pub(super) rows: Vec<LogitRow>,
    pub(super) positives: u64,
    pub(super) n: u64,
}

/// Rows with one logit.
#[derive(Clone, Copy)]
pub(super) struct LogitRow {
    pub(super) logit: f64,
    pub(super) prob: f64,
    pub(super) n: u64,
    pub(super) positives: u64,
}

impl Extremes {
    pub(super) fn new(distinct: &Distinct, treatment: ExtremeProbs) -> Self {
        let at = |prob: f64| distinct.groups.iter().find(|group| group.score == prob);
        let (zero, one) = (at(0.0), distinct.groups.last().filter(|group| group.score == 1.0));
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

    pub(super) fn logits(&self, distinct: &Distinct) -> Logits {
        let clipped = |prob: f64| match self.treatment {
            ExtremeProbs::LeaveOut => prob,
            ExtremeProbs::Clip => prob.clamp(CLIP, 1.0 - CLIP),
        };
        let row = |group: &crate::points::Group| {
            let prob = clipped(group.score);
            (prob > 0.0 && prob < 1.0).then(|| LogitRow {
                logit: prob.ln() - (-prob).ln_1p(),
                prob: group.score,
                n: group.n,
                positives: group.positives,
            })
        };
        let rows: Vec<LogitRow> = distinct.groups.iter().filter_map(row).collect();
        let n = rows.iter().map(|row| row.n).sum();
        let positives = rows.iter().map(|row| row.positives).sum();
        Logits { rows, positives, n }
    }
}
