//! Thresholds that guarantee a sensitivity or a specificity.

use super::error::OperatingError;
use super::rank::Aim;
use super::scores::{Class, KeyedScores};
use crate::accessors::getters;
use crate::stats::{Interval, clopper_pearson};

/// What thresholds are to guarantee: a sensitivity, a specificity, or both.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Aims {
    /// At least this share of the positives is not cleared.
    pub sensitivity: Option<Aim>,
    /// At least this share of the negatives is not raised.
    pub specificity: Option<Aim>,
}

/// How groups of points come to their thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// Every group has separate thresholds, at the failure probability divided by the number of groups.
    Own,
    /// All groups have the same thresholds: of those of the groups, each at the whole failure probability, the lowest for the
    /// sensitivity and the highest for the specificity. Only the group with the lowest true quantile can fail, so the whole failure
    /// probability is enough.
    Common,
}

/// Calibration points of a group; the only group has no name.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupScores {
    /// The name of the group.
    pub name: Option<String>,
    /// Its points.
    pub scores: KeyedScores,
}

/// Thresholds of all groups, and what they guarantee.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct OperatingPoints {
    pub(crate) aims: Aims,
    pub(crate) sharing: Sharing,
    pub(crate) points: Vec<OperatingPoint>,
}

getters! {
    OperatingPoints {
        /// What is guaranteed: of both shares together with the product of their confidences.
        aims: Aims,
        /// How the groups come to their thresholds.
        sharing: Sharing,
        ;
        /// The thresholds of each group, in the order of the groups; at least one.
        points: [OperatingPoint],
    }
}

/// The thresholds of a group: it clears below the lower key, raises from the upper key on, and refers between them.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OperatingPoint {
    /// The name of the group; `None` if it is the only one.
    pub group: Option<String>,
    /// The key from which on a score is not cleared.
    pub lower: u32,
    /// The key from which on a score is raised, at least `lower`; one above the largest key if no score is.
    pub upper: u32,
    /// How many positives the sensitivity allows below its threshold.
    pub positives_allowed: Option<u64>,
    /// How many negatives the specificity allows at or above its threshold.
    pub negatives_allowed: Option<u64>,
    /// How the calibration points lie.
    pub counts: PointCounts,
}

/// How many points of each class lie where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct PointCounts {
    /// The number of positives.
    pub positives: u64,
    /// The number of positives at or above the lower threshold.
    pub positives_from_lower: u64,
    /// The number of positives at or above the upper threshold.
    pub positives_from_upper: u64,
    /// The number of negatives.
    pub negatives: u64,
    /// The number of negatives at or above the lower threshold.
    pub negatives_from_lower: u64,
    /// The number of negatives at or above the upper threshold.
    pub negatives_from_upper: u64,
}

/// The thresholds that one group asks for.
struct GroupThresholds {
    sensitivity: Option<(u32, u64)>,
    specificity: Option<(u32, u64)>,
}

impl OperatingPoints {
    /// Finds the thresholds for one or more groups.
    ///
    /// The threshold of a sensitivity is the `k + 1`-th lowest score of a positive. The threshold of a specificity is the next key
    /// above the `k + 1`-th highest score of a negative. [`Aim::rank`] gives `k`. It holds for new points that are drawn as the
    /// calibration points were, whatever the distribution of the scores, at any prevalence.
    ///
    /// If both are asked for and one threshold has both, the lowest such threshold is taken: it misses the fewest positives, and
    /// the specificity is what was asked for. Otherwise scores between the two thresholds are referred.
    ///
    /// ```
    /// use calib_fit::BinaryData;
    /// use calib_fit::operating::{Aim, Aims, GroupScores, KeyedScores, OperatingPoints, Sharing};
    ///
    /// // 100 positives from 0.5 up, and 100 negatives from 0 up.
    /// let scores = (0..200).map(|i| f64::from(i % 100) / 200.0 + if i < 100 { 0.5 } else { 0.0 }).collect();
    /// let data = BinaryData::new(scores, (0..200).map(|i| i < 100).collect())?;
    /// let group = GroupScores { name: None, scores: KeyedScores::of_scores(&data)? };
    /// let aims = Aims { sensitivity: Some(Aim { level: 0.95, confidence: 0.95 }), specificity: None };
    ///
    /// let found = OperatingPoints::find(&[group], aims, Sharing::Own)?;
    /// let point = &found.points()[0];
    /// // 100 positives allow one below the threshold.
    /// assert_eq!((point.upper, point.positives_allowed), (0.505f32.to_bits(), Some(1)));
    /// assert_eq!((point.counts.positives_from_upper, point.counts.negatives_from_upper), (99, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// No groups or no aim, a share that is not in `(0, 1)`, or too few points of a class that an aim is about: the error says how many
    /// it takes.
    pub fn find(groups: &[GroupScores], aims: Aims, sharing: Sharing) -> Result<Self, OperatingError> {
        aims.check()?;
        let among = match sharing {
            Sharing::Own => groups.len() as u64,
            Sharing::Common => 1,
        };
        let mut thresholds =
            groups.iter().map(|group| aims.ask(group, among)).collect::<Result<Vec<_>, _>>()?;
        if sharing == Sharing::Common {
            share(&mut thresholds);
        }
        let points: Vec<_> =
            groups.iter().zip(&thresholds).map(|(group, thresholds)| thresholds.point(group)).collect();
        if points.is_empty() { Err(OperatingError::Empty) } else { Ok(Self { aims, sharing, points }) }
    }

    /// Among how many statements about groups the failure probability of a bound for each of them is divided.
    pub(super) fn groups(&self) -> f64 {
        self.points.len() as f64
    }

    /// Returns bounds of the sensitivity of the upper threshold in a group, exact and for all groups at once; `None` if the threshold
    /// was chosen by the positives themselves.
    ///
    /// The confidence is that of the specificity, by which the threshold was chosen.
    pub fn sensitivity_bounds(&self, point: &OperatingPoint) -> Option<Interval> {
        let aim = self.aims.specificity?;
        let PointCounts { positives, positives_from_upper, .. } = point.counts;
        Some(clopper_pearson(positives_from_upper, positives, aim.delta() / self.groups()))
    }

    /// Returns bounds of the specificity of the lower threshold in a group, exact and for all groups at once; `None` if the threshold
    /// was chosen by the negatives themselves.
    ///
    /// The confidence is that of the sensitivity, by which the threshold was chosen.
    pub fn specificity_bounds(&self, point: &OperatingPoint) -> Option<Interval> {
        let aim = self.aims.sensitivity?;
        if self.aims.specificity.is_some() && !point.refers() {
            return None;
        }
        let PointCounts { negatives, negatives_from_lower, .. } = point.counts;
        Some(clopper_pearson(negatives - negatives_from_lower, negatives, aim.delta() / self.groups()))
    }
}

impl OperatingPoint {
    /// Tells whether there are scores that are neither cleared nor raised.
    pub fn refers(&self) -> bool {
        self.lower < self.upper
    }
}

impl Aims {
    fn check(&self) -> Result<(), OperatingError> {
        let Self { sensitivity, specificity } = *self;
        let named = [("sensitivity", sensitivity), ("specificity", specificity)];
        for (name, aim) in named.iter().filter_map(|(name, aim)| Some((name, (*aim)?))) {
            check_share(name, aim.level)?;
            check_share("confidence", aim.confidence)?;
        }
        if sensitivity.or(specificity).is_none() { Err(OperatingError::NoAim) } else { Ok(()) }
    }

    /// What a group asks for, with the failure probability divided among so many.
    fn ask(&self, group: &GroupScores, among: u64) -> Result<GroupThresholds, OperatingError> {
        let scores = &group.scores;
        let rank = |aim: Aim, class: Class, n: u64| {
            let too_few = || OperatingError::TooFew {
                class,
                n,
                needed: aim.points_needed(0, among),
                group: group.name.clone(),
            };
            aim.rank(n, among).ok_or_else(too_few)
        };
        let sensitivity = match self.sensitivity {
            None => None,
            Some(aim) => {
                let k = rank(aim, Class::Positives, scores.positives())?;
                scores.positive_from_below(k).map(|key| (key, k))
            }
        };
        let specificity = match self.specificity {
            None => None,
            Some(aim) => {
                let k = rank(aim, Class::Negatives, scores.negatives())?;
                scores.negative_from_above(k).map(|key| (scores.above(key), k))
            }
        };
        Ok(GroupThresholds { sensitivity, specificity })
    }
}

/// Gives all groups the lowest threshold of a sensitivity and the highest of a specificity.
fn share(thresholds: &mut [GroupThresholds]) {
    let lowest = thresholds.iter().filter_map(|thresholds| thresholds.sensitivity).map(|(key, _)| key).min();
    let highest = thresholds.iter().filter_map(|thresholds| thresholds.specificity).map(|(key, _)| key).max();
    for one in thresholds {
        one.sensitivity = one.sensitivity.zip(lowest).map(|((_, k), key)| (key, k));
        one.specificity = one.specificity.zip(highest).map(|((_, k), key)| (key, k));
    }
}

impl GroupThresholds {
    fn point(&self, group: &GroupScores) -> OperatingPoint {
        let keys = (self.sensitivity.map(|(key, _)| key), self.specificity.map(|(key, _)| key));
        let (lower, upper) = match keys {
            (Some(sensitive), Some(specific)) => (sensitive.min(specific), specific),
            (one, other) => [one.or(other).unwrap_or_default(); 2].into(),
        };
        let scores = &group.scores;
        OperatingPoint {
            group: group.name.clone(),
            lower,
            upper,
            positives_allowed: self.sensitivity.map(|(_, k)| k),
            negatives_allowed: self.specificity.map(|(_, k)| k),
            counts: PointCounts {
                positives: scores.positives(),
                positives_from_lower: scores.positives_from(lower),
                positives_from_upper: scores.positives_from(upper),
                negatives: scores.negatives(),
                negatives_from_lower: scores.negatives_from(lower),
                negatives_from_upper: scores.negatives_from(upper),
            },
        }
    }
}

pub(super) fn check_share(name: &'static str, value: f64) -> Result<(), OperatingError> {
    if value > 0.0 && value < 1.0 { Ok(()) } else { Err(OperatingError::Share { name, value }) }
}
