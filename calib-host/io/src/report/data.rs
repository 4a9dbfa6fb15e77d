//! A report's numbers and words.

use calib_fit::artifact::DeviceCost;
use calib_fit::assess::{
    BeforeAfter, ClinicalSummary, Evidence, Flaw, GroupComparison, OperatingAccuracy, Verdict,
};
use calib_fit::data::Overlap;
use calib_fit::decide::DecisionSummary;
use serde::Serialize;
use serde_json::{Value, json};

use super::classes::ClassWiseSummary;
use super::plots::Occupancy;
use super::size::ArtifactPart;
use crate::draw::Plot;

/// The version of the JSON form of a report.
pub const REPORT_SCHEMA: u32 = 1;

/// A file that went into a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileOrigin {
    /// What it is: `artifact`, `calibration scores` and the like.
    pub role: String,
    /// The name as it was given.
    pub name: String,
    /// The SHA-256 of its bytes, in hex.
    pub sha256: String,
}

/// Where a report comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Origin {
    /// The files.
    pub files: Vec<FileOrigin>,
    /// Whether the calibration rows are those that the artifact was fitted to, by their hash, or by the SHA-256 of their files.
    pub calibration_is_the_artifacts: bool,
    /// That the test rows are those that the artifact was fitted to, all or some, or the files of both the same.
    pub test_is_calibration: Option<Overlap>,
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
    /// Its parameters, as the artifact states them.
    pub parameters: String,
    /// What a score is.
    pub encoding: String,
    /// The number of classes.
    pub classes: u16,
    /// The number of calibration points.
    pub n: u64,
    /// The number of bins over all tables; 0 for a function.
    pub bins: u32,
    /// The same in words: of a blend they are steps; `None` for a function.
    pub table: Option<String>,
    /// The length of the artifact.
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

/// What the user calls it. [`report`](super::report) leaves it empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Labels {
    /// The title of the page, in place of "Calibration report".
    pub title: Option<String>,
    /// The model that the scores come from.
    pub model: Option<String>,
    /// The date, as the user writes it.
    pub date: Option<String>,
    /// A note: purpose, author, data.
    pub note: Option<String>,
}

/// The names in the JSON form of a report, what `calib report --json` prints: a line each, the name and what it is, with a colon between.
///
/// A point is between the name of an object and that of a part of it. A list's entries have the list's name. A name that ends in `.*`
/// stands for all below it.
///
/// Names are added without a new [`REPORT_SCHEMA`]; one that is taken away or means something else raises it. Intervals are
/// `{"lo", "hi"}`, what is unknown is `null`.
pub const REPORT_KEYS: &str = include_str!("keys.txt");

/// A report: everything that the page shows. [`REPORT_KEYS`] documents its JSON form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The version of this form.
    pub schema: u32,
    /// What the user calls it.
    pub labels: Labels,
    /// The names of the classes, class 0 first, if the labels of the test rows are text.
    pub class_names: Option<Vec<String>>,
    /// What the test rows say, in words.
    pub verdict: Verdict,
    /// Whether scores are margins: what is said of them before calibration is then the area under their ROC curve alone.
    #[serde(skip)]
    pub of_margins: bool,
    /// What was calibrated, and how.
    pub calibrator: CalibratorSummary,
    /// The probability of each range of scores on the device, both in words, if there is one table of a few bins.
    #[serde(skip)]
    pub steps: Vec<[String; 2]>,
    /// What is guaranteed.
    pub guarantee: String,
    /// What has to be so for that to hold.
    pub assumptions: Vec<String>,
    /// What it does not say, although it may be read so.
    pub limits: Vec<String>,
    /// Whether anything is guaranteed.
    pub guaranteed: bool,
    /// Whether what is guaranteed is in doubt: there is evidence against the calibrator, or the rows may have been misread. The
    /// page then shows the warnings first.
    pub doubtful: bool,
    /// What the test rows say against the calibrator, the weightiest first.
    pub evidence: Vec<Evidence>,
    /// What the artifact shows against itself, as far as the test rows do not tell it.
    pub flaws: Vec<Flaw>,
    /// What to be careful about, in sentences; the weightiest first.
    pub warnings: Vec<String>,
    /// How many test rows are left out because they are uncalibrated.
    pub uncalibrated: u64,
    /// The metrics on the test rows.
    pub metrics: BeforeAfter,
    /// The clinical validation on the test rows, if they are binary.
    pub clinical: Option<ClinicalSummary>,
    /// The calibrated probabilities by group, if it is known of which the test rows are.
    pub groups: Option<GroupComparison>,
    /// The metrics of every class against the rest, where every class has a probability.
    pub classes: Option<ClassWiseSummary>,
    /// The predicted classes that have no separate diagram.
    pub undrawn_classes: Vec<u16>,
    /// What is decided on the test rows, if there is a rule.
    pub decision: Option<DecisionSummary>,
    /// How accurate the artifact's operating points are on the test rows; empty if it has none.
    pub operating_points: Vec<OperatingAccuracy>,
    /// What the artifact's bytes are.
    pub parts: Vec<ArtifactPart>,
    /// What a call costs on six cores, for each input; empty if nothing like it was measured.
    pub device_cost: Vec<DeviceCost>,
    /// How rows are shared out among the artifact's bins; empty for functions.
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
    /// The number of clusters of the test rows, where they are not independent.
    pub clusters: Option<usize>,
}

impl Report {
    /// Returns the report as JSON. Margins are no probabilities: of what is before calibration, and of the change, there is the
    /// area under the ROC curve alone.
    ///
    /// # Errors
    ///
    /// None but a lack of memory.
    pub fn to_json(&self) -> serde_json::Result<Value> {
        let mut report = serde_json::to_value(self)?;
        if self.of_margins {
            for side in ["before", "change"] {
                let auc = report["metrics"][side]["auc"].take();
                report["metrics"][side] = json!({ "auc": auc });
            }
        }
        Ok(report)
    }
}
