//! Uniform-mass binning with sample splitting.

use calib_core::artifact::{Method, Theorem};

use super::facts::{Bound, Facts};
use super::steps::BinnedModel;
use super::umd::{Umd, bins_of, lookup_means};
use crate::error::FitError;
use crate::points::{Group, Points, split};
use crate::stats::ScoreKind;

/// Uniform-mass binning with sample splitting (Gupta et al. 2020): edges from one random half of the points, values from
/// the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ums {
    /// The number of bins, at least 1; each half needs twice as many points.
    pub bins: usize,
    /// The seed of the split.
    pub seed: u64,
}

impl Ums {
    pub(super) fn facts(&self) -> Facts {
        let Self { bins, seed } = self;
        Facts {
            bins: Some(*bins),
            min_points: bins.saturating_mul(4),
            guarantee: Some((Theorem::SampleSplit, Bound::FewestPoints)),
            takes_one_label: true,
            counts_points: Some("uniform-mass binning"),
            ..Facts::new(Method::Ums, format!("bins={bins} seed={seed}"))
        }
    }

    /// Fits points. Equal edges become one; a bin without points of the second half is empty.
    pub(crate) fn fit(
        &self,
        points: &(impl Points + ?Sized),
        kind: ScoreKind,
    ) -> Result<BinnedModel, FitError> {
        let halves = split(points, 2, self.seed)?;
        let [edges_half, values_half] = &halves[..] else { unreachable!("two parts were asked for") };
        if values_half.totals().0 < 2 * self.bins as u64 {
            return Err(FitError::TooFewPoints { n: points.totals().0, bins: 2 * self.bins });
        }
        Self::fit_parts_of(kind, self.bins, edges_half, values_half)
    }

    /// Fits to parts of probabilities that were split elsewhere, each in ascending order of score: edges from the one, values from the
    /// other.
    ///
    /// # Errors
    ///
    /// Fewer than two points a bin for the edges, or no bins.
    pub fn fit_parts(bins: usize, edges: &[Group], values: &[Group]) -> Result<BinnedModel, FitError> {
        Self::fit_parts_of(ScoreKind::Probability, bins, edges, values)
    }

    fn fit_parts_of(
        kind: ScoreKind,
        bins: usize,
        edges: &(impl Points + ?Sized),
        values: &(impl Points + ?Sized),
    ) -> Result<BinnedModel, FitError> {
        let mut edges = uniform_mass_edges(edges, bins)?;
        edges.retain(|&edge| kind.is_edge(edge));
        Ok(BinnedModel { bins: bins_of(values, kind, &edges)?, edges, ties_merged: false })
    }
}

/// The scores at the boundaries of so many bins of equal mass, equal ones once.
pub(crate) fn uniform_mass_edges(points: &(impl Points + ?Sized), bins: usize) -> Result<Vec<f64>, FitError> {
    let model = Umd::new(bins).fit(points)?;
    Ok(lookup_means(points, model.edges)?.edges)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::{Group, group, totals};

    fn groups() -> impl Strategy<Value = Vec<Group>> {
        proptest::collection::vec((0u32..=1000, any::<bool>()), 60..200).prop_map(|raw| {
            group(raw.into_iter().map(|(s, y)| (f64::from(s) / 1000.0, 1, y.into())).collect())
        })
    }

    proptest! {
        #[test]
        fn values_rest_on_one_half(groups in groups(), bins in 1usize..8, seed in any::<u64>()) {
            let model = Ums { bins, seed }.fit(&groups[..], ScoreKind::Probability).unwrap();
            let n = totals(&groups).0;
            prop_assert_eq!(model.bins.iter().map(|bin| bin.n).sum::<u64>(), n / 2);
            prop_assert!(model.edges.windows(2).all(|e| e[0] < e[1]));
        }
    }
}
