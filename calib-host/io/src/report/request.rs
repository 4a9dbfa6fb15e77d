//! A report on an artifact from two data sets.

use calib_fit::artifact::StoredArtifact;
use calib_fit::assess::{AssessOptions, Binning, Bootstrap, ExtremeProbs, IntervalKind};
use calib_fit::data::Overlap;
use calib_fit::dataset::Dataset;
use calib_fit::decide::ReportedRule;
use calib_fit::job::{AssessError, Calibrated, overlap_with_fit};
use calib_fit::stats::{Clusters, Seed};

use super::data::{Origin, Report};
use super::make::report;
use super::subject::ReportData;

/// With this many drawn rows in all, resampling takes a few seconds.
const DRAWS: usize = 100_000_000;

/// How a report is made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReportRequest {
    /// The number of bins of equal width of calibration errors and reliability diagrams.
    pub bins: usize,
    /// One minus the coverage of the intervals.
    pub alpha: f64,
    /// The number of bootstrap resamples; `None` for 1000, or fewer from 100 000 test rows on, but at least 100.
    pub bootstrap: Option<usize>,
    /// The seed of the bootstrap, and of the random words that a randomized artifact needs.
    pub seed: Seed,
    /// What the clinical validation does with probabilities of exactly 0 or 1.
    pub extremes: ExtremeProbs,
    /// At most this many classes get separate diagrams, those with the most rows.
    pub drawn_classes: usize,
    /// Whether the artifact may be judged by the rows that it was fitted to.
    pub same_rows: bool,
    /// What is decided by the probabilities.
    pub rule: Option<ReportedRule>,
    /// What is doubtful about how the rows were read, in sentences.
    pub warnings: Vec<String>,
}

impl Default for ReportRequest {
    fn default() -> Self {
        Self {
            bins: 15,
            alpha: 0.05,
            bootstrap: None,
            seed: 0,
            extremes: ExtremeProbs::LeaveOut,
            drawn_classes: 12,
            same_rows: false,
            rule: None,
            warnings: Vec::new(),
        }
    }
}

impl ReportRequest {
    /// How rows are assessed, with this many resamples.
    pub fn assess_options<'c>(
        &self,
        resamples: Option<usize>,
        clusters: Option<&'c Clusters>,
    ) -> AssessOptions<'c> {
        let bootstrap = |resamples| Bootstrap {
            kind: IntervalKind::Percentile,
            resamples,
            seed: self.seed,
            alpha: self.alpha,
        };
        AssessOptions::default()
            .binning(Binning::EqualWidth(self.bins))
            .alpha(self.alpha)
            .bootstrap(resamples.map(bootstrap))
            .clusters(clusters)
    }
}

/// Makes a report on an artifact from the data that it was fitted to, and test data that it was not. What `origin` says of the rows is
/// that of their files; the rows themselves are looked at here.
///
/// ```
/// use calib_fit::job::{FitOptions, fit};
/// use calib_fit::{BinaryData, Dataset};
/// use calib_io::report::{Origin, ReportRequest, report_of};
///
/// let rows = |n: u32, shift: f64| -> Result<Dataset, calib_fit::data::DataError> {
///     let scores = (0..n).map(|i| (f64::from(i) + shift) / f64::from(n)).collect();
///     Ok(BinaryData::new(scores, (0..n).map(|i| i % 40 < i * 40 / n / 2).collect())?.on_device().into())
/// };
/// let (calibration, test) = (rows(4000, 0.25)?, rows(1000, 0.5)?);
/// let fitted = fit(&calibration, &FitOptions::default())?;
/// let mut how = ReportRequest::default();
/// how.bootstrap = Some(100);
/// let report = report_of(&fitted.artifact, [&calibration, &test], Origin::default(), &how)?;
/// assert!(report.html()?.contains("<svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Test rows of which most are those that the artifact was fitted to, or those of the calibration. Rows that are not of the artifact's kind or groups, or
/// none that it calibrates. Or points that cannot be read from a disk.
pub fn report_of(
    stored: &StoredArtifact,
    [calibration, test]: [&Dataset; 2],
    mut origin: Origin,
    how: &ReportRequest,
) -> Result<Report, AssessError> {
    let artifact = stored.artifact();
    let (of_calibration, of_test) = (calibration.rows_digest()?, test.rows_digest()?);
    // The same rows in another file, or in another order, are the same data.
    let overlaps = [
        origin.test_is_calibration,
        of_calibration.overlap(&of_test),
        overlap_with_fit(stored, &of_test, None),
    ];
    let overlaps = overlaps.into_iter().flatten();
    origin.test_is_calibration = overlaps.max_by(|a, b| a.share().total_cmp(&b.share()));
    origin.calibration_is_the_artifacts |=
        overlap_with_fit(stored, &of_calibration, None).is_some_and(Overlap::is_exact);
    if let Some(overlap) = origin.test_is_calibration.filter(|found| found.is_most() && !how.same_rows) {
        return Err(AssessError::SameRows(overlap));
    }
    let calibrated = |data| Calibrated::new(data, &artifact, how.seed);
    let class_names = test.class_names().map(<[String]>::to_vec);
    let (calibration, test) = (calibrated(calibration)?, calibrated(test)?);
    let rows = test.predictions(&artifact)?;
    let resamples = how.bootstrap.unwrap_or_else(|| (DRAWS / rows.after.len()).clamp(100, 1000));
    let options = how.assess_options(Some(resamples), rows.clusters.as_ref());
    let data = ReportData {
        calibration: calibration.predictions(&artifact)?,
        test: rows,
        class_probs: test.class_probs.as_ref(),
        warnings: &how.warnings,
        rule: how.rule.as_ref(),
        operating: &test.operating(&artifact, how.alpha),
        extremes: how.extremes,
        drawn_classes: how.drawn_classes,
    };
    Ok(Report { class_names, ..report(stored, &data, origin, &options) })
}
