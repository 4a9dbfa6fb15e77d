//! Proper scoring rules.

use serde::Serialize;

use super::cells::Cell;
use crate::names::names;

/// The log-loss of a probability of 0 or 1 that turned out wrong is infinite. As scikit-learn does, probabilities are clipped
/// to `[2.2e-16, 1 - 2.2e-16]` for it, and the clipped failures counted.
const LOG_LOSS_CLIP: f64 = f64::EPSILON;

/// The log-loss is at most `-ln(2.2e-16) = 36.04`; divided by this it is in `[0, 1]`, as an exact sum wants its terms.
pub(crate) const LOSS_UNIT: f64 = 64.0;

/// The log-loss of the probability given to what happened, in units of 64 nats.
pub(crate) fn loss(given: f64) -> f64 {
    -given.clamp(LOG_LOSS_CLIP, 1.0 - LOG_LOSS_CLIP).ln() / LOSS_UNIT
}

/// The probability that was given to what happened.
pub(crate) fn given(prob: f64, hit: bool) -> f64 {
    if hit { prob } else { 1.0 - prob }
}

/// A proper scoring rule for the probability of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProperScore {
    /// The squared difference of probability and outcome.
    Brier,
    /// The negative logarithm of the probability given to what happened, in nats, clipped at 36.04.
    LogLoss,
}

impl ProperScore {
    /// The loss of a probability in `[0, 1]`.
    pub fn loss(self, prob: f64, hit: bool) -> f64 {
        match self {
            Self::Brier => (prob - f64::from(u8::from(hit))).powi(2),
            Self::LogLoss => LOSS_UNIT * loss(given(prob, hit)),
        }
    }

    /// Its name among the figures of an assessment.
    pub fn figure(self) -> &'static str {
        match self {
            Self::Brier => "brier",
            Self::LogLoss => "log_loss",
        }
    }
}

names!(ProperScore, "metric":
    Brier "brier" "The Brier score",
    LogLoss "log-loss" "The log-loss",
);

/// The Brier score split over groups: `brier = calibration + refinement + within_groups`, and
/// `refinement = uncertainty - resolution` (Murphy 1973; the last term, Stephenson et al. 2008, is 0 if the probabilities
/// of a group are equal).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BrierSplit {
    /// The mean squared difference of a group's mean probability and the observed frequency: 0 is best.
    pub calibration: f64,
    /// The mean of `rate * (1 - rate)` over groups: what perfect calibration of the groups would leave.
    pub refinement: f64,
    /// `rate * (1 - rate)` of all predictions together.
    pub uncertainty: f64,
    /// How far the groups' rates are from the overall one, squared and averaged: large is good.
    pub resolution: f64,
    /// The rest, due to different probabilities within a group.
    pub within_groups: f64,
}

impl BrierSplit {
    /// Splits a Brier score over groups with at least one prediction.
    pub(crate) fn new(brier: f64, cells: &[Cell]) -> Self {
        let mut all = Cell::default();
        cells.iter().for_each(|&cell| all += cell);
        let occupied = || cells.iter().filter(|cell| cell.n > 0);
        let mean = |of: &dyn Fn(&Cell) -> f64| {
            occupied().map(|cell| cell.n as f64 * of(cell)).sum::<f64>() / all.n as f64
        };
        let calibration = mean(&|cell| cell.difference().powi(2));
        let refinement = mean(&|cell| cell.rate() * (1.0 - cell.rate()));
        Self {
            calibration,
            refinement,
            uncertainty: all.rate() * (1.0 - all.rate()),
            resolution: mean(&|cell| (cell.rate() - all.rate()).powi(2)),
            within_groups: brier - calibration - refinement,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_loss_of_an_impossible_event_is_clipped() {
        assert!((loss(0.0) * LOSS_UNIT + f64::EPSILON.ln()).abs() < 1e-12);
        assert!(loss(0.0) <= 1.0 && loss(1.0) >= 0.0);
        assert!((loss(given(0.25, false)) * LOSS_UNIT + 0.75f64.ln()).abs() < 1e-15);
    }

    proptest! {
        /// Grouped by value, the parts add up to the Brier score, and refinement is uncertainty less resolution.
        #[test]
        fn the_parts_add_up(counts in proptest::collection::vec((0u64..9, 0u64..9), 1..9)) {
            prop_assume!(counts.iter().any(|(hits, misses)| hits + misses > 0));
            let value = |i: usize| i as f64 / 8.0;
            let rows = |(i, &(hits, misses)): (usize, &(u64, u64))| {
                (0..hits + misses).map(move |k| (value(i), k < hits)).collect::<Vec<_>>()
            };
            let cells: Vec<Cell> = counts.iter().enumerate().map(|pair| Cell::new(rows(pair))).collect();
            let all: Vec<_> = counts.iter().enumerate().flat_map(rows).collect();
            let brier = all.iter().map(|&(p, y)| (p - f64::from(u8::from(y))).powi(2)).sum::<f64>() / all.len() as f64;
            let split = BrierSplit::new(brier, &cells);
            prop_assert!(split.within_groups.abs() < 1e-12);
            prop_assert!((split.refinement - (split.uncertainty - split.resolution)).abs() < 1e-12);
        }
    }
}
