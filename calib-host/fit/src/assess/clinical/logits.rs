//! Logits of probabilities.

use super::deviation::QuantilePosition;
use super::distinct::Distinct;
use super::extremes::{ExtremeProbs, Extremes};
use super::logit_row::ToLogit;
use super::quadrature::{Grid, Quadrature};
use crate::points::Group;

/// The quantiles of the logit at which a spline has knots (Harrell 2015, Table 2.3). Where events are rare, more knots may lie where
/// all labels are equal, and no maximum is finite: then there are fewer.
const LEVELS: [&[f64]; 3] = [&[0.05, 0.275, 0.5, 0.725, 0.95], &[0.05, 0.35, 0.65, 0.95], &[0.1, 0.5, 0.9]];

/// Logits of the rows that have one.
pub(super) struct Logits<'d> {
    pub(super) distinct: &'d Distinct<'d>,
    treatment: ExtremeProbs,
    pub(super) n: u64,
    pub(super) positives: u64,
    /// How many distinct probabilities they are of.
    pub(super) probs: usize,
    /// The distinct ones of their quantiles: the knots to begin with, then fewer and fewer; none if there are no rows.
    pub(super) knots: Vec<Vec<f64>>,
    /// The same rows in short.
    pub(super) quadrature: Quadrature,
}

impl<'d> Logits<'d> {
    pub(super) fn new(distinct: &'d Distinct<'d>, extremes: &Extremes) -> Self {
        let is_out = |rows: u64| extremes.treatment == ExtremeProbs::LeaveOut && rows > 0;
        let (zeros, ones) = (is_out(extremes.zeros), is_out(extremes.ones));
        let mut all = Self {
            distinct,
            treatment: extremes.treatment,
            n: distinct.rows(),
            positives: distinct.positives(),
            probs: distinct.len() - usize::from(zeros) - usize::from(ones),
            knots: Vec::new(),
            quadrature: Quadrature::default(),
        };
        if zeros {
            all.n -= extremes.zeros;
            all.positives -= extremes.zeros_positive;
        }
        if ones {
            all.n -= extremes.ones;
            all.positives -= extremes.ones - extremes.ones_negative;
        }
        if all.n > 0 {
            let below = if zeros { extremes.zeros } else { 0 };
            all.knots = LEVELS.iter().map(|levels| all.quantiles(levels, below)).collect();
            all.quadrature = all.quadrature_of(1.0);
        }
        all
    }

    /// The rows in short, in bins that are so many times narrower than usual.
    pub(super) fn quadrature_of(&self, narrower: f64) -> Quadrature {
        let nine_tenths = &self.knots[0];
        let spread = nine_tenths[nine_tenths.len() - 1] - nine_tenths[0];
        let mut cuts = self.knots.concat();
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        Quadrature::new(self.distinct, self.to_logit(), self.probs, &Grid::new(spread, narrower, &cuts))
    }

    /// What makes logits of groups.
    pub(super) fn to_logit(&self) -> ToLogit {
        ToLogit::new(self.treatment)
    }

    /// The distinct ones of the quantiles at ascending levels; so many rows without a logit are below all others.
    fn quantiles(&self, levels: &[f64], below: u64) -> Vec<f64> {
        let logit =
            |group: &Group| self.to_logit().row(*group).expect("those without one are not among them").logit;
        let quantile = |&level: &f64| {
            let place = QuantilePosition::new(self.n, level);
            let ranks = [place.below, (place.below + 1).min(self.n - 1)].map(|rank| below + rank);
            let found = self.distinct.at_ranks(&ranks);
            place.value(logit(&found[0]), logit(&found[1]))
        };
        let mut quantiles: Vec<f64> = levels.iter().map(quantile).collect();
        quantiles.dedup();
        quantiles
    }
}
