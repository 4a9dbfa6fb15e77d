//! Isotonic regression.

use calib_core::StepTable;
use calib_core::artifact::Method;

use super::facts::Facts;
use super::irp::Irp;
use super::steps::{Bin, BinnedModel};
use crate::error::FitError;
use crate::points::{Block, Points, mean_is_below, pool, pool_groups};

/// Isotonic regression: the non-decreasing function with the least squared error. Equal scores are pooled first and
/// neighboring blocks of equal mean merged, so that the result is unique. There is no distribution-free guarantee.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Isotonic {
    /// The largest number of blocks; `None` for as many as fit best. Fewer are found by recursive partitioning.
    pub max_bins: Option<usize>,
    /// Laplace smoothing: a block's value is `(positives + a) / (n + 2 a)`. 0 for the mean; at least 0.
    pub smoothing: f64,
}

/// An isotonic fit between whose blocks values are interpolated.
#[derive(Clone, Debug, PartialEq)]
pub struct InterpolatedModel {
    /// The scores of the knots, strictly ascending: both ends of every block, or their centers.
    pub scores: Vec<f64>,
    /// The values at the knots, non-decreasing.
    pub values: Vec<f64>,
}

impl InterpolatedModel {
    /// The value at a score.
    pub fn prob(&self, score: f64) -> f64 {
        let above = self.scores.partition_point(|&knot| knot <= score);
        let (below, above) = (above.saturating_sub(1), above.min(self.scores.len() - 1));
        let (lo, hi) = (self.values[below], self.values[above]);
        match self.scores[above] - self.scores[below] {
            0.0 => lo,
            width => lo + (score - self.scores[below]) / width * (hi - lo),
        }
    }
}

impl Isotonic {
    pub(super) fn facts(&self) -> Facts {
        let method = if self.max_bins.is_some() { Method::Irp } else { Method::Isotonic };
        self.facts_of(method, "midpoint")
    }

    pub(super) fn interpolated_facts(&self) -> Facts {
        self.facts_of(Method::IsotonicInterpolated, "interpolated")
    }

    pub(super) fn centered_facts(&self) -> Facts {
        self.facts_of(Method::IsotonicCentered, "centered")
    }

    fn facts_of(&self, method: Method, edges: &str) -> Facts {
        Facts {
            counts_points: (self.smoothing != 0.0).then_some("smoothing"),
            ..Facts::new(method, format!("edges={edges}{}", self.parameters()))
        }
    }

    fn parameters(&self) -> String {
        let max_bins = self.max_bins.filter(|&max| max < usize::MAX);
        let max_bins = max_bins.map_or(String::new(), |max| format!(" max-bins={max}"));
        let smoothing = (self.smoothing != 0.0).then(|| format!(" smoothing={}", self.smoothing));
        max_bins + &smoothing.unwrap_or_default()
    }

    /// Fits points, as a step function with edges at the midpoints between blocks.
    pub(crate) fn fit(&self, points: &(impl Points + ?Sized)) -> Result<BinnedModel, FitError> {
        let blocks = self.blocks(points)?;
        Ok(self.steps(&blocks))
    }

    /// Fits points, with values interpolated linearly between the ends of blocks, as
    /// scikit-learn does.
    pub(crate) fn fit_interpolated(
        &self,
        points: &(impl Points + ?Sized),
    ) -> Result<InterpolatedModel, FitError> {
        let blocks = self.blocks(points)?;
        let mut model = InterpolatedModel { scores: Vec::new(), values: Vec::new() };
        for block in &blocks {
            let value = self.value(block);
            model.scores.push(block.lo);
            model.values.push(value);
            if block.hi > block.lo {
                model.scores.push(block.hi);
                model.values.push(value);
            }
        }
        Ok(model)
    }

    /// Fits points, with values interpolated linearly between the centers of blocks: the means of their points' scores. Below the
    /// first center and above the last the value stays.
    pub(crate) fn fit_centered(
        &self,
        points: &(impl Points + ?Sized),
    ) -> Result<InterpolatedModel, FitError> {
        let blocks = self.blocks(points)?;
        let mut sums = vec![0.0; blocks.len()];
        let mut block = 0;
        points.walk(&mut |group| {
            block += blocks[block..].partition_point(|block| block.hi < group.score);
            sums[block] += (group.score - blocks[block].lo) * group.n as f64;
            Ok(())
        })?;
        let mut model = InterpolatedModel { scores: Vec::new(), values: Vec::new() };
        for (block, sum) in blocks.iter().zip(sums) {
            // A device holds the center as an `f32`.
            let center = f64::from((block.lo + sum / block.n as f64) as f32).clamp(block.lo, block.hi);
            model.scores.push(center);
            model.values.push(self.value(block));
        }
        Ok(model)
    }

    /// The step function of blocks.
    pub(crate) fn steps(&self, blocks: &[Block]) -> BinnedModel {
        let edges = blocks.windows(2).map(|pair| midpoint(pair[0].hi, pair[1].lo)).collect();
        let bin = |block: &Block| Bin { value: self.value(block), n: block.n, positives: block.positives };
        BinnedModel { edges, bins: blocks.iter().map(bin).collect(), ties_merged: false }
    }

    /// The blocks, of ascending mean.
    pub(super) fn blocks(&self, points: &(impl Points + ?Sized)) -> Result<Vec<Block>, FitError> {
        // The fit is unique, and pooling may be done in any order.
        let blocks = pool(points.map_runs(|groups| pool_groups(groups))?.concat(), mean_is_below);
        let blocks = match self.max_bins {
            None => blocks,
            some => Irp { max_bins: some }.blocks(&blocks),
        };
        let blocks = self.pool_smoothed(blocks);
        if blocks.len() > StepTable::MAX_BINS { Err(FitError::BinCount(blocks.len())) } else { Ok(blocks) }
    }

    fn value(&self, block: &Block) -> f64 {
        (block.positives as f64 + self.smoothing) / (block.n as f64 + 2.0 * self.smoothing)
    }

    /// Smoothing draws small blocks further toward 1/2 than large ones: where that breaks the order, blocks are pooled.
    fn pool_smoothed(&self, blocks: Vec<Block>) -> Vec<Block> {
        if self.smoothing == 0.0 {
            return blocks;
        }
        pool(blocks, |below, above| self.value(below) < self.value(above))
    }
}

/// A number in `(below, above]` near the middle that an `f32` holds, so that the device splits two `f32` scores
/// where the host does. It is `above` itself if there is none in between.
pub(crate) fn midpoint(below: f64, above: f64) -> f64 {
    // -0.0, which equals 0.0, is no edge that a device reads; 0.0 is.
    let middle = f64::from(((below + above) / 2.0) as f32) + 0.0;
    if below < middle && middle <= above { middle } else { above }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::{Group, group, totals};

    #[test]
    fn the_fixture_with_a_tie() {
        let groups = group(vec![(0.2, 1, 0), (0.5, 1, 1), (0.5, 1, 0), (0.8, 1, 1)]);
        let model = Isotonic::default().fit(&groups[..]).unwrap();
        assert_eq!(model.bins.iter().map(|bin| bin.value).collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
        assert_eq!(model.edges, [f64::from(0.35f32), f64::from(0.65f32)]);
        let interpolated = Isotonic::default().fit_interpolated(&groups[..]).unwrap();
        assert_eq!((interpolated.scores, interpolated.values), (vec![0.2, 0.5, 0.8], vec![0.0, 0.5, 1.0]));
    }

    proptest! {
        /// The least squares fit by its definition, the largest of the smallest means, with each run of equal values at the mean
        /// score of its points.
        #[test]
        fn centers_are_those_of_the_definition(
            raw in proptest::collection::vec((0u32..30, 1u64..4, any::<bool>()), 2..40), shift in prop::sample::select(vec![0.0, -900.0]),
        ) {
            let score = |s: u32| f64::from(s) / 32.0 + shift;
            let groups = group(raw.into_iter().map(|(s, n, y)| (score(s), n, if y { n } else { 0 })).collect());
            let mean = |part: &[Group]| {
                let (n, positives) = totals(part);
                positives as f64 / n as f64
            };
            let value = |i: usize| {
                let lowest = |a: usize| (i..groups.len()).map(|b| mean(&groups[a..=b])).fold(1.0, f64::min);
                (0..=i).map(lowest).fold(0.0, f64::max)
            };
            let values: Vec<(f64, Group)> = (0..groups.len()).map(|i| (value(i), groups[i])).collect();
            let model = Isotonic::default().fit_centered(&groups[..]).unwrap();
            let runs: Vec<_> = values.chunk_by(|a, b| (a.0 - b.0).abs() < 1e-12).collect();
            prop_assert_eq!(runs.len(), model.scores.len());
            for (run, (center, value)) in runs.iter().zip(model.scores.iter().zip(&model.values)) {
                let n: u64 = run.iter().map(|(_, group)| group.n).sum();
                let sum: f64 = run.iter().map(|(_, group)| group.score * group.n as f64).sum();
                prop_assert!((sum / n as f64 - center).abs() < 1e-4 && (run[0].0 - value).abs() < 1e-12);
            }
            prop_assert!(model.scores.is_sorted_by(|a, b| a < b) && model.values.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn smoothing_keeps_the_order() {
        // Means 0.6 of 1000 and 1 of 1; smoothed with a = 1: 0.5998 and 2/3.
        let groups = group(vec![(0.2, 1000, 600), (0.9, 1, 1)]);
        let smoothed = Isotonic { smoothing: 1.0, ..Isotonic::default() };
        assert_eq!(smoothed.fit(&groups[..]).unwrap().bins[1].value, 2.0 / 3.0);
        // Means 0.9 of 1000 and 1 of 1: smoothed the second would be below the first, so they are pooled.
        let groups = group(vec![(0.2, 1000, 900), (0.9, 1, 1)]);
        assert_eq!(
            smoothed.fit(&groups[..]).unwrap().bins,
            [Bin { value: 902.0 / 1003.0, n: 1001, positives: 901 }]
        );
    }

    #[test]
    fn an_edge_between_neighboring_floats_separates_them() {
        let below = 0.3f32;
        let above = below.next_up();
        let edge = midpoint(below.into(), above.into());
        assert_eq!(edge, f64::from(above));
        assert_eq!(midpoint(0.0, f32::from_bits(1).into()), f64::from(f32::from_bits(1)));
    }
}
