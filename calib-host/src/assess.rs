//! How good probabilities are, on data that nothing was fitted to.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::binning::{Binning, Cell};
use crate::bootstrap::{Bootstrap, Interval};

/// The log-loss of a probability of 0 or 1 that turned out wrong is infinite; as scikit-learn does,
/// probabilities are clipped to `[2.2e-16, 1 - 2.2e-16]` for it, and the clipped failures counted.
const LOG_LOSS_CLIP: f64 = f64::EPSILON;

/// A prediction and what came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The class that the probability is of: 1 for binary predictions, otherwise the predicted class.
    pub class: u16,
    /// The probability of that class, in `[0, 1]`.
    pub prob: f64,
    /// The calibrator's bin, for [`Binning::ByBin`]; 0 elsewhere.
    pub bin: u32,
    /// Whether the true class is that class.
    pub hit: bool,
}

/// Metrics of a set of predictions. The names are those of the literature (`conf_ece` and `tl_ece`: Gupta and
/// Ramdas 2022, equations 3 and 4).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assessment {
    /// The number of predictions.
    pub n: u64,
    /// How many came true: positives for binary predictions, correct ones otherwise.
    pub hits: u64,
    /// The fraction of right decisions: for binary predictions `prob >= 0.5` against the label.
    pub accuracy: EstimateWithInterval,
    /// The mean squared difference of probability and outcome.
    pub brier: EstimateWithInterval,
    /// The mean negative logarithm of the probability given to what happened.
    pub log_loss: EstimateWithInterval,
    /// How many predictions gave probability 0 to what happened, and were clipped to 2.2e-16 for the log-loss.
    pub log_loss_clipped: u64,
    /// The mean over predictions of their bin's deviation of mean probability from fraction of hits.
    pub conf_ece: EstimateWithInterval,
    /// The largest such deviation.
    pub conf_mce: f64,
    /// As `conf_ece`, with bins kept apart by predicted class; top-label predictions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tl_ece: Option<EstimateWithInterval>,
    /// The largest deviation over classes and bins (equation 17 there); top-label predictions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tl_mce: Option<f64>,
    /// The largest over bins of the deviations averaged over classes; top-label predictions only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tl_mce_bin: Option<f64>,
    /// The bins of `conf_ece` that hold predictions: index, count, hits, mean probability.
    pub bins: Vec<BinSummary>,
}

/// A metric, with a bootstrap percentile interval if one was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EstimateWithInterval {
    /// The estimate.
    pub value: f64,
    /// The interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// A bin of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BinSummary {
    /// The bin's index.
    pub bin: u32,
    /// The number of predictions.
    pub n: u64,
    /// How many came true.
    pub hits: u64,
    /// The mean probability.
    pub mean_prob: f64,
}

/// A prediction with its groups, in the canonical order.
struct Row {
    prob: f64,
    hit: bool,
    right: bool,
    /// The index of the group among those that occur, by bin and by (class, bin).
    conf: usize,
    top_label: usize,
}

/// Assesses predictions: binary ones if `top_label` is false.
///
/// The result does not depend on the order of the predictions.
///
/// # Panics
///
/// If there are no predictions.
pub fn assess(
    predictions: &[Prediction],
    top_label: bool,
    binning: Binning,
    bootstrap: Option<Bootstrap>,
) -> Assessment {
    assert!(!predictions.is_empty(), "nothing to assess");
    let mut sorted: Vec<(u32, Prediction)> =
        predictions.iter().map(|p| (binning.cell(p.prob, p.bin), *p)).collect();
    // Sums of floats depend on their order, so there is one.
    sorted.sort_unstable_by(|(ca, a), (cb, b)| {
        (a.class, ca).cmp(&(b.class, cb)).then(a.prob.total_cmp(&b.prob)).then(a.hit.cmp(&b.hit))
    });
    let conf_cells = index(sorted.iter().map(|(cell, _)| *cell));
    let tl_cells = index(sorted.iter().map(|(cell, p)| (p.class, *cell)));
    let rows: Vec<Row> = sorted
        .iter()
        .map(|(cell, p)| Row {
            prob: p.prob,
            hit: p.hit,
            right: if top_label { p.hit } else { (p.prob >= 0.5) == p.hit },
            conf: conf_cells[cell],
            top_label: tl_cells[&(p.class, *cell)],
        })
        .collect();

    let n = rows.len() as f64;
    let statistics = |indices: &mut dyn Iterator<Item = usize>| -> ([f64; 5], Vec<Cell>, Vec<Cell>, u64) {
        let (mut right, mut brier, mut log_loss, mut clipped) = (0u64, 0.0, 0.0, 0);
        let mut conf = vec![Cell::default(); conf_cells.len()];
        let mut tl = vec![Cell::default(); if top_label { tl_cells.len() } else { 0 }];
        for row in indices.map(|i| &rows[i]) {
            right += u64::from(row.right);
            brier += (row.prob - f64::from(u8::from(row.hit))).powi(2);
            let given = if row.hit { row.prob } else { 1.0 - row.prob };
            clipped += u64::from(given == 0.0);
            log_loss -= given.clamp(LOG_LOSS_CLIP, 1.0 - LOG_LOSS_CLIP).ln();
            conf[row.conf].add(row.prob, row.hit);
            if top_label {
                tl[row.top_label].add(row.prob, row.hit);
            }
        }
        let ece = |cells: &[Cell]| cells.iter().map(Cell::weighted_deviation).sum::<f64>() / n;
        ([right as f64 / n, brier / n, log_loss / n, ece(&conf), ece(&tl)], conf, tl, clipped)
    };

    let (values, conf, tl, log_loss_clipped) = statistics(&mut (0..rows.len()));
    let intervals =
        bootstrap.map(|b| b.intervals(rows.len(), |indices| statistics(&mut indices.iter().copied()).0));
    let estimate = |k: usize| EstimateWithInterval { value: values[k], interval: intervals.map(|i| i[k]) };

    // Deviations of the classes in one bin, weighted by how often each class is predicted in it.
    let mut by_bin: BTreeMap<u32, (f64, u64)> = BTreeMap::new();
    for ((_, bin), &cell) in tl_cells.iter().filter(|_| top_label) {
        let sums = by_bin.entry(*bin).or_default();
        *sums = (sums.0 + tl[cell].weighted_deviation(), sums.1 + tl[cell].n);
    }
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    Assessment {
        n: rows.len() as u64,
        hits: rows.iter().filter(|row| row.hit).count() as u64,
        accuracy: estimate(0),
        brier: estimate(1),
        log_loss: estimate(2),
        log_loss_clipped,
        conf_ece: estimate(3),
        conf_mce: largest(&mut conf.iter().map(Cell::deviation)),
        tl_ece: top_label.then(|| estimate(4)),
        tl_mce: top_label.then(|| largest(&mut tl.iter().map(Cell::deviation))),
        tl_mce_bin: top_label.then(|| largest(&mut by_bin.values().map(|(sum, n)| sum / *n as f64))),
        bins: conf_cells
            .iter()
            .map(|(&bin, &cell)| BinSummary {
                bin,
                n: conf[cell].n,
                hits: conf[cell].hits,
                mean_prob: conf[cell].prob_sum / conf[cell].n as f64,
            })
            .collect(),
    }
}

/// Numbers the distinct keys in ascending order.
fn index<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, usize> {
    let mut index: BTreeMap<K, usize> = keys.map(|key| (key, 0)).collect();
    index.values_mut().enumerate().for_each(|(i, value)| *value = i);
    index
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn binary(rows: &[(f64, bool)]) -> Vec<Prediction> {
        rows.iter().map(|&(prob, hit)| Prediction { class: 1, prob, bin: 0, hit }).collect()
    }

    /// The tiny fixture: plugin L1 error 0.0666...
    #[test]
    fn the_twelve_point_fixture() {
        let p = [0.1, 0.1, 0.1, 0.1, 0.4, 0.4, 0.4, 0.8, 0.8, 0.8, 0.8, 0.8];
        let y = [0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1];
        let rows: Vec<_> = p.iter().zip(y).map(|(&p, y)| (p, y == 1)).collect();
        let got = assess(&binary(&rows), false, Binning::EqualWidth(10), None);
        // Bins: 4 at .1 with mean .25; 3 at .4 with mean 1/3; 5 at .8 with mean .8.
        assert!((got.conf_ece.value - (4.0 * 0.15 + 3.0 * (0.4 - 1.0 / 3.0)) / 12.0).abs() < 1e-15);
        assert!((got.conf_ece.value - 0.066_666_666_667).abs() < 1e-12);
        assert!((got.conf_mce - 0.15).abs() < 1e-15);
        assert_eq!((got.n, got.hits, got.bins.len()), (12, 6, 3));
        assert!((got.accuracy.value - 9.0 / 12.0).abs() < 1e-15);
        assert_eq!(got.tl_ece, None);
    }

    #[test]
    fn an_impossible_event_is_clipped_and_counted() {
        let got = assess(&binary(&[(0.0, true), (1.0, true)]), false, Binning::EqualWidth(15), None);
        assert_eq!(got.log_loss_clipped, 1);
        assert!((got.log_loss.value - (-(f64::EPSILON.ln()) / 2.0)).abs() < 1e-9);
        assert_eq!(got.brier.value, 0.5);
    }

    /// GR22 section 2: two classes off by opposite amounts cancel in conf_ece but not in tl_ece.
    #[test]
    fn classes_are_kept_apart_in_tl_ece() {
        let mut rows = Vec::new();
        for i in 0..10 {
            rows.push(Prediction { class: 0, prob: 0.6, bin: 0, hit: i < 8 });
            rows.push(Prediction { class: 1, prob: 0.6, bin: 0, hit: i < 4 });
        }
        let got = assess(&rows, true, Binning::EqualWidth(15), None);
        assert!(got.conf_ece.value < 1e-12);
        assert!((got.tl_ece.unwrap().value - 0.2).abs() < 1e-12);
        assert!((got.tl_mce.unwrap() - 0.2).abs() < 1e-12);
        assert!((got.tl_mce_bin.unwrap() - 0.2).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_order_does_not_matter_to_the_last_bit(
            rows in proptest::collection::vec((0u16..3, 0u32..1000, any::<bool>()), 1..60), by_bin in any::<bool>(),
        ) {
            let predictions: Vec<_> = rows.iter()
                .map(|&(class, p, hit)| Prediction { class, prob: f64::from(p) / 999.0, bin: p % 7, hit }).collect();
            let mut reversed = predictions.clone();
            reversed.reverse();
            let binning = if by_bin { Binning::ByBin } else { Binning::EqualWidth(15) };
            let bootstrap = Some(Bootstrap { resamples: 20, seed: 7, alpha: 0.1 });
            let run = |rows: &[Prediction]| assess(rows, true, binning, bootstrap);
            prop_assert_eq!(run(&predictions), run(&reversed));
        }

        /// conf_ece <= tl_ece <= tl_mce, and tl_mce_bin <= tl_mce.
        #[test]
        fn the_errors_are_ordered(rows in proptest::collection::vec((0u16..3, 0u32..=50, any::<bool>()), 1..60)) {
            let predictions: Vec<_> = rows.iter()
                .map(|&(class, p, hit)| Prediction { class, prob: f64::from(p) / 50.0, bin: 0, hit }).collect();
            let got = assess(&predictions, true, Binning::EqualWidth(15), None);
            let (tl_ece, tl_mce) = (got.tl_ece.unwrap().value, got.tl_mce.unwrap());
            prop_assert!(got.conf_ece.value <= tl_ece + 1e-12 && tl_ece <= tl_mce + 1e-12);
            prop_assert!(got.tl_mce_bin.unwrap() <= tl_mce + 1e-12);
        }
    }
}
