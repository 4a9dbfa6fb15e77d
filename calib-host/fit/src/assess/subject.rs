//! What is assessed, and resampled.

use super::assessment::{AssessOptions, Assessment, ClassAssessment, Gathered, RocSummary};
use super::column::{Column, Tally};
use super::figures::Figures;
use super::prediction::{Prediction, PredictionKind};
use crate::stats::{Interval, Units};

/// Assesses predictions.
///
/// The result depends neither on the order of the predictions nor on the number of threads.
///
/// ```
/// use calib_fit::assess::{AssessOptions, Prediction, PredictionKind, assess};
///
/// // 0.8 is predicted 100 times, and the event occurs 60 times.
/// let said = |row| Prediction { class: 1, prob: 0.8, bin: 0, hit: row < 60 };
/// let rows: Vec<Prediction> = (0..100).map(said).collect();
/// let assessment = assess(&rows, PredictionKind::Binary, &AssessOptions::default());
/// assert!((assessment.conf_ece.value - 0.2).abs() < 1e-9);
/// assert!((assessment.brier.value - (0.6 * 0.04 + 0.4 * 0.64)).abs() < 1e-9);
/// ```
///
/// # Panics
///
/// If there are no predictions, or more than 2^32, or clusters of another number of rows.
pub fn assess(predictions: &[Prediction], kind: PredictionKind, options: &AssessOptions<'_>) -> Assessment {
    let subject = match options.clusters {
        None => {
            let column = Column::new(predictions, kind, options.binning, options.norm);
            Subject::new(column, Units::rows(predictions.len()), options)
        }
        Some(_) => {
            let mut order: Vec<usize> = (0..predictions.len()).collect();
            order.sort_unstable_by_key(|&row| predictions[row].key());
            let same = |a: usize, b: usize| predictions[a].key() == predictions[b].key();
            let units = Units::new(options.clusters, &mut order, same);
            Subject::of_rows(predictions, &order, units, kind, options)
        }
    };
    let intervals = options
        .bootstrap
        .map(|b| b.intervals(&subject.units, |counts| subject.values(counts), Figures::<f64>::is_biased));
    subject.assessment(&mut intervals.into_iter().flatten())
}

/// What is assessed: all predictions, and for top-label predictions those of each class.
pub(crate) struct Subject<'a> {
    options: &'a AssessOptions<'a>,
    /// What is resampled; the sources of the columns' rows are its places.
    pub(crate) units: Units,
    whole: Part,
    classes: Vec<(u16, Part)>,
}

/// Predictions with what was gathered from them.
pub(crate) struct Part {
    pub(crate) column: Column,
    tally: Tally,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(column: Column, units: Units, options: &'a AssessOptions<'a>) -> Self {
        let classes = match column.kind() {
            PredictionKind::TopLabel => column.by_class(),
            PredictionKind::Binary => Vec::new(),
        };
        let classes = classes.into_iter().map(|(class, column)| (class, Part::new(column))).collect();
        Self { options, units, whole: Part::new(column), classes }
    }

    /// The rows in an order of their contents, in which they are resampled.
    pub(crate) fn of_rows(
        rows: &[Prediction],
        order: &[usize],
        units: Units,
        kind: PredictionKind,
        options: &'a AssessOptions<'a>,
    ) -> Self {
        let rows = order.iter().zip(0u32..).map(|(&row, source)| (rows[row], source)).collect();
        Self::new(Column::with_sources(rows, kind, options.binning, options.norm), units, options)
    }

    /// The metrics of everything and of each class, if row `source` occurs `counts[source]` times.
    pub(crate) fn values(&self, counts: &[u32]) -> Vec<f64> {
        let parts = std::iter::once(&self.whole).chain(self.classes.iter().map(|(_, part)| part));
        parts.flat_map(|part| part.column.resampled(counts).values()).collect()
    }

    /// The metrics with the intervals of these values; without intervals if there are none.
    pub(crate) fn assessment(&self, intervals: &mut impl Iterator<Item = Option<Interval>>) -> Assessment {
        let mut whole = self.whole.assessment(self.options, &self.units, intervals);
        let class = |(class, part): &(u16, Part)| ClassAssessment {
            class: *class,
            assessment: part.assessment(self.options, &self.units, intervals),
        };
        whole.classes = self.classes.iter().map(class).collect();
        whole
    }

    /// The metrics of everything, without intervals.
    pub(crate) fn figures(&self) -> Figures<f64> {
        self.whole.figures()
    }
}

impl Part {
    pub(crate) fn new(column: Column) -> Self {
        Self { tally: column.tally(), column }
    }

    /// The metrics, without intervals.
    pub(crate) fn figures(&self) -> Figures<f64> {
        self.column.frame.figures(&self.tally)
    }

    /// The metrics with the intervals of these values; without intervals if there are none.
    pub(crate) fn assessment(
        &self,
        options: &AssessOptions<'_>,
        units: &Units,
        intervals: &mut impl Iterator<Item = Option<Interval>>,
    ) -> Assessment {
        let Self { column, tally } = self;
        let gathered = Gathered {
            frame: &column.frame,
            tally,
            n: column.len() as u64,
            effective: column.effective_rows(units),
            effective_of_bins: column.effective_rows_of_bins(units),
            clipped: column.clipped(),
            roc: RocSummary::of_groups(&column.by_prob()),
        };
        gathered.assessment(options, intervals)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::assess::assessment::BinnedEstimate;
    use crate::assess::binning::Binning;
    use crate::assess::bootstrap::{Bootstrap, IntervalKind};

    fn equal_width(bins: usize) -> AssessOptions<'static> {
        AssessOptions { binning: Binning::EqualWidth(bins), ..AssessOptions::default() }
    }

    fn binary(rows: &[(f64, bool)]) -> Vec<Prediction> {
        rows.iter().map(|&(prob, hit)| Prediction { class: 1, prob, bin: 0, hit }).collect()
    }

    /// The tiny fixture: plugin L1 error 0.0666...
    #[test]
    fn the_twelve_point_fixture() {
        let p = [0.1, 0.1, 0.1, 0.1, 0.4, 0.4, 0.4, 0.8, 0.8, 0.8, 0.8, 0.8];
        let y = [0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1];
        let rows: Vec<_> = p.iter().zip(y).map(|(&p, y)| (p, y == 1)).collect();
        let got = assess(&binary(&rows), PredictionKind::Binary, &equal_width(10));
        // Bins: 4 at .1 with mean .25; 3 at .4 with mean 1/3; 5 at .8 with mean .8.
        assert!((got.conf_ece.value - (4.0 * 0.15 + 3.0 * (0.4 - 1.0 / 3.0)) / 12.0).abs() < 1e-15);
        assert!((got.conf_ece.value - 0.066_666_666_667).abs() < 1e-12);
        assert!((got.conf_mce.value - 0.15).abs() < 1e-15);
        assert_eq!((got.n, got.hits, got.bins.len()), (12, 6, 3));
        assert!((got.accuracy.value - 9.0 / 12.0).abs() < 1e-15);
        assert_eq!(got.tl_ece, None);
    }

    #[test]
    fn an_impossible_event_is_clipped_and_counted() {
        let got =
            assess(&binary(&[(0.0, true), (1.0, true)]), PredictionKind::Binary, &AssessOptions::default());
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
        let got = assess(&rows, PredictionKind::TopLabel, &AssessOptions::default());
        assert!(got.conf_ece.value < 1e-12);
        assert!((got.tl_ece.unwrap().value - 0.2).abs() < 1e-12);
        assert!((got.tl_mce.unwrap().value - 0.2).abs() < 1e-12);
        assert!((got.tl_mce_bin.unwrap().value - 0.2).abs() < 1e-12);
    }

    /// Probabilities that are those of the outcomes.
    fn calibrated(n: usize, seed: u64) -> Vec<Prediction> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut row = || {
            let prob: f64 = rng.random();
            (prob, rng.random::<f64>() < prob)
        };
        binary(&(0..n).map(|_| row()).collect::<Vec<_>>())
    }

    /// The true squared deviation of the bins is 0, and every plugin estimate of it above that.
    #[test]
    fn the_interval_of_the_calibration_part_holds_the_truth() {
        let bootstrap =
            Some(Bootstrap { kind: IntervalKind::Percentile, resamples: 200, seed: 1, alpha: 0.05 });
        let options = AssessOptions { bootstrap, ..AssessOptions::default() };
        let of = |seed| assess(&calibrated(500, seed), PredictionKind::Binary, &options).brier_calibration;
        let holds = (0..60).map(of).filter(|got| got.value > 0.0 && got.interval.unwrap().lo <= 0.0).count();
        assert!(holds >= 54, "{holds} of 60");
    }

    /// A largest deviation has no bootstrap interval, and a correction for bias is no help where the bias is large.
    #[test]
    fn largest_deviations_have_no_interval_and_errors_are_not_corrected() {
        let with = |kind| {
            let bootstrap = Some(Bootstrap { kind, resamples: 100, seed: 1, alpha: 0.05 });
            let rows: Vec<Prediction> = calibrated(300, 1)
                .into_iter()
                .enumerate()
                .map(|(i, row)| Prediction { class: (i % 2) as u16, ..row })
                .collect();
            let options = AssessOptions { bootstrap, norm: 3.0, ..AssessOptions::default() };
            assess(&rows, PredictionKind::TopLabel, &options)
        };
        let [percentile, bca] = [with(IntervalKind::Percentile), with(IntervalKind::Bca)];
        for got in [&percentile, &bca] {
            let of = |estimate: Option<BinnedEstimate>| estimate.unwrap().interval;
            assert_eq!([of(Some(got.conf_mce)), of(got.tl_mce), of(got.tl_mce_bin)], [None; 3]);
            assert_eq!(got.lp_ce.estimate.interval, None);
        }
        assert_eq!(percentile.brier_calibration, bca.brier_calibration);
        assert_eq!(percentile.conf_ece, bca.conf_ece);
        assert_ne!(percentile.brier.interval, bca.brier.interval);
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
            let bootstrap = Some(Bootstrap { kind: IntervalKind::Bca, resamples: 20, seed: 7, alpha: 0.1 });
            let options = AssessOptions { binning, bootstrap, ..AssessOptions::default() };
            // As text, in which an undefined metric equals itself.
            let run = |rows: &[Prediction]| format!("{:?}", assess(rows, PredictionKind::TopLabel, &options));
            prop_assert_eq!(run(&predictions), run(&reversed));
        }

        /// conf_ece <= tl_ece <= tl_mce, and tl_mce_bin <= tl_mce.
        #[test]
        fn the_errors_are_ordered(rows in proptest::collection::vec((0u16..3, 0u32..=50, any::<bool>()), 1..60)) {
            let predictions: Vec<_> = rows.iter()
                .map(|&(class, p, hit)| Prediction { class, prob: f64::from(p) / 50.0, bin: 0, hit }).collect();
            let got = assess(&predictions, PredictionKind::TopLabel, &AssessOptions::default());
            let (tl_ece, tl_mce) = (got.tl_ece.unwrap().value, got.tl_mce.unwrap().value);
            prop_assert!(got.conf_ece.value <= tl_ece + 1e-12 && tl_ece <= tl_mce + 1e-12);
            prop_assert!(got.tl_mce_bin.unwrap().value <= tl_mce + 1e-12);
        }
    }
}
