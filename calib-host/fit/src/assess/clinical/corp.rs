//! The CORP approach: calibration curve and score decomposition from the isotonic fit (Dimitriadis, Gneiting and Jordan 2021).

use serde::Serialize;

use super::consistency::{BandPoint, consistency_band};
use super::deviation::CurveDeviation;
use super::distinct::Distinct;
use crate::assess::{Bootstrap, ProperScore};
use crate::points::{Block, isotonic_blocks};
use crate::stats::ExactSum;

/// A stretch of probabilities at which the fit has one value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CorpStep {
    /// The lowest probability that occurs in it.
    pub lo: f64,
    /// The highest.
    pub hi: f64,
    /// The rows.
    pub n: u64,
    /// How many of them have label 1.
    pub positives: u64,
    /// Their share: the recalibrated probability.
    pub value: f64,
}

/// A mean score in parts: `score = mcb - dsc + unc`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CorpSplit {
    /// The mean score of the probabilities.
    pub score: f64,
    /// Miscalibration: by how much the fit is better, at least 0.
    pub mcb: f64,
    /// Discrimination: by how much the fit is better than one probability for all rows, at least 0.
    pub dsc: f64,
    /// Uncertainty: the score of one probability for all rows.
    pub unc: f64,
}

/// The isotonic regression of the labels on the probabilities, and what follows from it. It has no bins to choose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Corp {
    /// The steps of the fit, ascending.
    pub curve: Vec<CorpStep>,
    /// Where the curve of a calibrated model would be, point by point; empty without resampling, and for dependent rows.
    pub band: Vec<BandPoint>,
    /// The Brier score in parts.
    pub brier: CorpSplit,
    /// The log-loss in parts, with losses clipped at 36.04.
    pub log_loss: CorpSplit,
    /// How far the curve is from the diagonal.
    pub deviation: CurveDeviation,
}

impl Corp {
    /// `resampling` is how to draw the band, with one minus its coverage.
    pub(super) fn new(distinct: &Distinct, resampling: Option<&Bootstrap>) -> Self {
        let blocks = isotonic_blocks(&distinct.groups);
        let mut rest = blocks.iter();
        let mut block = rest.next().expect("there are rows");
        let fitted: Vec<f64> = distinct
            .groups
            .iter()
            .map(|group| {
                while block.hi < group.score {
                    block = rest.next().expect("every group is in a block");
                }
                value(block)
            })
            .collect();
        let differences =
            distinct.groups.iter().zip(&fitted).map(|(group, fit)| (fit - group.score, group.n));
        Self {
            curve: blocks.iter().map(CorpStep::new).collect(),
            band: resampling.map_or_else(Vec::new, |resampling| consistency_band(distinct, resampling)),
            brier: CorpSplit::new(distinct, &fitted, ProperScore::Brier),
            log_loss: CorpSplit::new(distinct, &fitted, ProperScore::LogLoss),
            deviation: CurveDeviation::new(differences),
        }
    }
}

fn value(block: &Block) -> f64 {
    block.positives as f64 / block.n as f64
}

impl CorpStep {
    fn new(block: &Block) -> Self {
        let Block { lo, hi, n, positives } = *block;
        Self { lo, hi, n, positives, value: value(block) }
    }
}

impl CorpSplit {
    /// Terms of a sum are in `[0, 1]`.
    const UNIT: f64 = 64.0;

    fn new(distinct: &Distinct, fitted: &[f64], rule: ProperScore) -> Self {
        let rate = distinct.positives as f64 / distinct.n as f64;
        let mean = |prob: &dyn Fn(usize) -> f64| {
            let mut sum = ExactSum::default();
            for (i, group) in distinct.groups.iter().enumerate() {
                let prob = prob(i);
                sum.add_times(rule.loss(prob, true) / Self::UNIT, group.positives);
                sum.add_times(rule.loss(prob, false) / Self::UNIT, group.n - group.positives);
            }
            Self::UNIT * sum.value() / distinct.n as f64
        };
        let score = mean(&|i| distinct.groups[i].score);
        let (recalibrated, unc) = (mean(&|i| fitted[i]), mean(&|_| rate));
        Self { score, mcb: score - recalibrated, dsc: unc - recalibrated, unc }
    }
}
