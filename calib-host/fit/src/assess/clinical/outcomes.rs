//! How probabilities are distributed among the rows of either label.

use serde::Serialize;

use super::distinct::Distinct;

/// Bars of equal width over `[0, 1]`.
const BARS: usize = 40;

/// Counts of probabilities in 40 bars `[a, b)` of equal width, the last one closed, by label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutcomeHistogram {
    /// The rows with label 1.
    pub positives: Vec<u64>,
    /// The rows with label 0.
    pub negatives: Vec<u64>,
}

impl OutcomeHistogram {
    pub(super) fn new(distinct: &Distinct) -> Self {
        let mut bars = Self { positives: vec![0; BARS], negatives: vec![0; BARS] };
        distinct.for_each(|group| {
            let bar = ((group.score * BARS as f64) as usize).min(BARS - 1);
            bars.positives[bar] += group.positives;
            bars.negatives[bar] += group.n - group.positives;
        });
        bars
    }
}
