//! Probabilities of exactly 0 or 1, which have no logit.

use std::io;

use serde::Serialize;

use super::distinct::{Distinct, counts, of_counts};
use crate::points::{Group, Tape};
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

/// Logits of the rows that have one, with counts, in ascending order.
pub(super) struct Logits {
    /// What [`LogitRow::of`] takes.
    pub(super) rows: Tape<3>,
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

impl LogitRow {
    pub(super) fn of(&[logit, prob, counts]: &[u64; 3]) -> Self {
        let (n, positives) = of_counts(counts);
        Self { logit: f64::from_bits(logit), prob: f64::from_bits(prob), n, positives }
    }

    fn record(self) -> [u64; 3] {
        [self.logit.to_bits(), self.prob.to_bits(), counts(self.n, self.positives)]
    }
}

impl Extremes {
    pub(super) fn new(distinct: &Distinct, treatment: ExtremeProbs) -> Self {
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

    /// # Errors
    ///
    /// If a temporary file cannot be written.
    pub(super) fn logits(&self, distinct: &Distinct) -> io::Result<Logits> {
        let clipped = |prob: f64| match self.treatment {
            ExtremeProbs::LeaveOut => prob,
            ExtremeProbs::Clip => prob.clamp(CLIP, 1.0 - CLIP),
        };
        let row = |group: Group| {
            let prob = clipped(group.score);
            (prob > 0.0 && prob < 1.0).then(|| LogitRow {
                logit: prob.ln() - (-prob).ln_1p(),
                prob: group.score,
                n: group.n,
                positives: group.positives,
            })
        };
        let mut rows = Tape::like(distinct.groups());
        let records = |groups: &mut dyn Iterator<Item = Group>| {
            groups.filter_map(row).map(LogitRow::record).collect::<Vec<_>>()
        };
        distinct.map_in_order(records, |records| rows.extend(records))?;
        let of_part = |records: &[[u64; 3]]| {
            let rows = records.iter().map(LogitRow::of);
            rows.fold((0, 0), |(n, positives), row| (n + row.n, positives + row.positives))
        };
        let parts = rows.map(1 << 14, of_part);
        let (n, positives) = parts.into_iter().fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        Ok(Logits { rows, positives, n })
    }
}
