//! What one pass over the probabilities gathers for several figures.

use super::distinct::Distinct;
use super::net_benefit::Treated;
use super::outcomes::OutcomeHistogram;
use super::spiegelhalter::Deviation;
use crate::assess::proper::{given, loss};
use crate::points::{Block, Group, mean_is_below, pool_onto};
use crate::stats::ExactSum;

/// Sums and counts over probabilities, which come in ascending order, and their isotonic regression.
pub(in crate::assess) struct Gathered {
    pub(in crate::assess) losses: Losses,
    /// The sum of the probabilities: how many positives are expected.
    pub(super) expected: ExactSum,
    pub(super) deviation: Deviation,
    /// The steps of the isotonic regression of the labels.
    pub(in crate::assess) blocks: Vec<Block>,
    pub(super) outcomes: OutcomeHistogram,
    pub(super) treated: Treated,
}

/// The losses of all rows.
#[derive(Clone, Copy, Default)]
pub(in crate::assess) struct Losses {
    pub(in crate::assess) brier: ExactSum,
    /// In units of 64 nats.
    pub(in crate::assess) log_loss: ExactSum,
}

impl Gathered {
    /// Nothing yet, at these thresholds.
    pub(in crate::assess) fn new(thresholds: &[f64]) -> Self {
        Self {
            losses: Losses::default(),
            expected: ExactSum::default(),
            deviation: Deviation::default(),
            blocks: Vec::new(),
            outcomes: OutcomeHistogram::default(),
            treated: Treated::new(thresholds),
        }
    }

    pub(super) fn of(distinct: &Distinct<'_>, thresholds: &[f64]) -> Self {
        let mut all = Self::new(thresholds);
        let of_part = |groups: &mut crate::points::Groups<'_>| {
            let mut part = Self::new(thresholds);
            groups.each(|group| part.pass(group));
            part
        };
        distinct.map_in_order(of_part, |part| all.then(part));
        all
    }

    /// Goes on past all rows of one probability.
    #[inline]
    pub(in crate::assess) fn pass(&mut self, group: Group) {
        let Group { score, n, positives } = group;
        self.losses.pass(group);
        self.expected.add_times(score, n);
        self.deviation.pass(group);
        pool_onto(&mut self.blocks, Block { lo: score, hi: score, n, positives }, mean_is_below);
        self.outcomes.pass(group);
        self.treated.pass(group);
    }

    /// Goes on past rows that are all above these.
    pub(in crate::assess) fn then(&mut self, above: Self) {
        self.losses.brier += above.losses.brier;
        self.losses.log_loss += above.losses.log_loss;
        self.expected += above.expected;
        self.deviation.then(&above.deviation);
        // Pooled once more, the blocks of parts are those of the whole.
        above.blocks.into_iter().for_each(|block| pool_onto(&mut self.blocks, block, mean_is_below));
        self.outcomes.then(&above.outcomes);
        self.treated.then(&above.treated);
    }
}

impl Losses {
    /// Adds those of all rows of one probability.
    #[inline]
    pub(super) fn pass(&mut self, Group { score, n, positives }: Group) {
        for (hit, times, off) in [(true, positives, 1.0 - score), (false, n - positives, score)] {
            if times > 0 {
                self.brier.add_times(off * off, times);
                self.log_loss.add_times(loss(given(score, hit)), times);
            }
        }
    }
}
