//! The CORP approach: calibration curve and score decomposition from the isotonic fit (Dimitriadis, Gneiting and Jordan 2021).

use serde::Serialize;

use super::consistency::{BandPoint, consistency_band};
use super::deviation::CurveDeviation;
use super::distinct::Distinct;
use super::gathered::Gathered;
use crate::assess::proper::LOSS_UNIT;
use crate::assess::{Bootstrap, ProperScore};
use crate::points::{Block, Group};
use crate::stats::ExactSum;

/// A stretch of probabilities at which the fit has one value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
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
#[non_exhaustive]
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
#[non_exhaustive]
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
    pub(super) fn new(distinct: &Distinct<'_>, gathered: &Gathered, resampling: Option<&Bootstrap>) -> Self {
        let Gathered { blocks, losses, .. } = gathered;
        let difference = || {
            let (mut rest, mut value_here) = (&blocks[..], value(&blocks[0]));
            move |group: Group| {
                if rest[0].hi < group.score {
                    rest = &rest[rest.partition_point(|block| block.hi < group.score)..];
                    value_here = value(&rest[0]);
                }
                Some((value_here - group.score).abs())
            }
        };
        let n = distinct.rows();
        let split = |rule, sum: f64| CorpSplit::new(blocks, (n, distinct.positives()), rule, sum / n as f64);
        Self {
            curve: blocks.iter().map(CorpStep::new).collect(),
            band: resampling.map_or_else(Vec::new, |resampling| consistency_band(distinct, resampling)),
            brier: split(ProperScore::Brier, losses.brier.value()),
            log_loss: split(ProperScore::LogLoss, LOSS_UNIT * losses.log_loss.value()),
            deviation: CurveDeviation::new(distinct, n, difference),
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

    /// Of `n` rows with a mean score.
    fn new(blocks: &[Block], (n, positives): (u64, u64), rule: ProperScore, score: f64) -> Self {
        let add = |sum: &mut ExactSum, prob: f64, n: u64, positives: u64| {
            sum.add_times(rule.loss(prob, true) / Self::UNIT, positives);
            sum.add_times(rule.loss(prob, false) / Self::UNIT, n - positives);
        };
        let mean = |sum: ExactSum| Self::UNIT * sum.value() / n as f64;
        // Rows with one probability have one loss each: it does not matter how they are put together.
        let (mut fitted, mut constant) = (ExactSum::default(), ExactSum::default());
        blocks.iter().for_each(|block| add(&mut fitted, value(block), block.n, block.positives));
        add(&mut constant, positives as f64 / n as f64, n, positives);
        let (recalibrated, unc) = (mean(fitted), mean(constant));
        Self { score, mcb: score - recalibrated, dsc: unc - recalibrated, unc }
    }
}
