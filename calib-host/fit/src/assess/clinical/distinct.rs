//! Predictions counted by their probability.

use rayon::prelude::*;

use crate::assess::Prediction;
use crate::points::{Group, totals};
use crate::stats::ExactSum;

/// The distinct probabilities in ascending order, with how many rows have each and how many of these came true. Everything is
/// computed from these, so that neither the order of the rows nor the number of threads matters.
#[derive(Clone, Debug)]
pub(super) struct Distinct {
    pub(super) groups: Vec<Group>,
    pub(super) n: u64,
    pub(super) positives: u64,
}

impl Distinct {
    pub(super) fn new(predictions: &[Prediction]) -> Self {
        // The bits of floats in [0, 1] ascend with their values and leave the top two bits free; -0.0 is the one exception.
        let key = |row: &Prediction| (row.prob + 0.0).to_bits() << 1 | u64::from(row.hit);
        let mut keys: Vec<u64> = predictions.par_iter().map(key).collect();
        keys.par_sort_unstable();
        let group = |tied: &[u64]| Group {
            score: f64::from_bits(tied[0] >> 1),
            n: tied.len() as u64,
            positives: tied.iter().map(|key| key & 1).sum(),
        };
        Self::of(keys.chunk_by(|a, b| a >> 1 == b >> 1).map(group).collect())
    }

    /// Counts groups in ascending order of distinct probabilities.
    pub(super) fn of(groups: Vec<Group>) -> Self {
        let (n, positives) = totals(&groups);
        Self { groups, n, positives }
    }

    /// The sum of the probabilities: how many positives are expected.
    pub(super) fn expected(&self) -> f64 {
        let mut sum = ExactSum::default();
        self.groups.iter().for_each(|group| sum.add_times(group.score, group.n));
        sum.value()
    }

    /// At most so many groups: neighbours are pooled, with the mean of their probabilities, in runs of about as many rows.
    pub(super) fn pooled(&self, most: usize) -> Vec<Group> {
        if self.groups.len() <= most {
            return self.groups.clone();
        }
        let run_rows = self.n.div_ceil(most as u64);
        let mut runs: Vec<(Group, f64)> = Vec::new();
        for group in &self.groups {
            let sum = group.score * group.n as f64;
            match runs.last_mut() {
                Some((run, run_sum)) if run.n + group.n <= run_rows => {
                    run.n += group.n;
                    run.positives += group.positives;
                    *run_sum += sum;
                }
                _ => runs.push((*group, sum)),
            }
        }
        runs.into_iter().map(|(run, sum)| Group { score: sum / run.n as f64, ..run }).collect()
    }
}
