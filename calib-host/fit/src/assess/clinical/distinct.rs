//! Predictions counted by their probability.

use std::io;

use rayon::prelude::*;

use crate::assess::Prediction;
use crate::points::{Group, Tape};
use crate::stats::ExactSum;

/// Threads share out parts of so many probabilities.
const PART: usize = 1 << 14;

/// The distinct probabilities in ascending order, with how many rows have each and how many of these came true. Everything is
/// computed from these, so that neither the order of the rows nor the number of threads matters.
#[derive(Debug)]
pub(in crate::assess) struct Distinct {
    groups: Tape<2>,
    pub(super) n: u64,
    pub(super) positives: u64,
}

impl Distinct {
    /// Counts predictions, all in memory.
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
        let mut distinct = Self::none(usize::MAX);
        let groups = keys.chunk_by(|a, b| a >> 1 == b >> 1).map(group);
        distinct.extend(groups).expect("all of it is in memory");
        distinct
    }

    /// None yet; up to so many are kept in memory.
    pub(in crate::assess) fn none(in_memory: usize) -> Self {
        Self { groups: Tape::new(in_memory), n: 0, positives: 0 }
    }

    /// Adds groups above all others, in ascending order.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be written.
    ///
    /// # Panics
    ///
    /// If a group stands for 2^32 rows or more.
    pub(in crate::assess) fn extend(&mut self, groups: impl IntoIterator<Item = Group>) -> io::Result<()> {
        let Self { groups: tape, n, positives } = self;
        tape.extend(groups.into_iter().map(|group| {
            *n += group.n;
            *positives += group.positives;
            [group.score.to_bits(), counts(group.n, group.positives)]
        }))
    }

    /// The number of distinct probabilities.
    pub(in crate::assess) fn len(&self) -> usize {
        self.groups.len()
    }

    /// The lowest and the highest.
    pub(super) fn ends(&self) -> [Group; 2] {
        [0, self.len() - 1].map(|place| group(&self.groups.get(place)))
    }

    /// Takes all in ascending order.
    pub(super) fn for_each(&self, mut take: impl FnMut(Group)) {
        self.groups.for_each(|record| take(group(record)));
    }

    /// Maps parts of them, which ascend, on all cores.
    pub(super) fn map<T: Send>(&self, map: impl Fn(&mut dyn Iterator<Item = Group>) -> T + Sync) -> Vec<T> {
        self.groups.map(PART, |records| map(&mut records.iter().map(group)))
    }

    /// Maps parts of them on all cores, and takes the results in order.
    ///
    /// # Errors
    ///
    /// What `take` returns.
    pub(super) fn map_in_order<T: Send>(
        &self,
        map: impl Fn(&mut dyn Iterator<Item = Group>) -> T + Sync,
        take: impl FnMut(T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.groups.map_in_order(PART, |records| map(&mut records.iter().map(group)), take)
    }

    /// The probabilities with their counts.
    pub(super) fn groups(&self) -> &Tape<2> {
        &self.groups
    }

    /// The sum of the probabilities: how many positives are expected.
    pub(super) fn expected(&self) -> f64 {
        let mut sum = ExactSum::default();
        self.for_each(|group| sum.add_times(group.score, group.n));
        sum.value()
    }

    /// At most so many groups: neighbours are pooled, with the mean of their probabilities, in runs of about as many rows.
    pub(super) fn pooled(&self, most: usize) -> Vec<Group> {
        let mut runs: Vec<(Group, f64)> = Vec::new();
        if self.len() <= most {
            let mut groups = Vec::new();
            self.for_each(|group| groups.push(group));
            return groups;
        }
        let run_rows = self.n.div_ceil(most as u64);
        self.for_each(|group| {
            let sum = group.score * group.n as f64;
            match runs.last_mut() {
                Some((run, run_sum)) if run.n + group.n <= run_rows => {
                    run.n += group.n;
                    run.positives += group.positives;
                    *run_sum += sum;
                }
                _ => runs.push((group, sum)),
            }
        });
        runs.into_iter().map(|(run, sum)| Group { score: sum / run.n as f64, ..run }).collect()
    }
}

/// Rows and positives in one word.
pub(super) fn counts(n: u64, positives: u64) -> u64 {
    assert!(u32::try_from(n).is_ok(), "more than 2^32 predictions");
    n << u32::BITS | positives
}

/// What [`counts`] was made of.
pub(super) fn of_counts(counts: u64) -> (u64, u64) {
    (counts >> u32::BITS, counts & u64::from(u32::MAX))
}

fn group(&[score, of]: &[u64; 2]) -> Group {
    let (n, positives) = of_counts(of);
    Group { score: f64::from_bits(score), n, positives }
}
