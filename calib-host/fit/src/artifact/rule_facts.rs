//! Operating points and prediction sets as an artifact holds them, for programs.

use calib_core::decision::{Conformity, OperatingPoints, PredictionSets, Threshold};
use serde::Serialize;

/// Operating points: thresholds are keys, as the device compares them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PointsFacts {
    /// Whether there are scores that are neither cleared nor raised.
    pub refers: bool,
    /// Whether such a score raises the alarm.
    pub refer_raises: bool,
    /// What is guaranteed.
    pub guarantees: Vec<AccuracyGuaranteeFacts>,
    /// The thresholds of each group.
    pub groups: Vec<ThresholdsFacts>,
}

/// A guarantee of operating points.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AccuracyGuaranteeFacts {
    /// Of what.
    pub accuracy: String,
    /// At least so much.
    pub level: f32,
    /// The confidence.
    pub confidence: f32,
    /// Where this is the prevalence; `None` if anywhere.
    pub prevalence: Option<f32>,
}

/// The thresholds of a group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ThresholdsFacts {
    /// From which on a score is not cleared.
    pub lower: ThresholdFacts,
    /// From which on it is raised.
    pub upper: ThresholdFacts,
}

/// A threshold, and how the calibration points lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ThresholdFacts {
    /// The key.
    pub key: u32,
    /// The number of positives.
    pub positives: u32,
    /// How many of them are at the key or above.
    pub positives_above: u32,
    /// The number of negatives.
    pub negatives: u32,
    /// How many of them are at the key or above.
    pub negatives_above: u32,
}

/// Prediction sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetsFacts {
    /// What is compared: "softmax" or "margin".
    pub conformity: &'static str,
    /// The probability that the true class is not in the set.
    pub alpha: f32,
    /// The confidence over the draw of the rows; `None` for coverage on average.
    pub confidence: Option<f32>,
    /// Whether the coverage holds for the rows of every class.
    pub by_class: bool,
    /// Whether the predicted class is always in the set.
    pub never_empty: bool,
    /// The only threshold, or one a class.
    pub quantiles: Vec<QuantileFacts>,
}

/// A threshold on conformity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuantileFacts {
    /// The number of calibration rows that it is from.
    pub rows: u32,
    /// The key.
    pub key: u32,
}

impl PointsFacts {
    /// Reads operating points.
    pub fn of(points: &OperatingPoints<'_>) -> Self {
        let guarantees = points.guarantees().map(|guarantee| AccuracyGuaranteeFacts {
            accuracy: guarantee.accuracy.to_string(),
            level: guarantee.level,
            confidence: guarantee.confidence,
            prevalence: guarantee.prevalence,
        });
        let groups = points.all().map(|group| ThresholdsFacts {
            lower: ThresholdFacts::of(group.lower),
            upper: ThresholdFacts::of(group.upper),
        });
        Self {
            refers: points.refers(),
            refer_raises: points.refer_raises(),
            guarantees: guarantees.collect(),
            groups: groups.collect(),
        }
    }
}

impl ThresholdFacts {
    fn of(threshold: Threshold) -> Self {
        let Threshold { key, positives, positives_above, negatives, negatives_above } = threshold;
        Self { key, positives, positives_above, negatives, negatives_above }
    }
}

impl SetsFacts {
    /// Reads prediction sets.
    pub fn of(sets: &PredictionSets<'_>) -> Self {
        let quantiles = (0..sets.classes()).filter_map(|class| sets.quantile(class));
        Self {
            conformity: match sets.conformity() {
                Conformity::Score => "softmax",
                Conformity::Margin => "margin",
            },
            alpha: sets.alpha(),
            confidence: sets.confidence(),
            by_class: sets.is_by_class(),
            never_empty: sets.never_empty(),
            quantiles: quantiles.map(|q| QuantileFacts { rows: q.rows, key: q.key }).collect(),
        }
    }
}
