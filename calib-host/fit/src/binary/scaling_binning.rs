//! Scaling-binning.

use calib_core::artifact::Method;

use super::facts::Facts;
use super::least_squares::Loss;
use super::scaling::{ScalingMethod, ScalingModel};
use super::steps::{Bin, BinnedModel};
use super::ums::uniform_mass_edges;
use crate::error::FitError;
use crate::points::{Group, Points, split, totals};
use crate::stats::ScoreKind;

/// Scaling-binning (Kumar, Liang and Ma 2019, section 4.1): a scaling function is fitted, its outputs are binned by
/// uniform mass, and a bin's value is the mean of the scaled outputs in it.
///
/// The scaling function is monotone, so bins of its outputs are bins of the scores: the device looks up the score and
/// computes no exponential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalingBinning {
    /// The scaling function.
    pub scaling: ScalingMethod,
    /// What the scaling function is fitted to; the paper's analysis is of the squared loss.
    pub loss: Loss,
    /// The number of bins, at least 1.
    pub bins: usize,
    /// The seed of a split into three parts, one for each step, as the theorem has it; `None` uses all points for each
    /// step, as the paper's experiments do.
    pub split_seed: Option<u64>,
}

impl ScalingBinning {
    pub(super) fn facts(&self) -> Facts {
        let Self { scaling, loss, bins, split_seed } = *self;
        let function = loss.facts(scaling).parameters;
        let (parts, split) = match split_seed {
            Some(seed) => (3, format!("split=3 seed={seed}")),
            None => (1, "split=1".into()),
        };
        Facts {
            bins: Some(bins),
            min_points: bins.saturating_mul(2 * parts),
            counts_points: Some("scaling-binning"),
            takes: Some(scaling.takes()),
            ..Facts::new(Method::ScalingBinning, format!("{function} bins={bins} {split}"))
        }
    }

    /// Fits points. Equal edges become one; a bin without points is empty, and has the scaled value of its midpoint, if it has
    /// one.
    pub(crate) fn fit(&self, points: &(impl Points + ?Sized)) -> Result<BinnedModel, FitError> {
        let groups = points.groups()?;
        let parts = match self.split_seed {
            Some(seed) => split(&groups, 3, seed),
            None => vec![groups; 3],
        };
        let [scaling_part, edges_part, values_part] = &parts[..] else {
            unreachable!("three parts were asked for")
        };
        let scaling = self.loss.fit(self.scaling, &scaling_part[..])?;
        Self::fit_parts(&scaling, self.bins, edges_part, values_part)
    }

    /// Bins the outputs of a scaling function that was fitted elsewhere, with parts that were split elsewhere, each in
    /// ascending order of score: edges from the one, values from the other, which may be the same.
    ///
    /// # Errors
    ///
    /// Fewer than two points a bin for the edges, or no bins.
    pub fn fit_parts(
        scaling: &ScalingModel,
        bins: usize,
        edges: &[Group],
        values: &[Group],
    ) -> Result<BinnedModel, FitError> {
        let mut edges = uniform_mass_edges(edges, bins)?;
        let kind = scaling.takes();
        let (lowest, highest) = kind.ends();
        edges.retain(|&edge| kind.is_edge(edge));

        let mut rest = values;
        let bounds = |b: usize| {
            let lo = if b == 0 { lowest } else { edges[b - 1] };
            (lo, edges.get(b).copied())
        };
        let bins = (0..=edges.len())
            .map(|b| {
                let (lo, hi) = bounds(b);
                let inside = hi.map_or(rest.len(), |hi| rest.partition_point(|group| group.score < hi));
                let (inside, above) = rest.split_at(inside);
                rest = above;
                let (n, positives) = totals(inside);
                let sum: f64 = inside.iter().map(|group| group.n as f64 * scaling.prob(group.score)).sum();
                let empty = Bin::empty(kind, lo, hi.unwrap_or(highest)).value;
                let middle = if kind == ScoreKind::Margin { empty } else { scaling.prob(empty) };
                Bin { value: if n > 0 { sum / n as f64 } else { middle }, n, positives }
            })
            .collect();
        Ok(BinnedModel { edges, bins, ties_merged: false })
    }
}
