//! How probabilities are distributed among the rows of either label.

use serde::Serialize;

use crate::points::Group;

/// Bars of equal width over `[0, 1]`.
const BARS: usize = 40;

/// Counts of probabilities in 40 bars `[a, b)` of equal width, the last one closed, by label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OutcomeHistogram {
    /// The rows with label 1.
    pub positives: Vec<u64>,
    /// The rows with label 0.
    pub negatives: Vec<u64>,
}

/// Without any rows.
impl Default for OutcomeHistogram {
    fn default() -> Self {
        Self { positives: vec![0; BARS], negatives: vec![0; BARS] }
    }
}

impl OutcomeHistogram {
    /// Goes on past all rows of one probability.
    #[inline]
    pub(super) fn pass(&mut self, group: Group) {
        let bar = ((group.score * BARS as f64) as usize).min(BARS - 1);
        self.positives[bar] += group.positives;
        self.negatives[bar] += group.n - group.positives;
    }

    /// Goes on past other rows.
    pub(super) fn then(&mut self, others: &Self) {
        self.positives.iter_mut().zip(&others.positives).for_each(|(sum, other)| *sum += other);
        self.negatives.iter_mut().zip(&others.negatives).for_each(|(sum, other)| *sum += other);
    }
}
