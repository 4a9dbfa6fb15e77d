//! The plots of a report, and what is said of them.

use calib_core::predict::Output;
use calib_core::{Artifact, Margin, ProbInterval, QuantizedScore, Score};
use calib_fit::artifact::band_steps;
use calib_fit::assess::{
    AssessOptions, Assessment, BeforeAfter, Binning, CalibratedRows, Prediction, PredictionKind,
    ReliabilityBin, Roc, Validity, cells,
};
use calib_fit::stats::{percent_of_success, thousands};

use super::classes::ClassWiseSummary;
use super::guarantee::Curve;
use super::plots::{self, BARS, Occupancy, Theory, ValidityKind};
use super::words::number;
use crate::draw::{Axis, LegendEntry, Plot, PlotText};

/// Before and after, in words and marks.
const BOTH: [LegendEntry; 2] = [("before", "before: the classifier's score"), ("after", "after calibration")];

/// Which rows a reliability diagram shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// The reliability diagram of all predictions.
pub(super) fn reliability(side: Side, metrics: &BeforeAfter, options: &AssessOptions<'_>) -> Plot {
    let percent = percent_of_success(options.alpha);
    let (class, cross, assessment) = match side {
        Side::Before => ("before", "before cross", &metrics.before),
        Side::After => ("after", "after cross", &metrics.after),
    };
    let mut legend = vec![(class, "bins, with exact intervals"), ("bar", "fraction of the predictions")];
    let mut crosses = "";
    if assessment.kind == PredictionKind::TopLabel {
        legend.push((cross, "top-label: classes kept apart"));
        crosses = " A cross is off the diagonal by the mean of its classes' deviations (Gupta and Ramdas 2022, section 2.1): \
                   classes that are off in opposite directions do not cancel.";
    }
    let ece = &assessment.conf_ece;
    let caption = format!(
        "For each bin, the observed frequency against the mean predicted probability, with a {percent}% interval of the bin; \
         a calibrated model is on the diagonal. Calibration error {}, debiased {}.{crosses}",
        number(ece.value),
        number(ece.debiased.unwrap_or(f64::NAN))
    );
    let (id, title) = (format!("reliability-{class}"), format!("Reliability {class} calibration"));
    plots::reliability(PlotText { id: &id, title: &title, caption, legend }, &[(class, &assessment.bins)])
}

/// Both reliability diagrams in one, with bands of the bins' exact intervals.
pub(super) fn before_and_after(metrics: &BeforeAfter, options: &AssessOptions<'_>) -> Plot {
    let percent = percent_of_success(options.alpha);
    let caption = format!(
        "The observed frequency against the mean predicted probability: a calibrated model is on the diagonal. Bands are the \
         exact {percent}% intervals of the bins; bins of fewer than {} rows have a whisker and no line. {}",
        plots::FEW,
        errors(&metrics.before, &metrics.after)
    );
    let (before, after) = (plain(&metrics.before), plain(&metrics.after));
    let words = PlotText {
        id: "before-and-after",
        title: "Before and after calibration",
        caption,
        legend: BOTH.to_vec(),
    };
    plots::bands(words, &[("before", &before), ("after", &after)])
}

/// The reliability diagram of one predicted class, before and after; `None` if no row is predicted to be of it.
pub(super) fn of_class(class: u16, metrics: &BeforeAfter) -> Option<Plot> {
    let of = |assessment: &Assessment| {
        let found = assessment.classes.iter().find(|one| one.class == class)?;
        Some(found.assessment.clone())
    };
    let (before, after) = (of(&metrics.before)?, of(&metrics.after)?);
    let errors = errors(&before, &after);
    let caption = format!(
        "{} predictions, of which {} are correct. {errors}",
        thousands(after.n),
        thousands(after.hits)
    );
    let title = format!("Reliability where class {class} is predicted");
    Some(both_sides(&format!("class-{class}"), &title, caption, &before, &after))
}

/// The reliability diagram of one class against the rest, before and after; `None` if there is no such class.
pub(super) fn one_vs_rest(class: u16, classes: &ClassWiseSummary) -> Option<Plot> {
    let of = |all: &'_ [Assessment]| all.get(usize::from(class)).cloned();
    let (before, after) = (of(&classes.before.class_wise)?, of(&classes.after.class_wise)?);
    let errors = errors(&before, &after);
    let caption = format!(
        "The probability of class {class} in all {} rows, of which {} are of it. {errors}",
        thousands(after.n),
        thousands(after.hits)
    );
    let title = format!("Reliability of class {class}, one-vs-rest");
    Some(both_sides(&format!("one-vs-rest-{class}"), &title, caption, &before, &after))
}

fn errors(before: &Assessment, after: &Assessment) -> String {
    let [before, after] = [before, after].map(|side| number(side.conf_ece.value));
    format!("Calibration error {before} before, {after} after.")
}

/// A reliability diagram with both sides, without crosses: of one class the top-label diagram is the same.
fn both_sides(id: &str, title: &str, caption: String, before: &Assessment, after: &Assessment) -> Plot {
    let mut legend = BOTH.to_vec();
    legend.push(("bar", "fraction of the probabilities after calibration"));
    let words = PlotText { id, title, caption, legend };
    plots::reliability(words, &[("before", &plain(before)), ("after", &plain(after))])
}

/// The bins of a diagram without crosses.
fn plain(assessment: &Assessment) -> Vec<ReliabilityBin> {
    assessment.bins.iter().map(|bin| ReliabilityBin { top_label: None, ..*bin }).collect()
}

/// The validity curves of both sides, and what is guaranteed of them.
pub(super) struct Validities {
    before: Option<Validity>,
    after: Validity,
    curve: Option<Curve>,
    /// Whether the calibrator has bins, so that both sides are grouped by them.
    by_bin: bool,
}

impl Validities {
    pub(super) fn new(
        test: &CalibratedRows,
        options: &AssessOptions<'_>,
        curve: Option<Curve>,
        by_bin: bool,
    ) -> Self {
        let binning = if by_bin { Binning::ByBin } else { options.binning };
        let of = |rows: &[Prediction]| Validity::new(&cells(rows, test.kind, binning));
        let before = test.margins.is_none().then(|| of(&test.before));
        Self { before, after: of(&test.after), curve, by_bin }
    }

    pub(super) fn plot(&self, kind: ValidityKind) -> Plot {
        let noise = "Estimated on the test rows: their noise counts as deviation.";
        let groups = match (self.by_bin, &self.before) {
            (true, Some(_)) => " The bins are the calibrator's own, for both.",
            (true, None) => " The bins are the calibrator's own.",
            (false, _) => "",
        };
        let (id, title, what) = match kind {
            ValidityKind::Marginal => (
                "validity-marginal",
                "Marginal validity",
                "The fraction of predictions whose bin is within epsilon of the observed frequency. Higher is better; the \
                 area above a curve is its calibration error.",
            ),
            ValidityKind::Conditional => (
                "validity-conditional",
                "Conditional validity",
                "Whether every bin is within epsilon. The curve of the guarantee is the probability of that over the \
                 draw of the calibration observations.",
            ),
        };
        let mut legend = if self.before.is_some() { BOTH.to_vec() } else { BOTH[1..].to_vec() };
        legend.extend(self.curve.map(|_| ("theory", "guaranteed before any test data were seen")));
        let theory = self.curve.map(|curve| {
            move |epsilon| match kind {
                ValidityKind::Marginal => curve.marginal(epsilon),
                ValidityKind::Conditional => curve.conditional(epsilon),
            }
        });
        let theory: Theory<'_> = theory.as_ref().map(|theory| theory as _);
        let words = PlotText { id, title, caption: format!("{what} {noise}{groups}"), legend };
        plots::validity(words, (self.before.as_ref(), &self.after), kind, theory)
    }
}

/// The ROC curves; `None` if all rows came out the same.
pub(super) fn roc(test: &CalibratedRows) -> Option<Plot> {
    let of = |rows: &[Prediction]| Roc::new(rows.iter().map(|row| (row.prob, row.hit)));
    let (before, after) = (of(&test.before)?, of(&test.after)?);
    let what = match test.kind {
        PredictionKind::Binary => "class 1 from class 0",
        PredictionKind::TopLabel => "correct predictions from wrong ones",
    };
    let mut legend = BOTH.to_vec();
    legend
        .push(("hull", "convex hull before: the best that any monotone calibrator can reach on these rows"));
    let caption = format!(
        "How well scores separate {what}. Area before {:.4}, after {:.4}, under the hull {:.4}. The table holds corners of the \
         hull.",
        before.auc(),
        after.auc(),
        before.hull_auc()
    );
    Some(plots::roc(PlotText { id: "roc", title: "ROC curve", caption, legend }, &before, &after))
}

/// The distributions of scores and of calibrated probabilities; of the latter alone where scores are margins.
pub(super) fn distribution(test: &CalibratedRows) -> Plot {
    let after = largest(&test.after);
    let (what, when, axis) = match test.margins {
        Some(_) => ("probabilities", "after calibration", Axis::probs("probability", after)),
        None => {
            let axis = Axis::probs("score or probability", largest(&test.before).max(after));
            ("scores and probabilities", "before and after calibration", axis)
        }
    };
    let before = ("before", "scores", bars(&test.before, axis.hi));
    let after = ("after", "probabilities", bars(&test.after, axis.hi));
    let of_margins = test.margins.is_some();
    let (series, legend) =
        if of_margins { (vec![after], &BOTH[1..]) } else { (vec![before, after], &BOTH[..]) };
    let words = PlotText {
        id: "distribution",
        title: &format!("Distribution of {what}"),
        caption: format!("The percentage of the test rows in {BARS} bars of equal width, {when}."),
        legend: legend.to_vec(),
    };
    plots::distribution(words, axis, &series)
}

/// The distribution of margins, and the probability that each gets; none if scores are probabilities.
pub(super) fn of_margins(test: &CalibratedRows) -> Option<[Plot; 2]> {
    let margins = test.margins.as_ref()?;
    let mut points: Vec<(f64, f64)> =
        margins.iter().zip(&test.after).map(|(&margin, row)| (f64::from(margin) + 0.0, row.prob)).collect();
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let ends = usual(&points);
    let mut counts = [0; BARS];
    let bar = |margin: f64| (margin - ends.0) / (ends.1 - ends.0) * BARS as f64;
    // A cast saturates: what is below counts in the first bar.
    points.iter().for_each(|point| counts[(bar(point.0) as usize).min(BARS - 1)] += 1);
    let words = |id, title, caption: &str, legend| PlotText { id, title, caption: caption.into(), legend };
    let histogram = words(
        "margins",
        "Distribution of margins",
        "The percentage of the test rows in 40 bars of equal width, between the 1% and the 99% quantile of the margins. \
         Margins beyond these count in the outer bars.",
        BOTH[..1].to_vec(),
    );
    let map = words(
        "map",
        "Calibration map",
        "The calibrated probability of the test rows by their margin, over the same range.",
        BOTH[1..].to_vec(),
    );
    let axis = Axis::new("margin", ends.0, ends.1);
    let histogram = plots::distribution(histogram, axis, &[("before", "rows", counts)]);
    Some([histogram, plots::map(map, ends, &points)])
}

/// The band over the scores, with the calibrated probability and the event rates of the test rows; `None` if the artifact has no band.
pub(super) fn band(artifact: &Artifact<'_>, test: &CalibratedRows) -> Option<Plot> {
    let alpha = artifact.band()?.alpha();
    let encoding = artifact.header().encoding;
    // The rows have what a code stands for.
    let score = |score: f64| match encoding.code_range() {
        Some((lowest, _)) => {
            let key = (score - f64::from(lowest)) as u16;
            QuantizedScore::from_key(encoding, key).map_or(score, |code| code.dequantized().into())
        }
        None => score,
    };
    let steps: Vec<([Option<f64>; 2], ProbInterval)> =
        band_steps(artifact)?.into_iter().map(|(ends, at)| (ends.map(|end| end.map(score)), at)).collect();
    let scores = (0..test.before.len()).map(|row| match &test.margins {
        Some(margins) => f64::from(margins[row]) + 0.0,
        None => test.before[row].prob,
    });
    let mut points: Vec<(f64, f64, bool)> =
        scores.zip(&test.after).map(|(score, row)| (score, row.prob, row.hit)).collect();
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    let of_margins = test.margins.is_some();
    let axis = match of_margins {
        true => {
            let (lo, hi) = usual(&points.iter().map(|point| (point.0, point.1)).collect::<Vec<_>>());
            Axis::new("margin", lo, hi)
        }
        false => Axis::probs("score", largest(&test.before)),
    };
    let at = |score: f64| match encoding.code_range() {
        Some(_) => Some(plots::band_at(&steps, score)),
        None if of_margins => artifact.band_at(&Output::Margin(Margin::new(score as f32).ok()?)),
        None => artifact.band_at(&Output::Score(Score::new(score as f32).ok()?)),
    };
    let is_inside = |point: &&(f64, f64, bool)| at(point.0).is_some_and(|band| band.contains(point.1 as f32));
    let inside = points.iter().filter(is_inside).count();
    let inside = match inside {
        all if all == points.len() => "all test rows".to_owned(),
        some => format!("{} of {} test rows", thousands(some), thousands(points.len())),
    };
    let caption = format!(
        "With at least {}% probability over the labels of the calibration set, the probability of an event lies in the shaded \
         area for every score simultaneously. This holds if a higher score never means a lower probability. The calibrated \
         probability lies in it for {inside}. The dashed line connects the event rates of the test rows in at most {} ranges \
         with about equally many rows. A rate can be outside the area by chance, or because it is an average over a range.",
        percent_of_success(alpha),
        plots::RANGES,
    );
    let legend = vec![
        ("band", "the band: where the probability of an event lies"),
        ("after", "the calibrated probability"),
        ("before", "event rates of the test rows"),
    ];
    let words = PlotText { id: "band", title: "The band around the calibration curve", caption, legend };
    Some(plots::band(words, axis, &steps, &points))
}

/// The margins that one in a hundred points is below, and above, a little apart if they are the same.
fn usual(points: &[(f64, f64)]) -> (f64, f64) {
    let beyond = points.len() / 100;
    let (lo, hi) = (points[beyond].0, points[points.len() - 1 - beyond].0);
    if lo < hi { (lo, hi) } else { (lo - 0.5 - lo.abs() / 2.0, hi + 0.5 + hi.abs() / 2.0) }
}

fn bars(rows: &[Prediction], end: f64) -> [u64; BARS] {
    let mut counts = [0; BARS];
    rows.iter().for_each(|row| counts[((row.prob / end * BARS as f64) as usize).min(BARS - 1)] += 1);
    counts
}

fn largest(rows: &[Prediction]) -> f64 {
    rows.iter().map(|row| row.prob).fold(0.0, f64::max)
}

/// How rows are shared out among the bins of the calibrator; `None` if it has none.
pub(super) fn occupancy(occupancy: &[Occupancy]) -> Option<Plot> {
    let listed = match occupancy.len() {
        0 => return None,
        all if all > plots::LISTED_BINS => {
            format!(" The table holds the {} bins with the most rows, of {all}.", plots::LISTED_BINS)
        }
        _ => String::new(),
    };
    let words = PlotText {
        id: "occupancy",
        title: "Rows per bin of the calibrator",
        caption: format!(
            "The fraction of the calibration and of the test rows in every bin, by class and bin. Large differences are a \
             sign that the data have changed.{listed}"
        ),
        legend: vec![("before", "calibration rows"), ("after", "test rows")],
    };
    Some(plots::occupancy(words, occupancy))
}
