//! Pooling neighbors until their means ascend.

use super::group::Group;

/// A maximal run of scores with the same fitted value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Block {
    /// The lowest score.
    pub lo: f64,
    /// The highest score.
    pub hi: f64,
    /// The number of points.
    pub n: u64,
    /// How many have label 1; the fitted value is `positives / n`.
    pub positives: u64,
}

/// Pools groups, in ascending order of score, into blocks of strictly increasing mean label (pool adjacent violators),
/// in exact integer arithmetic.
///
/// ```
/// use calib_fit::points::{Group, isotonic_blocks};
///
/// let group = |score, positives| Group { score, n: 2, positives };
/// // Means 1/2, 0, 1: the first two are in the wrong order.
/// let blocks = isotonic_blocks(&[group(0.1, 1), group(0.5, 0), group(0.9, 2)]);
/// assert_eq!(blocks.iter().map(|block| (block.n, block.positives)).collect::<Vec<_>>(), [(4, 1), (2, 2)]);
/// ```
pub fn isotonic_blocks(groups: &[Group]) -> Vec<Block> {
    pool_groups(groups.iter().copied())
}

pub(crate) fn pool_groups(groups: impl Iterator<Item = Group>) -> Vec<Block> {
    let single =
        |group: Group| Block { lo: group.score, hi: group.score, n: group.n, positives: group.positives };
    pool(groups.map(single), mean_is_below)
}

pub(crate) fn mean_is_below(below: &Block, above: &Block) -> bool {
    u128::from(below.positives) * u128::from(above.n) < u128::from(above.positives) * u128::from(below.n)
}

/// Pools neighbors until every block is below the next.
pub(crate) fn pool(
    blocks: impl IntoIterator<Item = Block>,
    is_below: impl Fn(&Block, &Block) -> bool,
) -> Vec<Block> {
    let mut pooled: Vec<Block> = Vec::new();
    blocks.into_iter().for_each(|block| pool_onto(&mut pooled, block, &is_below));
    pooled
}

/// Pools a block with the last of those that are pooled already.
pub(crate) fn pool_onto(
    pooled: &mut Vec<Block>,
    mut block: Block,
    is_below: impl Fn(&Block, &Block) -> bool,
) {
    while let Some(last) = pooled.pop_if(|last| !is_below(last, &block)) {
        block =
            Block { lo: last.lo, n: last.n + block.n, positives: last.positives + block.positives, ..block };
    }
    pooled.push(block);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::group::group;

    fn groups() -> impl Strategy<Value = Vec<Group>> {
        proptest::collection::vec((0u32..12, any::<bool>()), 1..9)
            .prop_map(|raw| group(raw.into_iter().map(|(s, y)| (f64::from(s) / 11.0, 1, y.into())).collect()))
    }

    /// The sum of squared errors if every block has its mean: `k - k^2 / n`, summed.
    fn squared_error(blocks: &[(u64, u64)]) -> f64 {
        blocks.iter().map(|&(n, k)| k as f64 - (k * k) as f64 / n as f64).sum()
    }

    /// The least squared error over every way to cut the distinct scores into runs of non-decreasing means:
    /// the optimal isotonic fit is the mean on each of some runs.
    fn exhaustive(groups: &[Group]) -> f64 {
        let cuts = groups.len() - 1;
        let mut best = f64::INFINITY;
        for mask in 0..1u32 << cuts {
            let mut runs = vec![(0, 0)];
            for (i, group) in groups.iter().enumerate() {
                let run: &mut (u64, u64) = runs.last_mut().unwrap();
                *run = (run.0 + group.n, run.1 + group.positives);
                if i < cuts && mask >> i & 1 == 1 {
                    runs.push((0, 0));
                }
            }
            if runs.windows(2).all(|r| r[0].1 * r[1].0 <= r[1].1 * r[0].0) {
                best = best.min(squared_error(&runs));
            }
        }
        best
    }

    proptest! {
        #[test]
        fn no_monotone_function_fits_better(groups in groups()) {
            let blocks: Vec<_> = isotonic_blocks(&groups).iter().map(|b| (b.n, b.positives)).collect();
            prop_assert!((squared_error(&blocks) - exhaustive(&groups)).abs() < 1e-12);
        }

        #[test]
        fn means_ascend_strictly_and_counts_add_up(groups in groups()) {
            let blocks = isotonic_blocks(&groups);
            let ascend = |b: &[Block]| b[0].positives * b[1].n < b[1].positives * b[0].n && b[0].hi < b[1].lo;
            prop_assert!(blocks.windows(2).all(ascend));
            let n: u64 = groups.iter().map(|g| g.n).sum();
            prop_assert_eq!(blocks.iter().map(|b| b.n).sum::<u64>(), n);
        }

        /// Pooling the fitted blocks again changes nothing.
        #[test]
        fn is_idempotent(groups in groups()) {
            let blocks = isotonic_blocks(&groups);
            let again: Vec<Group> =
                blocks.iter().map(|b| Group { score: b.lo, n: b.n, positives: b.positives }).collect();
            let counts = |blocks: &[Block]| blocks.iter().map(|b| (b.n, b.positives)).collect::<Vec<_>>();
            prop_assert_eq!(counts(&isotonic_blocks(&again)), counts(&blocks));
        }
    }
}
