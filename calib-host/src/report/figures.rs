//! Which plots a report has, and what is said of them.

use super::classes::ClassWiseSummary;
use super::guarantee::Curve;
use super::plots::{self, BARS, Occupancy, Plot, ValidityKind, Words};
use super::rows::CalibratedRows;
use calib_fit::assess::{
    AssessOptions, Assessment, BeforeAfter, Binning, Prediction, PredictionKind, ReliabilityBin, Roc,
    Validity, cells,
};

/// Before and after, in words and marks.
const BOTH: [(&str, &str); 2] =
    [("before", "before: the classifier's score"), ("after", "after calibration")];

pub(super) fn plots(
    curve: Option<Curve>,
    test: &CalibratedRows,
    metrics: &BeforeAfter,
    occupancy: &[Occupancy],
    options: &AssessOptions,
    drawn: &[u16],
) -> Vec<Plot> {
    let mut plots = reliability_plots(metrics, options);
    plots.extend(class_plots(metrics, drawn));

    let binning = if occupancy.is_empty() { options.binning } else { Binning::ByBin };
    let of = |rows: &[Prediction]| Validity::new(&cells(rows, test.kind, binning));
    let (before, after) = (of(&test.before), of(&test.after));
    let mut legend = BOTH.to_vec();
    legend.extend(curve.map(|_| ("theory", "guaranteed before any test data were seen")));
    let noise = "Estimated on the test rows, whose noise counts as deviation.";
    let groups = if occupancy.is_empty() { "" } else { " The bins are the calibrator's own, for both." };
    let validity = |id, title, caption, legend, kind, theory: Option<&dyn Fn(f64) -> f64>| {
        plots::validity(Words { id, title, caption, legend }, [&before, &after], kind, theory)
    };
    plots.push(validity(
        "validity-marginal",
        "Marginal validity",
        format!(
            "The share of predictions whose bin is within epsilon of the fraction that came true. Higher is better; the \
             area above a curve is its calibration error. {noise}{groups}"
        ),
        legend.clone(),
        ValidityKind::Marginal,
        curve.map(|curve| move |epsilon| curve.marginal(epsilon)).as_ref().map(|theory| theory as _),
    ));
    plots.push(validity(
        "validity-conditional",
        "Conditional validity",
        format!(
            "Whether every bin is within epsilon. The curve of the guarantee is the probability of that over the draw of \
             the calibration points. {noise}{groups}"
        ),
        legend,
        ValidityKind::Conditional,
        curve.map(|curve| move |epsilon| curve.conditional(epsilon)).as_ref().map(|theory| theory as _),
    ));

    let roc = |rows: &[Prediction]| Roc::new(rows.iter().map(|row| (row.prob, row.hit)));
    if let (Some(before), Some(after)) = (roc(&test.before), roc(&test.after)) {
        let what = match test.kind {
            PredictionKind::Binary => "class 1 against class 0",
            PredictionKind::TopLabel => "right predictions against wrong ones",
        };
        let mut legend = BOTH.to_vec();
        legend.push((
            "hull",
            "convex hull before: the best that any monotone calibrator of these rows reaches",
        ));
        plots.push(plots::roc(
            Words {
                id: "roc",
                title: "ROC curve",
                caption: format!(
                    "How well scores separate {what}. Area before {:.4}, after {:.4}, under the hull {:.4}. The table \
                     holds corners of the hull.",
                    before.auc(),
                    after.auc(),
                    before.hull_auc()
                ),
                legend,
            },
            &before,
            &after,
        ));
    }
    plots.push(plots::distribution(
        Words {
            id: "distribution",
            title: "Distribution of scores and probabilities",
            caption: format!("The shares of the test rows in {BARS} bars of equal width, before and after."),
            legend: BOTH.to_vec(),
        },
        &bars(&test.before),
        &bars(&test.after),
    ));
    if !occupancy.is_empty() {
        let listed = if occupancy.len() > plots::LISTED_BINS {
            format!(
                " The table holds the {} bins with the most rows, of {}.",
                plots::LISTED_BINS,
                occupancy.len()
            )
        } else {
            String::new()
        };
        plots.push(plots::occupancy(
            Words {
                id: "occupancy",
                title: "Rows per bin of the calibrator",
                caption: format!(
                    "The share of the calibration and of the test rows in every bin, by class and bin. Large differences \
                     are a sign that the data have changed.{listed}"
                ),
                legend: vec![("before", "calibration rows"), ("after", "test rows")],
            },
            occupancy,
        ));
    }
    plots
}

fn reliability_plots(metrics: &BeforeAfter, options: &AssessOptions) -> Vec<Plot> {
    let percent = super::percent(options.alpha);
    let sides = [("before", &metrics.before), ("after", &metrics.after)];
    let plot = |(side, assessment): (&'static str, &Assessment)| {
        let top_label = assessment.kind == PredictionKind::TopLabel;
        let mut legend = vec![(side, "bins, with exact intervals"), ("bar", "share of the predictions")];
        if top_label {
            legend.push((
                if side == "before" { "before cross" } else { "after cross" },
                "top-label: classes kept apart",
            ));
        }
        let ece = &assessment.conf_ece;
        let crosses = if top_label {
            " A cross is off the diagonal by the mean of its classes' deviations (Gupta and Ramdas 2022, section 2.1): classes \
             that are off in opposite directions do not cancel."
        } else {
            ""
        };
        plots::reliability(
            Words {
                id: &format!("reliability-{side}"),
                title: &format!("Reliability {side} calibration"),
                caption: format!(
                    "In every bin, the fraction that came true against the mean probability, with a {percent} % interval of \
                     the bin; on the diagonal is perfect. Calibration error {:.4}, debiased {:.4}.{crosses}",
                    ece.value,
                    ece.debiased.unwrap_or(f64::NAN)
                ),
                legend,
            },
            &[(side, &assessment.bins)],
        )
    };
    sides.into_iter().map(plot).collect()
}

/// The diagrams of the classes with the most predictions.
fn class_plots(metrics: &BeforeAfter, drawn: &[u16]) -> Vec<Plot> {
    let plot = |&class: &u16| {
        let after = metrics.after.classes.iter().find(|after| after.class == class)?;
        let before = metrics.before.classes.iter().find(|before| before.class == class)?;
        let caption = format!(
            "{} predictions, of which {} are right. {}",
            after.assessment.n,
            after.assessment.hits,
            errors(&before.assessment, &after.assessment)
        );
        let title = format!("Reliability where class {class} is predicted");
        Some(both_sides(&format!("class-{class}"), &title, caption, &before.assessment, &after.assessment))
    };
    drawn.iter().filter_map(plot).collect()
}

/// The diagrams of classes against the rest.
pub(super) fn one_vs_rest_plots(classes: &ClassWiseSummary) -> Vec<Plot> {
    let plot = |&class: &u16| {
        let [before, after] =
            [&classes.before, &classes.after].map(|side| &side.class_wise[usize::from(class)]);
        let caption = format!(
            "The probability of class {class} in all {} rows, of which {} are of it. {}",
            after.n,
            after.hits,
            errors(before, after)
        );
        let title = format!("Reliability of class {class} against the rest");
        both_sides(&format!("one-vs-rest-{class}"), &title, caption, before, after)
    };
    classes.drawn.iter().map(plot).collect()
}

fn errors(before: &Assessment, after: &Assessment) -> String {
    format!("Calibration error {:.4} before, {:.4} after.", before.conf_ece.value, after.conf_ece.value)
}

/// A reliability diagram with both sides, without crosses: of one class the top-label diagram is the same.
fn both_sides(id: &str, title: &str, caption: String, before: &Assessment, after: &Assessment) -> Plot {
    let plain = |assessment: &Assessment| -> Vec<ReliabilityBin> {
        assessment.bins.iter().map(|bin| ReliabilityBin { top_label: None, ..*bin }).collect()
    };
    let mut legend = BOTH.to_vec();
    legend.push(("bar", "share of the probabilities after"));
    let words = Words { id, title, caption, legend };
    plots::reliability(words, &[("before", &plain(before)), ("after", &plain(after))])
}

fn bars(rows: &[Prediction]) -> [u64; BARS] {
    let mut counts = [0; BARS];
    rows.iter().for_each(|row| counts[((row.prob * BARS as f64) as usize).min(BARS - 1)] += 1);
    counts
}
