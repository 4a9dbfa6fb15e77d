//! Every metric by group.

use serde::Serialize;

use super::equal_calibration::{EqualCalibration, NotTested, test_equal_calibration};
use crate::assess::{
    AssessOptions, Assessment, Bootstrap, ClinicalOptions, ClinicalValidation, EstimateWithInterval, Figure,
    Prediction, PredictionKind, assess, validate,
};
use crate::data::RowGroups;
use crate::stats::{Interval, Seed, thousands};

/// How to compare groups.
#[derive(Clone, Copy, Debug)]
pub struct GroupOptions<'a> {
    /// How to assess. Alpha, also that of the bootstrap, is divided among the groups.
    pub assess: &'a AssessOptions<'a>,
    /// How to validate binary probabilities.
    pub clinical: &'a ClinicalOptions<'a>,
    /// The seed of the permutations.
    pub seed: Seed,
}

/// A group's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupAssessment {
    /// The group's name.
    pub group: String,
    /// Why almost nothing is known about it; `None` for a group of some size with both labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_small: Option<String>,
    /// The metrics.
    #[serde(flatten)]
    pub assessment: Assessment,
    /// The clinical validation of binary probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clinical: Option<ClinicalValidation>,
}

/// The largest difference of a metric between two groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The metric.
    pub metric: &'static str,
    /// The difference.
    pub difference: f64,
    /// Where the difference of these two groups is, if both have intervals: these hold simultaneously.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The group with the highest value.
    pub highest: String,
    /// The group with the lowest value.
    pub lowest: String,
}

/// Groups side by side. All their intervals of a metric hold simultaneously with at least the probability one minus alpha (union bound).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupComparison {
    /// One minus the coverage of all groups' intervals of a metric together.
    pub alpha: f64,
    /// The groups, by name.
    pub groups: Vec<GroupAssessment>,
    /// The largest differences, of each metric that two groups have.
    pub differences: Vec<Difference>,
    /// The test of "all groups are equally calibrated", or why there is none.
    pub equal_calibration: Tested,
}

/// A test, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Tested {
    /// The test.
    Done(EqualCalibration),
    /// None.
    Not {
        /// Why.
        not_tested: NotTested,
    },
}

/// A group with fewer rows shows almost nothing.
const FEW_ROWS: u64 = 20;

/// The metrics whose differences are reported.
type Metric = (&'static str, fn(&GroupAssessment) -> Option<EstimateWithInterval>);

const METRICS: [Metric; 8] = [
    ("rate", |group| Some(group.assessment.rate)),
    ("brier", |group| Some(group.assessment.brier)),
    ("log_loss", |group| Some(group.assessment.log_loss)),
    ("auc", |group| group.assessment.auc),
    ("conf_ece", |group| Some(group.assessment.conf_ece.plugin())),
    ("intercept", |group| figure(&group.clinical.as_ref()?.cox.intercept)),
    ("slope", |group| figure(&group.clinical.as_ref()?.cox.slope)),
    ("observed_expected", |group| figure(&group.clinical.as_ref()?.observed_expected.ratio)),
];

fn figure(figure: &Figure) -> Option<EstimateWithInterval> {
    figure.get().ok().copied()
}

/// Compares groups of predictions.
///
/// # Panics
///
/// If there are no predictions, or groups or clusters of another number of rows.
pub fn compare_groups(
    predictions: &[Prediction],
    kind: PredictionKind,
    groups: &RowGroups,
    options: &GroupOptions<'_>,
) -> GroupComparison {
    let alpha = options.assess.alpha;
    let shared = alpha / groups.names().len() as f64;
    let one = |(number, name): (usize, &String)| {
        let rows: Vec<usize> = groups.rows_of(number).collect();
        let predictions: Vec<Prediction> = rows.iter().map(|&row| predictions[row]).collect();
        let clusters = options.assess.clusters.map(|clusters| clusters.part(rows));
        let bootstrap = options.assess.bootstrap.map(|bootstrap| Bootstrap { alpha: shared, ..bootstrap });
        let options_of_group =
            AssessOptions { alpha: shared, bootstrap, clusters: clusters.as_ref(), ..*options.assess };
        let assessment = assess(&predictions, kind, &options_of_group);
        let is_binary = kind == PredictionKind::Binary;
        GroupAssessment {
            group: name.clone(),
            too_small: too_small(&assessment),
            clinical: is_binary.then(|| validate(&predictions, &options_of_group, options.clinical)),
            assessment,
        }
    };
    let found: Vec<GroupAssessment> = groups.names().iter().enumerate().map(one).collect();
    let test = test_equal_calibration(predictions, groups, options.assess.clusters, options.seed);
    GroupComparison {
        alpha,
        differences: METRICS.iter().filter_map(|metric| difference(metric, &found)).collect(),
        groups: found,
        equal_calibration: match test {
            Ok(test) => Tested::Done(test),
            Err(not_tested) => Tested::Not { not_tested },
        },
    }
}

fn too_small(assessment: &Assessment) -> Option<String> {
    let n = assessment.n;
    match assessment.one_label() {
        _ if n < FEW_ROWS => Some(format!("{n} rows are too few to show anything")),
        Some(true) => Some(format!(
            "all {} outcomes are positive: there are no figures of how well the classes are separated",
            thousands(n)
        )),
        Some(false) => Some(format!(
            "all {} outcomes are negative: there are no figures of how well the classes are separated",
            thousands(n)
        )),
        None => None,
    }
}

fn difference((metric, of): &Metric, groups: &[GroupAssessment]) -> Option<Difference> {
    let defined = || groups.iter().filter_map(|group| Some((&group.group, of(group)?)));
    let highest = defined().max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let lowest = defined().min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let ends = highest.1.interval.zip(lowest.1.interval);
    (defined().count() > 1).then(|| Difference {
        metric,
        difference: highest.1.value - lowest.1.value,
        interval: ends.map(|(high, low)| Interval { lo: high.lo - low.hi, hi: high.hi - low.lo }),
        highest: highest.0.clone(),
        lowest: lowest.0.clone(),
    })
}
