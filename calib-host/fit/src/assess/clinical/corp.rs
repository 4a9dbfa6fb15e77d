//! The CORP approach: calibration curve and score decomposition from the isotonic fit (Dimitriadis, Gneiting and Jordan 2021).

use std::io;

use serde::Serialize;

use super::consistency::{BandPoint, consistency_band};
use super::deviation::CurveDeviation;
use super::distinct::Distinct;
use crate::assess::{Bootstrap, ProperScore};
use crate::points::{Block, Group, Sorter, mean_is_below, pool, pool_groups};
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
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be written.
    pub(super) fn new(distinct: &Distinct, resampling: Option<&Bootstrap>) -> io::Result<Self> {
        // Pooled once more, the blocks of parts are those of the whole.
        let parts = distinct.map(|groups| pool_groups(groups));
        let blocks = pool(parts.into_iter().flatten(), mean_is_below);
        let mut differences = Sorter::like(distinct.groups());
        let of_part = |groups: &mut dyn Iterator<Item = Group>| {
            let mut rest = &blocks[..];
            let record = |group: Group| {
                if rest[0].hi < group.score {
                    rest = &rest[rest.partition_point(|block| block.hi < group.score)..];
                }
                CurveDeviation::record(value(&rest[0]) - group.score, group.n)
            };
            groups.map(record).collect::<Vec<_>>()
        };
        distinct.map_in_order(of_part, |records| differences.extend(records))?;
        Ok(Self {
            curve: blocks.iter().map(CorpStep::new).collect(),
            band: resampling.map_or_else(Vec::new, |resampling| consistency_band(distinct, resampling)),
            brier: CorpSplit::new(distinct, &blocks, ProperScore::Brier),
            log_loss: CorpSplit::new(distinct, &blocks, ProperScore::LogLoss),
            deviation: CurveDeviation::new(differences, distinct.n)?,
        })
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

    fn new(distinct: &Distinct, blocks: &[Block], rule: ProperScore) -> Self {
        let rate = distinct.positives as f64 / distinct.n as f64;
        let add = |sum: &mut ExactSum, prob: f64, n: u64, positives: u64| {
            sum.add_times(rule.loss(prob, true) / Self::UNIT, positives);
            sum.add_times(rule.loss(prob, false) / Self::UNIT, n - positives);
        };
        let mean = |sum: ExactSum| Self::UNIT * sum.value() / distinct.n as f64;
        let of_part = |groups: &mut dyn Iterator<Item = Group>| {
            let mut sum = ExactSum::default();
            groups.for_each(|group| add(&mut sum, group.score, group.n, group.positives));
            sum
        };
        let mut sum = ExactSum::default();
        distinct.map(of_part).into_iter().for_each(|part| sum += part);
        // Rows with one probability have one loss each: it does not matter how they are put together.
        let (mut fitted, mut constant) = (ExactSum::default(), ExactSum::default());
        blocks.iter().for_each(|block| add(&mut fitted, value(block), block.n, block.positives));
        add(&mut constant, rate, distinct.n, distinct.positives);
        let (score, recalibrated, unc) = (mean(sum), mean(fitted), mean(constant));
        Self { score, mcb: score - recalibrated, dsc: unc - recalibrated, unc }
    }
}
