//! Scaling-binning.

use calib_core::artifact::Method;

use super::facts::Facts;
use super::least_squares::Loss;
use super::scaling::{ScalingMethod, ScalingModel};
use super::steps::{Bin, BinnedModel};
use super::ums::uniform_mass_edges;
use crate::error::FitError;
use crate::points::{Group, Points, split};
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
        let Some(seed) = self.split_seed else {
            let scaling = self.loss.fit(self.scaling, points)?;
            return Self::fit_parts_of(&scaling, self.bins, points, points);
        };
        let parts = split(points, 3, seed)?;
        let [scaling_part, edges_part, values_part] = &parts[..] else {
            unreachable!("three parts were asked for")
        };
        let scaling = self.loss.fit(self.scaling, scaling_part)?;
        Self::fit_parts_of(&scaling, self.bins, edges_part, values_part)
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
        Self::fit_parts_of(scaling, bins, edges, values)
    }

    fn fit_parts_of(
        scaling: &ScalingModel,
        bins: usize,
        edges: &(impl Points + ?Sized),
        values: &(impl Points + ?Sized),
    ) -> Result<BinnedModel, FitError> {
        let mut edges = uniform_mass_edges(edges, bins)?;
        let kind = scaling.takes();
        let (lowest, highest) = kind.ends();
        edges.retain(|&edge| kind.is_edge(edge));

        // Points, positives and the sum of scaled outputs; sums of floats are taken in the order of the scores.
        let mut bins = vec![(0, 0, 0.0); edges.len() + 1];
        let mut bin = 0;
        values.walk(&mut |group| {
            bin += edges[bin..].iter().take_while(|&&edge| edge <= group.score).count();
            let (n, positives, sum) = &mut bins[bin];
            *n += group.n;
            *positives += group.positives;
            *sum += group.n as f64 * scaling.prob(group.score);
            Ok(())
        })?;
        let lows = std::iter::once(lowest).chain(edges.iter().copied());
        let highs = edges.iter().copied().chain([highest]);
        let bins = bins.into_iter().zip(lows.zip(highs)).map(|((n, positives, sum), (lo, hi))| {
            let empty = Bin::empty(kind, lo, hi).value;
            let middle = if kind == ScoreKind::Margin { empty } else { scaling.prob(empty) };
            Bin { value: if n > 0 { sum / n as f64 } else { middle }, n, positives }
        });
        Ok(BinnedModel { bins: bins.collect(), edges, ties_merged: false })
    }
}
