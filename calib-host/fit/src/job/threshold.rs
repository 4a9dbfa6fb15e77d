//! Thresholds that guarantee a sensitivity or a specificity.

use calib_core::decision::{Accuracy, AccuracyGuarantee};
use serde::Serialize;

use super::error::JobError;
use super::facts::Written;
use super::rows::codes;
use super::target::Target;
use crate::accessors::options;
use crate::artifact::{PointsFacts, PointsOnDevice, StoredArtifact, rule_sentences};
use crate::data::BinaryData;
use crate::dataset::{Content, Dataset};
use crate::operating::{
    Aim, Aims, GroupScores, KeyedScores, OperatingPoint, OperatingPoints, PredictiveValues, Sharing,
};
use crate::options_error::OptionsError;
use crate::stats::{Clusters, Interval, Seed, f32_floor};

options! {
    by_name
    /// What thresholds are to guarantee.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct ThresholdOptions {
        /// At least this share of class 1 is raised, or at least not cleared.
        pub sensitivity: Option<f64> = None,
        /// At least this share of class 0 is not raised.
        pub specificity: Option<f64> = None,
        /// The confidence of each of the two, over the draw of the rows.
        pub confidence: f64 = 0.95,
        /// The share of class 1 where the device is used: what can be guaranteed of the predictive values there.
        pub prevalence: Option<f64> = None,
        /// Whether a score between two thresholds raises the alarm.
        pub refer_raises: bool = false,
        /// The seed of the row that is drawn from each cluster.
        pub seed: Seed = 0,
        ;
        /// How groups come to their thresholds.
        pub sharing: Sharing = Sharing::Own,
    }
}

/// Thresholds that were found, and the artifact that has them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Thresholds {
    /// The thresholds.
    pub points: OperatingPoints,
    /// The artifact.
    pub artifact: StoredArtifact,
    /// What is said of them.
    pub summary: ThresholdSummary,
}

/// What is said of thresholds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ThresholdSummary {
    /// Which artifact was written.
    #[serde(flatten)]
    pub written: Written,
    /// The thresholds as the artifact has them.
    pub operating_points: Option<PointsFacts>,
    /// How the groups came to their thresholds.
    pub sharing: Sharing,
    /// What is known in each group.
    pub groups: Vec<GroupThreshold>,
    /// What the device does, in sentences.
    pub sentences: Vec<String>,
}

/// What is known of the thresholds of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupThreshold {
    /// The name of the group; `None` if it is the only one.
    pub group: Option<String>,
    /// How many positives the sensitivity allows below its threshold.
    pub positives_allowed: Option<u64>,
    /// How many negatives the specificity allows at or above its threshold.
    pub negatives_allowed: Option<u64>,
    /// Exact bounds of the sensitivity, if the positives did not choose the threshold.
    pub sensitivity_bounds: Option<Interval>,
    /// Exact bounds of the specificity, if the negatives did not choose the threshold.
    pub specificity_bounds: Option<Interval>,
    /// What is guaranteed of predictive values; `None` without a prevalence.
    pub predictive_values: Option<PredictiveValues>,
}

/// Finds thresholds of binary scores, and writes them into an artifact. Of clusters one row each counts.
///
/// ```
/// use calib_fit::BinaryData;
/// use calib_fit::job::{Target, ThresholdOptions, threshold};
///
/// let scores = (0..200).map(|i| f64::from(i % 100) / 200.0 + if i < 100 { 0.5 } else { 0.0 }).collect();
/// let data = BinaryData::new(scores, (0..200).map(|i| i < 100).collect())?;
/// let mut options = ThresholdOptions::default();
/// options.sensitivity = Some(0.95);
/// let found = threshold(&data.into(), &options, &Target::Alone(Default::default()))?;
/// assert_eq!(found.summary.groups[0].positives_allowed, Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Scores of several classes or with weights, a share that is not in `(0, 1)`, too few points of a class, or a calibrator of other
/// scores or groups.
pub fn threshold(
    data: &Dataset,
    options: &ThresholdOptions,
    target: &Target<'_>,
) -> Result<Thresholds, JobError> {
    let Content::Points(all) = data.content() else {
        return Err(OptionsError::new("thresholds are of one score of rows that count the same").into());
    };
    let draw = |clusters: &Clusters| clusters.one_row_each(options.seed, |a, b| all.compare(a, b));
    let kept = data.clusters().map(draw);
    let points_of = |rows: &[usize]| match rows.len() as u64 == all.len() {
        true => all.clone(),
        false => all.part(rows),
    };
    let keyed = |points: &BinaryData| match data.encoding() {
        Some(encoding) => Ok(KeyedScores::of_codes(encoding, codes(points, encoding)?)),
        None => KeyedScores::of_scores(points),
    };
    let mut groups = Vec::new();
    for (name, rows) in groups_of(data, kept.as_deref(), target) {
        let scores = match rows {
            Some(rows) => keyed(&points_of(&rows))?,
            None => keyed(all)?,
        };
        groups.push(GroupScores { name, scores });
    }
    let aim = |level: Option<f64>| level.map(|level| Aim { level, confidence: options.confidence });
    let aims = Aims { sensitivity: aim(options.sensitivity), specificity: aim(options.specificity) };
    let points = OperatingPoints::find(&groups, aims, options.sharing)?;
    let values = match options.prevalence {
        None => Vec::new(),
        Some(prevalence) => {
            let values = points.points.iter().map(|point| points.predictive_values(point, prevalence));
            values.collect::<Result<Vec<_>, _>>()?
        }
    };
    let on_device = PointsOnDevice {
        points: &points,
        encoding: data.encoding().unwrap_or(all.kind().encoding(false)),
        predictive: &guarantees(&values, options.prevalence),
        refer_raises: options.refer_raises,
    };
    let n = kept.as_ref().map_or(all.len(), |kept| kept.len() as u64);
    let clustered = (n < all.len()).then_some(all.len());
    let artifact = target.write(
        options.parameters(data.groups().is_some(), clustered),
        |parameters, options| on_device.alone(n, parameters, options),
        |parent, child| on_device.beside(parent, child),
    )?;
    let summary = ThresholdSummary::of(&points, &values, &artifact);
    Ok(Thresholds { points, artifact, summary })
}

/// A group's name, which the only group has none of, and its rows; `None` for all.
type NamedRows = (Option<String>, Option<Vec<usize>>);

/// The groups with their rows: in the order of the calibrator's, or else of their names.
fn groups_of(data: &Dataset, kept: Option<&[usize]>, target: &Target<'_>) -> Vec<NamedRows> {
    let Some(groups) = data.groups() else { return vec![(None, kept.map(<[usize]>::to_vec))] };
    let mut rows_of = vec![Vec::new(); groups.names().len()];
    let all: Vec<usize>;
    let kept = match kept {
        Some(kept) => kept,
        None => {
            all = (0..groups.rows()).collect();
            &all
        }
    };
    for &row in kept {
        rows_of[groups.of(row)].push(row);
    }
    let named = groups.names().iter().zip(rows_of).filter(|(_, rows)| !rows.is_empty());
    let mut named: Vec<_> = named.map(|(name, rows)| (Some(name.clone()), Some(rows))).collect();
    if let Some(of) = target.parent().and_then(|parent| parent.artifact().groups().copied()) {
        named.sort_by_key(|(name, _)| name.as_deref().and_then(|name| of.code(name)).unwrap_or(u8::MAX));
    }
    named
}

/// What the artifact says of predictive values: the least of all groups, not above what is guaranteed.
fn guarantees(values: &[PredictiveValues], prevalence: Option<f64>) -> Vec<AccuracyGuarantee> {
    let least = |value: fn(&PredictiveValues) -> f64| f32_floor(values.iter().map(value).fold(1.0, f64::min));
    let confidence = least(|values| values.confidence);
    let guarantee = |accuracy, level: f32| AccuracyGuarantee {
        accuracy,
        level,
        confidence,
        prevalence: prevalence.map(|prevalence| prevalence as f32),
    };
    let both = [
        guarantee(Accuracy::PositivePredictiveValue, least(|values| values.ppv)),
        guarantee(Accuracy::NegativePredictiveValue, least(|values| values.npv)),
    ];
    let says_something = |guarantee: &AccuracyGuarantee| {
        guarantee.level > 0.0 && guarantee.level < 1.0 && guarantee.confidence > 0.0 && !values.is_empty()
    };
    both.into_iter().filter(says_something).collect()
}

impl ThresholdOptions {
    /// What was done, as `name=value` separated by spaces.
    fn parameters(&self, grouped: bool, clustered: Option<u64>) -> String {
        let sharing = match self.sharing {
            Sharing::Own => "own",
            Sharing::Common => "common",
        };
        let named = [
            ("sensitivity", self.sensitivity.map(|level| level.to_string())),
            ("specificity", self.specificity.map(|level| level.to_string())),
            ("confidence", Some(self.confidence.to_string())),
            ("thresholds", grouped.then(|| sharing.to_owned())),
            ("threshold-prevalence", self.prevalence.map(|prevalence| prevalence.to_string())),
            ("cluster-rows", clustered.map(|rows| rows.to_string())),
            ("cluster-seed", clustered.map(|_| self.seed.to_string())),
        ];
        let pairs = named.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        pairs.collect::<Vec<_>>().join(" ")
    }
}

impl ThresholdSummary {
    fn of(points: &OperatingPoints, values: &[PredictiveValues], stored: &StoredArtifact) -> Self {
        let artifact = stored.artifact();
        let group = |(at, point): (usize, &OperatingPoint)| GroupThreshold {
            group: point.group.clone(),
            positives_allowed: point.positives_allowed,
            negatives_allowed: point.negatives_allowed,
            sensitivity_bounds: points.sensitivity_bounds(point),
            specificity_bounds: points.specificity_bounds(point),
            predictive_values: values.get(at).copied(),
        };
        Self {
            written: Written::of(stored),
            operating_points: artifact.operating_points().map(PointsFacts::of),
            sharing: points.sharing,
            groups: points.points.iter().enumerate().map(group).collect(),
            sentences: rule_sentences(&artifact),
        }
    }
}
