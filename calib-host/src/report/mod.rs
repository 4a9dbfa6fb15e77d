//! A page about a calibrator that can be handed over.

mod chart;
mod classes;
mod decision;
mod figures;
mod guarantee;
mod page;
mod page_parts;
mod plots;
mod png;
mod rows;
mod schema;
mod simplex;
mod size;
mod warnings;

use std::collections::BTreeMap;

use calib_core::Artifact;
use serde::Serialize;

use calib_fit::artifact::StoredArtifact;
use calib_fit::artifact::promise;
use calib_fit::artifact::{DeviceCost, device_costs};
use calib_fit::assess::{AssessOptions, BeforeAfter, Cell, assess_before_after};
use guarantee::Curve;

pub use classes::{ClassWiseSide, ClassWiseSummary};
pub use decision::{DecisionCost, DecisionInterval, DecisionMismatch, DecisionSummary, ReportedRule};
pub use page::PageError;
pub use plots::{Occupancy, Plot};
pub use png::PngError;
pub use rows::{CalibratedRows, ClassProbRows, ReportData};
pub use schema::REPORT_KEYS;
pub use size::ArtifactPart;

/// The version of the JSON form of a report.
pub const REPORT_SCHEMA: u32 = 1;

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

/// A report: everything that the page shows. [`REPORT_KEYS`] documents its JSON form.
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
    /// The metrics of every class against the rest, where every class has a probability.
    pub classes: Option<ClassWiseSummary>,
    /// The classes that have no diagram of their own among those that are predicted.
    pub undrawn_classes: Vec<u16>,
    /// What is decided on the test rows, if there is a rule.
    pub decision: Option<DecisionSummary>,
    /// What the artefact's bytes are.
    pub parts: Vec<ArtifactPart>,
    /// What a call costs on six cores, for each input; empty if nothing like it was measured.
    pub device_cost: Vec<DeviceCost>,
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
    stored: &StoredArtifact,
    data: &ReportData<'_>,
    origin: Origin,
    options: &AssessOptions,
) -> Report {
    let artifact = &stored.artifact();
    let test = data.test;
    let metrics = assess_before_after(&test.before, &test.after, test.kind, options, options);
    let classes = data.class_probs.map(|rows| ClassWiseSummary::new(rows, options, data.drawn_classes));
    let occupancy = occupancy(artifact, data.calibration, test);
    let predicted = metrics.after.classes.iter().map(|class| (class.class, class.assessment.n));
    let (drawn, undrawn) = classes::most_frequent(predicted, data.drawn_classes);
    let mut plots = figures::plots(Curve::of(artifact), test, &metrics, &occupancy, options, &drawn);
    plots.extend(classes.iter().flat_map(figures::one_vs_rest_plots));
    plots.extend(data.class_probs.filter(|_| artifact.header().classes == 3).map(simplex::simplex));
    let bootstrap = options.bootstrap;
    Report {
        schema: REPORT_SCHEMA,
        calibrator: summary(artifact),
        guarantee: promise(artifact),
        warnings: warnings::warnings(artifact, data, &origin, &metrics, &occupancy),
        uncalibrated: test.uncalibrated,
        metrics,
        classes,
        undrawn_classes: undrawn,
        decision: data.rule.map(|rule| rule.summary(&test.before, &test.after)),
        parts: size::parts(stored),
        device_cost: device_costs(artifact),
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

/// The coverage of an interval in percent, without the digits that subtracting adds.
fn percent(alpha: f64) -> f64 {
    (1e8 * (1.0 - alpha)).round() / 1e6
}
