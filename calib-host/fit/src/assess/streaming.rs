//! The probabilities of an event, assessed and validated in a few passes, however many they are.

use std::collections::BTreeMap;

use super::assessment::{AssessOptions, Assessment, Gathered};
use super::binning::{Binning, Cutter};
use super::cells::Cell;
use super::clinical::{
    ClinicalOptions, ClinicalValidation, Distinct, Gathered as Validated, record, validate_distinct,
};
use super::column::{Frame, Sums, Tally};
use super::figures::Figures;
use super::paired::{BeforeAfter, change};
use super::prediction::PredictionKind;
use super::roc::HullFromBelow;
use crate::data::{BinaryData, Form};
use crate::error::FitError;
use crate::points::{Counted, Group, IN_MEMORY, Points, Sorted, SpillVec, group};

/// The result of a streaming assessment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StreamingAssessment {
    /// The metrics.
    pub assessment: Assessment,
    /// The clinical validation.
    pub clinical: ClinicalValidation,
}

/// Whether [`assess_streaming`] does what these options ask for: it knows neither resampling nor clusters, and bins of equal width only.
pub fn can_stream(options: &AssessOptions<'_>) -> bool {
    options.bootstrap.is_none()
        && options.clusters.is_none()
        && matches!(options.binning, Binning::EqualWidth(_))
}

/// Assesses the probabilities of an event and validates them, as [`assess`](crate::assess::assess) and
/// [`validate`](crate::assess::validate) do. Of points on a disk no more than a part is in memory.
///
/// ```
/// use calib_fit::BinaryData;
/// use calib_fit::assess::{AssessOptions, Prediction, PredictionKind, assess, assess_streaming};
///
/// // 0.8 is predicted 100 times, and the event occurs 60 times.
/// let options = AssessOptions::default();
/// let data = BinaryData::new(vec![0.8; 100], (0..100).map(|row| row < 60).collect())?;
/// let found = assess_streaming(&data, &options, &Default::default())?;
/// let said = |row| Prediction { class: 1, prob: 0.8, bin: 0, hit: row < 60 };
/// let rows: Vec<Prediction> = (0..100).map(said).collect();
/// assert_eq!(found.assessment.brier, assess(&rows, PredictionKind::Binary, &options).brier);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If a temporary file cannot be written or read back.
///
/// # Panics
///
/// If [`can_stream`] says no, or 2^32 rows have the same probability.
pub fn assess_streaming(
    data: &BinaryData,
    options: &AssessOptions<'_>,
    clinical: &ClinicalOptions<'_>,
) -> Result<StreamingAssessment, FitError> {
    Ok(assess_distinct_of(data, options, clinical, IN_MEMORY)?.0)
}

/// Assesses the same rows before and after calibration, as
/// [`assess_before_after`](crate::assess::assess_before_after) assesses them; also validates both.
///
/// # Errors
///
/// As [`assess_streaming`].
///
/// # Panics
///
/// As [`assess_streaming`], or if there are not as many rows before as after.
pub fn assess_before_after_streaming(
    [before, after]: [&BinaryData; 2],
    options: &AssessOptions<'_>,
    clinical: &ClinicalOptions<'_>,
) -> Result<(BeforeAfter, [ClinicalValidation; 2]), FitError> {
    assert_eq!(before.len(), after.len(), "every row is there before and after");
    let (before, figures_before) = assess_distinct_of(before, options, clinical, IN_MEMORY)?;
    let (after, figures_after) = assess_distinct_of(after, options, clinical, IN_MEMORY)?;
    let change = change(PredictionKind::Binary, figures_before, figures_after, &mut std::iter::empty());
    let both = BeforeAfter { before: before.assessment, after: after.assessment, change };
    Ok((both, [before.clinical, after.clinical]))
}

/// Keeps up to so many probabilities of points on a disk in memory.
fn assess_distinct_of(
    data: &BinaryData,
    options: &AssessOptions<'_>,
    clinical: &ClinicalOptions<'_>,
    in_memory: usize,
) -> Result<(StreamingAssessment, Figures<f64>), FitError> {
    assert!(can_stream(options), "these options need the rows");
    let of = |distinct: Distinct<'_>| assess_distinct(&distinct, options, clinical);
    Ok(match data.form() {
        Form::Packed(points) => of(Distinct::of_points(&Sorted::new(points.clone()))),
        Form::Sorted(points) => of(Distinct::of_points(points)),
        Form::Spilled(points) => {
            let mut spilled = SpillVec::new(in_memory);
            Counted::new(&**points)?.map_runs_in_order(
                |groups| groups.collect::<Vec<_>>(),
                |groups| Ok(record(&groups, &mut spilled)?),
            )?;
            of(Distinct::of_spilled(spilled))
        }
        Form::Rows(rows) => of(Distinct::of_groups(group(rows.clone()))),
    })
}

fn assess_distinct(
    distinct: &Distinct<'_>,
    options: &AssessOptions<'_>,
    clinical: &ClinicalOptions<'_>,
) -> (StreamingAssessment, Figures<f64>) {
    // Bins of equal width depend on no row.
    let cutter = options.binning.cutter(1, |_| 0.0);
    let mut whole = (Tallied::default(), Validated::new(clinical.thresholds));
    distinct.map_in_order(
        |groups| {
            let mut part = (Tallied::default(), Validated::new(clinical.thresholds));
            groups.each(|group| {
                part.0.pass(&group, &cutter);
                part.1.pass(group);
            });
            part
        },
        |(tallied, validated)| {
            whole.0.then(tallied);
            whole.1.then(validated);
        },
    );
    let (Tallied { mut sums, cells, clipped, hull, .. }, validated) = whole;
    (sums.brier, sums.loss) = (validated.losses.brier, validated.losses.log_loss);
    let groups = cells.iter().map(|&(bin, _)| (bin, 1)).collect();
    let frame = Frame { kind: PredictionKind::Binary, groups, cutter, p: options.norm };
    let tally = Tally { cells: cells.into_iter().map(|(_, cell)| cell).collect(), sums };
    let n = distinct.rows();
    let roc = hull.summary(distinct.len(), &validated.blocks);
    let effective_of_bins = BTreeMap::new();
    let gathered =
        Gathered { frame: &frame, tally: &tally, n, effective: n, effective_of_bins, clipped, roc };
    let assessment = gathered.assessment(options, &mut std::iter::empty());
    let clinical = validate_distinct((distinct, validated), options, clinical, None);
    (StreamingAssessment { assessment, clinical }, frame.figures(&tally))
}

/// Counts and sums over probabilities in ascending order.
#[derive(Default)]
struct Tallied {
    sums: Sums,
    /// The bins that hold predictions, ascending, and where the last one ends.
    cells: Vec<(u32, Cell)>,
    bin_end: f64,
    clipped: u64,
    hull: HullFromBelow,
}

impl Tallied {
    #[inline]
    fn pass(&mut self, &Group { score, n, positives }: &Group, cutter: &Cutter) {
        let misses = n - positives;
        // Probability 0 was given to what happened.
        self.clipped += if score == 0.0 { positives } else { 0 } + if score == 1.0 { misses } else { 0 };
        if score >= self.bin_end || self.cells.is_empty() {
            let bin = cutter.bin(score, 0);
            // The last bin is closed.
            let (_, end) = cutter.ends(bin).expect("bins of equal width have ends");
            self.bin_end = end;
            self.add_cell(bin, Cell::default());
        }
        let (_, cell) = self.cells.last_mut().expect("one was added");
        cell.add_all(score, n, positives);
        self.sums.pass(PredictionKind::Binary, score, positives, misses);
        self.hull.pass(positives, misses);
    }

    fn add_cell(&mut self, bin: u32, cell: Cell) {
        match self.cells.last_mut() {
            Some(last) if last.0 == bin => last.1 += cell,
            _ => self.cells.push((bin, cell)),
        }
    }

    fn then(&mut self, above: Self) {
        self.sums.then(&above.sums);
        above.cells.into_iter().for_each(|(bin, cell)| self.add_cell(bin, cell));
        self.clipped += above.clipped;
        self.hull.then(&above.hull);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::assess::{ExtremeProbs, Prediction, assess, assess_before_after, validate};

    /// Rows with hardly any ties, with many, with both ends, and separated ones.
    fn rows() -> impl Strategy<Value = Vec<(f64, bool)>> {
        let score = prop_oneof![
            (0u32..=0x3F80_0000).prop_map(|bits| f64::from(f32::from_bits(bits))),
            (0.0f32..=1.0).prop_map(f64::from),
            (0u32..=12).prop_map(|k| f64::from(k as f32 / 12.0)),
            Just(0.0),
            Just(1.0),
            // No f32.
            (0u32..9).prop_map(|k| 0.1 * f64::from(k)),
        ];
        let labels = prop_oneof![Just(None), any::<bool>().prop_map(Some)];
        let rows = proptest::collection::vec((score, any::<bool>()), 1..400);
        (rows, labels).prop_map(|(rows, label)| {
            rows.into_iter().map(|(score, own)| (score, label.unwrap_or(own))).collect()
        })
    }

    fn predictions(rows: &[(f64, bool)]) -> Vec<Prediction> {
        rows.iter().map(|&(prob, hit)| Prediction { class: 1, prob, bin: 0, hit }).collect()
    }

    fn data(rows: &[(f64, bool)]) -> BinaryData {
        let data =
            BinaryData::new(rows.iter().map(|row| row.0).collect(), rows.iter().map(|row| row.1).collect());
        let data = data.unwrap();
        if rows.iter().all(|row| f64::from(row.0 as f32) == row.0) { data.on_device() } else { data }
    }

    /// As text, in which an undefined figure equals itself.
    fn text(assessment: &Assessment, clinical: &ClinicalValidation) -> String {
        format!("{assessment:#?}\n{clinical:#?}")
    }

    proptest! {
        /// Whatever is on a disk, and for any number of threads.
        #[test]
        fn a_survey_finds_what_the_rows_say_to_the_last_bit(
            rows in rows(), bins in prop_oneof![Just(1usize), Just(15), Just(1000)], clip in any::<bool>(), norm in 1.0f64..3.0,
        ) {
            let options = AssessOptions { binning: Binning::EqualWidth(bins), norm, ..AssessOptions::default() };
            let extremes = if clip { ExtremeProbs::Clip } else { ExtremeProbs::LeaveOut };
            let clinical = ClinicalOptions { extremes, thresholds: &[0.125] };
            let predictions = predictions(&rows);
            let plain = text(
                &assess(&predictions, PredictionKind::Binary, &options),
                &validate(&predictions, &options, &clinical),
            );
            for (threads, in_memory) in [(1, 0), (4, 7), (4, usize::MAX)] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let found = pool.install(|| assess_distinct_of(&data(&rows), &options, &clinical, in_memory)).unwrap().0;
                prop_assert_eq!(&text(&found.assessment, &found.clinical), &plain);
            }
        }

        #[test]
        fn both_sides_and_the_change_are_those_of_the_rows(rows in rows()) {
            let options = AssessOptions::default();
            let after: Vec<(f64, bool)> = rows.iter().map(|row| (f64::from((1.0 - row.0 * 0.5) as f32), row.1)).collect();
            let plain = assess_before_after(
                &predictions(&rows), &predictions(&after), PredictionKind::Binary, &options, &options,
            );
            let (found, _) = assess_before_after_streaming([&data(&rows), &data(&after)], &options, &Default::default()).unwrap();
            prop_assert_eq!(format!("{found:#?}"), format!("{plain:#?}"));
        }
    }

    /// Several runs of points, and records beyond what is kept in memory.
    #[test]
    fn many_rows_in_runs_are_those_in_memory() {
        let row = |i: u32| {
            let score = (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
            (f64::from(score), i.wrapping_mul(0x85EB_CA6B) >> 8 < (score * score * (1 << 24) as f32) as u32)
        };
        let rows: Vec<(f64, bool)> = (0..700_000).map(row).collect();
        let (options, clinical) = (AssessOptions::default(), ClinicalOptions::default());
        let predictions = predictions(&rows);
        let plain = text(
            &assess(&predictions, PredictionKind::Binary, &options),
            &validate(&predictions, &options, &clinical),
        );
        let found = assess_streaming(&data(&rows), &options, &clinical).unwrap();
        assert_eq!(text(&found.assessment, &found.clinical), plain);
    }
}
