//! Reliability diagrams.

use std::collections::BTreeMap;

use serde::Serialize;

use super::binning::Binning;
use super::cells::Cell;
use super::column::{Column, Frame, Tally};
use super::prediction::{Prediction, PredictionKind};
use crate::stats::{Interval, effective_clopper_pearson};

/// A bin of a reliability diagram that holds predictions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// The bin's index.
    pub bin: u32,
    /// The least probability that belongs to the bin; `None` for the bins of a calibrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lo: Option<f64>,
    /// The end of the bin, which belongs to the next one unless it is the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hi: Option<f64>,
    /// The number of predictions.
    pub n: u64,
    /// How many are positive.
    pub hits: u64,
    /// The mean probability.
    pub mean_prob: f64,
    /// The observed frequency.
    pub rate: f64,
    /// The exact interval of the fraction (Clopper and Pearson), for each bin on its own. Of clusters it is that of as many rows
    /// as are left if the rows of a cluster in the bin all say the same.
    pub interval: Interval,
    /// For top-label predictions where the bin is drawn in the top-label diagram: `mean_prob + Delta` if the rate is above the
    /// mean probability, otherwise `mean_prob - Delta`, with the deviations of the classes averaged in `Delta` (Gupta and
    /// Ramdas 2022, section 2.1). It may be outside `[0, 1]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_label: Option<f64>,
}

/// The bins of a reliability diagram, in ascending order; empty ones are left out. `alpha` is one minus the coverage of the
/// intervals.
///
/// ```
/// use calib_fit::assess::{Binning, Prediction, PredictionKind, reliability};
///
/// // 0.8 is predicted 100 times, and the event occurs 60 times.
/// let said = |row| Prediction { class: 1, prob: 0.8, bin: 0, hit: row < 60 };
/// let rows: Vec<Prediction> = (0..100).map(said).collect();
/// let bins = reliability(&rows, PredictionKind::Binary, Binning::EqualWidth(10), 0.05);
/// assert_eq!((bins.len(), bins[0].n, bins[0].hits), (1, 100, 60));
/// assert!(bins[0].interval.lo > 0.49 && bins[0].interval.hi < 0.7);
/// ```
///
/// # Panics
///
/// If there are no predictions.
pub fn reliability(
    predictions: &[Prediction],
    kind: PredictionKind,
    binning: Binning,
    alpha: f64,
) -> Vec<ReliabilityBin> {
    let column = Column::new(predictions, kind, binning, 1.0);
    bins(&column.frame, &column.tally(), alpha, &BTreeMap::new())
}

/// `effective` is to how many independent rows those of a bin amount, where these are fewer.
pub(crate) fn bins(
    frame: &Frame,
    tally: &Tally,
    alpha: f64,
    effective: &BTreeMap<u32, u64>,
) -> Vec<ReliabilityBin> {
    let kind = frame.kind;
    let deviations = frame.top_label_deviations(tally);
    let bin = |((bin, cell), (_, deviation)): ((u32, Cell), (u32, f64))| {
        let ends = frame.cutter.ends(bin);
        let (mean_prob, rate) = (cell.mean_prob(), cell.rate());
        let drawn = if rate > mean_prob { mean_prob + deviation } else { mean_prob - deviation };
        ReliabilityBin {
            bin,
            lo: ends.map(|ends| ends.0),
            hi: ends.map(|ends| ends.1),
            n: cell.n,
            hits: cell.hits,
            mean_prob,
            rate,
            interval: effective_clopper_pearson(
                cell.hits,
                cell.n,
                effective.get(&bin).copied().unwrap_or(cell.n),
                alpha,
            ),
            top_label: (kind == PredictionKind::TopLabel).then_some(drawn),
        }
    };
    frame.bins(tally).into_iter().zip(deviations).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_label_diagram_does_not_let_classes_cancel() {
        let rows = |class, hits| (0..10).map(move |i| Prediction { class, prob: 0.6, bin: 0, hit: i < hits });
        let predictions: Vec<_> = rows(0, 9).chain(rows(1, 4)).collect();
        let got = reliability(&predictions, PredictionKind::TopLabel, Binning::EqualWidth(10), 0.05);
        assert_eq!(got.len(), 1);
        let bin = got[0];
        assert_eq!((bin.bin, bin.n, bin.hits, bin.lo), (6, 20, 13, Some(0.6)));
        assert!((bin.rate - 0.65).abs() < 1e-15 && (bin.mean_prob - 0.6).abs() < 1e-15);
        // Deviations .3 and .2, each of half the predictions; the rate is above the mean probability.
        assert!((bin.top_label.unwrap() - (0.6 + 0.25)).abs() < 1e-12);
        assert!(bin.interval.lo < 0.65 && 0.65 < bin.interval.hi);
        let binary = reliability(&predictions, PredictionKind::Binary, Binning::EqualWidth(10), 0.05);
        assert_eq!(binary[0].top_label, None);
    }
}
