//! Reliability diagrams.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use super::binning::Binning;
use super::cells::Cell;
use super::column::{CHUNK, Frame, Sums, Tally};
use super::prediction::PredictionKind;
use crate::cancel;
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

/// The bins of a reliability diagram of one event, in ascending order; empty ones are left out.
///
/// `probs` are probabilities in `[0, 1]`, and `hits` tell whether the event occurred. `alpha` is one minus the coverage of the
/// intervals. [`Binning::ByBin`] puts all rows into one bin. Only binnings by number or value need more memory: 8 bytes per row, to
/// sort the probabilities.
///
/// ```
/// use calib_fit::assess::{Binning, reliability};
///
/// // 0.8 is predicted 100 times, and the event occurs 60 times.
/// let hits: Vec<bool> = (0..100).map(|row| row < 60).collect();
/// let bins = reliability(&[0.8; 100], &hits, Binning::EqualWidth(10), 0.05);
/// assert_eq!((bins.len(), bins[0].n, bins[0].hits), (1, 100, 60));
/// assert!(bins[0].interval.lo > 0.49 && bins[0].interval.hi < 0.7);
/// ```
///
/// # Panics
///
/// If there are no rows, or the lengths of `probs` and `hits` differ.
pub fn reliability(probs: &[f64], hits: &[bool], binning: Binning, alpha: f64) -> Vec<ReliabilityBin> {
    assert_eq!(probs.len(), hits.len(), "a hit or none for each probability");
    let cutter = match binning {
        Binning::EqualWidth(_) | Binning::ByBin => binning.cutter(probs.len(), |row| probs[row]),
        _ => {
            let mut sorted = probs.to_vec();
            sorted.par_sort_unstable_by(f64::total_cmp);
            binning.cutter(sorted.len(), |row| sorted[row])
        }
    };
    let gather = |mut cells: BTreeMap<(u32, u16), Cell>, (probs, hits): (&[f64], &[bool])| {
        cancel::check_canceled();
        for (&prob, &hit) in probs.iter().zip(hits) {
            cells.entry((cutter.bin(prob, 0), 1)).or_default().add(prob, hit, 1);
        }
        cells
    };
    let merge = |mut all: BTreeMap<(u32, u16), Cell>, part: BTreeMap<(u32, u16), Cell>| {
        part.into_iter().for_each(|(group, cell)| *all.entry(group).or_default() += cell);
        all
    };
    let chunks = probs.par_chunks(CHUNK).zip(hits.par_chunks(CHUNK));
    let (groups, cells) = chunks.fold(BTreeMap::new, gather).reduce(BTreeMap::new, merge).into_iter().unzip();
    let frame = Frame { kind: PredictionKind::Binary, groups, cutter, p: 1.0 };
    bins(&frame, &Tally { cells, sums: Sums::default() }, alpha, &BTreeMap::new())
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
    use proptest::prelude::*;

    use super::*;
    use crate::assess::column::Column;
    use crate::assess::prediction::Prediction;

    fn of_column(rows: &[Prediction], kind: PredictionKind, binning: Binning) -> Vec<ReliabilityBin> {
        let column = Column::new(rows, kind, binning, 1.0);
        bins(&column.frame, &column.tally(), 0.05, &BTreeMap::new())
    }

    proptest! {
        /// Rows in any order, in chunks, give the bins of sorted rows.
        #[test]
        fn without_sorting_rows_the_bins_are_the_same(
            rows in prop::collection::vec((0u8..=40, any::<bool>()), 1..200),
            n_bins in 1usize..60,
            scheme in 0usize..4,
        ) {
            let binning = [
                Binning::EqualWidth(n_bins),
                Binning::EqualMass(n_bins),
                Binning::EqualMassKumar(n_bins),
                Binning::ByValue,
            ][scheme];
            let said = |&(prob, hit): &(u8, bool)| Prediction { class: 1, prob: f64::from(prob) / 40.0, bin: 0, hit };
            let predictions: Vec<Prediction> = rows.iter().map(said).collect();
            let (probs, hits): (Vec<f64>, Vec<bool>) = predictions.iter().map(|row| (row.prob, row.hit)).unzip();
            let expected = of_column(&predictions, PredictionKind::Binary, binning);
            prop_assert_eq!(reliability(&probs, &hits, binning, 0.05), expected);
        }
    }

    #[test]
    fn the_top_label_diagram_does_not_let_classes_cancel() {
        let rows = |class, hits| (0..10).map(move |i| Prediction { class, prob: 0.6, bin: 0, hit: i < hits });
        let predictions: Vec<_> = rows(0, 9).chain(rows(1, 4)).collect();
        let got = of_column(&predictions, PredictionKind::TopLabel, Binning::EqualWidth(10));
        assert_eq!(got.len(), 1);
        let bin = got[0];
        assert_eq!((bin.bin, bin.n, bin.hits, bin.lo), (6, 20, 13, Some(0.6)));
        assert!((bin.rate - 0.65).abs() < 1e-15 && (bin.mean_prob - 0.6).abs() < 1e-15);
        // Deviations .3 and .2, each of half the predictions; the rate is above the mean probability.
        assert!((bin.top_label.unwrap() - (0.6 + 0.25)).abs() < 1e-12);
        assert!(bin.interval.lo < 0.65 && 0.65 < bin.interval.hi);
        let binary = of_column(&predictions, PredictionKind::Binary, Binning::EqualWidth(10));
        assert_eq!(binary[0].top_label, None);
    }
}
