//! A page about a calibrator that can be handed over.

mod chart;
mod guarantee;
mod page;
mod plots;
mod warnings;

use std::collections::BTreeMap;

use calib_core::Artifact;
use serde::Serialize;

use crate::assess::{
    AssessOptions, Assessment, BeforeAfter, Binning, Cell, ClassAssessment, Prediction, PredictionKind,
    ReliabilityBin, Roc, Validity, assess_before_after, cells,
};
use guarantee::Promise;
use plots::{BARS, Words};

pub use page::PageError;
pub use plots::{Occupancy, Plot};

/// The version of the JSON form of a report.
pub const REPORT_SCHEMA: u32 = 1;

/// At most so many classes get a reliability diagram of their own.
const CLASS_DIAGRAMS: usize = 12;

/// Rows of a data set that an artefact calibrates: the classifier's predictions and, in the same order, the calibrated ones.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedRows {
    /// Before calibration, with the bins of the artefact.
    pub before: Vec<Prediction>,
    /// After calibration.
    pub after: Vec<Prediction>,
    /// What the predictions are of.
    pub kind: PredictionKind,
    /// How many rows of the data set are left out because the artefact does not calibrate their class.
    pub uncalibrated: u64,
}

/// A file that went into a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileOrigin {
    /// What it is: `artefact`, `calibration scores` and the like.
    pub role: String,
    /// The name as it was given.
    pub name: String,
    /// The SHA-256 of its bytes, in hex.
    pub sha256: String,
}

/// Where a report comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The files.
    pub files: Vec<FileOrigin>,
    /// Whether the calibration files are those that the artefact was fitted to, by their SHA-256.
    pub calibration_is_the_artefacts: bool,
    /// Whether calibration and test files are the same, by their SHA-256.
    pub test_is_calibration: bool,
    /// The command that made the report.
    pub command: String,
}

/// What was calibrated, and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibratorSummary {
    /// The method.
    pub method: String,
    /// The reduction.
    pub reduction: String,
    /// Its parameters, as the artefact states them.
    pub parameters: String,
    /// What a score is.
    pub encoding: String,
    /// The number of classes.
    pub classes: u16,
    /// The number of calibration points.
    pub n: u64,
    /// The number of bins over all tables; 0 for a function.
    pub bins: u32,
    /// The length of the artefact.
    pub len_bytes: usize,
    /// Its identity, in hex.
    pub identity: String,
    /// The version of calib that wrote it.
    pub tool_version: String,
    /// The SHA-256 of the data that it was fitted to, in hex.
    pub data_sha256: String,
    /// How many comparisons a lookup takes at most; none for a function.
    pub comparisons: Option<u32>,
}

/// A report: everything that the page shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The version of this form.
    pub schema: u32,
    /// What was calibrated, and how.
    pub calibrator: CalibratorSummary,
    /// What is guaranteed, in one sentence.
    pub guarantee: String,
    /// What to be careful about, in sentences; the weightiest first.
    pub warnings: Vec<String>,
    /// How many test rows are left out because they are uncalibrated.
    pub uncalibrated: u64,
    /// The metrics on the test rows.
    pub metrics: BeforeAfter,
    /// How rows are shared out among the artefact's bins; empty for functions.
    pub occupancy: Vec<Occupancy>,
    /// The plots.
    pub plots: Vec<Plot>,
    /// Where it all comes from.
    pub origin: Origin,
    /// The seed and the number of the resamples, and one minus the coverage of intervals.
    pub options: ReportOptions,
    /// The version of calib that made the report.
    pub version: String,
}

/// What was chosen for a report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReportOptions {
    /// The number of bootstrap resamples.
    pub resamples: usize,
    /// Their seed.
    pub seed: u64,
    /// One minus the coverage of every interval.
    pub alpha: f64,
}

/// Makes a report on an artefact from the rows that it was fitted to and rows that it was not.
///
/// # Panics
///
/// If no row of the test data is calibrated.
pub fn report(
    artifact: &Artifact<'_>,
    calibration: &CalibratedRows,
    test: &CalibratedRows,
    origin: Origin,
    options: &AssessOptions,
) -> Report {
    let metrics = assess_before_after(&test.before, &test.after, test.kind, options, options);
    let promise = Promise::new(artifact);
    let occupancy = occupancy(artifact, calibration, test);
    let plots = plots(&promise, test, &metrics, &occupancy, options);
    let bootstrap = options.bootstrap;
    Report {
        schema: REPORT_SCHEMA,
        calibrator: summary(artifact),
        guarantee: promise.sentence(artifact),
        warnings: warnings::warnings(artifact, calibration, test, &origin, &metrics),
        uncalibrated: test.uncalibrated,
        metrics,
        occupancy,
        plots,
        origin,
        options: ReportOptions {
            resamples: bootstrap.map_or(0, |bootstrap| bootstrap.resamples),
            seed: bootstrap.map_or(0, |bootstrap| bootstrap.seed),
            alpha: options.alpha,
        },
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

fn summary(artifact: &Artifact<'_>) -> CalibratorSummary {
    let header = artifact.header();
    let tables = artifact.tables();
    let largest = (0..tables.count()).filter_map(|table| Some(tables.get(table)?.form.bins())).max();
    CalibratorSummary {
        method: header.method.to_string(),
        reduction: header.reduction.to_string(),
        parameters: header.provenance.parameters.into(),
        encoding: header.encoding.to_string(),
        classes: header.classes,
        n: header.n,
        bins: header.bins,
        len_bytes: artifact.len_bytes(),
        identity: artifact.identity().to_string(),
        tool_version: header.provenance.tool_version.into(),
        data_sha256: hex::encode(header.provenance.data_sha256),
        comparisons: largest.filter(|&bins| bins > 0).map(|bins| bins.next_power_of_two().ilog2()),
    }
}

/// The counts of both data sets in the bins that occur in either, by class and bin.
fn occupancy(artifact: &Artifact<'_>, calibration: &CalibratedRows, test: &CalibratedRows) -> Vec<Occupancy> {
    if artifact.header().bins == 0 {
        return Vec::new();
    }
    let mut bins = BTreeMap::<(u16, u32), [Cell; 2]>::new();
    for (rows, which) in [(calibration, 0), (test, 1)] {
        for row in &rows.after {
            bins.entry((row.class, row.bin)).or_default()[which].add(row.prob, row.hit, 1);
        }
    }
    let bin = |((class, bin), [calibration, test]): ((u16, u32), [Cell; 2])| {
        let mut both = calibration;
        both += test;
        Occupancy { class, bin, prob: both.mean_prob(), calibration: calibration.n, test: test.n }
    };
    bins.into_iter().map(bin).collect()
}

/// Before and after, in words and marks.
const BOTH: [(&str, &str); 2] =
    [("before", "before: the classifier's score"), ("after", "after calibration")];

fn plots(
    promise: &Promise,
    test: &CalibratedRows,
    metrics: &BeforeAfter,
    occupancy: &[Occupancy],
    options: &AssessOptions,
) -> Vec<Plot> {
    let mut plots = reliability_plots(metrics, options);
    plots.extend(class_plots(metrics));

    let binning = if occupancy.is_empty() { options.binning } else { Binning::ByBin };
    let curve = |rows: &[Prediction]| Validity::new(&cells(rows, test.kind, binning));
    let (before, after) = (curve(&test.before), curve(&test.after));
    let mut legend = BOTH.to_vec();
    legend.extend(promise.curve().map(|_| ("theory", "guaranteed before any test data were seen")));
    let noise = "Estimated on the test rows, whose noise counts as deviation.";
    let groups = if occupancy.is_empty() { "" } else { " The bins are the calibrator's own, for both." };
    let marginal = promise.curve().map(|curve| move |epsilon| curve.marginal(epsilon));
    plots.push(plots::marginal_validity(
        Words {
            id: "validity-marginal",
            title: "Marginal validity",
            caption: format!(
                "The share of predictions whose bin is within epsilon of the fraction that came true. Higher is better; the \
                 area above a curve is its calibration error. {noise}{groups}"
            ),
            legend: legend.clone(),
        },
        &before,
        &after,
        marginal.as_ref().map(|curve| curve as &dyn Fn(f64) -> f64),
    ));
    let conditional = promise.curve().map(|curve| move |epsilon| curve.conditional(epsilon));
    plots.push(plots::conditional_validity(
        Words {
            id: "validity-conditional",
            title: "Conditional validity",
            caption: format!(
                "Whether every bin is within epsilon. The curve of the guarantee is the probability of that over the draw of \
                 the calibration points. {noise}{groups}"
            ),
            legend,
        },
        &before,
        &after,
        conditional.as_ref().map(|curve| curve as &dyn Fn(f64) -> f64),
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
        plots.push(plots::occupancy(
            Words {
                id: "occupancy",
                title: "Rows per bin of the calibrator",
                caption:
                    "The share of the calibration and of the test rows in every bin, by class and bin. Large \
                          differences are a sign that the data have changed."
                        .into(),
                legend: vec![("before", "calibration rows"), ("after", "test rows")],
            },
            occupancy,
        ));
    }
    plots
}

fn reliability_plots(metrics: &BeforeAfter, options: &AssessOptions) -> Vec<Plot> {
    let percent = percent(options.alpha);
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
fn class_plots(metrics: &BeforeAfter) -> Vec<Plot> {
    let mut classes: Vec<_> = metrics.after.classes.iter().collect();
    classes.sort_by_key(|class| (std::cmp::Reverse(class.assessment.n), class.class));
    classes.truncate(CLASS_DIAGRAMS);
    classes.sort_by_key(|class| class.class);
    let plot = |after: &&ClassAssessment| {
        let class = after.class;
        let before = metrics.before.classes.iter().find(|before| before.class == class)?;
        let words = Words {
            id: &format!("class-{class}"),
            title: &format!("Reliability where class {class} is predicted"),
            caption: format!(
                "{} predictions, of which {} are right. Calibration error {:.4} before, {:.4} after.",
                after.assessment.n,
                after.assessment.hits,
                before.assessment.conf_ece.value,
                after.assessment.conf_ece.value
            ),
            legend: BOTH.to_vec(),
        };
        // With one class, the top-label diagram is the same.
        let plain = |assessment: &Assessment| -> Vec<ReliabilityBin> {
            assessment.bins.iter().map(|bin| ReliabilityBin { top_label: None, ..*bin }).collect()
        };
        let (before, after) = (plain(&before.assessment), plain(&after.assessment));
        Some(plots::reliability(words, &[("before", &before), ("after", &after)]))
    };
    classes.iter().filter_map(plot).collect()
}

/// The coverage of an interval in percent, without the digits that subtracting adds.
fn percent(alpha: f64) -> f64 {
    (1e8 * (1.0 - alpha)).round() / 1e6
}

fn bars(rows: &[Prediction]) -> [u64; BARS] {
    let mut counts = [0; BARS];
    rows.iter().for_each(|row| counts[((row.prob * BARS as f64) as usize).min(BARS - 1)] += 1);
    counts
}
