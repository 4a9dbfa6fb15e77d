//! Isotonic regression with few steps.

use crate::binary::irp::Irp;
use crate::binary::isotonic::Isotonic;
use crate::binary::steps::BinnedModel;
use crate::cancel;
use crate::error::FitError;
use crate::points::{Block, Points};

/// With more blocks than this, the search begins at these many.
const MOST_BLOCKS: usize = 1024;

/// The non-decreasing step function of the best Bayesian information criterion: each step costs `2 ln(n)`, for its value and its place, and
/// may raise the likelihood. If probabilities jump and are level in between, such a function is nearer than isotonic regression, whose steps
/// are many and small.
///
/// Its steps are blocks of isotonic regression or several of these together: of steps whose edges are elsewhere, none has a higher likelihood. Beyond
/// 1024 blocks isotonic recursive partitioning merges first.
#[derive(Clone, Copy, Debug)]
pub(super) struct FewSteps;

impl FewSteps {
    pub(super) fn fit(self, points: &(impl Points + ?Sized)) -> Result<BinnedModel, FitError> {
        let mut blocks = Isotonic::default().blocks(points)?;
        if blocks.len() > MOST_BLOCKS {
            blocks = Irp { max_bins: Some(MOST_BLOCKS) }.blocks(&blocks);
        }
        let (n, _) = points.totals();
        Ok(Isotonic::default().steps(&merged(&blocks, 2.0 * (n as f64).ln())))
    }
}

/// Merges neighboring blocks so that the sum of their deviances, each with a price, is least.
fn merged(blocks: &[Block], price: f64) -> Vec<Block> {
    // For each number of first blocks, the least sum and where the last merged block begins.
    let mut best = vec![(0.0, 0)];
    for end in 1..=blocks.len() {
        cancel::check_canceled();
        let mut block = blocks[end - 1];
        let mut least = (f64::INFINITY, 0);
        for start in (0..end).rev() {
            if start + 1 < end {
                block = together(&blocks[start], &block);
            }
            let sum = best[start].0 + price + deviance(&block);
            if sum < least.0 {
                least = (sum, start);
            }
        }
        best.push(least);
    }
    let mut merged = Vec::new();
    let mut end = blocks.len();
    while end > 0 {
        let start = best[end].1;
        merged.extend(blocks[start..end].iter().copied().reduce(|below, above| together(&below, &above)));
        end = start;
    }
    merged.reverse();
    merged
}

fn together(below: &Block, above: &Block) -> Block {
    Block { lo: below.lo, hi: above.hi, n: below.n + above.n, positives: below.positives + above.positives }
}

/// Minus twice the logarithm of the likelihood of a block at its mean.
fn deviance(block: &Block) -> f64 {
    let of = |count: u64| match count {
        0 => 0.0,
        count => -2.0 * count as f64 * (count as f64 / block.n as f64).ln(),
    };
    of(block.positives) + of(block.n - block.positives)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::{Group, group, isotonic_blocks};

    fn cost(blocks: &[Block], price: f64) -> f64 {
        blocks.iter().map(|block| price + deviance(block)).sum()
    }

    proptest! {
        /// Of all step functions that do not fall, with edges between any scores, none has a lower cost.
        #[test]
        fn no_other_steps_cost_less(
            raw in proptest::collection::vec((1u64..9, 0u64..9), 1..10), price in 0.1f64..6.0,
        ) {
            let points = raw.iter().enumerate().map(|(at, &(n, k))| (at as f64 / 10.0, n, k.min(n)));
            let groups: Vec<Group> = group(points.collect());
            let found = merged(&isotonic_blocks(&groups), price);
            prop_assert!(found.is_sorted_by(|a, b| a.positives * b.n < b.positives * a.n && a.hi < b.lo));
            prop_assert_eq!(found.iter().map(|block| block.n).sum::<u64>(), groups.iter().map(|group| group.n).sum::<u64>());
            for edges in 0u32..1 << (groups.len() - 1) {
                let mut blocks: Vec<Block> = Vec::new();
                for (at, group) in groups.iter().enumerate() {
                    let block = Block { lo: group.score, hi: group.score, n: group.n, positives: group.positives };
                    match blocks.last_mut() {
                        Some(last) if edges >> (at - 1) & 1 == 0 => *last = together(last, &block),
                        _ => blocks.push(block),
                    }
                }
                if blocks.is_sorted_by(|a, b| a.positives * b.n <= b.positives * a.n) {
                    prop_assert!(cost(&found, price) <= cost(&blocks, price) + 1e-9, "{found:?} {blocks:?}");
                }
            }
        }
    }

    /// Two jumps are three steps; a slope has more, but fewer than isotonic regression.
    #[test]
    fn jumps_are_found_at_their_scores() {
        let drawn = |truth: &dyn Fn(f64) -> f64| -> Vec<Group> {
            let score = |i: u64| f64::from(((i as f64 + 0.5) / 4000.0) as f32);
            let is_event =
                |i: u64| ((i * 2_654_435_769 % (1 << 32)) as f64) / ((1u64 << 32) as f64) < truth(score(i));
            group((0..4000).map(|i| (score(i), 1, u64::from(is_event(i)))).collect())
        };
        let fitted = |truth: &dyn Fn(f64) -> f64| FewSteps.fit(&drawn(truth)[..]).unwrap();
        let steps = fitted(&|s| {
            if s < 0.3 {
                0.1
            } else if s < 0.7 {
                0.5
            } else {
                0.8
            }
        });
        assert_eq!(steps.bins.len(), 3, "{steps:?}");
        for (edge, jump) in steps.edges.iter().zip([0.3, 0.7]) {
            assert!((edge - jump).abs() < 0.01, "{edge}");
        }
        let slope = drawn(&|s| s);
        let few = FewSteps.fit(&slope[..]).unwrap().bins.len();
        assert!(3 < few && few < Isotonic::default().fit(&slope[..]).unwrap().bins.len(), "{few}");
    }
}
