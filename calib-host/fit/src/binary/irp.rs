//! Isotonic recursive partitioning.

use crate::points::{Block, Group, totals};

/// Isotonic recursive partitioning (Luss et al. 2012; Berta et al. 2024, section 2.4): starts with one block and keeps
/// splitting the block whose best split gains most, until no split gains or there are `max_bins` blocks. Run to the
/// end, it gives the isotonic fit; stopped early, a coarser monotone one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Irp {
    /// The largest number of bins; `None` runs to the end.
    pub(crate) max_bins: Option<usize>,
}

/// A split of a run of groups in front of group `at`.
#[derive(Clone, Copy)]
struct Split {
    /// What the split gains, `sum over the upper part - sum over the lower part` of `label - mean`, at least.
    gain: f64,
    at: usize,
}

impl Irp {
    /// Partitions groups in ascending order of score into blocks of strictly increasing mean label.
    pub(crate) fn blocks(&self, groups: &[Group]) -> Vec<Block> {
        let max_bins = self.max_bins.unwrap_or(usize::MAX).max(1);
        // Runs of groups as (start, end, best split), in ascending order.
        let mut runs = vec![(0, groups.len(), best_split(groups))];
        while runs.len() < max_bins {
            let gains = runs.iter().enumerate().filter_map(|(i, run)| run.2.map(|split| (i, split)));
            // The largest gain; the lowest block among equals.
            let best = gains.reduce(|best, next| if next.1.gain > best.1.gain { next } else { best });
            let Some((index, split)) = best else { break };
            let (start, end, _) = runs[index];
            let middle = start + split.at;
            let (lower, upper) = (best_split(&groups[start..middle]), best_split(&groups[middle..end]));
            runs.splice(index..=index, [(start, middle, lower), (middle, end, upper)]);
        }
        runs.iter()
            .map(|&(start, end, _)| {
                let (n, positives) = totals(&groups[start..end]);
                Block { lo: groups[start].score, hi: groups[end - 1].score, n, positives }
            })
            .collect()
    }
}

/// The split with the largest gain, in exact integers; `None` if none gains. The first among equals.
fn best_split(groups: &[Group]) -> Option<Split> {
    let (n, positives) = totals(groups);
    // n times the sum of (label - mean) over the lower part: the more it is below 0, the more the split gains.
    let (mut sum, mut lowest, mut at) = (0i128, 0i128, 0);
    for (i, group) in groups.iter().enumerate() {
        if sum < lowest {
            (lowest, at) = (sum, i);
        }
        sum += i128::from(group.positives) * i128::from(n) - i128::from(group.n) * i128::from(positives);
    }
    (lowest < 0).then(|| Split { gain: -2.0 * lowest as f64 / n as f64, at })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::{group, isotonic_blocks};

    fn groups() -> impl Strategy<Value = Vec<Group>> {
        proptest::collection::vec((0u32..40, 1u64..5, any::<bool>()), 1..80).prop_map(|raw| {
            group(raw.into_iter().map(|(s, n, y)| (f64::from(s) / 39.0, n, if y { n } else { 0 })).collect())
        })
    }

    proptest! {
        /// Run to the end, the partition is that of pool-adjacent-violators.
        #[test]
        fn ends_at_the_isotonic_fit(groups in groups()) {
            prop_assert_eq!(Irp::default().blocks(&groups), isotonic_blocks(&groups));
        }

        /// Stopped early, it keeps the number of bins, is monotone, and never fits worse with more bins.
        #[test]
        fn stops_early(groups in groups()) {
            let error = |blocks: &[Block]| -> f64 {
                blocks.iter().map(|b| b.positives as f64 * (1.0 - b.positives as f64 / b.n as f64)).sum()
            };
            let mut last = f64::INFINITY;
            for max_bins in 1..10 {
                let blocks = Irp { max_bins: Some(max_bins) }.blocks(&groups);
                prop_assert!(blocks.len() <= max_bins);
                let ascend = |b: &[Block]| b[0].positives * b[1].n < b[1].positives * b[0].n;
                prop_assert!(blocks.windows(2).all(ascend));
                prop_assert!(error(&blocks) <= last + 1e-9);
                last = error(&blocks);
            }
        }
    }
}
