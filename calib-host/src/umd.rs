//! Uniform-mass binning without sample splitting.

use calib_core::StepTable;

use crate::binned::{Bin, BinnedModel};
use crate::fit::FitError;

/// UMD (Gupta and Ramdas 2021, Algorithm 1): boundaries at order statistics of the scores, values from the mean
/// labels between them, the boundary points left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Umd {
    /// The number of bins, at least 1; there must be at least twice as many points.
    pub bins: usize,
    /// Which order statistics are the boundaries.
    pub boundary: Boundary,
}

/// How the boundary index `b (n + 1) / B` is rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// Up, as printed in Algorithm 1.
    #[default]
    Ceil,
    /// Down.
    Floor,
}

impl Boundary {
    /// The 1-based rank of the boundary between bins `b` and `b + 1`, for `1 <= b < bins`.
    fn rank(self, b: usize, n: usize, bins: usize) -> usize {
        let product = b * (n + 1);
        match self {
            Self::Ceil => product.div_ceil(bins),
            Self::Floor => product / bins,
        }
    }
}

impl Umd {
    /// Fits `n` points, sorted by score.
    ///
    /// Where equal scores straddle a boundary, a lookup cannot tell them apart. They then share the bin above,
    /// boundaries that fall on the same score become one, every point counts in the bin that a lookup puts it
    /// in, and the model says `ties_merged`. Algorithm 1's result does not depend on the order of the input, and
    /// neither does this.
    ///
    /// # Errors
    ///
    /// If there are fewer than `2 * bins` points, or no or too many bins.
    pub(crate) fn fit(&self, sorted: &[(f64, bool)]) -> Result<BinnedModel, FitError> {
        let n = sorted.len();
        if self.bins == 0 || self.bins > StepTable::MAX_BINS {
            return Err(FitError::BinCount(self.bins));
        }
        if n < 2 * self.bins {
            return Err(FitError::TooFewPoints { n, bins: self.bins });
        }
        let boundaries: Vec<usize> =
            (1..self.bins).map(|b| self.boundary.rank(b, n, self.bins) - 1).collect();
        let tied = |&i: &usize| {
            let score = sorted[i].0;
            sorted[i - 1].0 == score || sorted.get(i + 1).is_some_and(|next| next.0 == score)
        };
        if boundaries.iter().any(tied) {
            Ok(merge(sorted, &boundaries))
        } else {
            Ok(algorithm1(sorted, &boundaries))
        }
    }
}

fn algorithm1(sorted: &[(f64, bool)], boundaries: &[usize]) -> BinnedModel {
    let starts = std::iter::once(0).chain(boundaries.iter().map(|&i| i + 1));
    let ends = boundaries.iter().copied().chain([sorted.len()]);
    let bins = starts.zip(ends).map(|(start, end)| mean(&sorted[start..end])).collect();
    let edges = boundaries.iter().map(|&i| sorted[i].0).collect();
    BinnedModel { edges, bins, ties_merged: false }
}

fn merge(sorted: &[(f64, bool)], boundaries: &[usize]) -> BinnedModel {
    let mut edges: Vec<f64> = boundaries.iter().map(|&i| sorted[i].0).collect();
    edges.dedup();
    // An edge at the lowest score would leave the first bin without points.
    edges.retain(|&edge| edge > sorted[0].0);
    let mut rest = sorted;
    let mut bins = Vec::with_capacity(edges.len() + 1);
    for &edge in &edges {
        let (below, above) = rest.split_at(rest.partition_point(|point| point.0 < edge));
        bins.push(mean(below));
        rest = above;
    }
    bins.push(mean(rest));
    BinnedModel { edges, bins, ties_merged: true }
}

fn mean(points: &[(f64, bool)]) -> Bin {
    Bin::mean(points.len() as u64, points.iter().filter(|point| point.1).count() as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fit(bins: usize, boundary: Boundary, sorted: &[(f64, bool)]) -> BinnedModel {
        Umd { bins, boundary }.fit(sorted).unwrap()
    }

    /// Algorithm 1 as printed: 1-based arrays, `[l + 1, u - 1]`.
    fn literal(bins: usize, sorted: &[(f64, bool)]) -> Vec<(f64, u64, u64)> {
        let n = sorted.len();
        let a: Vec<usize> =
            (0..=bins).map(|b| if b == bins { n + 1 } else { (b * (n + 1)).div_ceil(bins) }).collect();
        let y = |i: usize| sorted[i - 1].1;
        (1..=bins)
            .map(|b| {
                let (l, u) = (a[b - 1], a[b]);
                let lo = if l == 0 { 0.0 } else { sorted[l - 1].0 };
                (lo, (u - 1 - l) as u64, (l + 1..u).filter(|&i| y(i)).count() as u64)
            })
            .collect()
    }

    #[test]
    fn boundary_ranks_for_ten_points_and_three_bins() {
        let ranks = |boundary: Boundary| [1, 2].map(|b| boundary.rank(b, 10, 3));
        assert_eq!(ranks(Boundary::Ceil), [4, 8]);
        assert_eq!(ranks(Boundary::Floor), [3, 7]);
    }

    #[test]
    fn refuses_fewer_than_two_points_a_bin() {
        let sorted: Vec<_> = (0..19).map(|i| (f64::from(i) / 19.0, i % 2 == 0)).collect();
        let umd = Umd { bins: 10, boundary: Boundary::Ceil };
        assert_eq!(umd.fit(&sorted), Err(FitError::TooFewPoints { n: 19, bins: 10 }));
        assert_eq!(Umd { bins: 0, ..umd }.fit(&sorted), Err(FitError::BinCount(0)));
    }

    #[test]
    fn all_scores_equal_make_one_bin() {
        let sorted: Vec<_> = (0..40).map(|i| (0.5, i < 10)).collect();
        let model = fit(4, Boundary::Ceil, &sorted);
        assert_eq!((model.edges.len(), model.ties_merged), (0, true));
        assert_eq!(model.bins, [Bin { value: 0.25, n: 40, positives: 10 }]);
    }

    #[test]
    fn nine_tenths_on_one_value_stay_together() {
        let sorted: Vec<_> = (0..100)
            .map(|i| {
                (
                    if i < 5 {
                        0.1
                    } else if i < 95 {
                        0.5
                    } else {
                        0.9
                    },
                    i % 3 == 0,
                )
            })
            .collect();
        let model = fit(10, Boundary::Ceil, &sorted);
        assert_eq!(model.edges, [0.5]);
        assert_eq!(model.bins.iter().map(|bin| bin.n).collect::<Vec<_>>(), [5, 95]);
    }

    proptest! {
        /// Without ties the fit is Algorithm 1 read literally; every bin has at least floor(n/B) - 1 points.
        #[test]
        fn follows_algorithm_1(
            scores in proptest::collection::btree_set(0u32..=0x3F80_0000, 2..400),
            seed in any::<u64>(),
            bins in 1usize..60,
        ) {
            let sorted: Vec<_> = scores.iter().enumerate()
                .map(|(i, &bits)| (f64::from(f32::from_bits(bits)), (seed >> (i % 64)) & 1 == 1)).collect();
            prop_assume!(sorted.len() >= 2 * bins);
            let model = fit(bins, Boundary::Ceil, &sorted);
            let expected = literal(bins, &sorted);
            prop_assert!(!model.ties_merged);
            prop_assert_eq!(model.bins.len(), bins);
            for (i, (bin, (lo, n, positives))) in model.bins.iter().zip(expected).enumerate() {
                prop_assert_eq!((bin.n, bin.positives), (n, positives));
                prop_assert!(bin.n as usize >= sorted.len() / bins - 1);
                prop_assert_eq!(if i == 0 { 0.0 } else { model.edges[i - 1] }, lo);
            }
            prop_assert_eq!(model.bins.iter().map(|b| b.n).sum::<u64>() as usize, sorted.len() + 1 - bins);
        }

        /// A strictly increasing map of the scores moves the edges and leaves the bins as they are.
        #[test]
        fn is_invariant_under_increasing_maps(
            scores in proptest::collection::vec(0u32..50, 20..200), bins in 1usize..10, floor in any::<bool>(),
        ) {
            let boundary = if floor { Boundary::Floor } else { Boundary::Ceil };
            let points = |map: fn(f64) -> f64| {
                let mut points: Vec<_> = scores.iter().enumerate()
                    .map(|(i, &s)| (map(f64::from(s) / 50.0), i % 3 == 0)).collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                points
            };
            let plain = fit(bins, boundary, &points(|s| s));
            let mapped = fit(bins, boundary, &points(|s| s * s * 0.5 + 0.25));
            prop_assert_eq!(&plain.bins, &mapped.bins);
            let moved: Vec<f64> = plain.edges.iter().map(|s| s * s * 0.5 + 0.25).collect();
            prop_assert_eq!(moved, mapped.edges);
        }

        /// With ties, every point counts once in the bin that a lookup puts it in, and no bin is empty.
        #[test]
        fn merged_bins_hold_what_a_lookup_puts_there(
            scores in proptest::collection::vec(0u32..6, 20..200), bins in 2usize..10,
        ) {
            let mut sorted: Vec<_> = scores.iter().enumerate().map(|(i, &s)| (f64::from(s) / 5.0, i % 2 == 0)).collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            let model = fit(bins, Boundary::Ceil, &sorted);
            prop_assume!(model.ties_merged);
            let mut counts = vec![(0, 0); model.bins.len()];
            for &(score, label) in &sorted {
                let count = &mut counts[model.bin(score)];
                *count = (count.0 + 1, count.1 + u64::from(label));
            }
            let fitted: Vec<_> = model.bins.iter().map(|bin| (bin.n, bin.positives)).collect();
            prop_assert_eq!(&fitted, &counts);
            prop_assert!(fitted.iter().all(|bin| bin.0 > 0));
        }
    }
}
