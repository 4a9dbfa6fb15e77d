//! Predictions in the one order in which everything is computed from them.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::binning::{Binning, Cutter};
use super::c_emp::PrefixRange;
use super::calibration_error::{calibration_error, plugin};
use super::cells::Cell;
use super::figures::Figures;
use super::prediction::{Prediction, PredictionKind};
use super::proper::{BrierSplit, LOSS_UNIT, given, loss};
use crate::cancel;
use crate::points::{Concordance, Group};
use crate::stats::{ExactSum, Units};

/// Chunks that threads share out are of this many rows.
pub(super) const CHUNK: usize = 1 << 16;

/// Predictions in ascending order of probability, each in a group.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) frame: Frame,
    rows: Vec<Row>,
}

/// How predictions are grouped, and what metrics are over the groups.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: PredictionKind,
    /// The bin and the class of every group, ascending.
    pub(crate) groups: Vec<(u32, u16)>,
    pub(crate) cutter: Cutter,
    /// The norm of the metric `lp`.
    pub(crate) p: f64,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    prob: f64,
    /// The log-loss in units of 64 nats.
    loss: f64,
    /// Which of the rows that are resampled together this one is.
    source: u32,
    group: u32,
    hit: bool,
}

/// What one pass over predictions gathers.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) cells: Vec<Cell>,
    pub(crate) sums: Sums,
}

/// What is summed over all predictions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    right: u64,
    pub(crate) brier: ExactSum,
    pub(crate) loss: ExactSum,
    squares: ExactSum,
    area: Concordance,
    range: PrefixRange,
}

impl Sums {
    /// Goes on past all predictions of one probability, except for their Brier scores and losses.
    pub(crate) fn pass(&mut self, kind: PredictionKind, prob: f64, hits: u64, misses: u64) {
        self.right += match kind {
            PredictionKind::Binary if prob < 0.5 => misses,
            _ => hits,
        };
        self.squares.add_times(prob * prob, hits + misses);
        self.range.pass(ExactSum::of(prob, hits + misses) - ExactSum::from(hits));
        self.area.pass(hits, misses);
    }

    /// Goes on past predictions that are all above these.
    pub(crate) fn then(&mut self, above: &Self) {
        self.right += above.right;
        self.brier += above.brier;
        self.loss += above.loss;
        self.squares += above.squares;
        self.area.then(&above.area);
        self.range.then(&above.range);
    }
}

/// The groups of predictions that calibration errors are computed over; for top-label predictions, classes are kept apart.
///
/// ```
/// use calib_fit::assess::{Binning, Prediction, PredictionKind, cells};
///
/// // 0.8 is predicted 100 times, and the event occurs 60 times.
/// let said = |row| Prediction { class: 1, prob: 0.8, bin: 0, hit: row < 60 };
/// let rows: Vec<Prediction> = (0..100).map(said).collect();
/// let cells = cells(&rows, PredictionKind::Binary, Binning::EqualWidth(15));
/// assert_eq!(cells.iter().map(|cell| cell.n).sum::<u64>(), 100);
/// ```
///
/// # Panics
///
/// If there are no predictions, or more than 2^32.
pub fn cells(predictions: &[Prediction], kind: PredictionKind, binning: Binning) -> Vec<Cell> {
    Column::new(predictions, kind, binning, 1.0).tally().cells
}

impl Column {
    /// Sorts predictions, each of which is a separate resampled row.
    pub(crate) fn new(predictions: &[Prediction], kind: PredictionKind, binning: Binning, p: f64) -> Self {
        // Sorted as integers, predictions that are told apart have one order, and the others do not matter.
        let mut keys: Vec<u128> = predictions.par_iter().map(Prediction::key).collect();
        cancel::check_canceled();
        keys.par_sort_unstable();
        Self::of_sorted(keys.len(), kind, binning, p, |i| (Prediction::from_key(keys[i]), i as u32))
    }

    /// Sorts predictions that come with the number of the row that is resampled.
    pub(crate) fn with_sources(
        mut predictions: Vec<(Prediction, u32)>,
        kind: PredictionKind,
        binning: Binning,
        p: f64,
    ) -> Self {
        predictions.par_sort_unstable_by_key(|(prediction, source)| (prediction.key(), *source));
        Self::of_sorted(predictions.len(), kind, binning, p, |i| predictions[i])
    }

    fn of_sorted(
        n: usize,
        kind: PredictionKind,
        binning: Binning,
        p: f64,
        row: impl Fn(usize) -> (Prediction, u32) + Sync,
    ) -> Self {
        assert!(n > 0, "nothing to assess");
        assert!(u32::try_from(n).is_ok(), "more than 2^32 predictions");
        let cutter = binning.cutter(n, |i| row(i).0.prob);
        let group = |prediction: &Prediction| (cutter.bin(prediction.prob, prediction.bin), prediction.class);
        let distinct = |mut set: BTreeSet<(u32, u16)>, i: usize| {
            cancel::check_row(i);
            set.insert(group(&row(i).0));
            set
        };
        let groups: Vec<(u32, u16)> = (0..n)
            .into_par_iter()
            .with_min_len(CHUNK)
            .fold(BTreeSet::new, distinct)
            .reduce(BTreeSet::new, |mut a, mut b| {
                a.append(&mut b);
                a
            })
            .into_iter()
            .collect();
        let rows = (0..n)
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|i| {
                cancel::check_row(i);
                let (prediction, source) = row(i);
                let Prediction { prob, hit, .. } = prediction;
                let group =
                    groups.binary_search(&group(&prediction)).expect("the groups are those of the rows");
                Row { prob, loss: loss(given(prob, hit)), source, group: group as u32, hit }
            })
            .collect();
        Self { frame: Frame { kind, groups, cutter, p }, rows }
    }

    /// The predictions of every class that occurs, with their classes in ascending order.
    pub(crate) fn by_class(&self) -> Vec<(u16, Self)> {
        let groups = &self.frame.groups;
        let mut classes: Vec<u16> = groups.iter().map(|group| group.1).collect();
        classes.sort_unstable();
        classes.dedup();
        let mut rows: Vec<Vec<Row>> = vec![Vec::new(); classes.len()];
        let index: Vec<usize> =
            groups.iter().map(|group| classes.binary_search(&group.1).expect("it is one of them")).collect();
        self.rows.iter().for_each(|row| rows[index[row.group as usize]].push(*row));
        let part = |rows| Self { rows, frame: self.frame.clone() };
        classes.into_iter().zip(rows.into_iter().map(part)).collect()
    }

    /// What the predictions are of.
    pub(crate) fn kind(&self) -> PredictionKind {
        self.frame.kind
    }

    /// The number of predictions.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The number of independent rows that the predictions amount to at least.
    pub(crate) fn effective_rows(&self, units: &Units) -> u64 {
        if units.are_rows() {
            return self.rows.len() as u64;
        }
        units.effective_rows(self.rows.iter().map(|row| row.source as usize))
    }

    /// The same for every bin that holds predictions; nothing if all rows are independent.
    pub(crate) fn effective_rows_of_bins(&self, units: &Units) -> BTreeMap<u32, u64> {
        if units.are_rows() {
            return BTreeMap::new();
        }
        let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for row in &self.rows {
            places.entry(self.frame.groups[row.group as usize].0).or_default().push(row.source as usize);
        }
        places.into_iter().map(|(bin, places)| (bin, units.effective_rows(places))).collect()
    }

    /// The predictions grouped by probability, in ascending order.
    pub(crate) fn by_prob(&self) -> Vec<Group> {
        let tied = self.rows.chunk_by(|a, b| a.prob == b.prob);
        let group = |rows: &[Row]| Group {
            score: rows[0].prob,
            n: rows.len() as u64,
            positives: rows.iter().filter(|row| row.hit).count() as u64,
        };
        tied.map(group).collect()
    }

    /// How many predictions gave probability 0 to what happened.
    pub(crate) fn clipped(&self) -> u64 {
        self.rows.iter().filter(|row| given(row.prob, row.hit) == 0.0).count() as u64
    }

    /// Gathers what metrics are made of, counting every row once.
    pub(crate) fn tally(&self) -> Tally {
        self.tally_weighted(|_| 1)
    }

    fn tally_weighted(&self, weight: impl Fn(u32) -> u32) -> Tally {
        let mut tally =
            Tally { cells: vec![Cell::default(); self.frame.groups.len()], sums: Sums::default() };
        for tied in self.rows.chunk_by(|a, b| a.prob == b.prob) {
            let prob = tied[0].prob;
            let (mut hits, mut misses) = (0u64, 0u64);
            for row in tied {
                let times = u64::from(weight(row.source));
                if times == 0 {
                    continue;
                }
                tally.cells[row.group as usize].add(prob, row.hit, times);
                tally.sums.loss.add_times(row.loss, times);
                if row.hit { hits += times } else { misses += times }
            }
            tally.sums.brier.add_times((1.0 - prob) * (1.0 - prob), hits);
            tally.sums.brier.add_times(prob * prob, misses);
            tally.sums.pass(self.frame.kind, prob, hits, misses);
        }
        tally
    }

    /// The metrics if row `source` occurs `counts[source]` times.
    pub(crate) fn resampled(&self, counts: &[u32]) -> Figures<f64> {
        self.frame.figures(&self.tally_weighted(|source| counts[source as usize]))
    }
}

impl Frame {
    /// The metrics; all NaN if no row occurs.
    pub(crate) fn figures(&self, tally: &Tally) -> Figures<f64> {
        let bins = self.bins(tally);
        let n: u64 = bins.iter().map(|(_, cell)| cell.n).sum();
        if n == 0 {
            return Figures::take(&mut std::iter::repeat(f64::NAN));
        }
        let cells: Vec<Cell> = bins.iter().map(|(_, cell)| *cell).collect();
        let conf = calibration_error(&cells);
        let tl = calibration_error(&tally.cells);
        let brier = tally.sums.brier.value() / n as f64;
        let split = BrierSplit::new(brier, &cells);
        let mut all = Cell::default();
        cells.iter().for_each(|&cell| all += cell);
        Figures {
            accuracy: tally.sums.right as f64 / n as f64,
            brier,
            brier_calibration: split.calibration,
            brier_refinement: split.refinement,
            log_loss: tally.sums.loss.value() * LOSS_UNIT / n as f64,
            sharpness: (tally.sums.squares.value() / n as f64 - all.mean_prob().powi(2)).max(0.0),
            auc: tally.sums.area.auc().unwrap_or(f64::NAN),
            c_emp: tally.sums.range.c_emp(n),
            ece: conf.l1,
            ece_debiased: conf.l1_debiased,
            ece_noise: conf.l1_noise,
            mce: conf.max,
            l2_squared: conf.l2_squared,
            l2_squared_debiased: conf.l2_squared_debiased,
            lp: plugin(&cells, self.p),
            tl_ece: tl.l1,
            tl_ece_debiased: tl.l1_debiased,
            tl_ece_noise: tl.l1_noise,
            tl_mce: tl.max,
            tl_mce_bin: self.top_label_deviations(tally).into_iter().map(|(_, d)| d).fold(0.0, f64::max),
            tl_l2_squared: tl.l2_squared,
            tl_l2_squared_debiased: tl.l2_squared_debiased,
        }
    }

    /// The bins that hold predictions, of all classes together.
    pub(crate) fn bins(&self, tally: &Tally) -> Vec<(u32, Cell)> {
        let mut bins: Vec<(u32, Cell)> = Vec::new();
        for (&(bin, _), &cell) in self.groups.iter().zip(&tally.cells).filter(|(_, cell)| cell.n > 0) {
            match bins.last_mut() {
                Some(last) if last.0 == bin => last.1 += cell,
                _ => bins.push((bin, cell)),
            }
        }
        bins
    }

    /// For every bin that holds predictions, the deviations of its classes averaged by how often each is predicted (the
    /// `Delta_b` of Gupta and Ramdas 2022, section 2.1).
    pub(crate) fn top_label_deviations(&self, tally: &Tally) -> Vec<(u32, f64)> {
        let mut bins: Vec<(u32, f64, u64)> = Vec::new();
        for (&(bin, _), cell) in self.groups.iter().zip(&tally.cells).filter(|(_, cell)| cell.n > 0) {
            let deviation = cell.weighted_deviation();
            match bins.last_mut() {
                Some(last) if last.0 == bin => *last = (bin, last.1 + deviation, last.2 + cell.n),
                _ => bins.push((bin, deviation, cell.n)),
            }
        }
        bins.into_iter().map(|(bin, deviation, n)| (bin, deviation / n as f64)).collect()
    }
}
