//! Binary points that are assessed by their distinct scores, however many rows there are.

use std::borrow::Cow;

use calib_core::artifact::Reduction;
use calib_core::{Artifact, Calibrator, Score};

use crate::apply::{RandomWords, calibrate};
use crate::artifact::score_kind;
use crate::assess::{ChangedRows, RowsByProb, TiedRows};
use crate::data::{BinaryCollector, BinaryData, IN_MEMORY_POINTS, ScoreKind};
use crate::error::FitError;
use crate::points::Group;

/// Points before and after an artifact, without those that it does not calibrate.
pub(super) struct ChangedPoints<'a> {
    pub(super) before: Cow<'a, BinaryData>,
    pub(super) after: BinaryData,
    pub(super) changed: ChangedRows,
    pub(super) rows_by_prob: RowsByProb,
    pub(super) uncalibrated: u64,
}

/// Calibrated groups of points with one score each.
#[derive(Default)]
struct Part {
    /// The score before, the probability after, the points and those with label 1.
    groups: Vec<(f64, f64, u64, u64)>,
    changed: ChangedRows,
    rows_by_prob: RowsByProb,
    uncalibrated: u64,
}

/// Whether an artifact does nothing but calibrate binary scores, each in the same way whatever its row.
pub(super) fn is_of_points(artifact: &Artifact<'_>) -> bool {
    artifact.header().reduction == Reduction::Binary
        && score_kind(artifact) == ScoreKind::Probability
        && matches!(artifact.calibrator(), Calibrator::Binary(_))
        && !artifact.is_randomized()
        && artifact.operating_points().is_none()
        && artifact.prediction_sets().is_none()
        && artifact.decision().is_none()
}

impl<'a> ChangedPoints<'a> {
    /// Calibrates points of the device with an artifact that [`is_of_points`]; `None` if it calibrates none of them.
    pub(super) fn new(points: &'a BinaryData, artifact: &Artifact<'_>) -> Result<Option<Self>, FitError> {
        let (mut changed, mut rows_by_prob, mut uncalibrated) =
            (ChangedRows::default(), RowsByProb::default(), 0);
        let mut after = Points::new(points);
        points.map_groups_in_order(
            |groups| Part::new(artifact, groups.collect()),
            |part: Part| {
                changed = std::mem::take(&mut changed).and(part.changed);
                rows_by_prob = std::mem::take(&mut rows_by_prob).and(part.rows_by_prob);
                uncalibrated += part.uncalibrated;
                after.extend(part.groups.iter().map(|&(_, prob, n, positives)| (prob, n, positives)))
            },
        )?;
        let Some(after) = after.finish()? else { return Ok(None) };
        let before = match uncalibrated {
            0 => Cow::Borrowed(points),
            _ => Cow::Owned(calibrated_of(points, artifact)?.expect("as many as there are after")),
        };
        Ok(Some(Self { before, after, changed, rows_by_prob, uncalibrated }))
    }
}

/// The points that an artifact calibrates, with their scores.
fn calibrated_of(points: &BinaryData, artifact: &Artifact<'_>) -> Result<Option<BinaryData>, FitError> {
    let mut calibrated = Points::new(points);
    points.map_groups_in_order(
        |groups| Part::new(artifact, groups.collect()).groups,
        |groups| calibrated.extend(groups.iter().map(|&(score, _, n, positives)| (score, n, positives))),
    )?;
    calibrated.finish()
}

impl Part {
    fn new(artifact: &Artifact<'_>, groups: Vec<Group>) -> Self {
        let score = |group: &Group| Score::try_from(group.score).expect("a probability");
        let scores: Vec<Score> = groups.iter().map(score).collect();
        let applied = calibrate(artifact, scores[..].into(), RandomWords::new(artifact, 0));
        let mut part = Self::default();
        for (row, Group { n, positives, .. }) in applied.expect("the artifact is for such").iter().zip(groups)
        {
            let Some(calibrated) = row.outcome.calibrated() else {
                part.uncalibrated += n;
                continue;
            };
            let (before, prob) = (f64::from(row.score), f64::from(calibrated.prob));
            let by_label = [n - positives, positives];
            let after = TiedRows { class: row.class, prob, bin: calibrated.bin.into(), by_label };
            part.changed.add(before, after);
            part.rows_by_prob.pass(before, std::iter::once(after));
            part.groups.push((before, prob, n, positives));
        }
        part
    }
}

/// Points of the device that are collected as others are kept: one by one, maybe on a disk, or counted.
enum Points {
    Single(Box<BinaryCollector>),
    Counted(Vec<(f64, u64, u64)>),
}

impl Points {
    fn new(points: &BinaryData) -> Self {
        match points.is_packed() {
            true => Self::Single(Box::new(BinaryCollector::new(IN_MEMORY_POINTS))),
            false => Self::Counted(Vec::new()),
        }
    }

    fn extend(&mut self, groups: impl Iterator<Item = (f64, u64, u64)>) -> Result<(), FitError> {
        match self {
            Self::Counted(counted) => counted.extend(groups),
            Self::Single(collector) => collector.extend(groups.flat_map(|(score, n, positives)| {
                let score = Score::try_from(score).expect("a probability");
                (0..n).map(move |row| (score, row < positives))
            }))?,
        }
        Ok(())
    }

    fn finish(self) -> Result<Option<BinaryData>, FitError> {
        match self {
            Self::Counted(counted) => Ok(BinaryData::from_counts(counted).ok()),
            Self::Single(collector) => Ok(collector.finish()?),
        }
    }
}
