//! Isotonic regression as a step function.

use calib_core::StepTable;

use crate::binned::{Bin, BinnedModel};
use crate::fit::FitError;

/// Isotonic regression by pool-adjacent-violators: the non-decreasing step function with the least squared
/// error. Equal scores are pooled first and neighbouring blocks of equal mean merged, so that the result is
/// unique. Edges are midpoints between blocks. There is no distribution-free guarantee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Isotonic;

/// A maximal run of scores with the same fitted value.
#[derive(Clone, Copy, Debug, PartialEq)]
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

impl Isotonic {
    /// Fits points sorted by score.
    ///
    /// # Errors
    ///
    /// If the fit has more blocks than a table can have bins.
    pub(crate) fn fit(&self, sorted: &[(f64, bool)]) -> Result<BinnedModel, FitError> {
        let blocks = isotonic_blocks(sorted);
        if blocks.len() > StepTable::MAX_BINS {
            return Err(FitError::BinCount(blocks.len()));
        }
        let edges = blocks.windows(2).map(|pair| midpoint(pair[0].hi, pair[1].lo)).collect();
        let bins = blocks.iter().map(|block| Bin::mean(block.n, block.positives)).collect();
        Ok(BinnedModel { edges, bins, ties_merged: false })
    }
}

/// Pools points, sorted by score, into blocks of strictly increasing mean label, in exact integer arithmetic.
pub fn isotonic_blocks(sorted: &[(f64, bool)]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let score = tied[0].0;
        let positives = tied.iter().filter(|point| point.1).count() as u64;
        let mut block = Block { lo: score, hi: score, n: tied.len() as u64, positives };
        while let Some(last) = blocks.pop_if(|last| !mean_is_below(last, &block)) {
            block = Block {
                lo: last.lo,
                n: last.n + block.n,
                positives: last.positives + block.positives,
                ..block
            };
        }
        blocks.push(block);
    }
    blocks
}

/// Whether `a`'s mean is strictly below `b`'s, by cross-multiplication.
fn mean_is_below(a: &Block, b: &Block) -> bool {
    u128::from(a.positives) * u128::from(b.n) < u128::from(b.positives) * u128::from(a.n)
}

/// A number in `(below, above]` near the middle that an `f32` holds, so that the device splits two `f32` scores
/// where the host does; `above` itself if there is none in between.
fn midpoint(below: f64, above: f64) -> f64 {
    let middle = f64::from(((below + above) / 2.0) as f32);
    if below < middle && middle <= above { middle } else { above }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn points() -> impl Strategy<Value = Vec<(f64, bool)>> {
        proptest::collection::vec((0u32..12, any::<bool>()), 1..9).prop_map(|raw| {
            let mut points: Vec<_> = raw.into_iter().map(|(s, y)| (f64::from(s) / 11.0, y)).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points
        })
    }

    fn squared_error(blocks: &[Block], points: &[(f64, bool)]) -> f64 {
        let fitted = |s: f64| {
            let block = blocks.iter().find(|b| b.lo <= s && s <= b.hi).unwrap();
            block.positives as f64 / block.n as f64
        };
        points.iter().map(|&(s, y)| (fitted(s) - f64::from(u8::from(y))).powi(2)).sum()
    }

    /// The least squared error over every way to cut the distinct scores into runs of non-decreasing means:
    /// the optimal isotonic fit is the mean on each of some runs.
    fn exhaustive(points: &[(f64, bool)]) -> f64 {
        let groups: Vec<_> = points.chunk_by(|a, b| a.0 == b.0).collect();
        let cuts = groups.len() - 1;
        let mut best = f64::INFINITY;
        for mask in 0..1u32 << cuts {
            let mut runs: Vec<Vec<f64>> = vec![vec![]];
            for (i, group) in groups.iter().enumerate() {
                runs.last_mut().unwrap().extend(group.iter().map(|p| f64::from(u8::from(p.1))));
                if i < cuts && mask >> i & 1 == 1 {
                    runs.push(vec![]);
                }
            }
            let means: Vec<f64> = runs.iter().map(|r| r.iter().sum::<f64>() / r.len() as f64).collect();
            if means.windows(2).all(|m| m[0] <= m[1]) {
                let error =
                    runs.iter().zip(&means).flat_map(|(r, m)| r.iter().map(move |y| (y - m).powi(2))).sum();
                best = best.min(error);
            }
        }
        best
    }

    #[test]
    fn the_fixture_with_a_tie() {
        let sorted = [(0.2, false), (0.5, true), (0.5, false), (0.8, true)];
        let model = Isotonic.fit(&sorted).unwrap();
        assert_eq!(model.bins.iter().map(|bin| bin.value).collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
        assert_eq!(model.edges, [f64::from(0.35f32), f64::from(0.65f32)]);
    }

    #[test]
    fn an_edge_between_neighbouring_floats_separates_them() {
        let below = 0.3f32;
        let above = below.next_up();
        let edge = midpoint(below.into(), above.into());
        assert_eq!(edge, f64::from(above));
        assert_eq!(midpoint(0.0, f32::from_bits(1).into()), f64::from(f32::from_bits(1)));
    }

    proptest! {
        #[test]
        fn no_monotone_function_fits_better(points in points()) {
            let error = squared_error(&isotonic_blocks(&points), &points);
            prop_assert!((error - exhaustive(&points)).abs() < 1e-12);
        }

        #[test]
        fn means_ascend_strictly_and_counts_add_up(points in points()) {
            let blocks = isotonic_blocks(&points);
            prop_assert!(blocks.windows(2).all(|b| mean_is_below(&b[0], &b[1]) && b[0].hi < b[1].lo));
            prop_assert_eq!(blocks.iter().map(|b| b.n).sum::<u64>(), points.len() as u64);
        }

        /// Pooling the fitted values again changes nothing: repeated rows of each block's labels, block by block.
        #[test]
        fn is_idempotent(points in points()) {
            let blocks = isotonic_blocks(&points);
            let again: Vec<(f64, bool)> = blocks.iter()
                .flat_map(|b| (0..b.n).map(move |i| (b.lo, i < b.positives))).collect();
            let counts = |blocks: &[Block]| blocks.iter().map(|b| (b.n, b.positives)).collect::<Vec<_>>();
            prop_assert_eq!(counts(&isotonic_blocks(&again)), counts(&blocks));
        }
    }
}
