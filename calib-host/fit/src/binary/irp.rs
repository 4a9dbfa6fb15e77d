//! Isotonic recursive partitioning.

use crate::cancel;
use crate::points::Block;

/// Isotonic recursive partitioning (Luss et al. 2012; Berta et al. 2024, section 2.4): starts with one block and keeps
/// splitting the block whose best split gains most, until no split gains or there are `max_bins` blocks. Run to the
/// end, it gives the isotonic fit; stopped early, a coarser monotone one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Irp {
    /// The largest number of bins; `None` runs to the end.
    pub(crate) max_bins: Option<usize>,
}

/// A split of a run of blocks in front of block `at`.
#[derive(Clone, Copy)]
struct Split {
    /// What the split gains, `sum over the upper part - sum over the lower part` of `label - mean`, at least.
    gain: f64,
    at: usize,
}

impl Irp {
    /// Partitions points, given the blocks of their isotonic fit, into blocks of strictly increasing mean label.
    ///
    /// The scores within a block of the isotonic fit need not be looked at: what a split gains is the depth of the cumulative
    /// labels below their chord. They are deepest at a corner of their convex minorant, where two blocks meet (Luss et al.
    /// 2012, theorem 1: no split is regretted).
    pub(crate) fn blocks(&self, isotonic: &[Block]) -> Vec<Block> {
        let max_bins = self.max_bins.unwrap_or(usize::MAX).max(1);
        // Runs of blocks as (start, end, best split), in ascending order.
        let mut runs = vec![(0, isotonic.len(), best_split(isotonic))];
        while runs.len() < max_bins {
            cancel::check_canceled();
            let gains = runs.iter().enumerate().filter_map(|(i, run)| run.2.map(|split| (i, split)));
            // The largest gain; the lowest block among equals.
            let best = gains.reduce(|best, next| if next.1.gain > best.1.gain { next } else { best });
            let Some((index, split)) = best else { break };
            let (start, end, _) = runs[index];
            let middle = start + split.at;
            let (lower, upper) = (best_split(&isotonic[start..middle]), best_split(&isotonic[middle..end]));
            runs.splice(index..=index, [(start, middle, lower), (middle, end, upper)]);
        }
        runs.iter()
            .map(|&(start, end, _)| {
                let (n, positives) = totals(&isotonic[start..end]);
                Block { lo: isotonic[start].lo, hi: isotonic[end - 1].hi, n, positives }
            })
            .collect()
    }
}

/// The split with the largest gain, in exact integers; `None` if none gains. The first among equals.
fn best_split(blocks: &[Block]) -> Option<Split> {
    let (n, positives) = totals(blocks);
    // n times the sum of (label - mean) over the lower part: the more it is below 0, the more the split gains.
    let (mut sum, mut lowest, mut at) = (0i128, 0i128, 0);
    for (i, block) in blocks.iter().enumerate() {
        if sum < lowest {
            (lowest, at) = (sum, i);
        }
        sum += i128::from(block.positives) * i128::from(n) - i128::from(block.n) * i128::from(positives);
    }
    (lowest < 0).then(|| Split { gain: -2.0 * lowest as f64 / n as f64, at })
}

/// The number of points and of positives in blocks.
fn totals(blocks: &[Block]) -> (u64, u64) {
    blocks.iter().fold((0, 0), |(n, positives), block| (n + block.n, positives + block.positives))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::{Group, group, isotonic_blocks};

    fn groups() -> impl Strategy<Value = Vec<Group>> {
        proptest::collection::vec((0u32..40, 1u64..5, any::<bool>()), 1..80).prop_map(|raw| {
            group(raw.into_iter().map(|(s, n, y)| (f64::from(s) / 39.0, n, if y { n } else { 0 })).collect())
        })
    }

    /// A block for each score.
    fn each(groups: &[Group]) -> Vec<Block> {
        let block = |g: &Group| Block { lo: g.score, hi: g.score, n: g.n, positives: g.positives };
        groups.iter().map(block).collect()
    }

    proptest! {
        /// Run to the end, the partition is that of pool-adjacent-violators.
        #[test]
        fn ends_at_the_isotonic_fit(groups in groups()) {
            prop_assert_eq!(Irp::default().blocks(&each(&groups)), isotonic_blocks(&groups));
        }

        /// Stopped early, it keeps the number of bins, is monotone, and never fits worse with more bins.
        #[test]
        fn stops_early(groups in groups()) {
            let error = |blocks: &[Block]| -> f64 {
                blocks.iter().map(|b| b.positives as f64 * (1.0 - b.positives as f64 / b.n as f64)).sum()
            };
            let mut last = f64::INFINITY;
            for max_bins in 1..10 {
                let blocks = Irp { max_bins: Some(max_bins) }.blocks(&each(&groups));
                // By its definition it splits between any two scores.
                prop_assert_eq!(&Irp { max_bins: Some(max_bins) }.blocks(&isotonic_blocks(&groups)), &blocks);
                prop_assert!(blocks.len() <= max_bins);
                let ascend = |b: &[Block]| b[0].positives * b[1].n < b[1].positives * b[0].n;
                prop_assert!(blocks.windows(2).all(ascend));
                prop_assert!(error(&blocks) <= last + 1e-9);
                last = error(&blocks);
            }
        }
    }
}
