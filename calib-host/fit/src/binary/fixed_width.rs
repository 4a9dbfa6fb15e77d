//! Bins of equal width.

use calib_core::artifact::{Method, Theorem};

use super::facts::{Bound, Facts};
use super::steps::BinnedModel;
use super::umd::bins_of;
use crate::error::FitError;
use crate::points::Points;
use crate::stats::ScoreKind;

/// Bins of equal width of probabilities, with edges at the multiples of `1 / B` as `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedWidth {
    /// The number of bins, at least 1.
    pub bins: usize,
}

impl FixedWidth {
    pub(super) fn facts(&self) -> Facts {
        Facts {
            bins: Some(self.bins),
            guarantee: Some((Theorem::SampleSplit, Bound::FewestPoints)),
            takes_one_label: true,
            counts_points: Some("fixed-width binning"),
            takes: Some(ScoreKind::Probability),
            ..Facts::new(Method::FixedWidth, format!("bins={}", self.bins))
        }
    }

    /// Fits points. A bin without points is empty.
    pub(crate) fn fit(&self, points: &(impl Points + ?Sized)) -> Result<BinnedModel, FitError> {
        let edges = self.edges()?;
        Ok(BinnedModel { bins: bins_of(points, ScoreKind::Probability, &edges)?, edges, ties_merged: false })
    }

    /// The edges between bins, ascending.
    pub(crate) fn edges(&self) -> Result<Vec<f64>, FitError> {
        if self.bins == 0 || self.bins > calib_core::StepTable::MAX_BINS {
            return Err(FitError::BinCount(self.bins));
        }
        Ok((1..self.bins).map(|b| f64::from((b as f64 / self.bins as f64) as f32)).collect())
    }
}
/// Bins of equal width of margins, between two margins. The outer bins reach beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedRange {
    /// The number of bins, at least 1.
    pub bins: usize,
    /// Where the first bin would begin.
    pub lowest: f32,
    /// Where the last bin would end, above the lowest.
    pub highest: f32,
}

impl FixedRange {
    pub(super) fn facts(&self) -> Facts {
        let Self { bins, lowest, highest } = self;
        Facts {
            takes: Some(ScoreKind::Margin),
            parameters: format!("bins={bins} range={lowest},{highest}"),
            ..FixedWidth { bins: *bins }.facts()
        }
    }

    /// Fits points. A bin without points is empty.
    pub(crate) fn fit(&self, points: &(impl Points + ?Sized)) -> Result<BinnedModel, FitError> {
        let edges = self.edges()?;
        Ok(BinnedModel { bins: bins_of(points, ScoreKind::Margin, &edges)?, edges, ties_merged: false })
    }

    /// The edges between bins, ascending.
    pub(crate) fn edges(&self) -> Result<Vec<f64>, FitError> {
        if self.bins == 0 || self.bins > calib_core::StepTable::MAX_BINS {
            return Err(FitError::BinCount(self.bins));
        }
        let (lowest, highest) = (f64::from(self.lowest), f64::from(self.highest));
        let width = (highest - lowest) / self.bins as f64;
        // -0.0, which equals 0.0, is no edge that a device reads; 0.0 is.
        let edge = |b: usize| f64::from((lowest + width * b as f64) as f32) + 0.0;
        let edges: Vec<f64> = (1..self.bins).map(edge).collect();
        if !(width > 0.0 && width.is_finite() && edges.is_sorted_by(|a, b| a < b)) {
            return Err(FitError::Range { lowest: self.lowest, highest: self.highest, bins: self.bins });
        }
        Ok(edges)
    }
}
#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::{Group, group};

    fn groups() -> impl Strategy<Value = Vec<Group>> {
        proptest::collection::vec((0u32..=1000, any::<bool>()), 60..200).prop_map(|raw| {
            group(raw.into_iter().map(|(s, y)| (f64::from(s) / 1000.0, 1, y.into())).collect())
        })
    }

    proptest! {
        #[test]
        fn fixed_width_bins_hold_what_a_lookup_puts_there(groups in groups(), bins in 1usize..40) {
            let model = FixedWidth { bins }.fit(&groups[..]).unwrap();
            prop_assert_eq!(model.bins.len(), bins);
            let mut counts = vec![(0, 0); bins];
            for group in &groups {
                let count = &mut counts[model.bin(group.score)];
                *count = (count.0 + group.n, count.1 + group.positives);
            }
            for (i, (bin, (n, positives))) in model.bins.iter().zip(counts).enumerate() {
                prop_assert_eq!((bin.n, bin.positives), (n, positives));
                if n == 0 {
                    prop_assert!((bin.value - (i as f64 + 0.5) / bins as f64).abs() < 1e-7);
                }
            }
        }
    }
}
