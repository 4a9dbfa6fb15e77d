//! The figures that a protocol asks for.

use calib_core::artifact::Reduction;
use calib_fit::StoredArtifact;
use calib_fit::assess::{
    AssessOptions as Metrics, Bootstrap, Change, DiagnosticAccuracy, IntervalKind, OperatingAccuracy,
    assess_before_after,
};
use calib_fit::data::{Overlap, Repeats};
use calib_fit::dataset::Dataset;
use calib_fit::job::{AssessError, AssessOptions, AssessedFigures, Calibrated, assess, overlap_with_fit};

use super::plan::{Demands, Protocol};

/// The number of resamples for the intervals of changes.
const RESAMPLES: usize = 1000;

/// What test rows show.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// The hash of the rows, whatever their order.
    pub rows: [u8; 16],
    /// The calibration rows among them.
    pub overlap: Option<Overlap>,
    /// Rows that repeat each other too often to be independent.
    pub repeats: Option<Repeats>,
    /// The figures of all rows.
    pub all: RowFigures,
    /// The figures of each group, if the protocol asks for them and the rows are in groups.
    pub groups: Option<Vec<GroupFigures>>,
}

/// Figures of rows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RowFigures {
    /// The number of rows.
    pub n: u64,
    /// The number of rows with label 1; `None` for several classes.
    pub events: Option<u64>,
    /// How accurate the alarm is; `None` if the artifact decides nothing, or has thresholds for each group and the rows are of several.
    pub alarm: Option<DiagnosticAccuracy>,
    /// What changes from the active calibrator to the new one. It is `None` if the protocol does not compare them, and an error has the
    /// number of rows that one of the two leaves without a probability.
    pub change: Option<Result<Change, u64>>,
}

/// Figures of a group of rows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupFigures {
    /// The group.
    pub group: String,
    /// Its figures.
    pub figures: RowFigures,
}

/// Assesses test rows by a new artifact, and by the active one if there is one, as far as a protocol asks. `data_sha256` is that of the files of the
/// rows, for an artifact that keeps no other hash of its rows.
///
/// # Errors
///
/// Rows that are not of the kind or the groups of one of the artifacts, or none that it calibrates.
pub fn measure(
    protocol: &Protocol,
    (new, active): (&StoredArtifact, Option<&StoredArtifact>),
    test: &Dataset,
    data_sha256: Option<[u8; 32]>,
) -> Result<Measured, AssessError> {
    let digest = test.rows_digest()?;
    let figures = |rows: &Dataset, demands: &Demands, group: Option<&str>| {
        let active = active.filter(|_| demands.compares());
        figures((new, active), rows, group)
    };
    let of_group = |demands: &Demands| {
        let groups = test.groups()?;
        let of = |(number, name): (usize, &String)| {
            let rows = test.of_group(number)?;
            let figures = figures(&rows, demands, Some(name));
            Some(figures.map(|figures| GroupFigures { group: name.clone(), figures }))
        };
        Some(groups.names().iter().enumerate().filter_map(of).collect::<Result<Vec<_>, _>>())
    };
    Ok(Measured {
        rows: digest.hash.to_bytes(),
        overlap: overlap_with_fit(new, &digest, data_sha256),
        repeats: test.repeats()?,
        all: figures(test, &protocol.accept.all(), None)?,
        groups: protocol.accept.each_group.as_ref().and_then(of_group).transpose()?,
    })
}

fn figures(
    (new, active): (&StoredArtifact, Option<&StoredArtifact>),
    rows: &Dataset,
    group: Option<&str>,
) -> Result<RowFigures, AssessError> {
    // Calibration rows among them break a line of their own.
    let found = assess(rows, Some(new), &AssessOptions::default().same_rows(true))?;
    let is_binary = new.artifact().header().reduction == Reduction::Binary;
    let alarm_of = |points: &[OperatingAccuracy]| {
        let is_of_rows =
            |point: &&OperatingAccuracy| point.group.is_none() || point.group.as_deref() == group;
        points.iter().filter(|point| point.is_alarm).find(is_of_rows).map(|point| point.accuracy)
    };
    let (events, alarm) = match &found.figures {
        Some(AssessedFigures::BeforeAfter(found)) => {
            let by_rule = found.at_thresholds.iter().find(|threshold| threshold.is_alarm);
            let alarm = alarm_of(&found.operating).or(by_rule.map(|threshold| threshold.accuracy));
            (is_binary.then_some(found.metrics.both.after.hits), alarm)
        }
        Some(AssessedFigures::Operating(found)) => {
            (Some(found.positives as u64), alarm_of(&found.accuracies))
        }
        _ => (None, None),
    };
    let change = active.map(|active| change([active, new], rows)).transpose()?;
    Ok(RowFigures { n: rows.len(), events, alarm, change })
}

/// What changes from one artifact to another on the same rows.
fn change(artifacts: [&StoredArtifact; 2], rows: &Dataset) -> Result<Result<Change, u64>, AssessError> {
    let [from, to] = artifacts.map(|stored| {
        let artifact = stored.artifact();
        Calibrated::new(rows, &artifact, 0)?.predictions(&artifact).cloned()
    });
    let (from, to) = (from?, to?);
    if from.uncalibrated + to.uncalibrated > 0 {
        return Ok(Err(from.uncalibrated.max(to.uncalibrated)));
    }
    let alpha = Metrics::default().alpha;
    let bootstrap = Bootstrap { kind: IntervalKind::Percentile, resamples: RESAMPLES, seed: 0, alpha };
    let options = Metrics::default().bootstrap(Some(bootstrap)).clusters(to.clusters.as_ref());
    Ok(Ok(assess_before_after(&from.after, &to.after, to.kind, &options, &options).change))
}
